//! `kizami doctor`: checks of this machine for real-time work.

use std::sync::atomic::AtomicBool;

use kizami_settings::Root;

use super::output::{print_json, print_text};
use crate::exit::Exit;
use crate::style::Style;
use crate::{doctor, run};

pub fn doctor(quick: bool, json: bool, style: &Style) -> Result<u8, Exit> {
    let root = Root::from_environment();
    run::recover(&root, style);
    // Ctrl-C ends the program, and with it the thread that is measured: nothing was changed.
    let mut findings = doctor::examine(&root, quick, &AtomicBool::new(false));
    findings.extend(doctor::environments(&root, quick));
    if json {
        print_json(&findings)?;
    } else {
        print_text(&doctor::render(&findings, style.colour, style.width))?;
    }
    Ok(0)
}
