//! The workload `file` on a block device: what it does, what it checks and what it times are those of the workload for Linux. What is
//! to be read lies on the device already.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use kizami_workloads::portable::stamp;
use plain::{Arguments, report};
use unikernel::{BlockDevice, Interface, PageAligned, Status};

use crate::console::Console;

/// What is to be done.
pub struct Plan {
    op: Op,
    size: u64,
    block: usize,
    samples: u64,
    /// How far the next sample lies behind the one before.
    step: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Op {
    Write,
    WriteSync,
    Read,
}

impl Plan {
    /// Of the arguments.
    pub fn of(arguments: &Arguments) -> Result<Self, String> {
        let op = match arguments.text("op")? {
            "write" => Op::Write,
            "write-fsync" => Op::WriteSync,
            "read" => Op::Read,
            other => return Err(format!("this probe does not know the operation {other:?}")),
        };
        let [size, block, samples, step] = ["size", "block", "samples", "step"].map(|name| arguments.number(name));
        let (size, block, samples, step) = (size?, block?, samples?, step?);
        if block < 512 || size == 0 || samples == 0 || !size.is_multiple_of(512) || !block.is_multiple_of(512) {
            return Err("a block device has blocks of 512 bytes: sizes are multiples of that".into());
        }
        Ok(Self { op, size, block: block.min(size) as usize, samples, step })
    }

    fn region(&self) -> u64 {
        self.step * (self.samples - 1) + self.size
    }
}

/// Says how the device is asked and what a flush of it does, beside what was requested of that.
fn in_force(arguments: &Arguments, disk: &BlockDevice) {
    let (interface, poll) = match disk.interface() {
        Interface::Blocks => ("blocks", None),
        Interface::Calls => ("calls", None),
        Interface::Rings { poll } => ("rings", Some(format!("{}us", poll.as_micros()))),
    };
    let found = [
        ("device_interface", Some(interface)),
        ("device_poll", poll.as_deref()),
        ("device_sync", Some(disk.durability().name())),
    ];
    for (setting, value) in found {
        // Where nothing is said of it the machine is one of somebody else's, which has devices of its own.
        if let (Ok(requested), Some(value)) = (arguments.text(setting), value) {
            report::effective(&mut Console, setting, value, value == requested, "as the monitor told the guest");
        }
    }
}

pub fn run(arguments: &Arguments, plan: &Plan, disk: &mut BlockDevice) -> Result<(), String> {
    let there = disk.blocks() * disk.block_size() as u64;
    if there < plan.region() {
        return Err(format!("the device has {there} bytes, and {} are needed", plan.region()));
    }
    let mut work = Work { disk, block: Block::new(plan.block), plan };
    let mut samples = Vec::new();
    samples.try_reserve_exact(plan.samples as usize).map_err(|_| "there is no memory for the samples")?;
    in_force(arguments, work.disk);
    report::ready(&mut Console);
    for sample in 0..plan.samples {
        samples.push(work.one(sample * plan.step, sample + 1)?);
    }
    work.verify()?;
    report::fact(&mut Console, "bytes", plan.samples * plan.size);
    report::samples(&mut Console, 0, &samples);
    report::done(&mut Console);
    Ok(())
}

struct Work<'a> {
    plan: &'a Plan,
    disk: &'a mut BlockDevice,
    block: Block,
}

impl Work<'_> {
    /// Each block of a sample's bytes.
    fn each(
        &mut self,
        at: u64,
        mut what: impl FnMut(&mut Self, usize, u64) -> Result<(), Status>,
    ) -> Result<(), String> {
        let mut offset = at;
        while offset < at + self.plan.size {
            let len = self.plan.block.min((at + self.plan.size - offset) as usize);
            what(self, len, offset).map_err(|why| format!("at byte {offset} of the device: {why}"))?;
            offset += len as u64;
        }
        Ok(())
    }

    /// One operation, and how long it took in nanoseconds.
    fn one(&mut self, at: u64, stamp: u64) -> Result<u64, String> {
        let op = self.plan.op;
        let before = unikernel::since_start();
        self.each(at, |work, len, offset| match op {
            Op::Read => work.disk.read(offset / 512, &mut work.block.bytes[..len]),
            Op::Write | Op::WriteSync => {
                let bytes = work.block.stamped(len, offset, stamp);
                work.disk.write(offset / 512, bytes)
            }
        })?;
        if op == Op::WriteSync {
            self.disk.flush().map_err(|why| format!("the device could not be flushed: {why}"))?;
        }
        let time = unikernel::since_start() - before;
        if op == Op::Read {
            let last = ((self.plan.size - 1) % self.plan.block as u64 + 1) as usize;
            self.block.check(last, at + self.plan.size - last as u64, 0)?;
        }
        Ok(time.as_nanos() as u64)
    }

    /// Reads back what the last sample wrote.
    fn verify(&mut self) -> Result<(), String> {
        if self.plan.op == Op::Read {
            return Ok(());
        }
        let (at, stamp) = ((self.plan.samples - 1) * self.plan.step, self.plan.samples);
        let mut wrong = Ok(());
        self.each(at, |work, len, offset| {
            work.disk.read(offset / 512, &mut work.block.bytes[..len])?;
            if wrong.is_ok() {
                wrong = work.block.check(len, offset, stamp);
            }
            Ok(())
        })?;
        wrong
    }
}

/// A buffer whose content says where it belongs, as [`stamp`] has it.
struct Block {
    bytes: PageAligned,
}

impl Block {
    fn new(len: usize) -> Self {
        let mut bytes = PageAligned::new(len);
        stamp::fill(&mut bytes);
        Self { bytes }
    }

    fn stamped(&mut self, len: usize, offset: u64, sample: u64) -> &[u8] {
        stamp::stamp(&mut self.bytes, offset, sample);
        &self.bytes[..len]
    }

    fn check(&self, len: usize, offset: u64, sample: u64) -> Result<(), String> {
        if stamp::is_right(&self.bytes[..len], offset, sample) {
            return Ok(());
        }
        Err(format!("the device does not hold at byte {offset} what was written there"))
    }
}
