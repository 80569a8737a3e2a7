//! Flags of the Erlang VM that a study may set: those of erl(1) that decide when work runs and how memory is laid out.
//! Other flags are refused, because a flag can also load code, open ports, or change the measured work.

/// For help.
pub(crate) const VALUES: &str = "flags with their values, such as \"+sbt db +sbwt none\": +S, +SDcpu, +SDio, +sbt, \
                                 +sbwt, +sbwtdcpu, +sbwtdio, +swt, +scl, +sub, +hms, +hmbs, +hmqd, +zdbbl";

enum Value {
    Choice(&'static [&'static str]),
    /// A whole number that is at least this.
    Number(u64),
    /// `n` or `n:m`: schedulers that there are, and that are online.
    Pair,
}

const BUSY_WAIT: Value = Value::Choice(&["none", "very_short", "short", "medium", "long", "very_long"]);
const TRUE_FALSE: Value = Value::Choice(&["true", "false"]);

const FLAGS: &[(&str, Value)] = &[
    ("+S", Value::Pair),
    ("+SDcpu", Value::Pair),
    ("+SDio", Value::Number(1)),
    ("+sbt", Value::Choice(&["u", "ns", "ts", "ps", "s", "nnts", "nnps", "tnnps", "db"])),
    ("+sbwt", BUSY_WAIT),
    ("+sbwtdcpu", BUSY_WAIT),
    ("+sbwtdio", BUSY_WAIT),
    ("+swt", Value::Choice(&["very_low", "low", "medium", "high", "very_high"])),
    ("+scl", TRUE_FALSE),
    ("+sub", TRUE_FALSE),
    ("+hms", Value::Number(1)),
    ("+hmbs", Value::Number(1)),
    ("+hmqd", Value::Choice(&["on_heap", "off_heap"])),
    ("+zdbbl", Value::Number(1)),
];

/// The flags in `text` with one space between them, in the order of their names.
pub(crate) fn canonical(text: &str) -> Result<String, String> {
    let words: Vec<_> = text.split_whitespace().collect();
    let (pairs, []) = words.as_chunks::<2>() else {
        return Err(format!("{text:?} is not {VALUES}"));
    };
    let mut pairs: Vec<_> = pairs.iter().map(|[flag, value]| (*flag, *value)).collect();
    pairs.sort_unstable();
    for (flag, value) in &pairs {
        let (_, kind) = FLAGS.iter().find(|(name, _)| name == flag).ok_or_else(|| {
            let names: Vec<_> = FLAGS.iter().map(|(name, _)| *name).collect();
            format!("{flag:?} is not one of the flags that can be set: {}", names.join(", "))
        })?;
        let number = |text: &str, least| text.parse::<u64>().is_ok_and(|n| n >= least);
        let (right, wanted) = match kind {
            Value::Choice(choices) => (choices.contains(value), format!("one of {}", choices.join(", "))),
            Value::Number(least) => (number(value, *least), format!("a whole number of at least {least}")),
            Value::Pair => (value.split(':').count() <= 2 && value.split(':').all(|n| number(n, 1)), "n or n:m".into()),
        };
        if !right {
            return Err(format!("the value of {flag} is {value:?} but must be {wanted}"));
        }
    }
    if let Some(twice) = pairs.windows(2).find(|w| w[0].0 == w[1].0) {
        return Err(format!("{} is given twice", twice[0].0));
    }
    Ok(pairs.iter().map(|(flag, value)| format!("{flag} {value}")).collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_flags_in_another_order_are_the_same_setting() {
        assert_eq!(canonical(" +sbwt none  +S 2:1 +sbt db").as_deref(), Ok("+S 2:1 +sbt db +sbwt none"));
        assert_eq!(canonical("").as_deref(), Ok(""), "the VM's own");
    }

    #[test]
    fn what_the_vm_would_not_start_with_is_refused_with_what_would_do() {
        for (text, hint) in [
            ("+sbt", "such as"),
            ("+sbt best", "tnnps"),
            ("-eval halt().", "+sbt"),
            ("+S many", "n:m"),
            ("+S 1:2:3", "n:m"),
            ("+SDio 0", "at least 1"),
            ("+sbt db +sbt u", "twice"),
        ] {
            let error = canonical(text).expect_err(text);
            assert!(error.contains(hint), "{text}: {error}");
        }
    }

    #[test]
    fn the_help_names_every_flag() {
        assert!(FLAGS.iter().all(|(flag, _)| VALUES.contains(flag)));
    }
}
