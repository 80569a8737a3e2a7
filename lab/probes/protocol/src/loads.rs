//! What a background load says: that it works ([`Report::Ready`]), and at its end how many operations it did, so that a load that did
//! nothing is recognised. The lab runs loads beside a probe, and a probe runs them itself where those of the lab would not be noticed.

use std::collections::BTreeMap;

use kizami_recording::folder::Effective;

use crate::Report;

/// What loads did, from the reports of each.
#[derive(Default)]
pub struct Worked {
    names: Vec<String>,
    idle: Vec<String>,
    facts: BTreeMap<String, f64>,
}

impl Worked {
    /// Adds a load by what it reported after it was told to end.
    pub fn add(&mut self, load: &str, reports: impl IntoIterator<Item = Report>) {
        let mut operations = 0.0;
        for report in reports {
            match report {
                Report::Fact { value, .. } => operations = value,
                Report::Failed { why } => self.idle.push(format!("{load}: {why}")),
                _ => {}
            }
        }
        if operations == 0.0 {
            self.idle.push(format!("{load} did nothing"));
        }
        self.facts.insert(format!("load_{load}_operations"), operations);
        self.names.push(load.to_owned());
    }

    /// The setting `load` as it was in force, and how much each did.
    pub fn told(self) -> (Effective, BTreeMap<String, f64>) {
        let as_requested = self.idle.is_empty();
        (Effective { value: self.names.join("+"), as_requested, why: self.idle.join("; ") }, self.facts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_load_that_did_nothing_is_told_with_its_reason() {
        let mut worked = Worked::default();
        worked.add("cpu", [Report::Fact { name: "operations".into(), value: 7.0 }]);
        worked.add("disk", [Report::Failed { why: "no space".into() }]);
        let (effective, facts) = worked.told();
        assert_eq!(effective.value, "cpu+disk");
        assert!(!effective.as_requested);
        assert_eq!(effective.why, "disk: no space; disk did nothing");
        assert_eq!(facts["load_cpu_operations"], 7.0);
        assert_eq!(facts["load_disk_operations"], 0.0);
    }
}
