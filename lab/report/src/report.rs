//! A report: the content of a recording, as data. The page and the terminal only show it.

use std::path::Path;

use kizami_recording::folder::{Reader, Recording, Requirement, Series};
use kizami_recording::stats::Options;
use kizami_studies::{Judgement, Study};
use serde::{Deserialize, Serialize};

use crate::analysis::Analysis;
use crate::decisions::{self, Decisions};
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
    /// Whether wake-ups meet what they are held to: one for the run, or one for each study that says something of its own.
    pub decisions: Vec<Decisions>,
    pub chapters: Vec<Chapter>,
}

impl Report {
    /// Reads everything out of `reader`, for the studies that it measured. Wake-ups are held to what was `asked`, and otherwise to
    /// what the run or their study says; without any, nothing is decided.
    pub fn new(reader: &Reader, studies: &[Study], asked: Option<Requirement>) -> Self {
        let recording = reader.recording().clone();
        let options = Options { seed: recording.seed, ..Options::default() };
        let analyses: Vec<Analysis<'_>> = reader.series().map(|loaded| Analysis::of(loaded, &options)).collect();
        let asked = asked.or(recording.requirement);
        let chapter = |study: &Study| chapter(study, reader, &analyses, &options, asked.or(study.requirement));
        let mut chapters: Vec<Chapter> = studies.iter().map(chapter).collect();
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
            decisions: decide(reader, studies, asked),
            chapters,
            recording,
        }
    }

    /// Whether another tool took the samples: of the machine nothing is known but what its files say.
    pub fn is_imported(&self) -> bool {
        let series = &self.recording.series;
        !series.is_empty() && series.iter().all(Series::is_imported)
    }

    /// Whether there are wake-ups, which a deadline could be asked for.
    pub fn has_wake_ups(&self) -> bool {
        self.recording.series.iter().any(|series| decisions::is_wake_up(series) && series.rows() > 0)
    }

    /// All drawings with their names.
    pub fn figures(&self) -> impl Iterator<Item = &section::Drawn> {
        self.chapters.iter().flat_map(|c| &c.sections).flat_map(|s| &s.figures)
    }
}

/// What is asked of the run is decided of all its wake-ups, what a study says of its own.
fn decide(reader: &Reader, studies: &[Study], asked: Option<Requirement>) -> Vec<Decisions> {
    let decided = match asked {
        Some(requirement) => vec![Decisions::of(reader, requirement, |_, _| true)],
        None => {
            let of_study = |study: &Study| {
                let own = format!("{}/", study.name);
                let chosen = |series: &Series, _| series.asked_by.iter().any(|by| by.starts_with(&own));
                let decisions = Decisions::of(reader, study.requirement?, chosen);
                Some(Decisions { study: study.title.clone(), ..decisions })
            };
            studies.iter().filter_map(of_study).collect()
        }
    };
    decided.into_iter().filter(|decisions| !decisions.decided.is_empty()).collect()
}

fn chapter(
    study: &Study,
    reader: &Reader,
    analyses: &[Analysis<'_>],
    options: &Options,
    requirement: Option<Requirement>,
) -> Chapter {
    let deadline = requirement.map(|requirement| requirement.deadline);
    let claim = |claim: &kizami_studies::Claim| Judged {
        says: claim.says.clone(),
        source: claim.source.clone(),
        judgement: claim.judge_recorded(reader, options),
    };
    Chapter {
        name: study.name.clone(),
        title: study.title.clone(),
        paper: study.paper.clone(),
        about: study.about.trim().to_owned(),
        claims: study.claims.iter().map(claim).collect(),
        sections: study.groups.iter().filter_map(|g| section::build(study, g, analyses, deadline)).collect(),
    }
}

/// What the doctor left; nothing when it did not run, or what is there cannot be read.
fn diagnoses(folder: &Path) -> Vec<Diagnosis> {
    let text = std::fs::read_to_string(folder.join(DIAGNOSES_FILE)).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}
