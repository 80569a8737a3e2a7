//! Templates: the application that each template makes is formatted, compiles without a warning, and passes its own tests.

mod common;

use std::fs;
use std::path::Path;
use std::process::Command;

use common::{InTime, User, said};

/// The templates are the folders there; no other list is needed here either.
fn templates() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("templates/new");
    let mut names: Vec<_> = fs::read_dir(folder)
        .expect("the templates")
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn what_is_made_of_a_template_passes_its_own_tests() {
    let user = User::new();
    let all = templates();
    assert!(all.len() >= 4, "{all:?}");
    for template in all {
        let path = user.application(&format!("as_{template}"), &template);
        user.finds_formatted(&path);
        let inside = user.done(&path, &["test"]);
        assert!(!inside.contains("warning") && !inside.contains("running 0"), "{template}: {inside}");
        let mut cargo = user.in_its_place(Command::new(env!("CARGO")), &path);
        let output = cargo.args(["test", "--offline"]).output_in_time();
        let plain = said(&output);
        assert!(output.status.success() && !plain.contains("warning"), "{template}: {plain}");
    }
}

#[test]
fn a_machine_is_asked_and_its_time_is_over() {
    let user = User::new();
    let path = user.application("watered_one", "statem");
    let talk = "ok = watered_one_valve:give(garden, 10), watered_one_valve:flowed(garden, 4), \
                io:format(\"~p and ~p~n\", [watered_one_valve:state(garden), watered_one_valve:state(greenhouse)]), \
                watered_one_valve:flowed(garden, 6), io:format(\"~p~n\", [watered_one_valve:given(garden)]), init:stop().";
    let said = user.done(&path, &["run", "--vm=-eval", &format!("--vm={talk}")]);
    assert!(said.contains("{open,#{left => 6}} and closed\n") && said.contains("\n10\n"), "{said}");
}
