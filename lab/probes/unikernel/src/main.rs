//! The probe that is a unikernel: the workload `file`, whose file is a block device.
//!
//! Its arguments are the parameters of the workload, `name=value`, numbers as such; it reports on its console, one JSON object a line, as every
//! probe does. Rows go out after the last sample.

#![no_std]
#![no_main]

extern crate alloc;

mod file;
mod report;

use alloc::string::String;

use unikernel::{BlockDevice, ExitCode};

#[unikernel::main(blocks = ["data"])]
fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            report::failed(&why);
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), String> {
    let plan = file::Plan::of(&unikernel::arguments())?;
    let mut disk = BlockDevice::open("data").map_err(|why| alloc::format!("{why}"))?;
    file::run(&plan, &mut disk)
}
