//! Samples that were taken and not recorded, in a sentence: wherever figures of a series stand, so does what they lack.

use kizami_recording::folder::Series;

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
