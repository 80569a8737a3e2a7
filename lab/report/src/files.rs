//! Figures as files: each figure of a report as a standalone SVG, and as CSV with the numbers that it draws.

use std::fs;
use std::path::{Path, PathBuf};

use kizami_recording::folder::what_to_do;

use crate::plot::{Width, theme};
use crate::report::Report;

/// Writes them into `folder`; gives their paths.
///
/// # Errors
/// The path that could not be written, and why.
pub fn write(report: &Report, folder: &Path) -> Result<Vec<PathBuf>, String> {
    fs::create_dir_all(folder).map_err(|e| format!("could not make the folder {}: {e}", folder.display()))?;
    let mut written = Vec::new();
    for drawn in report.figures() {
        let svg = theme::standalone(&drawn.figure.render(Width::WIDE));
        for (extension, text) in [("svg", svg), ("csv", drawn.figure.csv())] {
            let path = folder.join(format!("{}.{extension}", drawn.name));
            fs::write(&path, text).map_err(|e| {
                // Part of a figure looks like one.
                let _ = fs::remove_file(&path);
                format!("could not write {}: {e}{}", path.display(), what_to_do(&e))
            })?;
            written.push(path);
        }
    }
    Ok(written)
}
