//! The result of a command: on standard output, as text or as JSON, and in files.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;

use kizami_recording::folder::what_to_do;
use serde::Serialize;

use crate::exit::Exit;
use crate::paths;

/// Prints `value` as the command's result.
pub(super) fn print_json(value: &impl Serialize) -> Result<(), Exit> {
    let text = serde_json::to_string_pretty(value).map_err(|e| Exit::failed(format!("no JSON of the result: {e}")))?;
    print_text(&(text + "\n"))
}

/// Prints `text` as the command's result. A reader that has seen enough (`| head`) is no failure.
pub(super) fn print_text(text: &str) -> Result<(), Exit> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Exit::failed(format!("could not write the result: {e}")))
        }
        _ => Ok(()),
    }
}

/// Writes the file at `path`: whole, or it is not there afterwards. What `write` gives back for another reason than the
/// file is handed on.
///
/// # Errors
/// What could not be written, why, and what to do.
pub(super) fn write_file<T>(path: &Path, write: impl FnOnce(&mut BufWriter<File>) -> io::Result<T>) -> Result<T, Exit> {
    let failed = |e: io::Error| Exit::failed(format!("could not write {}: {e}{}", paths::shown(path), what_to_do(&e)));
    let mut file = BufWriter::new(File::create(path).map_err(failed)?);
    // A disk may accept bytes that it finds no room for later. A device or a pipe cannot be synced, and need not be.
    let is_file = file.get_ref().metadata().is_ok_and(|about| about.is_file());
    let sync = |file: &mut BufWriter<File>| if is_file { file.get_ref().sync_data() } else { Ok(()) };
    let written = write(&mut file).and_then(|value| file.flush().map(|()| value));
    written.and_then(|value| sync(&mut file).map(|()| value)).map_err(|e| {
        if is_file {
            // Part of a report looks like one.
            let _ = fs::remove_file(path);
        }
        // What is still buffered is not tried again.
        let _ = file.into_parts();
        failed(e)
    })
}
