//! The program as one of Linux, from the same source: its device is a file.

use std::path::Path;
use std::process::{Command, Output};

use unikernel_files::{Files, Memory, PAGE};

fn run(disk: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_key-value"));
    command.env("UNIKERNEL_BLOCK_data", disk).args(arguments).output().unwrap()
}

fn said(output: &Output) -> (Option<i32>, String) {
    (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
}

#[test]
fn what_was_put_is_there_the_next_time() {
    let disk = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("store-{}.img", std::process::id()));
    let files = Files::format(Memory::new(512, 256 * PAGE / 512)).unwrap();
    std::fs::write(&disk, files.into_disk().bytes()).unwrap();
    for (key, value) in [("city", "Kyoto"), ("river", "Kamo"), ("city", "Osaka")] {
        assert_eq!(said(&run(&disk, &["put", key, value])), (Some(0), String::new()));
    }
    assert_eq!(said(&run(&disk, &["get", "city"])), (Some(0), "Osaka\n".into()));
    assert_eq!(said(&run(&disk, &["keys"])), (Some(0), "city\nriver\n".into()));
    assert_eq!(said(&run(&disk, &["keys", "d"])), (Some(0), "river\n".into()));
    assert_eq!(said(&run(&disk, &["remove", "river"])).0, Some(0));
    assert_eq!(said(&run(&disk, &["get", "river"])).0, Some(1));
    let (code, text) = said(&run(&disk, &["bench", "500"]));
    assert!(code == Some(0) && text.contains("put and sync") && text.contains("keys, a log of"), "{text}");
    assert_eq!(said(&run(&disk, &["bench", "none"])).0, Some(2));
    std::fs::remove_file(&disk).unwrap();
    let none = run(&disk, &["keys"]);
    assert!(none.status.code() != Some(0) && !none.stderr.is_empty());
}
