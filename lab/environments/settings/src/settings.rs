//! The requested settings, checked once: names that exist, values that are possible.

use std::collections::BTreeMap;

use kizami_recording::quantity::Quantity;

use crate::cpus;
use crate::policy::Policy;
use crate::setting::{SETTINGS, Scope, Setting, find};

/// Values in their canonical written form, so that equal settings are equal text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Settings(BTreeMap<&'static str, String>);

impl Settings {
    /// Checks `given`.
    ///
    /// # Errors
    /// The name of the setting and a sentence, when there is no such setting or the value cannot be.
    pub fn new(given: &BTreeMap<String, String>) -> Result<Self, (String, String)> {
        let mut values = BTreeMap::new();
        for (name, text) in given {
            let setting = find(name).ok_or_else(|| (name.clone(), unknown(name)))?;
            let value = setting.kind.canonical(text).map_err(|why| (name.clone(), format!("{name}: {why}")))?;
            values.insert(setting.name, value);
        }
        Ok(Self(values))
    }

    /// Every setting that was asked for, in its written form.
    pub fn written(&self) -> BTreeMap<String, String> {
        self.0.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect()
    }

    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Those of one scope.
    pub fn of(&self, scope: Scope) -> Self {
        self.only(|setting| setting.scope == scope)
    }

    /// Those that are `wanted`.
    pub fn only(&self, wanted: impl Fn(&Setting) -> bool) -> Self {
        let is_wanted = |name: &str| find(name).is_some_and(&wanted);
        Self(self.0.iter().filter(|(name, _)| is_wanted(name)).map(|(n, v)| (*n, v.clone())).collect())
    }

    /// Those that a virtual machine is started with.
    pub fn of_virtual_machine(&self) -> Self {
        self.of(Scope::Machine).merged(&self.of(Scope::Layer))
    }

    /// All but `name`.
    #[must_use]
    pub fn without(mut self, name: &str) -> Self {
        self.0.remove(name);
        self
    }

    /// These and those of `other`, which wins where both say something.
    #[must_use]
    pub fn merged(&self, other: &Self) -> Self {
        Self(self.0.iter().chain(&other.0).map(|(name, value)| (*name, value.clone())).collect())
    }

    pub(crate) fn policy(&self) -> Option<Policy> {
        self.get("policy").and_then(|text| Policy::parse(text).ok())
    }

    pub(crate) fn affinity(&self) -> Option<Vec<usize>> {
        self.get("affinity").and_then(|text| cpus::parse(text).ok())
    }

    pub(crate) fn nice(&self) -> Option<i32> {
        self.get("nice").and_then(|text| text.parse().ok())
    }

    pub(crate) fn lock_memory(&self) -> Option<bool> {
        self.get("lock_memory").map(|text| text == "true")
    }

    /// As prctl(2) takes it.
    pub(crate) fn timer_slack(&self) -> Option<libc::c_ulong> {
        self.number("timer_slack", Quantity::Time).map(|ns| ns as libc::c_ulong)
    }

    /// The value of a time or size, in its base unit.
    pub fn number(&self, name: &str, quantity: Quantity) -> Option<u64> {
        self.get(name).and_then(|text| quantity.parse(text).ok())
    }
}

fn unknown(name: &str) -> String {
    let near = |s: &&Setting| strsim::jaro_winkler(s.name, name);
    let nearest = SETTINGS.iter().max_by(|a, b| near(a).total_cmp(&near(b))).filter(|s| near(s) > 0.75);
    match nearest {
        Some(setting) => format!("there is no setting {name:?}; did you mean {}?", setting.name),
        None => {
            let names: Vec<_> = SETTINGS.iter().map(|s| s.name).collect();
            format!("there is no setting {name:?}; there are {}", names.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect()
    }

    #[test]
    fn values_are_written_in_one_form_that_is_read_back_as_the_same() {
        let given = map(&[
            ("affinity", "1,0"),
            ("timer_slack", "50000ns"),
            ("cpu_dma_latency", "0"),
            ("rt_runtime", "950000us"),
            ("memory_limit", "64M"),
            ("fullsweep_after", "65_535"),
            ("nice", "-5"),
        ]);
        let settings = Settings::new(&given).expect("possible values");
        let expected = map(&[
            ("affinity", "0-1"),
            ("timer_slack", "50us"),
            ("cpu_dma_latency", "0"),
            ("rt_runtime", "950ms"),
            ("memory_limit", "64MiB"),
            ("fullsweep_after", "65535"),
            ("nice", "-5"),
        ]);
        assert_eq!(settings.written(), expected);
        assert_eq!(Settings::new(&expected), Ok(settings));
    }

    #[test]
    fn what_cannot_be_is_refused_with_the_name_and_what_would_do() {
        for (name, value, hint) in [
            ("goveror", "performance", "did you mean governor?"),
            ("xyzzy", "1", "there are policy"),
            ("governor", "fast", "performance"),
            ("nice", "20", "-20 to 19"),
            ("timer_slack", "0", "1ns"),
            ("cpu_dma_latency", "1500ns", "whole number of 1us"),
            ("rt_runtime", "never", "500us"),
            ("memory_limit", "1KiB", "1MiB"),
            ("affinity", "", "leaves none"),
            ("lock_memory", "yes", "true, false"),
        ] {
            let (wrong, why) = Settings::new(&map(&[(name, value)])).expect_err(name);
            assert_eq!(wrong, name);
            assert!(why.contains(hint), "{name}: {why}");
        }
    }

    #[test]
    fn the_later_of_two_wins_and_scopes_part_what_was_asked() {
        let one = Settings::new(&map(&[("policy", "fifo:10"), ("governor", "powersave")])).expect("valid");
        let two = Settings::new(&map(&[("policy", "fifo:20"), ("priority", "high")])).expect("valid");
        let both = one.merged(&two);
        assert_eq!(both.get("policy"), Some("fifo:20"));
        assert_eq!(both.of(Scope::System).written(), map(&[("governor", "powersave")]));
        assert_eq!(both.of(Scope::Beam).written(), map(&[("priority", "high")]));
        assert!(Settings::default().of(Scope::Process).is_empty());
    }
}
