//! The probe that is a unikernel: the workload `file`, whose file is a block device, and what the lab asks of every environment:
//! how soon it is there, and what it takes.
//!
//! Its arguments are the name of the workload and its parameters, `name=value`, numbers as such; it reports on its console, one JSON object
//! a line, as every probe does. Rows go out after the last sample.

#![no_std]
#![no_main]

extern crate alloc;

mod console;
mod file;
mod start;

use alloc::format;
use alloc::string::String;

use console::Console;
use plain::{Arguments, report};
use unikernel::{BlockDevice, ExitCode};

#[unikernel::main(blocks = ["data"])]
fn main() -> ExitCode {
    let first = unikernel::now();
    match run(first.as_nanos() as u64) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            report::failed(&mut Console, &why);
            ExitCode::FAILURE
        }
    }
}

fn run(first: u64) -> Result<(), String> {
    let arguments = Arguments(unikernel::arguments());
    match arguments.text("workload")? {
        "file" => {
            let plan = file::Plan::of(&arguments)?;
            let mut disk = BlockDevice::open("data").map_err(|why| format!("{why}"))?;
            file::run(&arguments, &plan, &mut disk)
        }
        "boot" => start::boot(arguments.number("began")?, first),
        "footprint" => start::footprint(),
        other => Err(format!("this probe does not know the workload {other:?}")),
    }
}
