//! Every figure of a report as files: SVG that looks right by itself, and CSV with the numbers that it draws.

use std::fs;
use std::path::{Path, PathBuf};

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
            fs::write(&path, text).map_err(|e| format!("could not write {}: {e}", path.display()))?;
            written.push(path);
        }
    }
    Ok(written)
}
