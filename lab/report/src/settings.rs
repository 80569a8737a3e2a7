//! The settings under which series were measured, in words short enough to stand under a figure.
//!
//! A value that is the same for all series of a section is written once; values that differ are in the labels of the
//! rows. A requested setting that did not take effect is written for each series.

use kizami_recording::folder::Series;

/// Settings of the machine and the process that always matter, in the order in which they are said.
const SAID: [&str; 6] = ["policy", "affinity", "lock_memory", "timer_slack", "load", "governor"];

/// What was in force for all of `series`, as `name value` pairs; and for each that was refused a sentence.
pub fn in_force(series: &[&Series]) -> (Vec<(String, String)>, Vec<String>) {
    let mut names: Vec<&str> = SAID.to_vec();
    for name in series.iter().flat_map(|s| s.requested.keys()) {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    let common = names.iter().filter_map(|name| {
        // What only some of them have (a load) differs, too.
        if series.iter().any(|s| values(s, name).next().is_none()) {
            return None;
        }
        let mut values: Vec<&str> = series.iter().flat_map(|s| values(s, name)).collect();
        values.sort_unstable();
        values.dedup();
        match values.as_slice() {
            [one] => Some(((*name).to_owned(), (*one).to_owned())),
            _ => None,
        }
    });
    (common.collect(), refused(series))
}

/// What `setting` was in force: as it was asked for, unless that was refused, and as it was found where nobody asked. `None`
/// where that is not known, or changed from start to start.
pub fn one<'s>(series: &'s Series, setting: &str) -> Option<&'s str> {
    let refused = series.refused().iter().any(|(name, ..)| *name == setting);
    if let Some(asked) = series.requested.get(setting).filter(|_| !refused) {
        return Some(asked);
    }
    let mut values = series.trials.iter().filter_map(|trial| trial.effective.get(setting)).map(|e| e.value.as_str());
    let first = values.next()?;
    values.all(|value| value == first).then_some(first)
}

/// The values of one setting over the trials of a series.
fn values<'s>(series: &'s Series, name: &'s str) -> impl Iterator<Item = &'s str> {
    series.trials.iter().filter_map(move |t| t.effective.get(name)).map(|e| e.value.as_str())
}

/// Everything that was in force for one series, as one line; what was asked for and refused is marked.
pub fn of(series: &Series) -> String {
    let mut words: Vec<String> = Vec::new();
    for (name, effective) in series.trials.iter().flat_map(|t| &t.effective) {
        let mark = if effective.as_requested { "" } else { " (not as requested)" };
        let word = format!("{} {}{mark}", name.replace('_', " "), effective.value);
        if !words.contains(&word) {
            words.push(word);
        }
    }
    words.join(" · ")
}

/// One sentence for each request that did not take effect, whichever series asked.
fn refused(series: &[&Series]) -> Vec<String> {
    let mut sentences = Vec::new();
    for (name, asked, effective) in series.iter().flat_map(|s| s.refused()) {
        let why = if effective.why.is_empty() { String::new() } else { format!(": {}", effective.why) };
        let sentence = format!("{name} = {asked} did not take effect, {} was in force{why}", effective.value);
        if !sentences.contains(&sentence) {
            sentences.push(sentence);
        }
    }
    sentences
}

/// What taking the samples cost, in words: the clock pair, and what happened in the window that should not have.
pub fn cost(series: &[&Series]) -> String {
    let facts = |name: &str| -> Vec<f64> {
        let trials = series.iter().flat_map(|s| &s.trials);
        trials.filter_map(|t| t.facts.get(name).copied()).collect()
    };
    let mut pairs = facts("clock_pair_ns");
    pairs.sort_by(f64::total_cmp);
    let mut words = Vec::new();
    if let Some(pair) = pairs.get(pairs.len() / 2) {
        words.push(format!("taking the time {pair:.0} ns"));
    }
    let mut recording = facts("recording_ns");
    recording.sort_by(f64::total_cmp);
    if let Some(beyond) = recording.get(recording.len() / 2) {
        // Earlier versions wrote a difference of two times that varied more than it.
        words.push(format!("recording {:.1} ns", beyond.max(0.0)));
    }
    for (name, what) in [("allocations", "allocations"), ("major_faults", "page faults from disk")] {
        let counts = facts(name);
        if !counts.is_empty() {
            words.push(format!("{what} in the window {:.0}", counts.iter().sum::<f64>()));
        }
    }
    words.join(" · ")
}

/// The pairs as one line.
pub fn line(pairs: &[(String, String)]) -> String {
    let words: Vec<String> = pairs.iter().map(|(name, value)| format!("{} {value}", name.replace('_', " "))).collect();
    words.join(" · ")
}
