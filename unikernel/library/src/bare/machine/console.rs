//! The console: the first serial port, and for what is no result a port of QEMU's, where it has that; of a domain of Xen's, Xen's.

use super::{port, xen};
use crate::stream::Stream;

const SERIAL: u16 = 0x3f8;
const LINE_STATUS: u16 = SERIAL + 5;
const ROOM: u8 = 0x20;
const DEBUG: u16 = 0xe9;
/// A port that takes nothing for so long is not there.
const PATIENCE: u32 = 1_000_000;

pub fn write(stream: Stream, text: &[u8]) {
    if xen::is_here() {
        return xen::write(text);
    }
    // It says its own number.
    if stream == Stream::Error && port::read_8(DEBUG) == DEBUG as u8 {
        return text.iter().for_each(|byte| port::write_8(DEBUG, *byte));
    }
    for byte in text {
        let has_room = (0..PATIENCE).any(|_| port::read_8(LINE_STATUS) & ROOM != 0);
        if !has_room {
            return;
        }
        port::write_8(SERIAL, *byte);
    }
}
