//! `cargo otp console`: reaches a running node, with a shell or with expressions.

use std::io::IsTerminal;
use std::os::unix::process::CommandExt;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use clap::Args;

use crate::config::Config;
use crate::exit::code;
use crate::node::{Naming, Node, full, must_run, own};
use crate::project::{Project, What};
use crate::vm::spawn;
use crate::{erlang, remote, say};

#[derive(Args, Clone, Debug, Default)]
pub(crate) struct Reach {
    #[command(flatten)]
    naming: Naming,
    /// Evaluate this in the node and print the result, instead of a shell; so is standard input that is no terminal
    #[arg(short, long, value_name = "EXPR", allow_hyphen_values = true)]
    eval: Option<String>,
}

pub(crate) fn console(what: &What, reach: &Reach) -> Result<ExitCode> {
    let node = meant(what, reach)?;
    must_run(&node)?;
    let mut erl = erlang::program("erl")?;
    erl.args(["-boot", "no_dot_erlang"]);
    let kind = if node.short { "-sname" } else { "-name" };
    let own = own(&node);
    node.wire(&mut erl);
    let mut expression = reach.eval.clone();
    if expression.is_none() && !std::io::stdin().is_terminal() {
        let text =
            std::io::read_to_string(std::io::stdin()).context("cannot read the expression from standard input")?;
        expression = Some(text);
    }
    if let Some(expression) = &expression {
        erl.args(remote::flags(kind, &own, &node.name, expression));
        say::command(&erl);
        return Ok(code(spawn(&mut erl)?.wait().context("cannot wait for the VM that asks")?));
    }
    erl.args(["-hidden", "-dist_listen", "false", kind, &own, "-remsh", &full(&node)]);
    say::command(&erl);
    say::step("Console", format_args!("of {}; Ctrl-C twice leaves it, q() would end the node", node.name));
    Err(erl.exec()).context("cannot start erl")
}

/// The node that the same flags would have `run` start.
fn meant(what: &What, reach: &Reach) -> Result<Node> {
    let naming = &reach.naming;
    let (config, name) = match Project::find(what) {
        Ok(project) => (Config::read(project.folder())?, project.name),
        // A node that is named can be reached from anywhere.
        Err(_) if naming.name.is_some() || naming.sname.is_some() => (Config::default(), String::new()),
        Err(error) => return Err(error.context("which node is meant? Be in its application's folder, or say --name")),
    };
    let Some(node) = Node::meant(naming, &config.vm, &name) else {
        bail!("otp.toml gives the node no name (name = false), so nothing can reach it");
    };
    Ok(Node { name: full(&node), ..node })
}
