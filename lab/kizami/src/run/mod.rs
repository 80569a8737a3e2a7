//! `kizami run`: from the user's request to a recording.

mod available;
mod conduct;
mod interrupt;
mod lock;
mod looks;
mod machine;
mod progress;

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use kizami_environments::{Environment, LOAD};
use kizami_recording::folder::{Recording, Writer, what_to_do};
use kizami_settings::{Guard, Root, Settings, guard, host};
use kizami_studies::{Overrides, Plan, Planned, Problem, Study};
use kizami_workloads::{Machine, Workload};
use serde_json::json;

use crate::cli::{self, RunOptions};
use crate::exit::{self, Exit};
use crate::style::Style;
use crate::{doctor, paths};
use conduct::Outcomes;
use interrupt::Interrupt;
use lock::{Lock, NoLock};
use looks::Looks;
pub use looks::Rounds;
use machine::MachineSettings;
use progress::Progress;

/// The result of a run.
pub struct Ran {
    pub folder: PathBuf,
    pub outcomes: Outcomes,
}

impl Ran {
    /// The status that the program ends with.
    pub fn status(&self) -> u8 {
        match &self.outcomes {
            Outcomes { interrupted: true, .. } => exit::INTERRUPTED,
            Outcomes { disk: Some(_), .. } | Outcomes { complete: 0, .. } => exit::FAILED,
            Outcomes { failed, skipped, .. } if failed.is_empty() && skipped.is_empty() => 0,
            _ => exit::PARTLY,
        }
    }
}

/// Measures `what` in so many `rounds`, as `options` say. `None` when it was only to show what would run.
pub fn run(
    what: &[String],
    options: &RunOptions,
    rounds: Rounds,
    json: bool,
    style: &Style,
) -> Result<Option<Ran>, Exit> {
    let studies = studies(what, options)?;
    let (mut plan, mut unavailable) = plan(&studies, options)?;
    let mut looks = Looks::new(&studies, rounds, options.trials);
    if options.dry_run {
        show_plan(&plan, looks.most(&plan).seconds(), json);
        return Ok(None);
    }
    let interrupt = Interrupt::listen().map_err(|e| Exit::failed(format!("could not listen for signals: {e}")))?;
    let _lock = take_lock(options.wait, &interrupt, style)?;
    let root = Root::from_environment();
    recover(&root, style);
    paths::remove_leftovers();
    let starting = |environment: &dyn Environment| {
        if environment.starts_first() {
            style.note(&format!("starting {}, {}", environment.name(), environment.title()));
        }
    };
    unavailable.extend(available::keep_working(&mut plan, interrupt.flag(), starting));
    if interrupt.raised() {
        return Err(Exit::new(exit::INTERRUPTED, "interrupted before anything was measured"));
    }
    if plan.jobs.is_empty() {
        return Err(nothing_runs(&unavailable));
    }

    let folder = options.out.clone().unwrap_or_else(|| paths::new_recording(what));
    let mut writer = Writer::create(&folder, describe(&plan, what, options, &root)).map_err(Exit::failed)?;
    let kept = keep_studies(&studies, &folder).and_then(|()| keep_diagnoses(&root, &studies, &folder, &interrupt));
    if let Err(why) = kept {
        // Nothing was measured: the folder, which is this run's own, would only look like a run that was killed.
        let _ = std::fs::remove_dir_all(&folder);
        return Err(why);
    }
    for sentence in unavailable {
        style.warn(&sentence);
        writer.note(sentence);
    }
    let program =
        std::env::current_exe().map_err(|e| Exit::failed(format!("the path of this program is unknown: {e}")))?;
    let (mut guard, _) = Guard::engage(&root, &program, &Settings::default());
    let mut progress = Progress::new(plan.order.len(), plan.seconds());
    let mut machine = MachineSettings::new(&root, &mut guard);
    let outcomes = conduct::conduct(&mut plan, &mut looks, &mut writer, &mut machine, interrupt.flag(), &mut progress);
    let took = progress.finish();

    if let Err(why) = guard.release() {
        style.warn(&why);
        writer.note(why);
    }
    let finished = writer.finish(outcomes.state());
    // A disk that refused once refuses the end as well, which is no second thing to tell.
    if let Some(why) = outcomes.disk.clone().or_else(|| finished.err().map(|e| e.to_string())) {
        style.error(&format!("{why}\nWhat was measured until then is in {}", folder.display()));
    }
    let interrupted = if outcomes.interrupted { "interrupted; " } else { "" };
    style.note(&format!("{interrupted}measured {} trials in {:.0} s", outcomes.complete, took.as_secs_f64()));
    Ok(Some(Ran { folder, outcomes }))
}

/// Restores what an earlier run that was killed could not.
pub fn recover(root: &Root, style: &Style) {
    guard::recover(root).iter().for_each(|sentence| style.warn(sentence));
}

/// Studies by name or file; a workload's name is a study of it in the environments that the user wants.
fn studies(what: &[String], options: &RunOptions) -> Result<Vec<Study>, Exit> {
    let mut studies = Vec::new();
    for name in what {
        let builtin = kizami_studies::builtin().any(|builtin| builtin == name);
        match kizami_workloads::find(name).filter(|_| !builtin) {
            Some(workload) => {
                for environment in environments(workload, options)? {
                    studies.push(Study::of_workload(workload, environment, options.trials.unwrap_or(1)));
                }
            }
            None => {
                let wrong = |problems: Vec<Problem>| {
                    let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
                    Exit::usage(format!("{}\n(kizami list tells what there is)", lines.join("\n")))
                };
                let study = Study::load(name).map_err(wrong)?;
                studies.push(match &options.environment[..] {
                    [] => study,
                    names => {
                        names.iter().try_for_each(|name| environment(name).map(drop))?;
                        study.elsewhere(names).map_err(wrong)?
                    }
                });
            }
        }
    }
    Ok(studies)
}

/// Those that were asked for, or the first that does the workload.
fn environments(workload: &Workload, options: &RunOptions) -> Result<Vec<&'static dyn Environment>, Exit> {
    if options.environment.is_empty() {
        let first = kizami_environments::ALL.iter().copied().find(|environment| environment.does(workload));
        return Ok(first.into_iter().collect());
    }
    options.environment.iter().map(environment).collect()
}

fn environment(name: &String) -> Result<&'static dyn Environment, Exit> {
    kizami_environments::find(name).ok_or_else(|| {
        let known: Vec<_> = kizami_environments::ALL.iter().map(|e| e.name()).collect();
        Exit::usage(format!("there is no environment {name:?}: there are {}", known.join(", ")))
    })
}

/// The plan of what can run here, and a sentence about everything that cannot.
fn plan(studies: &[Study], options: &RunOptions) -> Result<(Plan, Vec<String>), Exit> {
    let mut overrides: Overrides = BTreeMap::new();
    for (name, values) in &options.set {
        overrides.entry(name.clone()).or_default().extend(values.iter().cloned());
    }
    if !options.load.is_empty() {
        overrides.insert(LOAD.to_owned(), options.load.clone());
    }
    let machine = Machine::of(kizami_settings::cpus::allowed());
    let size = options.size();
    let seed = options.seed.unwrap_or_else(|| fastrand::u64(..));
    let mut plan = Plan::new(studies, size, options.trials, &overrides, seed, &machine).map_err(Exit::usage)?;
    let mut unavailable: Vec<String> = studies.iter().flat_map(|study| study.left_out(size)).collect();
    unavailable.extend(available::keep_available(&mut plan, &Root::from_environment()));
    if plan.jobs.is_empty() {
        return Err(nothing_runs(&unavailable));
    }
    Ok((plan, unavailable))
}

fn nothing_runs(unavailable: &[String]) -> Exit {
    Exit::failed(format!("nothing of it can run on this machine:\n{}", unavailable.join("\n")))
}

/// Shows what would run, which takes `most` seconds where every claim stays open.
fn show_plan(plan: &Plan, most: f64, json: bool) {
    let text = if json {
        let job = |j: &Planned| json!({ "series": j.series, "trials": j.trials, "seconds": j.seconds });
        let jobs: Vec<_> = plan.jobs.iter().map(job).collect();
        json!({ "jobs": jobs, "seed": plan.seed, "seconds": plan.seconds(), "most_seconds": most }).to_string()
    } else {
        let line = |j: &Planned| format!("{:>4} × {:>6.1} s  {}\n", j.trials, j.seconds, available::title(j));
        let lines: String = plan.jobs.iter().map(line).collect();
        let seconds = plan.seconds();
        let open = if most > seconds { format!(", up to {most:.0} s where claims stay open") } else { String::new() };
        format!("{lines}{} trials, about {seconds:.0} s{open}", plan.order.len())
    };
    // A reader that has seen enough (`| head`) is no failure.
    let _ = writeln!(std::io::stdout(), "{text}");
}

fn take_lock(wait: bool, interrupt: &Interrupt, style: &Style) -> Result<Lock, Exit> {
    let go_on = || !interrupt.raised();
    let taken = match Lock::take(false, &go_on) {
        Err(NoLock::Busy(holder)) if wait => {
            style.note(&format!("waiting for another run to end ({holder})"));
            Lock::take(true, &go_on)
        }
        taken => taken,
    };
    taken.map_err(|e| match e {
        NoLock::Busy(_) if interrupt.raised() => Exit::new(exit::INTERRUPTED, "interrupted while waiting"),
        NoLock::Busy(holder) => Exit::new(
            exit::BUSY,
            format!(
                "another run is measuring on this machine ({holder}): two would be each other's noise. Wait for it with \
                 --wait, or try again later"
            ),
        ),
        NoLock::Impossible(why) => Exit::failed(why),
    })
}

fn describe(plan: &Plan, what: &[String], options: &RunOptions, root: &Root) -> Recording {
    let mut tools = BTreeMap::from([("kizami".to_owned(), env!("CARGO_PKG_VERSION").to_owned())]);
    let mut seen: Vec<&str> = Vec::new();
    for environment in plan.jobs.iter().map(|planned| planned.job.environment) {
        if !seen.contains(&environment.name()) {
            seen.push(environment.name());
            tools.extend(environment.versions());
        }
    }
    Recording {
        kizami_version: env!("CARGO_PKG_VERSION").to_owned(),
        command: cli::as_given(),
        studies: what.to_vec(),
        size: options.size().to_string(),
        started: humantime::format_rfc3339_seconds(std::time::SystemTime::now()).to_string(),
        seed: plan.seed,
        requirement: options.required.requirement(),
        host: host::describe(root),
        tools,
        ..Recording::begun()
    }
}

/// A copy of each study, so that the recording can be reported anywhere, and after the study has changed.
fn keep_studies(studies: &[Study], folder: &Path) -> Result<(), Exit> {
    for study in studies.iter().filter(|study| !study.text.is_empty()) {
        let own = [(format!("{}.toml", study.name), &study.text)];
        let files = own.into_iter().chain(study.data.as_ref().map(|(name, text)| (name.clone(), text)));
        for (name, text) in files {
            write(&folder.join(name), text)?;
        }
    }
    Ok(())
}

/// What the doctor says at the start: the report shows it beside the figures.
fn keep_diagnoses(root: &Root, studies: &[Study], folder: &Path, interrupt: &Interrupt) -> Result<(), Exit> {
    // A single workload is over before a second of listening to the neighbours is.
    let quick = studies.iter().all(|study| study.text.is_empty());
    let text = serde_json::to_string_pretty(&doctor::examine(root, quick, interrupt.flag())).map_err(Exit::failed)?;
    write(&folder.join(kizami_report::DIAGNOSES_FILE), &text)
}

fn write(path: &Path, text: &str) -> Result<(), Exit> {
    std::fs::write(path, text)
        .map_err(|e| Exit::failed(format!("could not write {}: {e}{}", path.display(), what_to_do(&e))))
}
