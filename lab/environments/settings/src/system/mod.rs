//! Settings of the whole machine that are files: their paths, and the text that a file holds for a value.
//!
//! A setting may be several files (one governor for each group of processors) or one of several (two drivers spell
//! turbo in two ways). Its value is the same text everywhere in this project; the content of a file is encoded and
//! decoded here. Nothing here changes a setting: a [`Guard`](crate::Guard) does.

mod cgroup;
mod latency;
mod limits;
mod nested;
#[cfg(test)]
mod testing;

use kizami_recording::folder::Effective;
use kizami_recording::quantity::Quantity;

use crate::kind::OFF;
use crate::root::Root;
use crate::settings::Settings;

pub(crate) use cgroup::Cgroup;
pub use cgroup::remove as remove_cgroup;
pub use latency::{FILE as LATENCY_FILE, current as current_latency};
pub(crate) use latency::{Latency, effective as latency};
pub use limits::{Limits, await_real_time, limits_of, real_time_of_groups};
pub(crate) use nested::Nested;

pub const CPUFREQ: &str = "sys/devices/system/cpu/cpufreq";
pub const NO_TURBO: &str = "sys/devices/system/cpu/intel_pstate/no_turbo";
pub const BOOST: &str = "sys/devices/system/cpu/cpufreq/boost";
pub const RT_RUNTIME: &str = "proc/sys/kernel/sched_rt_runtime_us";
pub const THP: &str = "sys/kernel/mm/transparent_hugepage/enabled";

/// The knobs that are files.
pub(crate) const FILE_KNOBS: &[&str] = &["governor", "turbo", "rt_runtime", "thp"];

/// The files of knob `name` on this machine; none when it does not have it.
pub fn files(root: &Root, name: &str) -> Vec<String> {
    let candidates = match name {
        "governor" => {
            let policies = root.list(CPUFREQ).into_iter().filter(|p| p.starts_with("policy"));
            policies.map(|p| format!("{CPUFREQ}/{p}/scaling_governor")).collect()
        }
        "turbo" if root.exists(NO_TURBO) => vec![NO_TURBO.to_owned()],
        "turbo" => vec![BOOST.to_owned()],
        "rt_runtime" => vec![RT_RUNTIME.to_owned()],
        "thp" => vec![THP.to_owned()],
        _ => Vec::new(),
    };
    candidates.into_iter().filter(|file| root.exists(file)).collect()
}

/// Whether this machine does not have knob `name` at all, which is more than not being allowed to turn it.
pub fn is_missing(root: &Root, name: &str) -> bool {
    FILE_KNOBS.contains(&name) && files(root, name).is_empty()
}

/// What is written to `file` for `value`.
pub(crate) fn encode(name: &str, value: &str, file: &str) -> String {
    match name {
        "turbo" => u8::from((value == "on") != (file == NO_TURBO)).to_string(),
        "rt_runtime" if value == OFF => "-1".to_owned(),
        "rt_runtime" => Quantity::Time.parse(value).map_or_else(|_| value.to_owned(), |ns| (ns / 1_000).to_string()),
        _ => value.to_owned(),
    }
}

/// The value that the text of `file` stands for; the text itself when it is not understood.
pub(crate) fn decode(name: &str, text: &str, file: &str) -> String {
    match name {
        "turbo" if matches!(text, "0" | "1") => {
            if (text == "1") != (file == NO_TURBO) {
                "on".into()
            } else {
                "off".into()
            }
        }
        "rt_runtime" if text == "-1" => OFF.to_owned(),
        "rt_runtime" => text.parse::<u64>().map_or_else(|_| text.to_owned(), |us| Quantity::Time.write(us * 1_000)),
        "thp" => chosen(text).unwrap_or(text).to_owned(),
        _ => text.to_owned(),
    }
}

/// The word in brackets of a file that lists its choices: `always [madvise] never`.
pub fn chosen(text: &str) -> Option<&str> {
    text.split_whitespace().find_map(|word| word.strip_prefix('[')?.strip_suffix(']'))
}

/// The value of knob `name` in `file`.
pub(crate) fn value(root: &Root, name: &str, file: &str) -> std::io::Result<String> {
    Ok(decode(name, &root.read(file)?, file))
}

/// What every knob that is a file has now, compared with `settings`. `refused` is the first reason why one could not be
/// changed.
pub(crate) fn read(root: &Root, settings: &Settings, refused: &[(&str, String)]) -> Vec<(String, Effective)> {
    let knob = |name: &&str| {
        let values: Vec<_> = files(root, name).iter().map(|file| value(root, name, file)).collect();
        let mut distinct: Vec<String> = Vec::new();
        for value in values.iter().map(|v| v.as_ref().map_or("unknown", String::as_str)) {
            if !distinct.iter().any(|d| d == value) {
                distinct.push(value.to_owned());
            }
        }
        let value = if distinct.is_empty() { "none".to_owned() } else { distinct.join(", ") };
        ((*name).to_owned(), judged(name, value, settings, refused))
    };
    FILE_KNOBS.iter().map(knob).collect()
}

fn judged(name: &str, value: String, settings: &Settings, refused: &[(&str, String)]) -> Effective {
    let asked = settings.get(name);
    let as_requested = asked.is_none_or(|asked| asked == value);
    let refusal = refused.iter().find(|(knob, _)| *knob == name).map(|(_, why)| why.clone());
    let why = match (asked, refusal) {
        (Some(_), Some(why)) if !as_requested => why,
        (Some(asked), None) if !as_requested => format!("{asked} was written and the kernel kept {value}"),
        _ if value == "none" => missing(name).to_owned(),
        _ => String::new(),
    };
    Effective { value, as_requested, why }
}

/// Why a machine does not have knob `name`, in a sentence.
pub(crate) fn missing(name: &str) -> &'static str {
    match name {
        "governor" => "the kernel does not choose frequencies here (no cpufreq policy), as in most virtual machines",
        "turbo" => "no driver here lets turbo be switched (neither intel_pstate/no_turbo nor cpufreq/boost)",
        "rt_runtime" => "this kernel has no sched_rt_runtime_us",
        "thp" => "this kernel has no transparent huge pages",
        _ => "this machine does not have it",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_for_a_value_is_read_as_that_value() {
        for (name, value, file, text) in [
            ("turbo", "on", NO_TURBO, "0"),
            ("turbo", "off", NO_TURBO, "1"),
            ("turbo", "on", BOOST, "1"),
            ("turbo", "off", BOOST, "0"),
            ("rt_runtime", "950ms", RT_RUNTIME, "950000"),
            ("rt_runtime", "off", RT_RUNTIME, "-1"),
            ("thp", "never", THP, "never"),
            ("governor", "performance", "any", "performance"),
        ] {
            assert_eq!(encode(name, value, file), text);
            assert_eq!(decode(name, text, file), value);
        }
        assert_eq!(decode("thp", "always [madvise] never", THP), "madvise");
    }
}
