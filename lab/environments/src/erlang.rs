//! The Erlang VM of this machine, for every environment that starts one: its version, and probes compiled for it.
//!
//! The sources of the probes are embedded in this program. They are compiled once for each release of the VM into the
//! user's cache and loaded from there.

use std::collections::hash_map::DefaultHasher;
use std::fs;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, OnceLock, PoisonError};

use crate::locate;

/// Names, which may have a folder before them, and texts.
pub type Sources = &'static [(&'static str, &'static str)];

/// The name of the script that compiles a probe.
const BUILD: &str = "build";

/// Held by whoever compiles.
pub static COMPILING: Mutex<()> = Mutex::new(());

/// To be called in the child, before its program begins: the pipe that reports are read from becomes descriptor 3, and the VM's standard
/// output joins its error output, so that nothing that it prints is taken for a report.
pub fn reports_on_three() {
    // SAFETY: system calls on the child's own descriptors.
    unsafe {
        libc::dup2(1, kizami_protocol::ARENA_FD);
        libc::dup2(2, 1);
    }
}

/// The version as it is told to users.
pub fn shown_version() -> Option<(String, String)> {
    let version = vm_version().ok()?;
    Some(("erlang".to_owned(), format!("OTP {}, ERTS {}", version.release, version.erts)))
}

#[derive(Debug, Clone)]
pub struct VmVersion {
    release: String,
    erts: String,
}

/// Asks the VM itself, once.
fn vm_version() -> Result<VmVersion, String> {
    static VERSION: OnceLock<Result<VmVersion, String>> = OnceLock::new();
    let ask = || {
        let erl = locate::program("erl", "erlang-base")?;
        let expression =
            "io:format(\"~s ~s~n\", [erlang:system_info(otp_release), erlang:system_info(version)]), halt().";
        let said = locate::version(&erl, &["-noshell", "-noinput", "-eval", expression]);
        let said = said.ok_or_else(|| format!("{} does not start", erl.display()))?;
        match said.split_once(' ') {
            Some((release, erts)) => Ok(VmVersion { release: release.to_owned(), erts: erts.to_owned() }),
            None => Err(format!("{} did not tell its version but {said:?}", erl.display())),
        }
    };
    VERSION.get_or_init(ask).clone()
}

/// The folder with the compiled probe `name`, which is made when it is not there. `build` is the text of a shell script
/// that lies beside the sources and is called with the folder for what it makes.
pub fn compiled(name: &str, sources: Sources, build: &str) -> Result<PathBuf, String> {
    let version = vm_version()?;
    let mut hasher = DefaultHasher::new();
    (sources, build, &version.erts).hash(&mut hasher);
    let folder = locate::cache().join(format!("{name}-otp{}-{:016x}", version.release, hasher.finish()));
    // Within this program one thread compiles and the others wait; another program has a folder of its own to compile in.
    let _one_at_a_time = COMPILING.lock().unwrap_or_else(PoisonError::into_inner);
    // It gets its name when all of it is there.
    if folder.is_dir() {
        return Ok(folder);
    }
    let doing = |what: &str, path: &Path| {
        let what = format!("could not {what} {}", path.display());
        move |e: std::io::Error| format!("{what}: {e} (set XDG_CACHE_HOME to a folder that can be written)")
    };
    let beside = folder.with_extension(format!("new-{}", std::process::id()));
    for (name, text) in sources.iter().chain(&[(BUILD, build)]) {
        let path = beside.join("source").join(name);
        let parent = path.parent().unwrap_or(&beside);
        fs::create_dir_all(parent).map_err(doing("make the folder", parent))?;
        fs::write(&path, text).map_err(doing("write", &path))?;
    }
    let output = Command::new("sh")
        .arg(beside.join("source").join(BUILD))
        .arg(&beside)
        .stdin(Stdio::null())
        .output()
        .map_err(|e| format!("could not start sh to compile the probe for the Erlang VM: {e}"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
        let _ = fs::remove_dir_all(&beside);
        return Err(format!("could not compile the probe for the Erlang VM: {}", said.trim()));
    }
    // Whoever is first wins; a second run that compiled at the same time uses the first one's.
    if fs::rename(&beside, &folder).is_err() {
        let _ = fs::remove_dir_all(&beside);
    }
    if folder.is_dir() {
        Ok(folder)
    } else {
        Err(format!("the compiled probe for the Erlang VM is not in {}", folder.display()))
    }
}

/// Where what was compiled for this release of the VM is kept, if its sources have this number.
pub fn cached(name: &str, number: u64) -> Result<PathBuf, String> {
    let version = vm_version()?;
    let mut hasher = DefaultHasher::new();
    (number, &version.erts).hash(&mut hasher);
    Ok(locate::cache().join(format!("{name}-otp{}-{:016x}", version.release, hasher.finish())))
}
