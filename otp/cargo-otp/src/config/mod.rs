//! The settings in `otp.toml`: how the VM is started, and what a release holds. The file lies beside Cargo.toml and may be left
//! out.
//!
//! The parts of an application are not listed in it: the library knows its own root and behaviours, and the compiler has checked
//! them. An unknown key is refused with its place, since a misspelt setting that is passed over would only be seen on the device.

mod name;
mod read;
mod realtime;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow};
pub(crate) use name::{LOOPBACK, Name, check_name};
pub(crate) use realtime::{Realtime, VARIABLE};
use toml::de::DeValue;

use read::{Reader, Table, expected};

/// The name of the file.
pub(crate) const FILE: &str = "otp.toml";

const ELSEWHERE: [(&str, &str); 3] = [
    ("system", "the root is named in lib.rs: otp::application!(root)"),
    ("behaviours", "behaviours need no list: each crate that the application depends on and names brings its own"),
    ("dependencies", "the crates that an application depends on stand in Cargo.toml"),
];

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Config {
    pub(crate) vm: Vm,
    pub(crate) realtime: Option<Realtime>,
    pub(crate) release: Release,
    pub(crate) test: Test,
}

/// `[test]`: what is there when tests run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Test {
    /// Whether the application is started before the tests are; otherwise each starts what it needs.
    pub(crate) start: bool,
}

/// `[vm]`: how a node is started.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Vm {
    pub(crate) flags: Vec<String>,
    pub(crate) name: Name,
    pub(crate) cookie: Option<String>,
    pub(crate) schedulers: Option<u32>,
    /// A file of parameters of applications, as `erl -config` takes it.
    pub(crate) config: Option<PathBuf>,
    /// A file of settings of TLS, as `erl -ssl_dist_optfile` takes it: nodes talk by TLS then, and by nothing else.
    pub(crate) tls: Option<PathBuf>,
}

/// `[release]`: what a release holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Release {
    pub(crate) include_erts: bool,
    pub(crate) strip: bool,
    pub(crate) extra_applications: Vec<String>,
    /// A file of flags of the VM, as `erl -args_file` takes it.
    pub(crate) vm_args: Option<PathBuf>,
}

impl Default for Release {
    fn default() -> Self {
        Self { include_erts: true, strip: true, extra_applications: Vec::new(), vm_args: None }
    }
}

impl Config {
    /// The configuration in this folder.
    ///
    /// # Errors
    /// When it cannot be read or something in it is wrong: all of that, with its places.
    pub(crate) fn read(folder: &Path) -> Result<Self> {
        let path = folder.join(FILE);
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(error) => return Err(error).with_context(|| format!("cannot read {}", path.display())),
        };
        let here = std::env::current_dir().ok();
        let shown = here.and_then(|here| path.strip_prefix(here).ok().map(Path::to_owned)).unwrap_or(path);
        Self::parse(&shown.display().to_string(), &text, folder).map_err(|wrong| anyhow!("{FILE} is wrong\n{wrong}"))
    }

    fn parse(file: &str, text: &str, folder: &Path) -> Result<Self, String> {
        let reader = Reader::new(file, text);
        let document = reader.document();
        let mut table = reader.table(&document);
        let config = Self {
            vm: table.inner("vm", |table| Vm::read(table, folder)).unwrap_or_default(),
            realtime: table.inner("realtime", Realtime::read),
            release: table.inner("release", |table| Release::read(table, folder)).unwrap_or_default(),
            test: table
                .inner("test", |table| Test { start: table.flag("start").unwrap_or_default() })
                .unwrap_or_default(),
        };
        table.finish(&ELSEWHERE);
        drop(document);
        reader.finish(config)
    }
}

impl Vm {
    fn read(table: &mut Table<'_, '_>, folder: &Path) -> Self {
        Self {
            flags: table.texts("flags").unwrap_or_default(),
            name: table.value("name", name).unwrap_or_default(),
            cookie: table.text("cookie"),
            schedulers: table.number("schedulers", 1..=1024),
            config: file(table, "config", folder),
            tls: file(table, "tls", folder),
        }
    }

    /// All flags that it stands for.
    pub(crate) fn all_flags(&self) -> Vec<String> {
        let schedulers = self.schedulers.map(|number| ["+S".to_owned(), format!("{number}:{number}")]);
        schedulers.into_iter().flatten().chain(self.flags.iter().cloned()).collect()
    }
}

fn name(value: &DeValue<'_>) -> Result<Name, String> {
    match (value.as_str(), value.as_bool()) {
        (Some(name), _) => check_name(name).map(|()| Name::Given(name.to_owned())),
        (_, Some(false)) => Ok(Name::None),
        _ => Err(expected("the name of a node, or false for none", value)),
    }
}

impl Release {
    fn read(table: &mut Table<'_, '_>, folder: &Path) -> Self {
        let usual = Self::default();
        Self {
            include_erts: table.flag("include_erts").unwrap_or(usual.include_erts),
            strip: table.flag("strip").unwrap_or(usual.strip),
            extra_applications: table.texts("extra_applications").unwrap_or_default(),
            vm_args: file(table, "vm_args", folder),
        }
    }
}

/// A file that is named relative to the configuration.
fn file(table: &mut Table<'_, '_>, key: &'static str, folder: &Path) -> Option<PathBuf> {
    table.value(key, |value| {
        let path = folder.join(value.as_str().ok_or_else(|| expected("a file", value))?);
        if path.is_file() { Ok(path) } else { Err(format!("there is no file {}", path.display())) }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Config, String> {
        Config::parse(FILE, text, Path::new("/nowhere"))
    }

    #[test]
    fn every_setting_is_read() {
        let config = parse(
            "[vm]\nflags = [\"+P\", \"100000\"]\nname = \"shop\"\ncookie = \"c\"\nschedulers = 2\n\
             [realtime]\npolicy = \"fifo\"\npriority = 80\nlock_memory = true\ncpus = [2, 3]\nbusy_wait = \"long\"\n\
             [release]\ninclude_erts = false\nstrip = false\nextra_applications = [\"sasl\"]\n\
             [test]\nstart = true\n",
        )
        .expect("all of it is right");
        assert_eq!(config.vm.all_flags(), ["+S", "2:2", "+P", "100000"]);
        assert_eq!(config.vm.name, Name::Given("shop".into()));
        let realtime = config.realtime.expect("it is there");
        assert_eq!(realtime.passed_on(), "policy=fifo priority=80 lock_memory=true cpus=2,3 busy_wait=long");
        assert!(config.test.start);
        assert!(!config.release.include_erts && !config.release.strip);
        assert_eq!(config.release.extra_applications, ["sasl"]);
    }

    #[test]
    fn nothing_is_needed() {
        assert_eq!(parse(""), Ok(Config::default()));
        assert_eq!(parse("[vm]\nname = false\n").expect("no name").vm.name, Name::None);
    }

    #[test]
    fn all_that_is_wrong_is_shown_with_its_place() {
        let wrong = parse(
            "[vm]\nflgas = []\nschedulers = 0\ntls = \"none.conf\"\n[system]\nstroot = \"root\"\n[release]\nstrip = \"yes\"\nvm_args = \"x\"\n",
        )
        .expect_err("it is wrong");
        let expected = [
            "otp.toml:2:1\n  |\n2 | flgas = []\n  | ^^^^^ unknown key: did you mean `flags`?",
            "otp.toml:3:14\n  |\n3 | schedulers = 0\n  |              ^ expected a number from 1 to 1024, found integer",
            "otp.toml:4:7\n  |\n4 | tls = \"none.conf\"\n  |       ^^^^^^^^^^^ there is no file /nowhere/none.conf",
            "otp.toml:5:2\n  |\n5 | [system]\n  |  ^^^^^^ the root is named in lib.rs: otp::application!(root)",
            "otp.toml:8:9\n  |\n8 | strip = \"yes\"\n  |         ^^^^^ expected true or false, found string",
            "otp.toml:9:11\n  |\n9 | vm_args = \"x\"\n  |           ^^^ there is no file /nowhere/x",
        ];
        let mut rest = wrong.as_str();
        for one in expected {
            let (_, after) = rest.split_once(one).unwrap_or_else(|| panic!("{one}\nis not in\n{wrong}"));
            rest = after;
        }
    }

    #[test]
    fn what_is_no_toml_is_shown_too() {
        let wrong = parse("[vm\nname = é = 1\n").expect_err("it is wrong");
        assert!(wrong.contains("otp.toml:1:4") && wrong.contains("otp.toml:2:"), "{wrong}");
    }
}
