//! What can be asked for.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use unikernel_monitor::Durability;

/// Makes, runs and looks into unikernels and their disks.
#[derive(Debug, Parser)]
#[command(version, max_term_width = 100)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Makes a crate for a unikernel
    New {
        /// Its folder, and its name
        folder: PathBuf,
    },
    /// Builds a unikernel of the crate in this folder, and prints where it is
    Build(BuildOptions),
    /// Runs a unikernel
    #[command(
        after_help = "The exit code is that of the program; 101 after a panic, 102 if it accessed memory that it has not, 103 if it asked for \
                            what it may not have, 125 if it was not run."
    )]
    Run(RunOptions),
    /// Says what a unikernel is: its parts, its devices
    Inspect {
        /// The program's file
        program: PathBuf,
    },
    /// Prints completions for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Makes a disk with no files
    Mkdisk {
        /// The disk's file
        disk: PathBuf,
        /// How large, for example 64M
        #[arg(long, value_parser = size)]
        size: u64,
        /// Even if there is something of that name
        #[arg(long)]
        force: bool,
    },
    /// Checks the files on a disk; nothing is changed
    Fsck {
        /// The disk's file
        disk: PathBuf,
        /// Write the result as JSON
        #[arg(long)]
        json: bool,
    },
    /// Lists the files on a disk
    Ls {
        /// The disk's file
        disk: PathBuf,
        /// Only names that begin so
        #[arg(default_value = "")]
        prefix: String,
    },
    /// Prints a file on a disk
    Cat {
        /// The disk's file
        disk: PathBuf,
        /// The file's name
        file: String,
    },
}

#[derive(Debug, Args)]
pub struct BuildOptions {
    /// The folder of the crate
    #[arg(long, default_value = ".")]
    pub path: PathBuf,
    /// Which of its programs, if it has several
    #[arg(long)]
    pub bin: Option<String>,
    /// Unoptimised, and with the checks of debug builds
    #[arg(long)]
    pub debug: bool,
}

#[derive(Debug, Args)]
pub struct RunOptions {
    /// The program's file; the crate in this folder is built and run if it is left out
    pub program: Option<PathBuf>,
    /// A block device: the program's name of it, and the file that it lies on. `,ro` lets it only be read, `,direct` passes by the page cache,
    /// `,sync=writethrough` makes each write durable, `,sync=unsafe` none ever, `,log=FILE` keeps all that is written, as dm-log-writes has it
    #[arg(long, value_name = "NAME=FILE[,ro][,direct][,sync=MODE][,log=FILE]", value_parser = block)]
    pub block: Vec<Block>,
    /// Memory, for example 16M
    #[arg(long, default_value = "16M", value_parser = size)]
    pub mem: u64,
    /// What runs it
    #[arg(long, default_value = "spt")]
    pub monitor: Monitor,
    /// With qemu: the machine
    #[arg(long, default_value = "microvm")]
    pub machine: Machine,
    /// With qemu: what runs the machine's instructions
    #[arg(long, default_value = "tcg")]
    pub accel: Accelerator,
    /// Under spt and hvt: how it asks its devices
    #[arg(long, default_value = "calls")]
    pub interface: Interface,
    /// With rings: how long each side looks for what the other does before it sleeps, in microseconds [default: 200, on one processor 0]
    #[arg(long, value_name = "MICROSECONDS")]
    pub poll: Option<u64>,
    /// With rings: how the monitor does what is asked
    #[arg(long, default_value = "auto")]
    pub engine: Engine,
    /// What was asked of the devices goes to standard error as JSON when it ends
    #[arg(long)]
    pub json: bool,
    /// Each request goes to this file, a line of JSON for each
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,
    /// A variable of its environment
    #[arg(long, value_name = "NAME=VALUE")]
    pub env: Vec<String>,
    /// Arguments of the program, behind `--`
    #[arg(last = true)]
    pub arguments: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Monitor {
    /// A process that may do next to nothing
    Spt,
    /// A virtual machine, on KVM
    Hvt,
    /// A whole machine, by QEMU
    Qemu,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Machine {
    /// Next to nothing but virtio devices in memory
    Microvm,
    /// An older PC
    Pc,
    /// A newer one
    Q35,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Accelerator {
    /// The processor's own virtual machines
    Kvm,
    /// An emulator
    Tcg,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Interface {
    /// One call for each block of 512 bytes
    Blocks,
    /// One call for each request
    Calls,
    /// Rings of requests in memory
    Rings,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Engine {
    /// By io_uring for disks past the page cache, if the system has it, else plain
    Auto,
    /// One request after the other
    Plain,
    /// By io_uring, many at once
    #[value(name = "io_uring")]
    Uring,
}

/// A block device as it is given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    pub name: String,
    pub path: PathBuf,
    pub read_only: bool,
    pub durability: Durability,
    pub direct: bool,
    pub log: Option<PathBuf>,
}

fn block(text: &str) -> Result<Block, String> {
    let (name, rest) = text.split_once('=').ok_or("a name and a file are needed, such as data=disk.img")?;
    let mut parts = rest.split(',');
    let path = parts.next().filter(|path| !path.is_empty()).ok_or("a file is needed, such as data=disk.img")?;
    let durability = Durability::Writeback;
    let mut block =
        Block { name: name.into(), path: path.into(), read_only: false, durability, direct: false, log: None };
    for part in parts {
        if part == "ro" {
            block.read_only = true;
        } else if part == "direct" {
            block.direct = true;
        } else if let Some(path) = part.strip_prefix("log=") {
            block.log = Some(path.into());
        } else if let Some(mode) = part.strip_prefix("sync=") {
            let found = Durability::ALL.into_iter().find(|durability| durability.name() == mode);
            block.durability = found.ok_or("sync is writeback, writethrough or unsafe")?;
        } else {
            return Err(format!(
                "{part:?} is not known: ro, direct, log=FILE and sync=writeback, writethrough or unsafe are"
            ));
        }
    }
    Ok(block)
}

/// A number of bytes.
fn size(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let factor = match &text[digits.len()..] {
        "" | "B" => 1,
        "K" | "KiB" => 1 << 10,
        "M" | "MiB" => 1 << 20,
        "G" | "GiB" => 1 << 30,
        "T" | "TiB" => 1u64 << 40,
        unit => return Err(format!("{unit:?} is no unit of size: K, M, G and T are (of 1024)")),
    };
    let number: u64 = digits.parse().map_err(|_| format!("{text:?} is no size, such as 64M"))?;
    number.checked_mul(factor).ok_or_else(|| format!("{text} is larger than any size"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_sound() {
        use clap::CommandFactory as _;
        Cli::command().debug_assert();
    }

    #[test]
    fn sizes_and_devices_are_read() {
        assert_eq!((size("64M"), size("1GiB"), size("512")), (Ok(64 << 20), Ok(1 << 30), Ok(512)));
        assert!(size("M").is_err() && size("1X").is_err() && size("99999999999T").is_err());
        let given = block("data=a.img,ro,direct,sync=unsafe").unwrap();
        assert_eq!((given.name.as_str(), given.durability), ("data", Durability::Unsafe));
        assert!(given.read_only && given.direct);
        for wrong in ["data", "data=", "data=a,rw", "data=a,sync=sometimes"] {
            assert!(block(wrong).is_err(), "{wrong}");
        }
    }
}
