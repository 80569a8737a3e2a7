//! Targets: the port, the number of processors, and the C compiler of a program.

use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};
use inspect::{Model, Platform};

/// The target of a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Target {
    /// The board; none for this machine.
    pub platform: Option<Platform>,
    /// How many processors.
    pub processors: usize,
}

impl Target {
    /// The C compiler and its flags for the target.
    pub fn compiler(self) -> (&'static str, &'static [&'static str]) {
        match self.platform {
            None => ("cc", &[]),
            Some(Platform::M33) => {
                ("arm-none-eabi-gcc", &["-mcpu=cortex-m33", "-mthumb", "-mfloat-abi=soft", "-ffreestanding"])
            }
            Some(Platform::A9) => {
                ("arm-none-eabi-gcc", &["-mcpu=cortex-a9", "-marm", "-mfloat-abi=soft", "-ffreestanding"])
            }
            Some(Platform::Rp2040) => ("arm-none-eabi-gcc", &["-mcpu=cortex-m0plus", "-mthumb", "-ffreestanding"]),
        }
    }

    /// A command of the compiler with its flags for the target and these definitions.
    pub fn compile(self, defines: &[String]) -> Command {
        let (compiler, options) = self.compiler();
        let mut command = Command::new(compiler);
        command.args(options).arg(format!("-DTNUM_PRCID={}", self.processors));
        command.args(defines.iter().map(|define| format!("-D{define}")));
        command
    }

    /// The error when the compiler is not installed.
    pub fn cannot_compile(self) -> String {
        format!("cannot start {}; `./x setup rtos-cfg` installs it", self.compiler().0)
    }

    /// The C library of the compiler for a board, and what its code calls: as much of it as needs no system.
    pub fn libraries(self) -> Result<Vec<PathBuf>> {
        let mut found = Vec::new();
        if self.platform.is_some() {
            let (compiler, options) = self.compiler();
            for question in ["-print-file-name=libc.a", "-print-libgcc-file-name"] {
                let output = Command::new(compiler).args(options).arg(question).output();
                let output = output.with_context(|| self.cannot_compile())?;
                let path = PathBuf::from(String::from_utf8_lossy(&output.stdout).trim_end());
                // A library that is not there is told by its name alone.
                if path.is_absolute() && path.exists() {
                    found.push(path);
                }
            }
        }
        Ok(found)
    }

    /// The port's `MINIMUM_STACK`.
    pub fn minimum_stack(self) -> u64 {
        match self.platform {
            None => 32 * 1024,
            Some(Platform::M33 | Platform::Rp2040) => 256,
            Some(Platform::A9) => 2 * 4096 + 512,
        }
    }

    /// The port's `LOWEST_INTERRUPT_MASK`: the highest priority of an interrupt.
    pub fn highest_interrupt(self) -> i64 {
        match self.platform {
            None => -7,
            Some(Platform::M33) => -5,
            Some(Platform::A9) => -6,
            Some(Platform::Rp2040) => -3,
        }
    }

    /// The interrupt lines: from which to which there are, and those among them that the port uses itself.
    pub fn lines(self) -> (RangeInclusive<i64>, &'static [i64]) {
        match (self.platform, self.processors) {
            (None, _) => (2..=63, &[]),
            (Some(Platform::M33), 1) => (0..=123, &[3]),
            (Some(Platform::M33), _) => (0..=123, &[3, 4, 6]),
            (Some(Platform::A9), _) => (32..=95, &[]),
            (Some(Platform::Rp2040), 1) => (0..=25, &[0, 15]),
            (Some(Platform::Rp2040), _) => (0..=25, &[0, 1, 15, 16]),
        }
    }

    /// The numbers of the CPU exceptions: on this machine those of signals.
    pub fn exceptions(self) -> &'static [i64] {
        match self.platform {
            None => &[4, 5, 7, 8, 11],
            Some(Platform::M33) => &[2, 3, 4, 5, 6, 7],
            Some(Platform::A9) => &[0, 1, 2, 3],
            Some(Platform::Rp2040) => &[2, 3],
        }
    }

    /// Which board it is, of those that the port has.
    pub fn model(self) -> Model {
        if self.processors == 1 { Model::Uni } else { Model::Multi }
    }

    /// The port, as a Rust type.
    pub fn port(self) -> &'static str {
        match (self.platform, self.processors) {
            (None, _) => "rtos_host::Host",
            (Some(Platform::M33), 1) => "cortex_m33::CortexM33<cortex_m33::boards::Mps2An505>",
            (Some(Platform::M33), _) => "cortex_m33::CortexM33<cortex_m33::boards::MuscaB1>",
            (Some(Platform::A9), 1) => "cortex_a9::CortexA9<cortex_a9::boards::Zynq7000>",
            (Some(Platform::A9), _) => "cortex_a9::CortexA9<cortex_a9::boards::RealViewPbxA9>",
            (Some(Platform::Rp2040), 1) => "rp2040::Rp2040<rp2040::One>",
            (Some(Platform::Rp2040), _) => "rp2040::Rp2040<rp2040::Both>",
        }
    }

    /// The name of the port's crate in Rust, and its package and folder below `rtos/ports`.
    pub fn port_crate(self) -> (&'static str, &'static str, &'static str) {
        match self.platform {
            None => ("rtos_host", "kizami-rtos-host", "host"),
            Some(Platform::M33) => ("cortex_m33", "kizami-rtos-cortex-m33", "cortex-m33"),
            Some(Platform::A9) => ("cortex_a9", "kizami-rtos-cortex-a9", "cortex-a9"),
            Some(Platform::Rp2040) => ("rp2040", "kizami-rtos-rp2040", "rp2040"),
        }
    }
}
