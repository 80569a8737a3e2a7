//! A stack that overflows, on every board and in both models: told, never silent.

use std::time::Duration;

use inspect::{Model, Platform, emulator, image};

fn is_told(platform: Platform) {
    for model in [Model::Uni, Model::Multi] {
        let image = image::build("overflow", platform, model).unwrap();
        let run = emulator::run(&image, Duration::from_secs(120)).unwrap();
        assert_eq!(run.status, 1, "{platform} {model}:\n{}", run.said);
        assert!(
            run.said.starts_with("fatal: the stack of task 3 overflowed at 0x"),
            "{platform} {model}:\n{}",
            run.said
        );
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
