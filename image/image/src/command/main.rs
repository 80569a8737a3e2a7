//! `kizami-image`: makes a bootable image from a recipe, or the flash of a small board.

mod board;
mod recipe;
mod sizes;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Makes small bootable Linux images.
#[derive(Parser)]
#[command(name = "kizami-image", version)]
struct Options {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// A kernel package of Debian with static programs: what a recipe says
    Make(recipe::Options),
    /// The flash of a small board: a kernel built from sources, and first files
    Board(board::Options),
}

fn main() -> ExitCode {
    let done = match Options::parse().command {
        Command::Make(options) => recipe::make(&options),
        Command::Board(options) => board::make(&options),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
