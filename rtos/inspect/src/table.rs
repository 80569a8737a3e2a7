//! The table of the counted programs: all services, in every model.

use std::collections::BTreeMap;
use std::fmt;

use anyhow::Result;

use crate::code::Code;
use crate::image;
use crate::platform::{Model, Platform};
use crate::trace::{self, Passages};

/// The counts of one service in one model.
#[derive(Clone, Copy, Debug)]
pub struct Figure {
    /// Instructions, in most passages.
    pub instructions: usize,
    /// Whether all passages had as many.
    pub same: bool,
    /// Cycles, in most passages, where the emulator counts them.
    pub cycles: Option<u64>,
}

/// The counts of one platform.
#[derive(Debug)]
pub struct Table {
    /// The platform.
    pub platform: Platform,
    /// For each service, its counts in each model.
    pub rows: BTreeMap<String, BTreeMap<Model, Figure>>,
}

/// The prefix of the counted functions, and the function at which every passage ends.
const PREFIX: &str = "count_";
const MARK: &str = "mark";

/// Counts every service on a platform, in every model.
pub fn count(platform: Platform) -> Result<Table> {
    let mut table = Table { platform, rows: BTreeMap::new() };
    for model in Model::ALL {
        for (name, figure) in count_in(platform, model)? {
            table.rows.entry(name).or_default().insert(model, figure);
        }
    }
    Ok(table)
}

/// Counts every service on a platform in one model.
pub fn count_in(platform: Platform, model: Model) -> Result<BTreeMap<String, Figure>> {
    let mut figures = BTreeMap::new();
    for (name, passages) in passages(platform, model)? {
        let Some(instructions) = passages.usual() else { continue };
        let figure = Figure { instructions, same: passages.counts().len() == 1, cycles: passages.usual_cycles() };
        figures.insert(name, figure);
    }
    Ok(figures)
}

/// The passages of every service on a platform in one model.
pub fn passages(platform: Platform, model: Model) -> Result<Vec<(String, Passages)>> {
    let image = image::build("counted", platform, model)?;
    let code = Code::read(&image.path)?;
    let names = code.functions(|name| name.starts_with(PREFIX));
    let passages = trace::passages(&image, &code, &names, MARK)?;
    Ok(names.iter().map(|name| name.trim_start_matches(PREFIX).to_string()).zip(passages).collect())
}

impl fmt::Display for Table {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "{}: instructions (and cycles, where they are counted)", self.platform)?;
        write!(out, "{:24}", "")?;
        for model in Model::ALL {
            write!(out, "{:>14}", model.name())?;
        }
        writeln!(out)?;
        for (name, figures) in &self.rows {
            write!(out, "{name:24}")?;
            for model in Model::ALL {
                let cell = figures.get(&model).map_or("–".to_string(), |figure| {
                    let cycles = figure.cycles.map_or(String::new(), |cycles| format!(" ({cycles})"));
                    format!("{}{cycles}{}", figure.instructions, if figure.same { "" } else { "*" })
                });
                write!(out, "{cell:>14}")?;
            }
            writeln!(out)?;
        }
        write!(out, "* most passages; in some, another processor or an interrupt came in between")
    }
}
