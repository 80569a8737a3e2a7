//! What is made once in a run: the flash of a board, with the kernel in it.

use std::path::PathBuf;

use image::board::{self, Board, FirstFiles, Flash, Kernels, Source};

use crate::locate;

/// The board, of those in the folder of boards beside this program.
const BOARD: &str = "mps2-an385";
const BOARDS: &str = "boards";

/// The programs of the board.
pub(super) const NODE: &str = "board/node";
pub(super) const PROBE: &str = "board/kizami-node-probe";

/// What the board's first process does. How many processes there may be the kernel reckons by the memory, as if each had one of its own:
/// here the memory itself is to be the limit.
const INIT: &[u8] = b"\
mount devtmpfs dev /dev
mount proc proc /proc
mount sysfs sys /sys
echo 1000 > /proc/sys/kernel/threads-max
ip link set lo up
probe
probe ended $?
poweroff
";

/// The flash without a job, and the kernel in it with its symbols.
#[derive(Debug, Clone)]
pub(super) struct Made {
    pub board: Board,
    pub flash: Flash,
    pub symbols: PathBuf,
}

impl Made {
    /// With a kernel whose configuration has that part; it is built if that was not done before.
    pub(super) fn new(kind: &str) -> Result<Self, String> {
        let board = described()?;
        let kind = board.folder.join("../common").join(kind);
        let folder = board::kept();
        let kernels = Kernels { folder: &folder, tell: |sentence| eprintln!("  {sentence}") };
        let make = |source: Source| {
            let built = board::build(&board, &source, &kind, &kernels)?;
            let probe = locate::ours(PROBE).map_err(|why| image::Error::Form { path: PROBE.into(), why })?;
            let node = locate::ours(NODE).map_err(|why| image::Error::Form { path: NODE.into(), why })?;
            let more = [("bin/probe".to_owned(), probe)];
            let flash = Flash::new(&board, &built, &FirstFiles { node: &node, init: INIT, more: &more }.packed()?)?;
            // Unpacking itself is most of what a kernel does until the first process, and nothing of it is measured.
            let flash = flash.going_on_at(&board, board::entry(&built.symbols)?)?;
            Ok((flash, built.symbols))
        };
        let (flash, symbols) = Source::installed().and_then(make).map_err(|why: image::Error| why.to_string())?;
        Ok(Self { board, flash, symbols })
    }
}

/// What stands in the folder of the board.
pub(super) fn described() -> Result<Board, String> {
    let boards: Option<PathBuf> = locate::folder(BOARDS);
    let folder =
        boards.ok_or("the boards are not beside this program: ./x puts the folder image/boards there")?.join(BOARD);
    Board::read(&folder).map_err(|why| why.to_string())
}
