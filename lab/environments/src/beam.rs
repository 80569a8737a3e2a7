//! The Erlang VM of this machine, with a probe in Erlang and Elixir inside.
//!
//! The probe's sources are part of this program. They are compiled once for each release of the VM into the user's cache
//! and loaded from there. The VM's own output goes to the error stream, so that nothing that it prints is taken for a
//! report; reports come on descriptor 3.
//!
//! The study keeps all rows until the end. Here they are reported every hundred, so that a VM that is killed loses no
//! more than the last of them; the process that measures does not take part in that.

use std::collections::hash_map::DefaultHasher;
use std::fs;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use kizami_settings::{Scope, process};
use kizami_workloads::{Params, Workload};

use crate::error::Error;
use crate::job::Job;
use crate::launch::{self, Started};
use crate::{Environment, Place, locate};

/// See the module.
#[derive(Debug)]
pub struct Beam;

/// The setting that goes to the VM's command line, and not to the probe.
const VM_FLAGS: &str = "vm_flags";
const NATIVE: &str = "libkizami_beam_native.so";
/// After so many rows they are reported.
const FLUSH_ROWS: &str = "100";

macro_rules! sources {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../probes/beam/", $name)))),*]
    };
}

const SOURCES: &[(&str, &str)] = sources![
    "build",
    "src/kizami_native.erl",
    "src/kizami_options.erl",
    "src/kizami_probe.erl",
    "src/kizami_report.erl",
    "src/kizami_settings.erl",
    "src/kizami_signal.erl",
    "src/kizami_work.erl",
    "src/kizami_work.ex",
];

impl Environment for Beam {
    fn name(&self) -> &'static str {
        "beam"
    }

    fn title(&self) -> &'static str {
        "the Erlang VM of this machine"
    }

    fn available(&self) -> Result<(), String> {
        for (program, package) in [("erl", "erlang-base"), ("erlc", "erlang-base"), ("elixirc", "elixir")] {
            locate::program(program, package)?;
        }
        Ok(())
    }

    fn does(&self, workload: &Workload) -> bool {
        workload.beam.is_some()
    }

    fn supports(&self, params: &Params) -> Result<(), String> {
        if params.written().get("lang").is_some_and(|lang| lang == "native") {
            return Err("an Erlang VM runs Elixir or Erlang: set lang = \"elixir\" or \"erlang\"".into());
        }
        Ok(())
    }

    fn versions(&self) -> Vec<(String, String)> {
        let elixir = locate::program("elixir", "elixir").ok();
        let elixir = elixir.and_then(|path| locate::version(&path, &["--short-version"]));
        let erlang = vm_version().ok().map(|v| ("erlang".to_owned(), format!("OTP {}, ERTS {}", v.release, v.erts)));
        erlang.into_iter().chain(elixir.map(|v| ("elixir".to_owned(), v))).collect()
    }

    fn start(&self, job: &Job, place: &Place<'_>) -> Result<Started, Error> {
        let function = job
            .workload()
            .beam
            .ok_or_else(|| Error::Unusable(format!("{} has no Erlang half", job.workload().name)))?;
        let compiled = compiled().map_err(Error::Unusable)?;
        let elixir = fs::read_to_string(compiled.join("elixir_ebin"))
            .map_err(Error::os(format!("read elixir_ebin in {}", compiled.display())))?;
        let mut command = Command::new(locate::program("erl", "erlang-base").map_err(Error::Unusable)?);
        // A VM that aborts says why on its error output; a dump of its memory is of no use here.
        command.stdin(Stdio::null()).env("ERL_CRASH_DUMP_BYTES", "0").arg("+Bi");
        if let Some(flags) = job.settings.get(VM_FLAGS) {
            command.args(flags.split_whitespace());
        }
        command.args(["-noshell", "-noinput", "-pa"]).arg(&compiled).args(["-pa", elixir.trim()]);
        command.args(["-s", "kizami_probe", "main", "-extra"]);
        command.arg(format!("workload={function}"));
        for (name, value) in keys(job) {
            command.arg(format!("{name}={value}"));
        }
        let asked = job.settings.of(Scope::Process);
        if asked.get("lock_memory") == Some("true") {
            let library = locate::ours(NATIVE).map_err(Error::Unusable)?;
            command.arg(format!("nif={}", library.with_extension("").display()));
        }
        let prepared = process::InChild::new(&asked).joining(place.cgroup);
        let in_child = move || {
            prepared.apply();
            // SAFETY: system calls on the child's own descriptors: the pipe that reports are read from becomes
            // descriptor 3, and the VM's standard output joins its error output.
            unsafe {
                libc::dup2(1, kizami_protocol::ARENA_FD);
                libc::dup2(2, 1);
            }
        };
        let mut started = launch::start(command, None, Box::new(launch::report_lines), in_child)?;
        started.read_back = Some(Box::new(move |pid| process::read_of(pid, &asked)));
        Ok(started)
    }
}

/// The probe's keys for a job: parameters and settings under the probe's names.
fn keys(job: &Job) -> Vec<(String, String)> {
    let mut keys = vec![("flush_rows".to_owned(), FLUSH_ROWS.to_owned())];
    for (name, value) in job.params.written() {
        match name.as_str() {
            "pause" => keys.push(("pause_ms".to_owned(), (job.params.number("pause") / 1_000_000).to_string())),
            _ => keys.push((name, value)),
        }
    }
    let settings = job.settings.of(Scope::Beam).written();
    keys.extend(settings.into_iter().filter(|(name, _)| name != VM_FLAGS));
    if let Some(lock) = job.settings.get("lock_memory") {
        keys.push(("lock_memory".to_owned(), lock.to_owned()));
    }
    keys
}

#[derive(Debug, Clone)]
struct VmVersion {
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

/// The folder with the compiled probe, which is made when it is not there.
fn compiled() -> Result<PathBuf, String> {
    let version = vm_version()?;
    let mut hasher = DefaultHasher::new();
    (SOURCES, &version.erts).hash(&mut hasher);
    let folder = cache().join(format!("beam-otp{}-{:016x}", version.release, hasher.finish()));
    if folder.join("elixir_ebin").is_file() {
        return Ok(folder);
    }
    let doing = |what: &str, path: &Path| {
        let what = format!("could not {what} {}", path.display());
        move |e: std::io::Error| format!("{what}: {e} (set XDG_CACHE_HOME to a folder that can be written)")
    };
    let beside = folder.with_extension(format!("new-{}", std::process::id()));
    for (name, text) in SOURCES {
        let path = beside.join("source").join(name);
        let parent = path.parent().unwrap_or(&beside);
        fs::create_dir_all(parent).map_err(doing("make the folder", parent))?;
        fs::write(&path, text).map_err(doing("write", &path))?;
    }
    let output = Command::new("sh")
        .arg(beside.join("source/build"))
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
    if folder.join("elixir_ebin").is_file() {
        Ok(folder)
    } else {
        Err(format!("the compiled probe for the Erlang VM is not in {}", folder.display()))
    }
}

/// The user's cache folder for this program.
fn cache() -> PathBuf {
    let absolute = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let base = absolute("XDG_CACHE_HOME").or_else(|| absolute("HOME").map(|home| home.join(".cache")));
    base.unwrap_or_else(std::env::temp_dir).join("kizami")
}
