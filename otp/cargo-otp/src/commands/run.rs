//! `cargo otp run`: runs an application in an Erlang VM, and stays until the VM ends.
//!
//! The VM is a child process. Ctrl-C and SIGTERM become its orderly end, in which applications are stopped in order; a second
//! signal kills the VM. If this program is killed, the kernel kills the VM, since nobody would be left to see whether it ends.

use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ExitCode, ExitStatus};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal, kill_process};
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::build::Built;
use crate::config::VARIABLE;
use crate::exit::code;
use crate::node::{Naming, Node, names_surely};
use crate::vm::{spawn, tell_who_holds_up};
use crate::{erlang, say};

/// How long a VM may take to end before it is told again.
const AGAIN: Duration = Duration::from_secs(2);

/// How often it is looked whether it ended, once it is to.
const LOOK: Duration = Duration::from_millis(20);

/// How the application is run.
#[derive(clap::Args, Clone, Debug, Default)]
pub(crate) struct How {
    #[command(flatten)]
    naming: Naming,
    /// Run without a name: other nodes, and `cargo otp console`, cannot reach it
    #[arg(long, conflicts_with_all = ["name", "sname", "cookie"])]
    no_name: bool,
    /// A flag of the VM; may be said several times, as in --vm +S --vm 1. What -eval is given is evaluated once the application
    /// runs
    #[arg(long = "vm", value_name = "FLAG", allow_hyphen_values = true)]
    vm_flags: Vec<String>,
    /// Ask the machine for what stands in `[realtime]` of otp.toml
    #[arg(long)]
    realtime: bool,
    /// Arguments to the root of the application, after --
    #[arg(last = true)]
    arguments: Vec<String>,
}

/// Runs it until it ends; its exit status.
pub(crate) fn run(built: Built, how: &How) -> Result<ExitCode> {
    let node = if how.no_name { None } else { Node::meant(&how.naming, &built.config.vm, &built.name) };
    let node = match node {
        Some(node) => free(node, how)?,
        None => None,
    };
    let mut erl = erlang::program("erl")?;
    // The VM itself passes Ctrl-C over: it comes from here, as SIGTERM.
    erl.args(["-boot", "no_dot_erlang", "-noinput", "+Bi", "-pa"]).arg(built.ebin());
    if let Some(node) = &node {
        node.can_talk(&built.project.output().join("erlang.json"))?;
        node.give(&mut erl);
    }
    if let Some(config) = &built.config.vm.config {
        erl.arg("-config").arg(config);
    }
    if how.realtime {
        let Some(realtime) = &built.config.realtime else {
            bail!("--realtime asks for what stands in [realtime] of otp.toml, and there is no such table");
        };
        erl.env(VARIABLE, realtime.passed_on()).args(realtime.flags());
    }
    // What the user has evaluated (`--vm=-eval`) finds the application running.
    erl.args(["-eval", &start(&built.name), "-otp_application", &built.name]);
    erl.args(built.config.vm.all_flags()).args(&how.vm_flags);
    erl.arg("-extra").args(&how.arguments);
    tell_who_holds_up(&mut erl);
    say::command(&erl);
    // From before it is said that the application runs, a signal is for the VM.
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP, SIGCHLD]).context("cannot wait for signals")?;
    match &node {
        Some(node) => say::step("Running", format_args!("{} in an Erlang VM, as {}", built.name, node.name)),
        None => say::step("Running", format_args!("{} in an Erlang VM", built.name)),
    }
    let vm = spawn(&mut erl)?;
    drop(built.lock);
    let status = stay(vm, &mut signals, &built.name)?;
    if let Some(signal) = status.signal() {
        say::warning(format_args!("the VM was ended by signal {signal}"));
    }
    Ok(code(status))
}

/// The node, if its name is free; the application's own name makes way for others, one that was asked for does not.
fn free(node: Node, how: &How) -> Result<Option<Node>> {
    let asked = how.naming.name.is_some() || how.naming.sname.is_some();
    let names = match names_surely(node.is_on_loopback()) {
        Ok(names) => names,
        Err(error) if !asked => {
            say::warning(format_args!("the VM runs without a name, so no console reaches it: {error:#}"));
            return Ok(None);
        }
        Err(error) => return Err(error),
    };
    let is_free = |own: &str| !names.iter().any(|name| name == own);
    if is_free(node.own()) {
        return Ok(Some(node));
    }
    if asked {
        bail!("a node {} runs here already: stop it, or choose another name with --name", node.name);
    }
    let own = (2..1000).map(|number| format!("{}_{number}", node.own())).find(|own| is_free(own));
    let other = node.called(&own.context("no name is free for the node")?);
    say::warning(format_args!("a node {} runs here already: this one is {}", node.name, other.name));
    Ok(Some(other))
}

/// Starts the application and all that it needs. It is permanent, so it takes the VM with it when it ends, and whoever
/// started this sees it. All modules are loaded at once: the next build takes the place of their folder.
fn start(name: &str) -> String {
    format!(
        "Fail = fun(Why) -> io:format(standard_error, \"error: ~ts does not start: ~tp~n\", ['{name}', Why]), halt(1) end, \
         application:load('{name}'), {{ok, Modules}} = application:get_key('{name}', modules), \
         case code:ensure_modules_loaded(Modules) of ok -> ok; {{error, Those}} -> Fail(Those) end, \
         case application:ensure_all_started('{name}', permanent) of {{ok, _}} -> ok; {{error, {{_, Why}}}} -> Fail(Why) end."
    )
}

/// Waits for the end of the VM, and brings it about when asked to.
///
/// A VM that is still starting does not hear SIGTERM, so it is told again, at intervals that double.
fn stay(mut vm: Child, signals: &mut Signals, name: &str) -> Result<ExitStatus> {
    let pid = Pid::from_child(&vm);
    // It may be gone when it is told, which is what is wanted.
    let tell = |signal| {
        let _ = kill_process(pid, signal);
    };
    let mut asked: Option<(Instant, Duration)> = None;
    loop {
        let came = if asked.is_some() { signals.pending() } else { signals.wait() };
        for _ in came.filter(|signal| *signal != SIGCHLD) {
            if asked.is_some() {
                tell(Signal::KILL);
            } else {
                say::waits("Stopping", format_args!("{name}; once more kills it"));
                tell(Signal::TERM);
                asked = Some((Instant::now(), AGAIN));
            }
        }
        if let Some(status) = vm.try_wait().context("cannot wait for the VM")? {
            return Ok(status);
        }
        if let Some((since, interval)) = &mut asked {
            if since.elapsed() > *interval {
                tell(Signal::TERM);
                (*since, *interval) = (Instant::now(), *interval * 2);
            }
            std::thread::sleep(LOOK);
        }
    }
}
