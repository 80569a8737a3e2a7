//! A guest as a program of Linux: what the library does by itself.

use std::path::Path;
use std::process::Command;

/// Linux tells of a failed flush once, and would let the next one through.
#[test]
fn after_a_failed_flush_nothing_is_written_any_more() {
    let disk = Path::new(env!("CARGO_TARGET_TMPDIR")).join("failing.img");
    std::fs::write(&disk, [0; 4096]).unwrap();
    let mut strace = Command::new("strace");
    strace.args(["-f", "-q", "-o", "/dev/null", "-e", "trace=fdatasync"]);
    strace.args(["-e", "inject=fdatasync:error=EIO:when=1", "--", env!("CARGO_BIN_EXE_guest-disk"), "failing"]);
    let ran = strace.env("UNIKERNEL_BLOCK_data", &disk).output();
    let said = ran.as_ref().map_or_else(ToString::to_string, |ran| String::from_utf8_lossy(&ran.stderr).into_owned());
    match ran {
        Ok(ran) if ran.status.success() => {
            let out = String::from_utf8_lossy(&ran.stdout);
            assert_eq!(out, "[Err(Failed), Err(Failed), Err(Failed), Err(Failed)], Ok(())\n");
            assert_eq!(std::fs::read(&disk).unwrap(), [0; 4096], "it was written to");
        }
        Ok(_) if !said.to_lowercase().contains("ptrace") => panic!("{said}"),
        _ => skipped("kizami-unikernel-guests: a failed flush: strace cannot trace here"),
    }
}

/// What is no text in the environment is somebody else's, and no reason to end.
#[test]
fn what_is_no_text_is_no_reason_to_end() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;
    let disk = Path::new(env!("CARGO_TARGET_TMPDIR")).join("shape.img");
    std::fs::write(&disk, [0; 4096]).unwrap();
    let odd = OsStr::from_bytes(b"\xff");
    let mut command = Command::new(env!("CARGO_BIN_EXE_guest-disk"));
    command.env("UNIKERNEL_BLOCK_data", &disk).env("SOMETHING", odd).env(odd, "else").arg("shape").arg(odd);
    let ran = command.output().unwrap();
    let said = String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.success() && said.starts_with("8 blocks of 512"), "{ran:?}");
}

/// Tells who runs all tests what could not be done.
fn skipped(what: &str) {
    use std::io::Write as _;
    eprintln!("skipped: {what}");
    if let Some(list) = std::env::var_os("KIZAMI_SKIPPED") {
        let mut list = std::fs::File::options().append(true).create(true).open(list).unwrap();
        writeln!(list, "{what}").unwrap();
    }
}
