//! What a unikernel is.

use std::path::Path;

use unikernel_monitor::Program;

pub fn inspect(path: &Path) -> anyhow::Result<u8> {
    let program = Program::open(path)?;
    println!("{}: a unikernel that takes {} KiB of memory itself", path.display(), program.size().div_ceil(1024));
    match program.devices() {
        [] => println!("It has no block devices."),
        some => println!("Block devices: {}", some.join(", ")),
    }
    for part in program.parts() {
        println!("{part}");
    }
    Ok(0)
}
