//! `kizami import`: another tool's samples as a recording.

use std::path::{Path, PathBuf};

use kizami_recording::foreign;
use kizami_recording::formats::{self, Imported};
use serde_json::json;

use super::output::{print_json, print_text};
use crate::cli::{self, ImportFormat};
use crate::exit::Exit;
use crate::paths;
use crate::style::Style;

/// A longer file is not what a tool writes of a measurement, or has no end.
const MOST_BYTES: u64 = 1 << 30;

/// All files become one recording, or none does.
pub fn import(args: &cli::Import, json: bool, style: &Style) -> Result<u8, Exit> {
    let format = match args.format {
        ImportFormat::Nerves => &formats::NERVES,
        ImportFormat::Cyclictest => &formats::CYCLICTEST,
        ImportFormat::Oslat => &formats::OSLAT,
        ImportFormat::Jitterdebugger => &formats::JITTERDEBUGGER,
        ImportFormat::Histogram => &formats::HISTOGRAM,
        ImportFormat::Hyperfine => &formats::HYPERFINE,
        ImportFormat::Fio => &formats::FIO,
    };
    let (files, again) = each_once(&args.files).map_err(refused)?;
    let names = names(&files, format.by_name);
    let read = |(file, name): (&Given, &String)| -> Result<Imported, String> {
        // The name says what was measured; whoever made a mistake needs to know in which folder.
        let shown = paths::shown(file.path);
        format.import(&file.bytes, name).map_err(|e| formats::Error { file: shown, ..e }.to_string())
    };
    let (imported, wrong): (Vec<_>, Vec<_>) = files.iter().zip(&names).map(read).partition(Result::is_ok);
    if !wrong.is_empty() {
        return Err(refused(wrong.into_iter().filter_map(Result::err).collect()));
    }
    let mut imported: Vec<Imported> = imported.into_iter().flatten().collect();
    if let Some(first) = imported.first_mut() {
        first.notes.extend(again);
    }
    let folder = args.out.clone().unwrap_or_else(|| paths::new_recording(&[format!("imported-{}", format.name)]));
    formats::save(&folder, cli::as_given(), &imported).map_err(Exit::failed)?;
    let notes: Vec<&String> = imported.iter().flat_map(|one| &one.notes).collect();
    notes.iter().for_each(|note| style.warn(note));
    if json {
        print_json(&json!({ "recording": paths::shown(&folder), "notes": notes }))?;
    } else {
        print_text(&format!("Recording: {}\n", paths::shown(&folder)))?;
    }
    Ok(0)
}

fn refused(wrong: Vec<String>) -> Exit {
    Exit::failed(format!("{}\nNo recording was made.", wrong.join("\n")))
}

/// A file of the command line.
struct Given<'a> {
    path: &'a Path,
    bytes: Vec<u8>,
}

/// The files, each content once: one measurement that was given twice is not two. With a sentence about each that was left
/// out.
fn each_once(paths: &[PathBuf]) -> Result<(Vec<Given<'_>>, Vec<String>), Vec<String>> {
    let (mut files, mut again, mut wrong): (Vec<Given>, _, _) = (Vec::new(), Vec::new(), Vec::new());
    for path in paths {
        match foreign::read(path, MOST_BYTES) {
            Ok(bytes) => match files.iter().find(|other| other.bytes == bytes) {
                Some(other) if other.path == path => {
                    again.push(format!("{} was given more than once, and counts once", paths::shown(path)));
                }
                Some(other) => again.push(format!(
                    "{} has the same content as {}: they are one measurement, and count once",
                    paths::shown(path),
                    paths::shown(other.path)
                )),
                None => files.push(Given { path, bytes }),
            },
            Err(e) => wrong.push(format!("could not read {}: {e}", paths::shown(path))),
        }
    }
    if wrong.is_empty() { Ok((files, again)) } else { Err(wrong) }
}

/// What the files are called: their own names; and where two of different folders have the same, the folders too, because
/// they are two measurements and not two trials of one. A format whose names say what was measured keeps them as they are.
fn names(files: &[Given<'_>], by_name: bool) -> Vec<String> {
    let parts = |file: &Given<'_>| -> Vec<String> {
        file.path.components().map(|part| part.as_os_str().to_string_lossy().into_owned()).collect()
    };
    let all: Vec<Vec<String>> = files.iter().map(parts).collect();
    let end = |parts: &[String], length: usize| parts[parts.len().saturating_sub(length)..].join("/");
    let name = |own: &Vec<String>| {
        let most = if by_name { 1 } else { own.len().max(1) };
        let told = |length: &usize| all.iter().filter(|other| end(other, *length) == end(own, *length)).count() == 1;
        end(own, (1..most).find(told).unwrap_or(most))
    };
    all.iter().map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(paths: &[&str], by_name: bool) -> Vec<String> {
        let files: Vec<_> = paths.iter().map(|path| Given { path: Path::new(path), bytes: Vec::new() }).collect();
        names(&files, by_name)
    }

    #[test]
    fn files_of_one_name_are_told_apart_by_their_folders() {
        assert_eq!(named(&["a.json", "x/b.json"], false), ["a.json", "b.json"]);
        assert_eq!(
            named(&["x/idle/c.json", "x/load/c.json", "d.json"], false),
            ["idle/c.json", "load/c.json", "d.json"]
        );
        assert_eq!(named(&["c.json", "load/c.json"], false), ["c.json", "load/c.json"]);
        assert_eq!(
            named(&["1/rpi3-Base-Sum_normal-1.csv", "2/rpi3-Base-Sum_normal-1.csv"], true)
                .concat()
                .matches('/')
                .count(),
            0
        );
    }
}
