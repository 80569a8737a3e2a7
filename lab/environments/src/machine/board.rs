//! The boards that a virtual machine may be: what stands on them, by which way the lab is reached from there, and how a guest
//! tells which one it is on.

/// See the module.
#[derive(Debug)]
pub(super) struct Board {
    /// As the setting and QEMU call it.
    pub name: &'static str,
    /// A part of what a guest says of its machine, on this board and on no other.
    sign: &'static str,
    /// The modules by which a guest reaches the lab. What its kernel has in itself is left out when the image is made.
    pub modules: [&'static str; 2],
    /// The device of QEMU for a virtio console.
    pub console: &'static str,
    /// Whether memory for samples can be a device there, which takes PCI. Without it the agent sends them.
    pub shares_memory: bool,
}

const ON_PCI: Board = Board {
    name: "",
    sign: "",
    modules: ["virtio_pci", "virtio_console"],
    console: "virtio-serial-pci",
    shares_memory: true,
};

/// The first is taken where none is asked for.
static BOARDS: [Board; 3] = [
    Board { name: "pc", sign: "i440FX", ..ON_PCI },
    Board { name: "q35", sign: "Q35", ..ON_PCI },
    // Its firmware names no product. ACPI tells of the virtio devices there, which on a PC are on PCI.
    Board {
        name: "microvm",
        sign: "LNRO0005",
        modules: ["virtio_mmio", "virtio_console"],
        console: "virtio-serial-device",
        shares_memory: false,
    },
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
            ("", None),
        ] {
            assert_eq!(Board::of_guest(machine).map(|board| board.name), board);
        }
    }
}
