//! Paths of the programs that take part: those of this project beside the running program, others in `PATH`.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The program that runs workloads in a Linux process, and background loads.
pub const LINUX_PROBE: &str = "kizami-probe";

/// The packages of programs whose names are not theirs.
const PACKAGES: [(&str, &str); 3] = [
    ("kizami-rtos", "kizami-rtos-probe"),
    ("rtos-inspect", "kizami-rtos-inspect"),
    ("libkizami_beam_native.so", "kizami-beam-native"),
];

/// A file of ours, which is installed beside the running program. Test programs run one folder deeper.
pub fn ours(name: &str) -> Result<PathBuf, String> {
    let running = env::current_exe().map_err(|e| format!("the path of this program is unknown: {e}"))?;
    let folders = running.ancestors().skip(1).take(2);
    folders.map(|folder| folder.join(name)).find(|path| path.is_file()).ok_or_else(|| {
        let folder = running.parent().unwrap_or(Path::new("?"));
        let package = PACKAGES.iter().find(|(program, _)| *program == name).map_or(name, |(_, package)| package);
        format!("{name} is not beside this program in {}: cargo build -p {package} builds it, as ./x does for a run that needs it", folder.display())
    })
}

/// A program in `PATH`.
pub fn program(name: &str, package: &str) -> Result<PathBuf, String> {
    let path = env::var_os("PATH").unwrap_or_default();
    let found = env::split_paths(&path).map(|folder| folder.join(name)).find(|candidate| candidate.is_file());
    found.ok_or_else(|| format!("{name} is not installed (on Debian: apt install {package})"))
}

/// The first line that a program prints about its version, on whichever stream.
pub fn version(program: &Path, args: &[&str]) -> Option<String> {
    let output = Command::new(program).args(args).stdin(Stdio::null()).output().ok()?;
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text);
    text.lines().map(str::trim).find(|line| !line.is_empty()).map(str::to_owned)
}
