//! `cargo otp`: makes, builds and runs OTP applications in Rust.

mod ask;
mod build;
mod erlang;
mod new;
mod run;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};

/// What cargo starts: its own first argument is the name of the subcommand.
#[derive(Parser)]
#[command(name = "cargo", bin_name = "cargo")]
enum Cargo {
    #[command(version, about = "OTP applications in Rust", arg_required_else_help = true)]
    Otp {
        #[command(subcommand)]
        command: Command,
    },
}

#[derive(Subcommand)]
enum Command {
    /// Make a new application in a folder of its name
    New {
        /// The folder to make; its last part is the name of the application
        path: PathBuf,
    },
    /// Compile the application: the Rust library and its Erlang half
    Build {
        #[command(flatten)]
        what: What,
    },
    /// Compile the application and run it in an Erlang VM, until it ends or Ctrl-C
    Run {
        #[command(flatten)]
        what: What,
        /// The node's short name, by which other nodes on this machine find it
        #[arg(long, value_name = "NAME")]
        name: Option<String>,
        /// The secret that nodes that talk to each other share
        #[arg(long, value_name = "COOKIE", requires = "name")]
        cookie: Option<String>,
        /// A flag of the VM; may be said several times, as in --vm +S --vm 1
        #[arg(long = "vm", value_name = "FLAG", allow_hyphen_values = true)]
        vm_flags: Vec<String>,
        /// Arguments to the root of the application, after --
        #[arg(last = true)]
        arguments: Vec<String>,
    },
}

/// Which application, and how it is compiled; as cargo has it.
#[derive(Args)]
pub(crate) struct What {
    /// Path to the application's Cargo.toml
    #[arg(long, value_name = "PATH")]
    manifest_path: Option<PathBuf>,
    /// The package to build, in a workspace of several
    #[arg(short, long, value_name = "SPEC")]
    package: Option<String>,
    /// Build with optimisations
    #[arg(short, long)]
    release: bool,
}

fn main() -> ExitCode {
    let Cargo::Otp { command } = Cargo::parse();
    let done = match command {
        Command::New { path } => new::new(&path),
        Command::Build { what } => build::build(&what).map(drop),
        Command::Run { what, name, cookie, vm_flags, arguments } => {
            build::build(&what).and_then(|built| run::run(&built, &run::Node { name, cookie, vm_flags, arguments }))
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say(anstyle::AnsiColor::Red, "error", &format!("{error:#}"));
            ExitCode::FAILURE
        }
    }
}

/// A line on standard error as cargo writes them.
fn say(colour: anstyle::AnsiColor, what: &str, about: &str) {
    use std::io::IsTerminal;
    let style = anstyle::Style::new().bold().fg_color(Some(colour.into()));
    let colon = if what == "error" { ":" } else { "" };
    let width = if colon.is_empty() { 12 } else { 0 };
    if std::io::stderr().is_terminal() {
        eprintln!("{style}{what:>width$}{style:#}{colon} {about}");
    } else {
        eprintln!("{what:>width$}{colon} {about}");
    }
}
