//! One thing to measure: a workload with its parameters, in an environment, under settings and background loads.

use std::collections::BTreeMap;

use kizami_settings::Settings;
use kizami_workloads::loads::{self, Load};
use kizami_workloads::{Params, Workload};

use crate::Environment;

/// The name under which background loads are asked for, beside the settings.
pub const LOAD: &str = "load";
/// The written form of no load.
pub const NO_LOAD: &str = "none";

/// Everything in it is valid: names were found, values checked.
#[derive(Clone)]
pub struct Job {
    pub environment: &'static dyn Environment,
    pub params: Params,
    pub settings: Settings,
    pub loads: Vec<&'static Load>,
}

impl Job {
    /// Checks names and values. `settings` may hold [`LOAD`].
    ///
    /// # Errors
    /// The name that is wrong (`workload`, `environment`, a parameter, a setting) and a sentence about it.
    pub fn new(
        environment: &'static dyn Environment,
        workload: &'static Workload,
        params: &BTreeMap<String, String>,
        settings: &BTreeMap<String, String>,
    ) -> Result<Self, (String, String)> {
        let params = Params::new(workload, params)?;
        let mut settings = settings.clone();
        let loads = match settings.remove(LOAD) {
            Some(names) => load_names(&names).map_err(|why| (LOAD.to_owned(), why))?,
            None => Vec::new(),
        };
        let settings = Settings::new(&settings)?;
        if !environment.does(workload) {
            let does = kizami_workloads::ALL.iter().filter(|w| environment.does(w)).map(|w| w.name);
            let does = does.collect::<Vec<_>>().join(", ");
            let why = format!("{} does not do the workload {}, but {does}", environment.name(), workload.name);
            return Err(("environment".to_owned(), why));
        }
        environment.supports(&params).map_err(|why| ("environment".to_owned(), why))?;
        Ok(Self { environment, params, settings, loads })
    }

    pub fn workload(&self) -> &'static Workload {
        self.params.workload()
    }

    /// The settings and loads that were asked for, in their written form.
    pub fn requested(&self) -> BTreeMap<String, String> {
        let mut requested = self.settings.written();
        if !self.loads.is_empty() {
            let names: Vec<_> = self.loads.iter().map(|l| l.name).collect();
            requested.insert(LOAD.to_owned(), names.join("+"));
        }
        requested
    }

    /// Whether `other` would fill the same series.
    pub fn same_as(&self, other: &Self) -> bool {
        self.environment.name() == other.environment.name()
            && self.workload().name == other.workload().name
            && self.params.written() == other.params.written()
            && self.requested() == other.requested()
    }
}

/// The loads that `text` names: `none`, or names joined by `+`.
///
/// # Errors
/// A sentence with the names that there are.
pub fn load_names(text: &str) -> Result<Vec<&'static Load>, String> {
    if text == NO_LOAD || text.is_empty() {
        return Ok(Vec::new());
    }
    let known = || loads::ALL.iter().map(|l| l.name).collect::<Vec<_>>().join(", ");
    let find = |name| loads::find(name).ok_or_else(|| format!("there is no load {name:?}: there are {}", known()));
    text.split('+').map(str::trim).map(find).collect()
}
