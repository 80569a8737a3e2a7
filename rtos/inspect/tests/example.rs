//! The example for a board is one for every board: what differs is the port's crate, the name of the port, and the memory.

use std::path::{Path, PathBuf};
use std::time::Duration;

use inspect::emulator::{self, Told};
use inspect::{Model, Platform, image};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Runs it, and looks at what it says.
fn runs(folder: &Path, platform: Platform) {
    let image = image::build(folder.to_str().unwrap(), platform, Model::Uni).unwrap();
    let run = emulator::run(&image, Duration::from_secs(120), Told::Afterwards).unwrap();
    let rounds = run.said.lines().filter(|line| line.starts_with("round ") && line.ends_with(" since the task began"));
    assert!(run.status == 0 && rounds.count() == 5, "{platform}:\n{}", run.said);
}

/// The example for another board, as docs/rtos-start.md says.
fn for_board(crate_name: &str, port: &str, memory: &str) -> PathBuf {
    let example = root().join("examples/board");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(crate_name);
    std::fs::create_dir_all(folder.join("src")).unwrap();
    let put = |file: &str, from: &[(&str, &str)]| {
        let mut text = std::fs::read_to_string(example.join(file)).unwrap();
        for (old, new) in from {
            assert!(text.contains(old), "{file} has no '{old}'");
            text = text.replace(old, new);
        }
        std::fs::write(folder.join(file), text).unwrap();
    };
    // A name of its own, because the same folder holds what is built of each.
    let name = format!("name = \"{crate_name}-board\"");
    put(
        "Cargo.toml",
        &[
            ("name = \"board\"", &name),
            ("cortex-m33", crate_name),
            ("../../rtos", root().join("rtos").to_str().unwrap()),
        ],
    );
    put("src/main.rs", &[("port::CortexM33<port::boards::Mps2An505>", port)]);
    put("build.rs", &[]);
    std::fs::write(folder.join("board.x"), memory).unwrap();
    folder
}

#[test]
fn as_it_is() {
    runs(&root().join("examples/board"), Platform::M33);
}

#[test]
fn on_cortex_a9() {
    runs(&for_board("cortex-a9", "port::CortexA9<port::boards::Zynq7000>", "INCLUDE cortex-a9.x\n"), Platform::A9);
}

#[test]
fn on_the_rp2040() {
    let memory = "MEMORY { FLASH : ORIGIN = 0x10000000, LENGTH = 2M  RAM : ORIGIN = 0x20000000, LENGTH = 256K }\n\
                  INCLUDE m-profile.x\n";
    runs(&for_board("rp2040", "port::Rp2040", memory), Platform::Rp2040);
}
