//! The boards that a virtual machine may be: what stands on them, by which way the lab is reached from there, and how a guest
//! tells which one it is on.

use crate::locate::LINUX_PROBE;

/// The first process of a guest.
pub(super) const INIT: &str = "static/kizami-init";

/// What boards of one kind of processor are emulated by, and what runs on them.
#[derive(Debug)]
pub(super) struct Architecture {
    /// As Debian calls it.
    pub name: &'static str,
    /// As Rust calls it.
    pub rust: &'static str,
    /// QEMU, and its package.
    pub program: &'static str,
    pub package: &'static str,
    /// The processor where it is emulated. QEMU's `max` takes long for the signed pointers of arm64.
    pub emulated: &'static str,
    /// Whether an emulated kernel has to be told how fast the clock of its processor runs.
    pub told_its_clock: bool,
    /// The serial line that is the console.
    pub line: &'static str,
    /// The first process and the probe, beside this program.
    pub init: &'static str,
    pub probe: &'static str,
    /// What `./x setup` brings all of it by.
    pub setup: &'static str,
}

pub(super) static AMD64: Architecture = Architecture {
    name: "amd64",
    rust: "x86_64",
    program: "qemu-system-x86_64",
    package: "qemu-system-x86",
    emulated: "max",
    told_its_clock: true,
    line: "ttyS0",
    init: INIT,
    probe: LINUX_PROBE,
    setup: "environments",
};

static ARM64: Architecture = Architecture {
    name: "arm64",
    rust: "aarch64",
    program: "qemu-system-aarch64",
    package: "qemu-system-arm",
    emulated: "cortex-a72",
    told_its_clock: false,
    line: "ttyAMA0",
    init: "static/arm64/kizami-init",
    probe: "static/arm64/kizami-probe",
    setup: "arm64",
};

impl Architecture {
    /// Whether this machine's processor is of this kind too, so that it could be lent.
    pub(super) fn is_here(&self) -> bool {
        self.rust == std::env::consts::ARCH
    }
}

/// See the module.
#[derive(Debug)]
pub(super) struct Board {
    /// As the setting and QEMU call it.
    pub name: &'static str,
    pub architecture: &'static Architecture,
    /// A part of what a guest says of its machine, on this board and on no other.
    sign: &'static str,
    /// The modules by which a guest reaches the lab. What its kernel has in itself is left out when the image is made.
    pub modules: [&'static str; 2],
    /// The devices of QEMU for a virtio console, disk and network.
    pub console: &'static str,
    pub disk: &'static str,
    pub network: &'static str,
    /// Whether memory for samples can be a device there, which takes PCI. Without it the agent sends them.
    pub shares_memory: bool,
}

const ON_PCI: Board = Board {
    name: "",
    architecture: &AMD64,
    sign: "",
    modules: ["virtio_pci", "virtio_console"],
    console: "virtio-serial-pci",
    disk: "virtio-blk-pci",
    // Without a program of its own for a firmware that would boot from it.
    network: "virtio-net-pci,romfile=",
    shares_memory: true,
};

/// The first is taken where none is asked for.
pub(super) static BOARDS: [Board; 4] = [
    Board { name: "pc", sign: "i440FX", ..ON_PCI },
    Board { name: "q35", sign: "Q35", ..ON_PCI },
    // Its firmware names no product. ACPI tells of the virtio devices there, which on a PC are on PCI.
    Board {
        name: "microvm",
        architecture: &AMD64,
        sign: "LNRO0005",
        modules: ["virtio_mmio", "virtio_console"],
        console: "virtio-serial-device",
        disk: "virtio-blk-device",
        network: "virtio-net-device",
        shares_memory: false,
    },
    Board { name: "virt", architecture: &ARM64, sign: "linux,dummy-virt", ..ON_PCI },
];

impl Board {
    /// The board that was asked for.
    pub(super) fn asked(name: Option<&str>) -> &'static Self {
        BOARDS.iter().find(|board| Some(board.name) == name).unwrap_or(&BOARDS[0])
    }

    /// The board of a guest that says this of its machine.
    pub(super) fn of_guest(machine: &str) -> Option<&'static Self> {
        BOARDS.iter().find(|board| machine.contains(board.sign))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_board_is_a_value_of_the_setting() {
        let setting = kizami_settings::find("machine").expect("it is in the list");
        assert_eq!(setting.choices(), BOARDS.each_ref().map(|board| board.name));
    }

    #[test]
    fn a_guest_tells_which_board_it_is_on() {
        for (machine, board) in [
            ("Standard PC (i440FX + PIIX, 1996)", Some("pc")),
            ("Standard PC (Q35 + ICH9, 2009)", Some("q35")),
            ("virtio devices LNRO0005:17", Some("microvm")),
            // QEMU 10, whose firmware calls it so.
            ("Bochs; virtio devices LNRO0005:00", Some("microvm")),
            ("linux,dummy-virt", Some("virt")),
            ("", None),
        ] {
            assert_eq!(Board::of_guest(machine).map(|board| board.name), board);
        }
    }
}
