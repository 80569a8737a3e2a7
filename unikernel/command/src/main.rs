//! `unikernel`: makes, runs and looks into unikernels and their disks.

mod build;
mod cli;
mod disk;
mod inspect;
mod new;
mod qemu;
mod run;

use std::process::ExitCode;

use clap::{CommandFactory as _, Parser as _};

use cli::{Cli, Command};

/// What the command itself could not do. A guest's own codes are below it or are told with a message.
const FAILED: u8 = 125;

fn main() -> ExitCode {
    let done = match Cli::parse().command {
        Command::New { folder } => new::new(&folder),
        Command::Build(options) => build::build(&options).map(|built| {
            println!("{}", built.display());
            0
        }),
        Command::Run(options) => run::run(&options),
        Command::Completions { shell } => {
            clap_complete::generate(shell, &mut Cli::command(), "unikernel", &mut std::io::stdout());
            Ok(0)
        }
        Command::Inspect { program } => inspect::inspect(&program),
        Command::Mkdisk { disk, size, force } => disk::make(&disk, size, force),
        Command::Fsck { disk, json } => disk::check(&disk, json),
        Command::Ls { disk, prefix } => disk::list(&disk, &prefix),
        Command::Cat { disk, file } => disk::cat(&disk, &file),
    };
    match done {
        Ok(code) => ExitCode::from(code),
        Err(why) => {
            eprintln!("unikernel: {why:#}");
            ExitCode::from(FAILED)
        }
    }
}
