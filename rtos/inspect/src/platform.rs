//! Platforms: the boards for which programs are built, and the emulator of each.

use std::fmt;
use std::str::FromStr;

/// The model that a program is built for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord, Hash)]
pub enum Model {
    /// One processor.
    Uni,
    /// Two processors.
    Multi,
    /// The machinery for several processors, on one.
    Multi1,
    /// The same without locks.
    NoLocks,
    /// The same, with locks, but without asking which processor it is.
    NoIds,
    /// The same without either.
    Neither,
}

/// A port that runs without an operating system, with a board for one processor and one for two.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Platform {
    /// Cortex-M33: MPS2 AN505 and Musca-B1.
    M33,
    /// Cortex-A9: Zynq-7000 and RealView PBX-A9.
    A9,
    /// RP2040: one of its Cortex-M0+ and both.
    Rp2040,
}

impl Platform {
    /// All of them.
    pub const ALL: [Platform; 3] = [Platform::M33, Platform::A9, Platform::Rp2040];

    /// Its name in file names and on the command line, which is that of the feature too.
    pub fn name(self) -> &'static str {
        match self {
            Platform::M33 => "m33",
            Platform::A9 => "a9",
            Platform::Rp2040 => "rp2040",
        }
    }

    /// The target's name for rustc.
    pub fn target(self) -> &'static str {
        match self {
            Platform::M33 => "thumbv8m.main-none-eabi",
            Platform::A9 => "armv7a-none-eabi",
            Platform::Rp2040 => "thumbv6m-none-eabi",
        }
    }

    /// The arguments that make QEMU emulate the board; none if another emulator is used.
    pub fn machine(self, model: Model) -> Option<&'static [&'static str]> {
        Some(match (self, model) {
            (Platform::Rp2040, _) => return None,
            (Platform::M33, Model::Uni) => &["-M", "mps2-an505"],
            (Platform::M33, _) => &["-M", "musca-b1"],
            (Platform::A9, Model::Multi) => &["-M", "realview-pbx-a9", "-smp", "2"],
            (Platform::A9, _) => &["-M", "xilinx-zynq-a9"],
        })
    }
}

impl Model {
    /// All of them. The scenarios are built for the first two only.
    pub const ALL: [Model; 6] = [Model::Uni, Model::Multi, Model::Multi1, Model::NoLocks, Model::NoIds, Model::Neither];

    /// Its name in file names and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Model::Uni => "uni",
            Model::Multi => "multi",
            Model::Multi1 => "multi1",
            Model::NoLocks => "nolocks",
            Model::NoIds => "noids",
            Model::Neither => "neither",
        }
    }
}

impl fmt::Display for Platform {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}

impl fmt::Display for Model {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}

impl FromStr for Platform {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Platform::ALL
            .into_iter()
            .find(|platform| platform.name() == name)
            .ok_or_else(|| format!("there is no platform '{name}'; there are m33, a9 and rp2040"))
    }
}

impl FromStr for Model {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Model::ALL.into_iter().find(|model| model.name() == name).ok_or_else(|| {
            format!("there is no model '{name}'; there are uni, multi, multi1, nolocks, noids and neither")
        })
    }
}
