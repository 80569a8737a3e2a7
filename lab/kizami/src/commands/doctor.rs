//! `kizami doctor`: what stands between this machine and real-time behaviour.

use kizami_settings::Root;

use super::{print_json, print_text};
use crate::exit::Exit;
use crate::style::Style;
use crate::{doctor, run};

pub fn doctor(quick: bool, json: bool, style: &Style) -> Result<u8, Exit> {
    let root = Root::from_environment();
    run::recover(&root, style);
    let findings = doctor::examine(&root, quick);
    if json {
        print_json(&findings)?;
    } else {
        print_text(&doctor::render(&findings, style.colour, style.width))?;
    }
    Ok(0)
}
