//! `cargo otp`: makes, builds, runs and releases OTP applications in Rust.

mod build;
mod cli;
mod commands;
mod config;
#[path = "../launcher/epmd.rs"]
mod epmd;
mod erlang;
mod exit;
mod names;
mod node;
mod project;
#[path = "../launcher/remote.rs"]
mod remote;
mod say;
mod vm;

use std::process::ExitCode;

use anyhow::Result;
use clap::{CommandFactory, Parser};

use cli::{Cli, Command};
use commands::{add, console, doc, info, new, release, run, test, upgrade};
use exit::FAILED;

fn main() -> ExitCode {
    // Cargo starts this program in place of rustc, where `test` has asked for it.
    if let Some(code) = build::instead_of_rustc() {
        return code;
    }
    // Cargo starts `cargo-otp otp …`; who starts it as `cargo-otp …` means the same.
    let mut arguments: Vec<_> = std::env::args_os().collect();
    if arguments.get(1).is_some_and(|first| first == "otp") {
        arguments.remove(1);
    }
    let Cli { output, command } = Cli::parse_from(arguments);
    say::prepare(output);
    done(command).unwrap_or_else(|error| {
        say::error(&error);
        ExitCode::from(FAILED)
    })
}

fn done(command: Command) -> Result<ExitCode> {
    match command {
        Command::New { path, kind } => new::new(&path, &kind)?,
        Command::Init { path, kind } => new::init(&path, &kind)?,
        Command::Add { addition, what } => add::add(&what, &addition)?,
        Command::Build { what } => drop(build::build(&what)?),
        Command::Run { what, how } => return run::run(build::build(&what)?, &how),
        Command::Test { what, which } => return test::test(&what, &which),
        Command::Upgrade { what, whom } => return upgrade::upgrade(&what, &whom),
        Command::Release { what, form } => release::release(what, &form)?,
        Command::Doc { what, open } => doc::doc(&what, open)?,
        Command::Info => return Ok(info::info()),
        Command::Completions { shell } => {
            clap_complete::generate(shell, &mut Cli::command(), "cargo-otp", &mut std::io::stdout());
        }
        Command::Console { what, reach } => return console::console(&what, &reach),
    }
    Ok(ExitCode::SUCCESS)
}
