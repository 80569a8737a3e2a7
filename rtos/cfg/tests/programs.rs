//! The example in C, built and run.

use std::path::{Path, PathBuf};
use std::process::Command;

fn says(target: &str, processors: u8) {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/rtos-c");
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{target}-{processors}"));
    let output = Command::new(env!("CARGO_BIN_EXE_rtos-cfg"))
        .args([example.join("app.cfg"), example.join("app.c")])
        .args(["--target", target, "--processors", &processors.to_string(), "--run", "--folder"])
        .arg(folder)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    let expected = "the kernel starts\n\
                    consumer 7: the sum is 55\n\
                    all 10 received; not too early\n\
                    an object that there is not: -18 (E_ID is -18)\n\
                    beats: some\n\
                    the kernel ends\n";
    assert_eq!(said, expected);
}

#[test]
fn on_this_machine() {
    says("host", 2);
}

#[test]
fn on_one_cortex_m33() {
    says("m33", 1);
}

#[test]
fn on_two_cortex_a9() {
    says("a9", 2);
}

#[test]
fn on_two_cores_of_an_rp2040() {
    says("rp2040", 2);
}
