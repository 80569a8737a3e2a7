//! `rtos-cfg`: builds an application in C with its `.cfg` file, and runs it.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use clap::Parser;
use inspect::Platform;
use inspect::emulator::{self, Clock, Told};
use rtos_cfg::build::{self, Order};
use rtos_cfg::target::Target;

/// Builds an application in C with its static configuration into a program of the Kizami RTOS.
#[derive(Parser)]
#[command(name = "rtos-cfg", version)]
struct Arguments {
    /// The static configuration (.cfg)
    cfg: PathBuf,
    /// The sources in C, and objects (.o) and archives (.a) that were compiled for the same target
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
    /// A definition for the preprocessor: NAME or NAME=VALUE
    #[arg(short = 'D', long = "define", value_name = "NAME[=VALUE]")]
    defines: Vec<String>,
    /// Where everything is made; build/NAME-TARGET-PROCESSORS if nothing is said
    #[arg(long)]
    folder: Option<PathBuf>,
    /// Run the program: on this machine, or in the board's emulator
    #[arg(long)]
    run: bool,
    /// Run it with a clock that goes on by its instructions alone, and at once to the next alarm when it has none to execute: each run is
    /// the same, and waiting takes no time. In an emulator only
    #[arg(long, requires = "run")]
    icount: bool,
    /// For how many seconds it may run; if nothing is said, 60 in an emulator, and on this machine until it ends
    #[arg(long, requires = "run")]
    seconds: Option<u64>,
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
    if arguments.icount && platform.is_none() {
        bail!("--icount is for emulators, and a program for the host has this machine's clock; --target names a board");
    }
    let target = Target { platform, processors: arguments.processors.into() };
    let folder = arguments.folder.unwrap_or_else(|| {
        let name = arguments.cfg.file_stem().unwrap_or_default().to_string_lossy();
        Path::new("build").join(format!("{name}-{}-{}", arguments.target, arguments.processors))
    });
    std::fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let folder = folder.canonicalize()?;
    let order = Order {
        cfg: arguments.cfg,
        sources: arguments.sources,
        include: arguments.include,
        defines: arguments.defines,
        target,
        folder,
    };
    let built = build::build(&order)?;
    if !arguments.run {
        println!("{}", built.program.display());
        return Ok(ExitCode::SUCCESS);
    }
    let limit = arguments.seconds.map(Duration::from_secs);
    let clock = if arguments.icount { Clock::Instructions } else { Clock::Host };
    let status = match build::image(target, &built.program) {
        Some(image) => emulator::run(&image, clock, limit.unwrap_or(Duration::from_secs(60)), Told::AtOnce)?.status,
        None => run_here(&built.program, limit)?,
    };
    Ok(ExitCode::from(u8::try_from(status).unwrap_or(1)))
}

/// Runs a program on this machine, and ends it when its time is over.
fn run_here(program: &Path, limit: Option<Duration>) -> Result<i32> {
    let mut child = Command::new(program).spawn().context("cannot start the program")?;
    let begin = Instant::now();
    while limit.is_some() {
        if let Some(status) = child.try_wait()? {
            return Ok(status.code().unwrap_or(1));
        }
        if let Some(limit) = limit.filter(|&limit| begin.elapsed() > limit) {
            child.kill()?;
            child.wait()?;
            bail!("the program did not end within {} s", limit.as_secs());
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    Ok(child.wait()?.code().unwrap_or(1))
}
