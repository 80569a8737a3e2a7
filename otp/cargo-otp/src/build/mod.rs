//! Builds: from sources to a folder that an Erlang VM runs.
//!
//! `target/otp/PROFILE/APP/` holds `src`, the generated Erlang, and `ebin`, the files that the VM loads: the modules, the
//! resource file and the library, whose name is made of its content. So a changed library can be loaded beside the running one.
//! The file `built` says what the folder was made from; while that is the same, nothing is made again. A new folder is made
//! beside the old one, and the two change places in one step, so a VM that is started from the folder finds one or the other,
//! complete.

mod ask;
mod compile;
mod harness;
mod lock;
mod profile;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use rustix::fs::{CWD, RenameFlags, renameat_with};
use serde::{Deserialize, Serialize};

pub(crate) use harness::instead_of_rustc;

use crate::config::Config;
use crate::erlang::{self, Erlang};
use crate::project::{Project, What};
use crate::{names, say};
use compile::Purpose;
use lock::Lock;

/// An application that can be run.
#[derive(Debug)]
pub(crate) struct Built {
    pub(crate) project: Project,
    pub(crate) config: Config,
    /// The name of the application in Erlang.
    pub(crate) name: String,
    /// The name of its native module, which is that of this build.
    pub(crate) native: String,
    /// Has `src` and `ebin`.
    pub(crate) folder: PathBuf,
    /// Kept until what was built is used, so that no other build takes its place meanwhile.
    pub(crate) lock: Lock,
}

/// The inputs that a folder was made from.
#[derive(PartialEq, Eq, Serialize, Deserialize)]
struct Origin {
    native: String,
    erlang: String,
    tool: String,
}

/// The record of a build, in the file `built`.
#[derive(Serialize, Deserialize)]
struct Record {
    origin: Origin,
    name: String,
}

pub(crate) fn build(what: &What) -> Result<Built> {
    made(what, Purpose::Run)
}

/// The application with its tests, in a folder of its own: `target/otp/test/PROFILE/APP/`.
pub(crate) fn build_tests(what: &What) -> Result<Built> {
    made(what, Purpose::Test)
}

fn made(what: &What, purpose: Purpose) -> Result<Built> {
    let project = Project::find(what)?;
    let config = Config::read(project.folder())?;
    // Cargo has tests unwind whatever the profile says.
    if purpose == Purpose::Run {
        profile::unwinds(what, &project)?;
    }
    // Without an Erlang it need not be compiled.
    let erlang = erlang::key()?;
    let output = project.output();
    let folder = match purpose {
        Purpose::Run => output.clone(),
        Purpose::Test => output.join("test"),
    };
    let folder = folder.join(what.profile_folder()).join(&project.library);
    let lock = Lock::take(&folder.with_extension("lock"))?;
    let library = compile::compile(what, &project, purpose)?;
    let content = fs::read(&library).with_context(|| format!("cannot read {}", library.display()))?;
    let native = format!("{}_{:08x}", project.library, crc32fast::hash(&content));
    let origin = Origin { native: native.clone(), erlang, tool: env!("CARGO_PKG_VERSION").to_owned() };
    let before = fs::read(folder.join("built")).ok().and_then(|text| serde_json::from_slice::<Record>(&text).ok());
    let name = match before.filter(|before| before.origin == origin) {
        Some(before) => before.name,
        None => {
            say::step("Compiling", format_args!("the Erlang half of {}", project.name));
            let erlang = Erlang::known(&output.join("erlang.json"))?;
            let fresh = folder.with_extension("new");
            let _ = fs::remove_dir_all(&fresh);
            let name = half(&library, origin, &erlang, &fresh)
                .with_context(|| format!("cannot make an application of `{}`", project.name))?;
            replace(&fresh, &folder)?;
            name
        }
    };
    Ok(Built { project, config, name, native, folder, lock })
}

impl Built {
    pub(crate) fn ebin(&self) -> PathBuf {
        self.folder.join("ebin")
    }
}

/// Writes and compiles the Erlang half into `folder`; the name of the application.
fn half(library: &Path, origin: Origin, erlang: &Erlang, folder: &Path) -> Result<String> {
    let sources = ask::sources(library, &origin.native)?;
    let name = names::check(&sources, erlang)?;
    let (src, ebin) = (folder.join("src"), folder.join("ebin"));
    for folder in [&src, &ebin] {
        fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    }
    let mut modules = Vec::new();
    for source in sources {
        let erlang = source.file.ends_with(".erl");
        let path = if erlang { &src } else { &ebin }.join(&source.file);
        fs::write(&path, source.text).with_context(|| format!("cannot write {}", path.display()))?;
        modules.extend(erlang.then_some(path));
    }
    erlang::compile(&modules, &ebin)?;
    let to = ebin.join(format!("{}.so", origin.native));
    fs::copy(library, &to).with_context(|| format!("cannot copy the library to {}", to.display()))?;
    let record = Record { origin, name };
    fs::write(folder.join("built"), serde_json::to_vec(&record)?).context("cannot write what was built")?;
    Ok(record.name)
}

/// Puts `fresh` in the place of `folder`.
pub(crate) fn replace(fresh: &Path, folder: &Path) -> Result<()> {
    if renameat_with(CWD, fresh, CWD, folder, RenameFlags::EXCHANGE).is_err() {
        // There was none before, or the file system cannot do it in one step.
        let _ = fs::remove_dir_all(folder);
        fs::rename(fresh, folder)
            .with_context(|| format!("cannot move {} to {}", fresh.display(), folder.display()))?;
    }
    let _ = fs::remove_dir_all(fresh);
    Ok(())
}
