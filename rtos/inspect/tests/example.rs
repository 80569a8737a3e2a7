//! The example for a board, on every board: the versions differ only in the port's crate, the name of the port, and the
//! memory.

use std::path::{Path, PathBuf};
use std::time::Duration;

use inspect::emulator::{self, Clock, Told};
use inspect::{Model, Platform, image};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Runs it, and looks at what it says.
fn runs(folder: &Path, platform: Platform, model: Model) {
    let image = image::build(folder.to_str().unwrap(), platform, model).unwrap();
    let run = emulator::run(&image, Clock::Instructions, Duration::from_secs(120), Told::Afterwards).unwrap();
    let rounds = run.said.lines().filter(|line| line.starts_with("round ") && line.ends_with(" since the task began"));
    assert!(run.status == 0 && rounds.count() == 5, "{platform} {model}:\n{}", run.said);
}

/// The same on another board, changed as docs/rtos-start.md says.
fn runs_on(platform: Platform, model: Model, crate_name: &str, port: &str, memory: &str) {
    let example = root().join("examples/board");
    // The package has a name of its own too, because what is built of all of them lies in one folder.
    let name = format!("{crate_name}-{model}");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(&name);
    std::fs::create_dir_all(folder.join("src")).unwrap();
    let put = |file: &str, from: &[(&str, &str)]| {
        let mut text = std::fs::read_to_string(example.join(file)).unwrap();
        for (old, new) in from {
            assert!(text.contains(old), "{file} has no '{old}'");
            text = text.replace(old, new);
        }
        std::fs::write(folder.join(file), text).unwrap();
    };
    let rtos = root().join("rtos");
    let package = format!("kizami-rtos-{crate_name}");
    put(
        "Cargo.toml",
        &[
            ("name = \"board\"", &format!("name = \"{name}\"")),
            ("kizami-rtos-cortex-m33", &package),
            ("ports/cortex-m33", &format!("ports/{crate_name}")),
            ("../../rtos", rtos.to_str().unwrap()),
        ],
    );
    let processors = if model == Model::Uni { "rtos::Uni" } else { "rtos::Multi<2>" };
    put("src/main.rs", &[("CortexM33<port::boards::Mps2An505>", port), ("rtos::Uni", processors)]);
    put("build.rs", &[]);
    std::fs::write(folder.join("board.x"), memory).unwrap();
    runs(&folder, platform, model);
}

#[test]
fn as_it_is() {
    runs(&root().join("examples/board"), Platform::M33, Model::Uni);
}

#[test]
fn on_two_cortex_m33() {
    let memory = "MEMORY { FLASH : ORIGIN = 0x10000000, LENGTH = 4M  RAM : ORIGIN = 0x30000000, LENGTH = 128K }\n\
                  INCLUDE m-profile.x\n";
    runs_on(Platform::M33, Model::Multi, "cortex-m33", "CortexM33<port::boards::MuscaB1>", memory);
}

#[test]
fn on_cortex_a9() {
    let boards = [(Model::Uni, "Zynq7000"), (Model::Multi, "RealViewPbxA9")];
    for (model, board) in boards {
        let port = format!("CortexA9<port::boards::{board}>");
        runs_on(Platform::A9, model, "cortex-a9", &port, "INCLUDE cortex-a9.x\n");
    }
}

#[test]
fn on_the_rp2040() {
    let memory = "MEMORY { FLASH : ORIGIN = 0x10000000, LENGTH = 2M  RAM : ORIGIN = 0x20000000, LENGTH = 256K }\n\
                  INCLUDE m-profile.x\n";
    for (model, cores) in [(Model::Uni, "One"), (Model::Multi, "Both")] {
        runs_on(Platform::Rp2040, model, "rp2040", &format!("Rp2040<port::{cores}>"), memory);
    }
}
