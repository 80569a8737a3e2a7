//! `rtos-cfg`: builds an application in C with its `.cfg` file, and runs it.

use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::time::Duration;

use anyhow::{Context, Result};
use clap::Parser;
use inspect::{Platform, emulator};
use rtos_cfg::build::{self, Order};
use rtos_cfg::target::Target;

/// Builds an application in C with its static configuration into a program of the Kizami RTOS.
#[derive(Parser)]
#[command(name = "rtos-cfg", version)]
struct Arguments {
    /// The static configuration (.cfg)
    cfg: PathBuf,
    /// The sources in C
    sources: Vec<PathBuf>,
    /// For which port: host, m33, a9 or rp2040
    #[arg(long, default_value = "host")]
    target: String,
    /// For how many processors: 1 or 2
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=2))]
    processors: u8,
    /// A folder for #include
    #[arg(short = 'I', long)]
    include: Vec<PathBuf>,
    /// Where everything is made
    #[arg(long, default_value = "build")]
    folder: PathBuf,
    /// Run the program: on this machine, or in the board's emulator
    #[arg(long)]
    run: bool,
    /// For how many seconds it may run in an emulator
    #[arg(long, default_value_t = 60, requires = "run")]
    seconds: u64,
}

fn main() -> ExitCode {
    match go(Arguments::parse()) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

fn go(arguments: Arguments) -> Result<ExitCode> {
    let platform = match arguments.target.as_str() {
        "host" => None,
        name => Some(name.parse::<Platform>().map_err(|error| anyhow::anyhow!("{error}, and host for this machine"))?),
    };
    let target = Target { platform, processors: arguments.processors.into() };
    std::fs::create_dir_all(&arguments.folder)
        .with_context(|| format!("cannot make {}", arguments.folder.display()))?;
    let folder = arguments.folder.canonicalize()?;
    let order = Order { cfg: arguments.cfg, sources: arguments.sources, include: arguments.include, target, folder };
    let program = build::build(&order)?;
    if !arguments.run {
        println!("{}", program.display());
        return Ok(ExitCode::SUCCESS);
    }
    let status = match build::image(target, &program) {
        Some(image) => {
            let run = emulator::run(&image, Duration::from_secs(arguments.seconds))?;
            print!("{}", run.said);
            run.status
        }
        None => Command::new(&program).status().context("cannot start the program")?.code().unwrap_or(1),
    };
    Ok(ExitCode::from(u8::try_from(status).unwrap_or(1)))
}
