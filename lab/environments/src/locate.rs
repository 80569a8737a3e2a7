//! Paths of the programs that take part: those of this project beside the running program, others in `PATH`.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The program that runs workloads in a Linux process, and background loads. It needs no libraries, so that the same file
/// runs wherever there is a kernel.
pub const LINUX_PROBE: &str = "static/kizami-probe";

/// What builds a program whose name is not that of its package.
const BUILDERS: [(&str, &str); 7] = [
    ("unikernel", "cargo build -p kizami-unikernel-command"),
    ("static/kizami-unikernel-probe", "lab/probes/unikernel/build FOLDER"),
    ("board/node", "image/node/build FOLDER"),
    ("board/kizami-node-probe", "image/node/build FOLDER kizami-node-probe"),
    ("kizami-rtos", "cargo build -p kizami-rtos-probe"),
    ("rtos-inspect", "cargo build -p kizami-rtos-inspect"),
    ("libkizami_beam_native.so", "cargo build -p kizami-beam-native"),
];

/// A file of ours, which is installed beside the running program. Test programs run one folder deeper.
pub fn ours(name: &str) -> Result<PathBuf, String> {
    let running = env::current_exe().map_err(|e| format!("the path of this program is unknown: {e}"))?;
    let folders = running.ancestors().skip(1).take(2);
    folders.map(|folder| folder.join(name)).find(|path| path.is_file()).ok_or_else(|| {
        let folder = running.parent().unwrap_or(Path::new("?"));
        let builder = match BUILDERS.iter().find(|(program, _)| *program == name) {
            Some((_, builder)) => (*builder).to_owned(),
            None if name.starts_with("static/arm64/") => {
                format!("after ./x setup arm64, lab/probes/linux/build {} arm64", folder.display())
            }
            None if name.starts_with("static/") => format!("lab/probes/linux/build {}", folder.display()),
            None => format!("cargo build -p {name}"),
        };
        format!(
            "{name} is not beside this program in {}: {builder} builds it, as ./x does for a run that needs it",
            folder.display()
        )
    })
}

/// The user's cache folder for this program.
pub fn cache() -> PathBuf {
    let absolute = |name| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let base = absolute("XDG_CACHE_HOME").or_else(|| absolute("HOME").map(|home| home.join(".cache")));
    base.unwrap_or_else(env::temp_dir).join("kizami")
}

/// A folder of ours beside the running program.
pub fn folder(name: &str) -> Option<PathBuf> {
    let running = env::current_exe().ok()?;
    running.ancestors().skip(1).take(2).map(|folder| folder.join(name)).find(|path| path.is_dir())
}

/// A program in `PATH`, or in the folders of an administrator's programs, which Debian leaves out of a user's.
pub fn program(name: &str, package: &str) -> Result<PathBuf, String> {
    let path = env::var_os("PATH").unwrap_or_default();
    let folders = env::split_paths(&path).chain(["/usr/sbin", "/sbin"].map(PathBuf::from));
    let found = folders.map(|folder| folder.join(name)).find(|candidate| candidate.is_file());
    found.ok_or_else(|| format!("{name} is not installed (on Debian: apt install {package})"))
}

/// The first line that a program prints about its version, on whichever stream.
pub fn version(program: &Path, args: &[&str]) -> Option<String> {
    let output = Command::new(program).args(args).stdin(Stdio::null()).output().ok()?;
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text);
    text.lines().map(str::trim).find(|line| !line.is_empty()).map(str::to_owned)
}
