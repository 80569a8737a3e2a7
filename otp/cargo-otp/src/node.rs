//! Nodes of Erlang: their names, how they are found, and the cookie that they share.
//!
//! A node whose name has no host listens on the loopback interface only, as `NAME@127.0.0.1`: an application that is started to
//! try it out is reachable from this machine and from no other, and needs no name resolution. `epmd`, the daemon that knows the
//! nodes of a machine, is then started for that interface too.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail};
use clap::Args;

use crate::config::{LOOPBACK, Name, Vm, check_name};
use crate::epmd::names;
use crate::erlang::Erlang;
use crate::{erlang, say};

/// How a node is named on the command line.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct Naming {
    /// The node's name: NAME is reachable on this machine only, NAME@HOST from others
    #[arg(long, value_name = "NAME", conflicts_with = "sname", value_parser = parse)]
    pub(crate) name: Option<String>,
    /// The node's name, short: its host is the name of this machine, and other machines reach it
    #[arg(long, value_name = "NAME", value_parser = parse)]
    pub(crate) sname: Option<String>,
    /// The secret that nodes that talk to each other share, instead of that in ~/.erlang.cookie
    #[arg(long, value_name = "COOKIE")]
    pub(crate) cookie: Option<String>,
}

fn parse(name: &str) -> Result<String, String> {
    check_name(name).map(|()| name.to_owned())
}

/// A node, named in one way or the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Node {
    pub(crate) name: String,
    pub(crate) short: bool,
    pub(crate) cookie: Option<String>,
    /// The settings of TLS, if nodes talk by that.
    pub(crate) tls: Option<PathBuf>,
}

impl Node {
    /// The node that is meant by the command line, else by the configuration, else by the application's name.
    pub(crate) fn meant(naming: &Naming, vm: &Vm, application: &str) -> Option<Self> {
        let cookie = naming.cookie.clone().or_else(|| vm.cookie.clone());
        let tls = vm.tls.clone();
        if let Some(name) = &naming.sname {
            return Some(Self { name: name.clone(), short: true, cookie, tls });
        }
        let name = match (&naming.name, &vm.name) {
            (Some(name), _) | (None, Name::Given(name)) => name.clone(),
            (None, Name::Application) => application.replace(|letter: char| !letter.is_ascii_alphanumeric(), "_"),
            (None, Name::None) => return None,
        };
        let name = if name.contains('@') { name } else { format!("{name}@{LOOPBACK}") };
        Some(Self { name, short: false, cookie, tls })
    }

    pub(crate) fn is_on_loopback(&self) -> bool {
        self.host() == LOOPBACK
    }

    /// The part before the host, which is unique on a machine.
    pub(crate) fn own(&self) -> &str {
        self.name.split('@').next().unwrap_or_default()
    }

    fn host(&self) -> &str {
        self.name.split_once('@').map_or("", |(_, host)| host)
    }

    /// The same node under another name.
    pub(crate) fn called(&self, own: &str) -> Self {
        let name = if self.host().is_empty() { own.to_owned() } else { format!("{own}@{}", self.host()) };
        Self { name, ..self.clone() }
    }

    /// Makes `erl` that node.
    pub(crate) fn give(&self, erl: &mut Command) {
        erl.args([if self.short { "-sname" } else { "-name" }, &self.name]);
        self.wire(erl);
        if self.is_on_loopback() {
            erl.args(["-kernel", "inet_dist_use_interface", "{127,0,0,1}"]);
            loopback(erl);
        }
    }
}

impl Node {
    /// Has `erl` talk as this node does.
    pub(crate) fn wire(&self, erl: &mut Command) {
        if let Some(cookie) = &self.cookie {
            erl.args(["-setcookie", cookie]);
        }
        if let Some(tls) = &self.tls {
            erl.args(["-proto_dist", "inet_tls", "-ssl_dist_optfile"]).arg(tls);
        }
    }

    /// # Errors
    /// When it is to talk by TLS and this Erlang cannot, or cannot read the settings.
    pub(crate) fn can_talk(&self, known: &Path) -> Result<()> {
        let Some(tls) = &self.tls else { return Ok(()) };
        let has = |erlang: &Erlang| erlang.modules.contains_key("inet_tls_dist");
        // It may have been installed since.
        if !Erlang::known(known).is_ok_and(|erlang| has(&erlang)) && !Erlang::asked().is_ok_and(|erlang| has(&erlang)) {
            bail!(
                "otp.toml has nodes talk by TLS, and this Erlang/OTP has no application ssl (on Debian or Ubuntu: \
                 apt-get install erlang-ssl)"
            );
        }
        let mut erl = erlang::helper("erl")?;
        erl.args(["-noinput", "-boot", "no_dot_erlang", "-eval", SETTINGS, "-extra"]).arg(tls);
        let output = erlang::run(&mut erl)?;
        if !output.status.success() {
            bail!("{}: {}", tls.display(), String::from_utf8_lossy(&output.stdout).trim());
        }
        Ok(())
    }
}

/// Looks at a file of settings of TLS, as the VM would only say that its kernel does not start.
const SETTINGS: &str = "
    [File] = init:get_plain_arguments(),
    No = fun(Form, Values) -> io:format(Form ++ \"~n\", Values), halt(1) end,
    case file:consult(File) of
        {ok, [Sides]} when is_list(Sides) ->
            [No(\"it says nothing of the ~p, as in [{server, [...]}, {client, [...]}].\", [Side])
                || Side <- [server, client], not is_list(proplists:get_value(Side, Sides))],
            [case file:read_file_info(Path) of
                 {ok, _} -> ok;
                 {error, Why} -> No(\"~p of the ~p, ~ts: ~ts\", [Key, Side, Path, file:format_error(Why)])
             end || {Side, Settings} <- Sides, {Key, Path} <- Settings, lists:member(Key, [certfile, keyfile, cacertfile])],
            halt();
        {ok, _} -> No(\"it is one term, as in [{server, [...]}, {client, [...]}].\", []);
        {error, Why} -> No(\"~ts\", [file:format_error(Why)])
    end.";

/// Has an epmd that this starts listen on loopback only.
fn loopback(command: &mut Command) {
    if std::env::var_os("ERL_EPMD_ADDRESS").is_none() {
        command.env("ERL_EPMD_ADDRESS", LOOPBACK);
    }
}

/// The names of this machine's nodes, from an epmd that is started if there is none.
pub(crate) fn names_surely(loopback_only: bool) -> Result<Vec<String>> {
    if let Some(names) = names() {
        return Ok(names);
    }
    let mut epmd = erlang::program("epmd")?;
    epmd.arg("-daemon").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    if loopback_only {
        loopback(&mut epmd);
    }
    say::command(&epmd);
    epmd.status().context("cannot start epmd")?;
    let until = Instant::now() + Duration::from_secs(2);
    while Instant::now() < until {
        if let Some(names) = names() {
            return Ok(names);
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    Err(anyhow!("epmd, which knows the nodes of this machine, does not answer"))
}

/// A name for a node of this program's own, which is there as long as this process.
pub(crate) fn own(node: &Node) -> String {
    let own = format!("cargo_otp_{}", std::process::id());
    // A long name must have a host; where a node does not listen, nobody looks at which.
    if node.short { own } else { format!("{own}@{LOOPBACK}") }
}

/// With the host, which a short name lacks.
pub(crate) fn full(node: &Node) -> String {
    if node.name.contains('@') {
        return node.name.clone();
    }
    let host = Command::new("hostname").arg("-s").output().ok();
    let host = host.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    format!("{}@{}", node.name, host.filter(|host| !host.is_empty()).unwrap_or_else(|| "localhost".into()))
}

/// # Errors
/// When this machine has no node of that name.
pub(crate) fn must_run(node: &Node) -> Result<()> {
    if !node.short && !node.is_on_loopback() {
        return Ok(());
    }
    let names = names().unwrap_or_default();
    if names.iter().any(|name| name == node.own()) {
        return Ok(());
    }
    let others = match names.as_slice() {
        [] => String::new(),
        names => format!(", or say with --name which is meant; there are: {}", names.join(", ")),
    };
    bail!("no node {} runs here: start it with `cargo otp run`{others}", node.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meant(name: Option<&str>, sname: Option<&str>, vm: Name) -> Option<String> {
        let naming = Naming { name: name.map(Into::into), sname: sname.map(Into::into), cookie: None };
        Node::meant(&naming, &Vm { name: vm, ..Vm::default() }, "my-app").map(|node| node.name)
    }

    #[test]
    fn the_command_line_stands_before_the_configuration_and_that_before_the_application() {
        let given = || Name::Given("shop".into());
        assert_eq!(meant(None, None, Name::Application).as_deref(), Some("my_app@127.0.0.1"));
        assert_eq!(meant(None, None, given()).as_deref(), Some("shop@127.0.0.1"));
        assert_eq!(meant(Some("one"), None, given()).as_deref(), Some("one@127.0.0.1"));
        assert_eq!(meant(Some("one@10.0.0.5"), None, given()).as_deref(), Some("one@10.0.0.5"));
        assert_eq!(meant(None, Some("one"), Name::None).as_deref(), Some("one"));
        assert_eq!(meant(None, None, Name::None), None);
    }
}
