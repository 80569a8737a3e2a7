//! All scenarios, on every board.

use std::time::Duration;

use inspect::emulator::{self, Clock, Told};
use inspect::{Model, Platform, image};

fn plays(platform: Platform, model: Model) {
    let image = image::build("scenarios", platform, model).unwrap();
    let run = emulator::run(&image, Clock::Instructions, Duration::from_secs(240), Told::Afterwards).unwrap();
    assert_eq!(run.status, 0, "{platform} {model}:\n{}", run.said);
    assert!(run.said.ends_with("scenarios passed\nthe end\n"), "{}", run.said);
}

#[test]
fn on_one_cortex_m33() {
    plays(Platform::M33, Model::Uni);
}

#[test]
fn on_two_cortex_m33() {
    plays(Platform::M33, Model::Multi);
}

#[test]
fn on_one_cortex_a9() {
    plays(Platform::A9, Model::Uni);
}

#[test]
fn on_two_cortex_a9() {
    plays(Platform::A9, Model::Multi);
}

#[test]
fn on_one_core_of_an_rp2040() {
    plays(Platform::Rp2040, Model::Uni);
}

#[test]
fn on_two_cores_of_an_rp2040() {
    plays(Platform::Rp2040, Model::Multi);
}
