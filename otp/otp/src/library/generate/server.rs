//! The module of a gen_server.

use super::write::{comment, listed, quoted};
use super::{Types, calls};
use crate::process::description::Description;

pub(super) fn server(name: &str, description: &Description, types: &Types, number: usize, native: &str) -> String {
    let (module, half, options) = (quoted(name), quoted(native), description.options);
    let mut text = String::new();
    let line = &mut |line: String| text += &(line + "\n");
    line(format!("%% {}: a gen_server in Rust. Generated: change it there.", description.rust));
    comment(line, description.about);
    line(format!("-module({module})."));
    line(listed("export", &calls::exported(description)));
    line("-export(['$otp'/0, start_pool/2]).".into());
    line(types.written());
    calls::starts(line, description, "started()", |name, names| {
        let name = name.unwrap_or("undefined");
        format!("{half}:start_link(?MODULE, {number}, {name}, {{{names}}}, {options})")
    });
    calls::asks(line, description, "gen_server", "server()");
    calls::supervised(line, options, &half, number, native);
    calls::call(line, description, "gen_server");
    text
}
