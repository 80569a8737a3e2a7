//! `kizami export`: samples, figures and summaries in other formats.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use kizami_recording::folder::{Loaded, Measured, Reader};
use kizami_recording::formats::{NotExported, csv, cyclictest, nerves};
use kizami_recording::stats::Options;
use serde_json::json;

use super::output::{print_json, print_text, write_file};
use super::recorded::{open, read_report, status_of};
use crate::cli::{self, Format};
use crate::exit::Exit;
use crate::paths;
use crate::style::Style;

pub fn export(args: &cli::Export, json: bool, style: &Style) -> Result<u8, Exit> {
    if args.series.is_some() && args.format == Format::Figures {
        return Err(Exit::usage("figures are of whole groups of series: leave out --series"));
    }
    let folder = paths::recording(args.recording.as_deref())?;
    let reader = open(&folder, style)?;
    let wanted = args.series.as_deref().unwrap_or_default();
    let chosen: Vec<Loaded<'_>> = reader.series().filter(|s| s.series.name.contains(wanted)).collect();
    if chosen.is_empty() {
        return Err(Exit::usage(format!("no series of {} has {wanted:?} in its name", folder.display())));
    }
    let out = &args.out;
    fs::create_dir_all(out).map_err(|e| {
        Exit::failed(format!("could not make the folder {}: {e} (choose another with --out)", out.display()))
    })?;
    let mut files = Files { folder: out, written: Vec::new(), left_out: Vec::new() };
    match args.format {
        Format::Csv => {
            for series in &chosen {
                files.write(&format!("{}.csv", series.series.name), |out| csv::export(series, out))?;
            }
        }
        Format::Nerves => nerves_files(&chosen, &mut files)?,
        Format::Cyclictest => cyclictest_files(&reader, &chosen, &mut files)?,
        Format::Summary => {
            let options = Options { seed: reader.recording().seed, ..Options::default() };
            files.write("summary.csv", |out| csv::summaries(&chosen, &options, out))?;
        }
        Format::Figures => {
            files.written =
                kizami_report::files::write(&read_report(&reader, None, style), out).map_err(Exit::failed)?;
        }
    }
    let Files { written, left_out, .. } = files;
    let written: Vec<String> = written.iter().map(|path| paths::shown(path)).collect();
    left_out.iter().for_each(|why| style.warn(why));
    if written.is_empty() {
        return Err(Exit::failed(format!("nothing of {} can be written in this format", folder.display())));
    }
    if json {
        print_json(&json!({ "recording": paths::shown(&folder), "written": written, "left_out": left_out }))?;
    } else {
        print_text(&written.iter().map(|path| format!("{path}\n")).collect::<String>())?;
    }
    Ok(status_of(&reader))
}

/// The files of one export.
struct Files<'a> {
    folder: &'a Path,
    written: Vec<PathBuf>,
    /// What the format has no way to say; one sentence a series.
    left_out: Vec<String>,
}

impl Files<'_> {
    /// Makes the file `name`. When there is nothing to put into it, there is none afterwards.
    fn write(
        &mut self,
        name: &str,
        export: impl FnOnce(&mut dyn Write) -> Result<(), NotExported>,
    ) -> Result<(), Exit> {
        let path = self.folder.join(name);
        let impossible = write_file(&path, |file| match export(file) {
            Ok(()) => Ok(None),
            Err(NotExported::Write(e)) => Err(e),
            Err(NotExported::Impossible(why)) => Ok(Some(why)),
        })?;
        match impossible {
            None => self.written.push(path),
            Some(why) => {
                fs::remove_file(&path)
                    .map_err(|e| Exit::failed(format!("could not remove {}: {e}", paths::shown(&path))))?;
                self.left_out.push(why);
            }
        }
        Ok(())
    }

    /// `stem.extension`, or with a number where that is written already.
    fn unused(&self, stem: &str, extension: &str) -> String {
        let numbered = (2..).map(|number| format!("{stem}.{number}.{extension}"));
        let mut names = std::iter::once(format!("{stem}.{extension}")).chain(numbered);
        let unused = names.find(|name| !self.written.contains(&self.folder.join(name)));
        unused.unwrap_or_default()
    }
}

/// One file a trial, as one run of the study's program wrote one.
fn nerves_files(chosen: &[Loaded<'_>], files: &mut Files<'_>) -> Result<(), Exit> {
    for series in chosen {
        for (index, trial) in series.series.trials.iter().enumerate().filter(|(_, trial)| trial.rows > trial.cold_rows)
        {
            let name = nerves::file_name(series.series, trial);
            let name = files.unused(name.strip_suffix(".csv").unwrap_or(&name), "csv");
            let left_out = files.left_out.len();
            files.write(&name, |out| nerves::export(series, index, out))?;
            if files.left_out.len() > left_out {
                // It is the same for its other trials.
                break;
            }
        }
    }
    Ok(())
}

/// One file a workload, with a thread for each of its parts.
fn cyclictest_files(reader: &Reader, chosen: &[Loaded<'_>], files: &mut Files<'_>) -> Result<(), Exit> {
    let mut groups: Vec<Vec<Loaded<'_>>> = Vec::new();
    for one in chosen.iter().filter(|s| s.series.measured() != Measured::Watched) {
        let key = |s: &Loaded<'_>| {
            let s = s.series;
            (s.workload.clone(), s.environment.clone(), s.params.clone(), s.requested.clone())
        };
        // Two series without a part are two runs, not two threads of one.
        let same = |group: &&mut Vec<Loaded<'_>>| {
            !one.series.part.is_empty() && key(&group[0]) == key(one) && !group[0].series.part.is_empty()
        };
        match groups.iter_mut().find(same) {
            Some(group) => group.push(*one),
            None => groups.push(vec![*one]),
        }
    }
    for group in groups {
        let first = group[0].series;
        let stem = first.name.strip_suffix(&first.part).unwrap_or(&first.name).trim_end_matches(['-', '_', '.']);
        let name = files.unused(if stem.is_empty() { &first.name } else { stem }, "json");
        files.write(&name, |out| cyclictest::export(reader.recording(), &group, out))?;
    }
    Ok(())
}
