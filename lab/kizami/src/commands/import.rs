//! `kizami import`: another tool's samples as a recording.

use std::path::Path;

use kizami_recording::formats::{self, Imported, cyclictest, nerves};
use serde_json::json;

use super::{print_json, print_text};
use crate::cli::{self, ImportFormat};
use crate::exit::Exit;
use crate::paths;
use crate::style::Style;

/// All files become one recording, or none does.
pub fn import(args: &cli::Import, json: bool, style: &Style) -> Result<u8, Exit> {
    let (import, name): (fn(&[u8], &str) -> _, _) = match args.format {
        ImportFormat::Nerves => (nerves::import, "nerves"),
        ImportFormat::Cyclictest => (cyclictest::import, "cyclictest"),
    };
    let read = |path: &std::path::PathBuf| -> Result<Imported, String> {
        let bytes = std::fs::read(path).map_err(|e| format!("could not read {}: {e}", path.display()))?;
        let name = path.file_name().map_or_else(Default::default, |name| name.to_string_lossy());
        // The name says what was measured; whoever made a mistake needs to know in which folder.
        import(&bytes, &name).map_err(|e| formats::Error { file: path.display().to_string(), ..e }.to_string())
    };
    let (imported, wrong): (Vec<_>, Vec<_>) = args.files.iter().map(read).partition(Result::is_ok);
    let wrong: Vec<String> = wrong.into_iter().filter_map(Result::err).collect();
    if !wrong.is_empty() {
        return Err(Exit::failed(format!("{}\nNo recording was made.", wrong.join("\n"))));
    }
    let imported: Vec<Imported> = imported.into_iter().flatten().collect();
    let folder = args.out.clone().unwrap_or_else(|| paths::new_recording(&[format!("imported-{name}")]));
    formats::save(&folder, std::env::args().collect(), &imported).map_err(Exit::failed)?;
    let notes: Vec<&String> = imported.iter().flat_map(|one| &one.notes).collect();
    notes.iter().for_each(|note| style.warn(note));
    if json {
        print_json(&json!({ "recording": folder, "notes": notes }))?;
    } else {
        print_text(&format!("Recording: {}\n", Path::new(&folder).display()))?;
    }
    Ok(0)
}
