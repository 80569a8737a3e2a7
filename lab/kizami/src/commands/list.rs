//! `kizami list`: all studies, workloads, environments, settings and loads; with a name, a full description of it.

use std::fmt::Write;

use kizami_environments::Environment;
use kizami_settings::{SETTINGS, Setting};
use kizami_studies::Study;
use kizami_workloads::loads::{self, Load};
use kizami_workloads::{Kind, Workload};
use serde_json::{Value, json};

use super::output::{print_json, print_text};
use crate::exit::Exit;
use crate::style::Style;

/// Anything that has a name here.
enum Named {
    Study(Box<Study>),
    Workload(&'static Workload),
    Environment(&'static dyn Environment),
    Setting(&'static Setting),
    Load(&'static Load),
}

pub fn list(name: Option<&str>, json: bool, style: &Style) -> Result<u8, Exit> {
    let all = everything();
    let Some(name) = name else {
        if json {
            print_json(&all.iter().map(Named::json).collect::<Vec<_>>())?;
        } else {
            print_text(&overview(&all, style))?;
        }
        return Ok(0);
    };
    let Some(named) = all.iter().find(|n| n.name() == name) else {
        return Err(Exit::usage(format!("there is nothing named {name:?}: kizami list tells the names")));
    };
    if json {
        print_json(&named.json())?
    } else {
        print_text(&named.details(style))?
    }
    Ok(0)
}

fn everything() -> Vec<Named> {
    let studies =
        kizami_studies::builtin().filter_map(|name| Study::load(name).ok()).map(|study| Named::Study(Box::new(study)));
    studies
        .chain(kizami_workloads::ALL.iter().map(|w| Named::Workload(w)))
        .chain(kizami_environments::ALL.iter().map(|e| Named::Environment(*e)))
        .chain(SETTINGS.iter().map(Named::Setting))
        .chain(loads::ALL.iter().map(|l| Named::Load(l)))
        .collect()
}

/// Everything with its title; why environments cannot be used here stands below them, each reason once.
fn overview(all: &[Named], style: &Style) -> String {
    let mut missing: Vec<(String, Vec<&str>)> = Vec::new();
    for named in all {
        let Some(why) = named.obstacle() else { continue };
        match missing.iter_mut().find(|(other, _)| *other == why) {
            Some((_, names)) => names.push(named.name()),
            None => missing.push((why, vec![named.name()])),
        }
    }
    let mut out = String::new();
    let mut heading = "";
    for named in all {
        if named.heading() != heading {
            heading = named.heading();
            let _ = writeln!(out, "{}{}", if out.is_empty() { "" } else { "\n" }, style.bold(heading));
        }
        let mark = if named.obstacle().is_some() { " (not here)" } else { "" };
        let _ = writeln!(out, "  {:<22} {}{mark}", named.name(), named.title());
    }
    if !missing.is_empty() {
        let _ = writeln!(out, "\n{}", style.bold("Not here"));
    }
    for (why, names) in missing {
        let _ = writeln!(out, "{}", style.item(&format!("{}: {why}", names.join(", "))));
    }
    out + "\nkizami list NAME tells everything about one of them.\n"
}

fn limits(kind: &Kind) -> String {
    match kind {
        Kind::Choice(choices) => choices.join(" | "),
        Kind::Number { quantity, least, most } => format!("{} to {}", quantity.write(*least), quantity.write(*most)),
    }
}

impl Named {
    fn heading(&self) -> &'static str {
        match self {
            Self::Study(_) => "Studies",
            Self::Workload(_) => "Workloads",
            Self::Environment(_) => "Environments",
            Self::Setting(_) => "Settings",
            Self::Load(_) => "Background loads",
        }
    }

    fn name(&self) -> &str {
        match self {
            Self::Study(study) => &study.name,
            Self::Workload(workload) => workload.name,
            Self::Environment(environment) => environment.name(),
            Self::Setting(setting) => setting.name,
            Self::Load(load) => load.name,
        }
    }

    fn title(&self) -> String {
        match self {
            Self::Study(study) => study.title.clone(),
            Self::Workload(workload) => workload.title.to_owned(),
            Self::Environment(environment) => environment.title().to_owned(),
            Self::Setting(setting) => setting.about.to_owned(),
            Self::Load(load) => load.about.to_owned(),
        }
    }

    /// Why it cannot be used on this machine.
    fn obstacle(&self) -> Option<String> {
        match self {
            Self::Environment(environment) => environment.available().err(),
            _ => None,
        }
    }

    fn json(&self) -> Value {
        let mut value = json!({ "kind": self.kind(), "name": self.name(), "title": self.title() });
        if let Some(why) = self.obstacle() {
            value["not_here"] = json!(why);
        }
        if let Self::Workload(workload) = self {
            let param = |p: &kizami_workloads::Param| json!({ "name": p.name, "about": p.about, "default": p.default, "values": limits(&p.kind) });
            value["about"] = json!(workload.about);
            value["reference"] = json!(workload.reference);
            value["params"] = workload.params.iter().map(param).collect();
        }
        value
    }

    fn kind(&self) -> &'static str {
        match self {
            Self::Study(_) => "study",
            Self::Workload(_) => "workload",
            Self::Environment(_) => "environment",
            Self::Setting(_) => "setting",
            Self::Load(_) => "load",
        }
    }

    fn details(&self, style: &Style) -> String {
        let mut out = format!("{} — {}\n\n", style.bold(self.name()), self.title());
        let mut line = |text: &str| {
            let _ = writeln!(out, "{text}");
        };
        match self {
            Self::Study(study) => {
                line(&study.paper);
                line(study.about.trim());
                study.groups.iter().for_each(|g| line(&format!("  {:<16} {}", g.id, g.title)));
            }
            Self::Workload(workload) => {
                line(&style.wrapped(workload.about));
                if !workload.reference.is_empty() {
                    line(&format!("\nReference: {}", workload.reference));
                }
                line("\nParameters (--set NAME=VALUE):");
                for param in workload.params {
                    line(&format!("  {:<16} {} ({}; {})", param.name, param.about, param.default, limits(&param.kind)));
                }
                let runs = kizami_environments::ALL.iter().filter(|e| e.does(workload)).map(|e| e.name());
                line(&format!("\nTo measure it: kizami run {}", workload.name));
                line(&format!("Environments: {}", runs.collect::<Vec<_>>().join(", ")));
            }
            Self::Setting(setting) => {
                line(&format!("Values: {}", setting.values));
                line(&format!("How: {}", setting.how));
            }
            Self::Environment(environment) => {
                let does = kizami_workloads::ALL.iter().filter(|workload| environment.does(workload));
                let does: Vec<_> = does.map(|workload| workload.name).collect();
                line(&style.wrapped(&format!("Workloads: {}", does.join(", "))));
                if let Some(why) = self.obstacle() {
                    line(&style.wrapped(&format!("Not here: {why}")));
                }
            }
            Self::Load(_) => {}
        }
        out
    }
}
