//! The store on three nodes, each an Erlang VM of its own.

use std::process::Command;

use in_a_vm::{Epmd, compiled, run};

// Its behaviours are linked into this program, so that what they say of themselves can be asked for.
use kv as _;

/// Runs a function of `checks.erl`.
fn check(function: &str) {
    let folder = compiled("kv", &[("checks", include_str!("checks.erl"))]);
    let epmd = Epmd::start();
    let mut erl = Command::new("erl");
    erl.args(["-noshell", "-pa", ".", "-s", "checks", function, "-s", "init", "stop"]);
    run(folder.path(), erl.env("ERL_EPMD_PORT", &epmd.port));
}

#[test]
fn all_have_what_one_is_told() {
    check("all_have_what_one_is_told");
}

#[test]
fn a_node_that_was_killed_catches_up() {
    check("a_node_that_was_killed_catches_up");
}

#[test]
fn both_sides_of_a_cut_agree_when_it_heals() {
    check("both_sides_of_a_cut_agree_when_it_heals");
}

#[test]
fn a_node_named_wrong_is_refused() {
    check("a_node_named_wrong_is_refused");
}
