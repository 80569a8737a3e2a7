//! The OTP half of the comparison: its application in a folder, compiled, and an Erlang VM that runs it once.

use std::path::PathBuf;
use std::process::Command;
use std::{env, fs};

// Its behaviours are linked into this program, so that what they say of themselves can be asked for.
use pump as _;

/// The application, ready to be run.
#[derive(Debug)]
pub struct OtpHalf {
    folder: tempfile::TempDir,
}

impl OtpHalf {
    /// # Errors
    /// When something cannot be written, found or compiled, in words.
    pub fn compile() -> Result<Self, String> {
        let folder = tempfile::tempdir().map_err(|error| format!("no folder for the application: {error}"))?;
        let mut modules = Vec::new();
        for source in otp::generate::sources("pump_native").map_err(|clash| clash.to_string())? {
            let path = folder.path().join(&source.file);
            fs::write(&path, &source.text).map_err(|error| format!("cannot write {}: {error}", path.display()))?;
            modules.extend(source.file.ends_with(".erl").then_some(source.file));
        }
        let library = library()?;
        fs::copy(&library, folder.path().join("pump_native.so"))
            .map_err(|error| format!("cannot copy {}: {error}", library.display()))?;
        let half = Self { folder };
        half.output(Command::new("erlc").args(modules))?;
        Ok(half)
    }

    /// Runs it, with what may hang on dirty schedulers or `plain`; how it went.
    ///
    /// # Errors
    /// When the VM cannot be started or ended before its time, with what it said.
    pub fn run(&self, seed: u64, faults: usize, how: &str) -> Result<String, String> {
        const RUN: &str = "ok = application:start(pump), \
            io:format(\"~ts\", [gen_server:call(judge, verdict, infinity)]), halt(0).";
        self.output(
            Command::new("erl")
                .args(["-noshell", "-pa", ".", "-kernel", "logger_level", "none", "-eval", RUN])
                .args(["-otp_application", "pump", "-extra", &seed.to_string(), &faults.to_string(), how])
                // Finding names for a trace takes longer than anything else after a panic.
                .env_remove("RUST_BACKTRACE"),
        )
    }

    fn output(&self, command: &mut Command) -> Result<String, String> {
        let program = command.get_program().to_string_lossy().into_owned();
        let output = command.current_dir(self.folder.path()).output();
        let output =
            output.map_err(|error| format!("{program}, of Debian's package erlang-base, does not start: {error}"))?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        if output.status.success() {
            return Ok(text);
        }
        Err(format!("{program} ended with {}: {text}{}", output.status, String::from_utf8_lossy(&output.stderr)))
    }
}

/// The library, which cargo puts beside programs or into the folder of what they depend on.
fn library() -> Result<PathBuf, String> {
    let own = env::current_exe().map_err(|error| format!("the path of this program is unknown: {error}"))?;
    let places = [own.with_file_name("libpump.so"), own.with_file_name("deps/libpump.so")];
    places
        .into_iter()
        .find(|place| place.exists())
        .ok_or_else(|| format!("there is no libpump.so by {}", own.display()))
}
