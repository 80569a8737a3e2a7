//! Keeps the readings of a sensor on a disk. Each that it has said to be stored is there when it is started again, whatever happened
//! in between.
//!
//! ```text
//! unikernel mkdisk readings.img --size 16M
//! unikernel run --block data=readings.img -- 5
//! ```

#![no_std]
#![no_main]

use unikernel::files::{Error, File};
use unikernel::{BlockDevice, ExitCode, Files, eprintln, println};

/// Bytes of a reading in the log: when, in nanoseconds since 1970, and what, in thousandths of a degree.
const READING: usize = 16;

#[unikernel::main(blocks = ["data"])]
fn main() -> ExitCode {
    let Some(count) = unikernel::arguments().first().map_or(Some(10), |text| text.parse().ok()) else {
        eprintln!("how many readings? `-- 5`");
        return ExitCode::from(2);
    };
    match keep(count) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("sensor-log: {why}");
            ExitCode::FAILURE
        }
    }
}

fn keep(count: u64) -> Result<(), Error> {
    let disk = match BlockDevice::open("data") {
        Ok(disk) => disk,
        Err(why) => panic!("{why}"),
    };
    let mut files = Files::mount(disk)?;
    let log = files.open_or_create("readings")?;
    let before = files.size(log)? / READING as u64;
    println!("{before} readings are there");
    if before > 0 {
        let (when, degrees) = reading(&mut files, log, before - 1)?;
        println!("the last one is {}.{:03} degrees, of {when}", degrees / 1000, degrees % 1000);
    }
    for number in before..before.saturating_add(count) {
        let mut bytes = [0; READING];
        bytes[..8].copy_from_slice(&(unikernel::now().as_nanos() as u64).to_le_bytes());
        bytes[8..].copy_from_slice(&sense(number).to_le_bytes());
        files.append(log, &bytes)?;
        files.sync()?;
        println!("stored {number}");
    }
    Ok(())
}

fn reading(files: &mut Files<BlockDevice>, log: File, number: u64) -> Result<(u64, u64), Error> {
    let mut bytes = [0; READING];
    files.read_at(log, number * READING as u64, &mut bytes)?;
    let [when, what] = [0, 8].map(|at| {
        let mut word = [0; 8];
        word.copy_from_slice(&bytes[at..at + 8]);
        u64::from_le_bytes(word)
    });
    Ok((when, what))
}

/// A day of weather, in place of a sensor.
fn sense(number: u64) -> u64 {
    let hour = number % 24;
    let from_noon = hour.abs_diff(12);
    15_000 + (12 - from_noon) * 700 + number * 7919 % 300
}
