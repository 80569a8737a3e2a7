//! The plugin of QEMU's that counts the instructions of a board's kernel, function by function.

use std::ffi::OsString;
use std::fs;
use std::path::Path;

use image::board;

use crate::error::Error;
use crate::locate;

/// The plugin, where it leaves what it counted, and the functions of the kernel that tell it where that begins and ends (a call that nothing
/// else makes) and which task runs.
const FOLLOWS: &str = "libkizami_follow.so";
pub(super) const COUNTED: &str = "counted";
const MARK: &str = "sys_getcpu";
const SWITCH: &str = "__switch_to";

/// The option for it, for a kernel whose symbols are there; what it needs and leaves lies in `scratch`.
pub(super) fn option(symbols: &Path, scratch: &Path) -> Result<OsString, Error> {
    let plugin = locate::ours(FOLLOWS).map_err(Error::Unusable)?;
    let functions = board::functions(symbols).map_err(|why| Error::Unusable(why.to_string()))?;
    let text: String = functions.iter().map(|(address, name)| format!("{address:x} {name}\n")).collect();
    let list = scratch.join("functions");
    fs::write(&list, text).map_err(Error::os(format!("write {}", list.display())))?;
    let mut option = escaped(&plugin);
    for (name, path) in [("symbols", &list), ("out", &scratch.join(COUNTED))] {
        option.push(format!(",{name}="));
        option.push(escaped(path));
    }
    option.push(format!(",mark={MARK},switch={SWITCH}"));
    Ok(option)
}

/// A path within an option of QEMU's, where a comma begins the next word.
pub(super) fn escaped(path: &Path) -> OsString {
    use std::os::unix::ffi::{OsStrExt, OsStringExt};
    let twice = |byte: &u8| std::iter::repeat_n(*byte, if *byte == b',' { 2 } else { 1 });
    OsString::from_vec(path.as_os_str().as_bytes().iter().flat_map(twice).collect())
}
