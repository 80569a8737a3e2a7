//! The command line of `cargo otp`: all commands with their arguments.

use std::path::PathBuf;

use clap::{Parser, Subcommand};

use crate::commands::add::Addition;
use crate::commands::console::Reach;
use crate::commands::new::Kind;
use crate::commands::release::Form;
use crate::commands::run::How;
use crate::commands::test::Which;
use crate::commands::upgrade::Whom;
use crate::project::What;
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
    /// Add a behaviour to the application: a gen_server, a gen_statem, a gen_event or a supervisor
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
    /// Compile the application and run it in an Erlang VM
    #[command(visible_alias = "r")]
    Run {
        #[command(flatten)]
        what: What,
        #[command(flatten)]
        how: How,
    },
    /// Reach an application that runs: an Erlang shell in it, or one expression
    Console {
        #[command(flatten)]
        what: What,
        #[command(flatten)]
        reach: Reach,
    },
    /// Compile the application and run its tests, those of #[otp::test], in an Erlang VM
    #[command(visible_alias = "t")]
    Test {
        #[command(flatten)]
        what: What,
        #[command(flatten)]
        which: Which,
    },
    /// Compile the application and take the one that runs to the new build, with its processes and their states
    Upgrade {
        #[command(flatten)]
        what: What,
        #[command(flatten)]
        whom: Whom,
    },
    /// Make a folder that runs where there is neither Rust nor Erlang
    Release {
        #[command(flatten)]
        what: What,
        #[command(flatten)]
        form: Form,
    },
    /// Document the application: its Rust side, and what Erlang and Elixir can call
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
    /// Print a script for a shell that completes commands
    Completions { shell: clap_complete::Shell },
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        super::Cli::command().debug_assert();
    }
}
