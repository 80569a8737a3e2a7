//! `kizami run`: from what the user asked for to a recording with its report.

mod conduct;
mod interrupt;
mod lock;
mod progress;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use kizami_environments::{Environment, LOAD};
use kizami_recording::folder::{FORMAT_VERSION, Reader, Recording, State, Writer};
use kizami_settings::{Guard, Root, host};
use kizami_studies::{Plan, Size, Study};
use kizami_workloads::Machine;

use crate::cli::{GUARD, RunOptions};
use crate::exit::{self, Exit};
use crate::{paths, style::Style};
use conduct::Outcomes;
use interrupt::Interrupt;
use lock::{Lock, NoLock};
use progress::Progress;

/// What a run left.
pub struct Ran {
    pub folder: PathBuf,
    pub studies: Vec<Study>,
    pub outcomes: Outcomes,
}

impl Ran {
    /// The status that the program ends with.
    pub fn status(&self) -> u8 {
        match &self.outcomes {
            Outcomes { interrupted: true, .. } => exit::INTERRUPTED,
            Outcomes { disk: Some(_), .. } => exit::FAILED,
            Outcomes { complete: 0, .. } => exit::FAILED,
            Outcomes { failed, skipped, .. } if failed.is_empty() && skipped.is_empty() => 0,
            _ => exit::PARTLY,
        }
    }
}

/// Measures `what`, as `options` say. `None` when it was only to show what would run.
pub fn run(what: &[String], options: &RunOptions, style: &Style) -> Result<Option<Ran>, Exit> {
    let seed = options.seed.unwrap_or_else(|| fastrand::u64(..));
    let (studies, plan) = plan(what, options, seed)?;
    if options.dry_run {
        show_plan(&plan, style);
        return Ok(None);
    }
    let interrupt = Interrupt::listen().map_err(|e| Exit::failed(format!("could not listen for signals: {e}")))?;
    let _lock = take_lock(options.wait, &interrupt)?;
    let root = Root::from_environment();
    for sentence in kizami_settings::guard::recover(&root) {
        style.warn(&sentence);
    }
    let folder = match &options.out {
        Some(folder) => folder.clone(),
        None => paths::new_recording(what),
    };
    let recording = describe(&plan, &studies, what, options, &root);
    let mut writer = Writer::create(&folder, recording).map_err(Exit::failed)?;
    for study in &studies {
        keep_study(study, &folder)?;
    }
    for note in &plan.notes {
        style.warn(note);
        writer.note(note.clone());
    }
    let mut guard = engage(&root)?;
    let mut progress = Progress::new(plan.order.len(), plan.seconds());
    let outcomes = conduct::conduct(&plan, &mut writer, &mut guard, interrupt.flag(), &mut progress);
    let took = progress.finish();
    if let Err(why) = guard.release() {
        style.warn(&why.to_string());
        writer.note(why.to_string());
    }
    let finished = writer.finish(outcomes.state());
    for why in outcomes.disk.iter().cloned().chain(finished.err().map(|e| e.to_string())) {
        style.error(&format!("{why}\nWhat was measured until then is in {}", folder.display()));
    }
    style.note(&format!("measured {} trials in {:.0} s", outcomes.complete, took.as_secs_f64()));
    Ok(Some(Ran { folder, studies, outcomes }))
}

/// Studies by name or file; anything else is a workload.
fn plan(what: &[String], options: &RunOptions, seed: u64) -> Result<(Vec<Study>, Plan), Exit> {
    let mut overrides: BTreeMap<String, Vec<String>> = options.set.iter().cloned().collect();
    if !options.load.is_empty() {
        overrides.insert(LOAD.to_owned(), options.load.clone());
    }
    let machine = Machine { cpus: kizami_settings::cpus::allowed() };
    let size = if options.full { Size::Full } else { Size::Quick };
    let environments: Vec<&'static dyn Environment> = options
        .environment
        .iter()
        .map(|name| kizami_environments::find(name).ok_or_else(|| unknown_environment(name)))
        .collect::<Result<_, _>>()?;
    let (workloads, names): (Vec<_>, Vec<_>) =
        what.iter().partition(|name| kizami_workloads::find(name).is_some() && Study::builtin(name).is_none());
    let studies: Vec<Study> = names.iter().map(|n| Study::load(n)).collect::<Result<_, _>>().map_err(Exit::usage)?;
    let mut plan = Plan::new(&studies, size, &overrides, seed, &machine).map_err(Exit::usage)?;
    for name in workloads {
        let Some(workload) = kizami_workloads::find(name) else { continue };
        plan.add_workload(workload, &environments, &overrides, options.trials, &machine).map_err(Exit::usage)?;
    }
    plan.keep_available();
    if plan.jobs.is_empty() {
        return Err(Exit::failed(format!("nothing of it can run on this machine:\n{}", plan.notes.join("\n"))));
    }
    Ok((studies, plan))
}

fn unknown_environment(name: &str) -> Exit {
    let known: Vec<_> = kizami_environments::ALL.iter().map(|e| e.name()).collect();
    Exit::usage(format!("there is no environment {name:?}: there are {}", known.join(", ")))
}

fn show_plan(plan: &Plan, style: &Style) {
    for planned in &plan.jobs {
        println!("{:>4} x {:>6.1} s  {}", planned.trials, planned.seconds, planned.title());
    }
    style.note(&format!("{} trials, about {:.0} s", plan.order.len(), plan.seconds()));
}

fn take_lock(wait: bool, interrupt: &Interrupt) -> Result<Lock, Exit> {
    Lock::take(wait, &|| !interrupt.raised()).map_err(|e| match e {
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

fn engage(root: &Root) -> Result<Guard, Exit> {
    let program = std::env::current_exe().map_err(|e| Exit::failed(format!("the path of this program is unknown: {e}")))?;
    Guard::engage(root, &program, GUARD).map_err(|e| Exit::failed(format!("could not start the guard: {e}")))
}

fn describe(plan: &Plan, studies: &[Study], what: &[String], options: &RunOptions, root: &Root) -> Recording {
    let mut tools = BTreeMap::from([("kizami".to_owned(), env!("CARGO_PKG_VERSION").to_owned())]);
    let mut seen: Vec<&str> = Vec::new();
    for planned in &plan.jobs {
        let environment = planned.job.environment;
        if !seen.contains(&environment.name()) {
            seen.push(environment.name());
            tools.extend(environment.versions());
        }
    }
    let size = match (studies.is_empty(), options.full) {
        (true, _) => "",
        (false, true) => "full",
        (false, false) => "quick",
    };
    Recording {
        format_version: FORMAT_VERSION,
        checksum: String::new(),
        kizami_version: env!("CARGO_PKG_VERSION").to_owned(),
        command: std::env::args().collect(),
        studies: what.to_vec(),
        size: size.to_owned(),
        started: humantime::format_rfc3339_seconds(std::time::SystemTime::now()).to_string(),
        ended: None,
        state: State::Running,
        seed: plan.seed,
        host: host::describe(root),
        tools,
        notes: Vec::new(),
        series: Vec::new(),
        order: Vec::new(),
    }
}

/// A copy of the study, so that the recording can be reported anywhere and after the study has changed.
fn keep_study(study: &Study, folder: &Path) -> Result<(), Exit> {
    for (name, text) in study.files() {
        let path = folder.join(&name);
        std::fs::write(&path, text).map_err(|e| Exit::failed(format!("could not write {}: {e}", path.display())))?;
    }
    Ok(())
}

/// Opens a recording and says what is damaged in it.
pub fn open(folder: &Path, style: &Style) -> Result<Reader, Exit> {
    let reader = Reader::open(folder).map_err(|e| Exit::new(exit::DAMAGED, e))?;
    for damage in reader.damage() {
        style.warn(&damage.to_string());
    }
    if reader.recording().was_killed() {
        style.warn("the run ended without saying so (killed, or still running): what reached the disk is shown");
    }
    Ok(reader)
}
