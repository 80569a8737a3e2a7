//! Samples that were taken and not recorded, in a sentence: wherever figures of a series stand, so does what they lack.

use kizami_recording::folder::{Outcome, Series};

use crate::analysis::unit_of;
use crate::numbers::whole;

/// What of the samples of `series` was not recorded; `None` if all were.
pub fn sentence(series: &Series) -> Option<String> {
    let missing = series.unrecorded();
    let rows: u64 = series.rows();
    let mut sentences = Vec::new();
    if missing.lost > 0 {
        let all = rows.saturating_add(missing.lost);
        sentences.push(format!(
            "{} of {} samples were lost for want of room, and nothing is known of them: figures are of the rest, and the maximum \
             is at least theirs. A run with more room (a larger capacity, or a shorter one) keeps them.",
            whole(missing.lost),
            whole(all)
        ));
    }
    if let Some(beyond) = missing.beyond.filter(|beyond| beyond.count > 0) {
        let write = |value: u64| unit_of(series).value(value as f64 / series.operations_of_one());
        let greatest = beyond.max.map_or_else(String::new, |max| format!(", the greatest at {}", write(max)));
        sentences.push(format!(
            "{} samples lie beyond {}{greatest}, and no more is known of them: they count in every figure, which is then a bound.",
            whole(beyond.count),
            write(beyond.limit)
        ));
    }
    (!sentences.is_empty()).then(|| sentences.join(" "))
}

/// Why `series` has no samples.
pub fn why_none(series: &Series) -> String {
    let failed = series.trials.iter().find_map(|trial| match &trial.outcome {
        Outcome::Failed(why) => Some(why.clone()),
        _ => None,
    });
    if let Some(why) = failed {
        return why;
    }
    if series.rows() > 0 {
        return "no samples but the first of a trial, which is cold and in no other figure: measure more in each"
            .into();
    }
    let complete = series.trials.iter().filter(|trial| trial.outcome == Outcome::Complete).count();
    match (series.params.get("threshold"), complete) {
        (_, 0) if series.trials.is_empty() => "no samples: no trial has begun".into(),
        (_, 0) => "no samples: interrupted before the first".into(),
        (Some(threshold), _) => format!("no samples: none reached threshold={threshold}"),
        (None, 1) => "no samples: its trial ended without one".into(),
        (None, trials) => format!("no samples: its {trials} complete trials ended without one"),
    }
}
