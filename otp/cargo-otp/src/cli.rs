//! The command line.

use std::path::PathBuf;

use clap::{Parser, Subcommand};

use crate::add::Addition;
use crate::console::Reach;
use crate::new::Kind;
use crate::project::What;
use crate::release::Form;
use crate::run::How;
use crate::say::Output;

/// OTP applications in Rust
#[derive(Parser)]
#[command(name = "cargo-otp", bin_name = "cargo otp", version, arg_required_else_help = true)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) output: Output,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Make a new application in a folder of its name
    New {
        /// The folder to make; its last part is the name of the application
        path: PathBuf,
        #[command(flatten)]
        kind: Kind,
    },
    /// Make a new application in a folder that is there
    Init {
        /// The folder
        #[arg(default_value = ".")]
        path: PathBuf,
        #[command(flatten)]
        kind: Kind,
    },
    /// Add a behaviour to the application: a gen_server, a supervisor, …
    Add {
        #[command(flatten)]
        addition: Addition,
        #[command(flatten)]
        what: What,
    },
    /// Compile the application: the Rust library and its Erlang half
    #[command(visible_alias = "b")]
    Build {
        #[command(flatten)]
        what: What,
    },
    /// Compile the application and run it in an Erlang VM, until it ends or Ctrl-C
    #[command(visible_alias = "r")]
    Run {
        #[command(flatten)]
        what: What,
        #[command(flatten)]
        how: How,
    },
    /// Make a folder that runs the application on a machine without Rust and Erlang
    Release {
        #[command(flatten)]
        what: What,
        #[command(flatten)]
        form: Form,
    },
    /// Write down what can be called: the Rust documentation, and the functions of the Erlang modules
    #[command(visible_alias = "d")]
    Doc {
        #[command(flatten)]
        what: What,
        /// Show the Rust documentation in a browser
        #[arg(long)]
        open: bool,
    },
    /// Say which Erlang is here and what of it is missing
    Info,
    /// Write a script that completes commands, for a shell: cargo otp completions bash > FILE
    Completions { shell: clap_complete::Shell },
    /// Reach an application that `cargo otp run` runs: an Erlang shell in it, or one expression
    Console {
        #[command(flatten)]
        what: What,
        #[command(flatten)]
        reach: Reach,
    },
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        super::Cli::command().debug_assert();
    }
}
