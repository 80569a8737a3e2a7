//! A release, read from its own folder, and the VM that the release holds.
//!
//! `releases/launch` has one line, a word and its value, for each of `name`, `version`, `erts` (left out if the release holds no
//! runtime system) and `node` (left out if the release has no node name).

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::epmd;

/// The host of nodes that only this machine can reach.
const LOOPBACK: &str = "127.0.0.1";

pub struct Release {
    root: PathBuf,
    pub name: String,
    pub version: String,
    erts: Option<String>,
    node: Option<String>,
    realtime: Option<String>,
}

impl Release {
    /// The release whose `bin` this program lies in.
    pub fn here() -> Result<Self, String> {
        let program = env::current_exe().or_else(|_| fs::canonicalize(env::args_os().next().unwrap_or_default()));
        let program = program.map_err(|error| format!("cannot find the folder of this program: {error}"))?;
        let root = program.parent().and_then(Path::parent).ok_or("this program lies in no release")?.to_owned();
        let file = root.join("releases/launch");
        let text = fs::read_to_string(&file).map_err(|error| format!("cannot read {}: {error}", file.display()))?;
        let value = |word: &str| {
            let mut pairs = text.lines().filter_map(|line| line.split_once(' '));
            pairs.find(|(key, _)| *key == word).map(|(_, value)| value.to_owned())
        };
        let must = |word| value(word).ok_or_else(|| format!("{} does not say {word}", file.display()));
        let node = set("RELEASE_NODE").or_else(|| value("node"));
        let (name, version, erts, realtime) = (must("name")?, must("version")?, value("erts"), value("realtime"));
        Ok(Self { root, name, version, erts, node, realtime })
    }

    /// The node as which it runs.
    pub fn node(&self) -> Result<&str, String> {
        let unnamed = || "this release runs without the name of a node, so only signals reach it".to_owned();
        self.node.as_deref().ok_or_else(unnamed)
    }

    /// The flag that gives a node a name of this kind, and this node's own name or that of another on the same host.
    pub fn kind(&self) -> &'static str {
        let host = self.node.as_deref().and_then(|node| node.split_once('@')).map_or("", |(_, host)| host);
        if host.contains(['.', ':']) { "-name" } else { "-sname" }
    }

    /// Whether its node is among those of this machine.
    pub fn is_known(&self) -> bool {
        let own = self.node.as_deref().and_then(|node| node.split('@').next()).unwrap_or_default();
        epmd::names().is_some_and(|names| names.iter().any(|name| name == own))
    }

    /// The VM, yet without anything to do.
    fn erl(&self) -> Command {
        let mut erl = match &self.erts {
            Some(erts) => {
                let programs = self.root.join(format!("erts-{erts}/bin"));
                let mut erl = Command::new(programs.join("erlexec"));
                erl.env("ROOTDIR", &self.root).env("BINDIR", &programs).env("EMU", "beam").env("PROGNAME", &self.name);
                erl
            }
            None => Command::new("erl"),
        };
        // Libraries that the VM needs and that not every machine has.
        let native = self.root.join("native");
        if native.is_dir() {
            let others = env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
            let all = env::split_paths(&others).filter(|path| !path.as_os_str().is_empty());
            if let Ok(all) = env::join_paths([native].into_iter().chain(all)) {
                erl.env("LD_LIBRARY_PATH", all);
            }
        }
        // The VM does not start without a home, and takes texts for Latin-1 without a locale.
        if set("HOME").is_none() {
            erl.env("HOME", &self.root);
        }
        if ["LC_ALL", "LC_CTYPE", "LANG"].iter().all(|name| set(name).is_none()) {
            erl.env("LANG", "C.UTF-8");
        }
        erl
    }

    /// The VM with the application in it.
    pub fn application(&self, realtime: bool) -> Result<Command, String> {
        let folder = self.root.join("releases").join(&self.version);
        let mut erl = self.erl();
        erl.args(["-noinput", "+Bd", "-mode", "embedded", "-boot"]).arg(folder.join("start"));
        erl.args(["-boot_var", "REL"]).arg(self.root.join("lib")).arg("-config").arg(folder.join("sys"));
        erl.arg("-args_file").arg(folder.join("vm.args"));
        if realtime {
            let asked = self.realtime.as_ref().ok_or("this release was made without [realtime] in its otp.toml")?;
            let (flags, passed_on) = asked.split_once('|').unwrap_or(("", asked));
            erl.env("OTP_REALTIME", passed_on).args(flags.split_whitespace());
        }
        if let Some(node) = &self.node {
            let loopback = node.ends_with(&format!("@{LOOPBACK}"));
            erl.args([self.kind(), node, "-setcookie", &self.cookie()?, "-start_epmd", "false"]);
            if loopback {
                erl.args(["-kernel", "inet_dist_use_interface", "{127,0,0,1}"]);
            }
            self.start_epmd(loopback)?;
            if self.is_known() {
                return Err(format!(
                    "{node} runs here already: stop it, or give this one another name in RELEASE_NODE"
                ));
            }
        }
        Ok(erl)
    }

    /// A VM that reaches the one with the application: its own name and further flags are still to be given.
    pub fn other(&self) -> Result<Command, String> {
        let mut erl = self.erl();
        if self.erts.is_some() {
            erl.arg("-boot").arg(self.root.join("releases").join(&self.version).join("start_clean"));
        }
        erl.args(["-setcookie", &self.cookie()?, "-start_epmd", "false"]);
        Ok(erl)
    }

    /// A name for such a VM.
    pub fn other_name(&self) -> String {
        let own = format!(
            "{}_{}",
            self.name.replace(|letter: char| !letter.is_ascii_alphanumeric(), "_"),
            std::process::id()
        );
        if self.kind() == "-name" { format!("{own}@{LOOPBACK}") } else { own }
    }

    fn cookie(&self) -> Result<String, String> {
        if let Some(cookie) = set("RELEASE_COOKIE") {
            return Ok(cookie);
        }
        let file = self.root.join("releases/COOKIE");
        let cookie = fs::read_to_string(&file).map_err(|error| {
            format!("cannot read {} (RELEASE_COOKIE would take its place): {error}", file.display())
        })?;
        Ok(cookie.trim().to_owned())
    }

    /// The VM would have a shell start epmd, and there may be none.
    fn start_epmd(&self, loopback: bool) -> Result<(), String> {
        if epmd::names().is_some() {
            return Ok(());
        }
        let program = match &self.erts {
            Some(erts) => self.root.join(format!("erts-{erts}/bin/epmd")),
            None => "epmd".into(),
        };
        let mut epmd = Command::new(&program);
        epmd.arg("-daemon").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        epmd.env("LD_LIBRARY_PATH", self.root.join("native"));
        if loopback && set("ERL_EPMD_ADDRESS").is_none() {
            epmd.env("ERL_EPMD_ADDRESS", LOOPBACK);
        }
        epmd.status().map_err(|error| format!("cannot start {}: {error}", program.display()))?;
        // It answers as soon as it listens, which is when the one that was started ends.
        Ok(())
    }
}

/// A variable that is there and says something.
fn set(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.is_empty())
}
