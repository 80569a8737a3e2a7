//! A report: the content of a recording, as data. The page and the terminal only show it.

use std::path::Path;

use kizami_recording::folder::{Loaded, Reader, Recording};
use kizami_recording::formats::ENVIRONMENT;
use kizami_recording::stats::Options;
use kizami_studies::{Judgement, Selector, Study};
use serde::{Deserialize, Serialize};

use crate::analysis::Analysis;
use crate::findings::{self, Finding};
use crate::plot::{Figure, palette};
use crate::section::{self, Section};

/// One finding of the doctor at the start of the run, as it is kept beside the recording.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Diagnosis {
    pub check: String,
    pub verdict: String,
    pub found: String,
    pub means: String,
    #[serde(default)]
    pub fix: Option<String>,
}

/// The file in the recording that holds them.
pub const DIAGNOSES_FILE: &str = "doctor.json";

/// A claim with its judgement.
pub struct Judged {
    pub says: String,
    pub source: String,
    pub judgement: Judgement,
}

/// One study's part of the report.
pub struct Chapter {
    pub name: String,
    pub title: String,
    pub paper: String,
    pub about: String,
    pub claims: Vec<Judged>,
    pub sections: Vec<Section>,
}

/// A recording with its studies, as the page and the terminal show it.
pub struct Report {
    pub recording: Recording,
    pub damage: Vec<String>,
    pub diagnoses: Vec<Diagnosis>,
    pub findings: Vec<Finding>,
    pub chapters: Vec<Chapter>,
}

impl Report {
    /// Reads everything out of `reader`, for the studies that it measured.
    pub fn new(reader: &Reader, studies: &[Study]) -> Self {
        let recording = reader.recording().clone();
        let options = Options { seed: recording.seed, ..Options::default() };
        let analyses: Vec<Analysis<'_>> = reader.series().map(|loaded| Analysis::of(loaded, &options)).collect();
        let mut chapters: Vec<Chapter> =
            studies.iter().map(|study| chapter(study, reader, &analyses, &options)).collect();
        let sections = chapters.iter_mut().flat_map(|chapter| &mut chapter.sections);
        let mut figures: Vec<&mut dyn Figure> = sections
            .flat_map(|section| &mut section.figures)
            .map(|drawn| &mut *drawn.figure as &mut dyn Figure)
            .collect();
        palette::paint(&mut figures);
        Self {
            damage: reader.damage().iter().map(ToString::to_string).collect(),
            diagnoses: diagnoses(reader.folder()),
            findings: findings::find(&analyses),
            chapters,
            recording,
        }
    }

    /// Whether another tool took the samples: of the machine nothing is known but what its files say.
    pub fn is_imported(&self) -> bool {
        let series = &self.recording.series;
        !series.is_empty() && series.iter().all(|series| series.environment == ENVIRONMENT)
    }

    /// All drawings with their names.
    pub fn figures(&self) -> impl Iterator<Item = &section::Drawn> {
        self.chapters.iter().flat_map(|c| &c.sections).flat_map(|s| &s.figures)
    }
}

fn chapter(study: &Study, reader: &Reader, analyses: &[Analysis<'_>], options: &Options) -> Chapter {
    let find = |selector: &Selector| -> Vec<Loaded<'_>> {
        reader.series().filter(|loaded| selector.matches(loaded.series)).collect()
    };
    let claim = |claim: &kizami_studies::Claim| Judged {
        says: claim.says.clone(),
        source: claim.source.clone(),
        judgement: claim.judge(options, &find),
    };
    Chapter {
        name: study.name.clone(),
        title: study.title.clone(),
        paper: study.paper.clone(),
        about: study.about.trim().to_owned(),
        claims: study.claims.iter().map(claim).collect(),
        sections: study.groups.iter().filter_map(|g| section::build(study, g, analyses)).collect(),
    }
}

/// What the doctor left; nothing when it did not run, or what is there cannot be read.
fn diagnoses(folder: &Path) -> Vec<Diagnosis> {
    let text = std::fs::read_to_string(folder.join(DIAGNOSES_FILE)).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}
