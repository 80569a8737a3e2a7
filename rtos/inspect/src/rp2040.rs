//! The emulator of the RP2040: runs a program on both cores, cycle for cycle.

use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use rp2040_emu::{Config, Emulator, EmulatorBuilder};

use crate::image::Image;
use crate::run::{Run, Told, unended};

/// After this byte comes the status that the program ends with, unless it comes twice: then the program has written it.
const END: u8 = 4;

/// What a program sends over the UART: its output, and then its status.
#[derive(Default)]
struct Words {
    said: Vec<u8>,
    /// The last byte was END, and the next says why.
    ending: bool,
}

impl Words {
    /// Takes what was sent. Gives the status, once it has come.
    fn take(&mut self, sent: &[u8]) -> Option<u8> {
        for &byte in sent {
            match (self.ending, byte) {
                (false, END) => self.ending = true,
                (true, END) | (false, _) => {
                    self.said.push(byte);
                    self.ending = false;
                }
                (true, status) => return Some(status),
            }
        }
        None
    }
}

/// An RP2040 with a program.
pub(crate) struct Rp2040<'a> {
    emulator: Emulator,
    image: &'a Image,
}

impl<'a> Rp2040<'a> {
    /// An RP2040 that is about to start the program, which lies in its flash memory.
    pub(crate) fn load(image: &'a Image) -> Result<Self> {
        let raw = image.path.with_extension("bin");
        let output = Command::new("arm-none-eabi-objcopy")
            .args(["--output-target", "binary"])
            .args([&image.path, &raw])
            .output()
            .context("cannot start arm-none-eabi-objcopy; `./x setup rtos` installs it")?;
        if !output.status.success() {
            bail!("cannot read {}:\n{}", image.path.display(), String::from_utf8_lossy(&output.stderr));
        }
        let program = std::fs::read(&raw).with_context(|| format!("cannot read {}", raw.display()))?;
        let mut emulator = EmulatorBuilder::new(Config::default()).step_quantum(1).build()?;
        emulator.load_flash(&program);
        emulator.reset();
        emulator.direct_boot_from_flash(0);
        Ok(Rp2040 { emulator, image })
    }

    /// Runs the program until it ends, at most that long. `look` is told where core 0 is after each step, and how many
    /// cycles it has used.
    pub(crate) fn run(&mut self, longest: Duration, told: Told, mut look: impl FnMut((u32, u64))) -> Result<Run> {
        let began = Instant::now();
        let mut words = Words::default();
        let mut before = u32::MAX;
        loop {
            for _ in 0..10_000 {
                self.emulator.step()?;
                self.fifo_lines();
                let address = self.emulator.core(0).regs.pc();
                if address != before {
                    look((address, self.emulator.core_cycles(0)));
                    before = address;
                }
            }
            let passed = words.said.len();
            let status = words.take(&self.emulator.drain_uart0_tx_log());
            told.pass(&words.said[passed..]);
            let said = || String::from_utf8_lossy(&words.said).into_owned();
            if let Some(status) = status {
                return Ok(Run { status: status.into(), said: said() });
            }
            if began.elapsed() > longest {
                bail!("{}", unended(self.image, longest, told, &said()));
            }
        }
    }

    /// The interrupt lines of the FIFOs between the cores, which the emulator does not have: each core's is up while there
    /// is a word for it. Source: RP2040 Datasheet, 2.3.1.4.
    fn fifo_lines(&mut self) {
        const STATUS: u32 = 0x50;
        const VALID: u32 = 1;
        const LINE: u8 = 15;
        for core in 0..2 {
            if self.emulator.bus.sio.read32(STATUS, core) & VALID != 0 {
                self.emulator.bus.nvics[core].set_pending(LINE + core as u8);
            }
        }
    }
}
