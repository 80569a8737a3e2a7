//! OTP applications in Rust (`otp/`): the programs are an application of their own, `lab/probes/actors/otp`, built
//! beside this program. The application writes its Erlang half, which is compiled here once for each build.

use std::collections::hash_map::DefaultHasher;
use std::fs;
use std::hash::{Hash, Hasher};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::PoisonError;

use crate::{erlang, locate};

const PROBE: &str = "kizami-actors-otp";

/// The folder of its modules and its library.
pub(super) fn folder() -> Result<PathBuf, String> {
    let probe = locate::ours(PROBE)?;
    let library = probe.with_file_name("libactors_otp.so");
    let content = fs::read(&library)
        .map_err(|e| format!("cannot read {}: {e}; ./x bench actors builds it", library.display()))?;
    let mut hasher = DefaultHasher::new();
    content.hash(&mut hasher);
    let folder = erlang::cached("actors-application", hasher.finish())?;
    let _one_at_a_time = erlang::COMPILING.lock().unwrap_or_else(PoisonError::into_inner);
    if folder.is_dir() {
        return Ok(folder);
    }
    let beside = folder.with_extension(format!("new-{}", std::process::id()));
    done(Command::new(&probe).arg(&beside))?;
    let sources = fs::read_dir(&beside).map_err(|e| format!("cannot read {}: {e}", beside.display()))?;
    let sources = sources.filter_map(|entry| Some(entry.ok()?.path()));
    let sources = sources.filter(|path| path.extension().is_some_and(|extension| extension == "erl"));
    done(Command::new(locate::program("erlc", "erlang-base")?).args(["+debug_info", "-o"]).arg(&beside).args(sources))?;
    if let Err(error) = fs::rename(&beside, &folder) {
        let _ = fs::remove_dir_all(&beside);
        if !folder.is_dir() {
            return Err(format!("cannot make {}: {error}", folder.display()));
        }
    }
    Ok(folder)
}

fn done(command: &mut Command) -> Result<(), String> {
    let program = PathBuf::from(command.get_program());
    let output =
        command.stdin(Stdio::null()).output().map_err(|e| format!("cannot start {}: {e}", program.display()))?;
    if output.status.success() {
        return Ok(());
    }
    let said = [output.stdout, output.stderr].concat();
    Err(format!("{} failed: {}", program.display(), String::from_utf8_lossy(&said).trim()))
}
