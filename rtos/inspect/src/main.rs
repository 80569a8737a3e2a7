//! `rtos-inspect`: builds the programs for boards, runs them, counts and shows their instructions.

use std::io::{self, ErrorKind::BrokenPipe, Write};
use std::time::Duration;

use anyhow::{Result, bail};
use clap::{Parser, Subcommand};
use inspect::code::Code;
use inspect::emulator::{self, Clock, Told};
use inspect::{Model, Platform, image, table, trace};

/// Builds, runs, counts and reads the programs of the RTOS for boards.
#[derive(Parser)]
#[command(name = "rtos-inspect", version)]
struct Arguments {
    #[command(subcommand)]
    command: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Builds a program and prints where it is
    Build(Program),
    /// Builds a program and runs it in the emulator
    Run(Program),
    /// Counts the instructions from the first of one function to the first of another
    Count {
        #[command(flatten)]
        program: Program,
        /// The function to count from
        from: String,
        /// The function to count to
        to: String,
        /// Show each instruction of the last passage
        #[arg(long)]
        show: bool,
    },
    /// Counts every service on a platform, in every model
    Table {
        /// m33, a9 or rp2040; all of them if none is given
        platforms: Vec<Platform>,
    },
    /// Every passage of the counted programs, a line each: service, instructions, and cycles where they are counted
    Passages {
        /// m33, a9 or rp2040
        platform: Platform,
        /// uni, multi, multi1, nolocks, noids or neither
        model: Model,
    },
    /// Shows the instructions of the functions whose name contains a text
    Disassemble {
        #[command(flatten)]
        program: Program,
        /// A part of the name
        function: String,
    },
}

/// Which program.
#[derive(clap::Args)]
struct Program {
    /// scenarios, overflow, overflow-handler or counted; the folder of a package; or a file that is built already
    program: String,
    /// m33, a9 or rp2040
    platform: Platform,
    /// uni (one processor), multi (two), multi1, nolocks, noids or neither (the machinery for several, on one)
    model: Model,
}

impl Program {
    fn build(&self) -> Result<inspect::Image> {
        image::build(&self.program, self.platform, self.model)
    }
}

fn main() -> Result<()> {
    let mut out = io::stdout();
    match go(Arguments::parse().command, &mut out).and_then(|()| Ok(out.flush()?)) {
        // Whoever reads, such as `head`, has seen enough.
        Err(error) if error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == BrokenPipe) => Ok(()),
        result => result,
    }
}

fn go(command: Action, out: &mut impl Write) -> Result<()> {
    match command {
        Action::Build(program) => writeln!(out, "{}", program.build()?.path.display())?,
        Action::Run(program) => {
            let run = emulator::run(&program.build()?, Clock::Host, Duration::from_secs(600), Told::AtOnce)?;
            if run.status != 0 {
                bail!("the program ended with status {}", run.status);
            }
        }
        Action::Count { program, from, to, show } => {
            let image = program.build()?;
            let code = Code::read(&image.path)?;
            let [passages] = &trace::passages(&image, &code, &[&from], &to)?[..] else {
                bail!("one passage was asked for")
            };
            for (count, times) in passages.counts() {
                writeln!(out, "{count} instructions, {times} times")?;
            }
            for (cycles, times) in passages.cycles() {
                writeln!(out, "{cycles} cycles, {times} times")?;
            }
            if show {
                for &address in passages.each.last().map_or(&[][..], |passage| &passage.instructions) {
                    let text = code.at(address).map_or("?", |instruction| instruction.text.as_str());
                    writeln!(out, "{address:08x}  {text}")?;
                }
            }
        }
        Action::Table { platforms } => {
            let platforms = if platforms.is_empty() { Platform::ALL.to_vec() } else { platforms };
            for platform in platforms {
                writeln!(out, "{}", table::count(platform)?)?;
            }
        }
        Action::Passages { platform, model } => {
            for (service, passages) in table::passages(platform, model)? {
                for passage in passages.each {
                    let cycles = passage.cycles.map_or(String::new(), |cycles| format!(" {cycles}"));
                    writeln!(out, "{service} {}{cycles}", passage.instructions.len())?;
                }
            }
        }
        Action::Disassemble { program, function } => {
            let code = Code::read(&program.build()?.path)?;
            let names = code.functions(|name| name.contains(&function));
            if names.is_empty() {
                bail!("the program has no function with '{function}' in its name");
            }
            for name in names {
                writeln!(out, "{name}:")?;
                for instruction in code.of(name) {
                    writeln!(out, "  {:08x}  {}", instruction.address, instruction.text)?;
                }
            }
        }
    }
    Ok(())
}
