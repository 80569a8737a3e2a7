//! Stack overflows, of a task and of handlers, on every board and in both models: each is reported.

use std::time::Duration;

use inspect::emulator::{self, Clock, Told};
use inspect::{Model, Platform, image};

fn is_told(platform: Platform) {
    for (program, whose) in [("overflow", "task 3"), ("overflow-handler", "handlers")] {
        for model in [Model::Uni, Model::Multi] {
            let image = image::build(program, platform, model).unwrap();
            let run = emulator::run(&image, Clock::Instructions, Duration::from_secs(120), Told::Afterwards).unwrap();
            let told = run.said.starts_with(&format!("fatal: the stack of {whose} overflowed at 0x"));
            assert!(run.status == 1 && told, "{program} {platform} {model}:\n{}", run.said);
        }
    }
}

#[test]
fn on_cortex_m33() {
    is_told(Platform::M33);
}

#[test]
fn on_cortex_a9() {
    is_told(Platform::A9);
}

#[test]
fn on_the_rp2040() {
    is_told(Platform::Rp2040);
}
