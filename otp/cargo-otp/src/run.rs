//! Runs an application in an Erlang VM.

use std::os::unix::process::CommandExt;

use anyhow::{Context, Result};

use crate::build::Built;
use crate::{erlang, say};

/// How the node is started.
pub(crate) struct Node {
    pub(crate) name: Option<String>,
    pub(crate) cookie: Option<String>,
    pub(crate) vm_flags: Vec<String>,
    pub(crate) arguments: Vec<String>,
}

/// Becomes the VM; comes back only when that cannot be started.
pub(crate) fn run(built: &Built, node: &Node) -> Result<()> {
    say(anstyle::AnsiColor::Green, "Running", &format!("{} in an Erlang VM", built.name));
    let mut erl = erlang::program("erl")?;
    erl.args(&node.vm_flags).args(["+Bd", "-noinput", "-pa"]).arg(&built.ebin);
    if let Some(name) = &node.name {
        erl.args(["-sname", name]);
    }
    if let Some(cookie) = &node.cookie {
        erl.args(["-setcookie", cookie]);
    }
    // A permanent application takes the VM with it when it ends, so that whoever started this sees it.
    let start = format!(
        "case application:ensure_all_started('{0}', permanent) of \
             {{ok, _}} -> ok; \
             {{error, {{_, Why}}}} -> io:format(standard_error, \"error: {0} does not start: ~tp~n\", [Why]), halt(1) \
         end.",
        built.name
    );
    erl.args(["-eval", &start, "-extra"]).args(&node.arguments);
    Err(erl.exec()).context("cannot start erl")
}
