//! What a value of a setting must be, and the one form in which it is written.

use kizami_recording::quantity::Quantity;

use crate::{beam, cpus, policy};

/// What a value must be. Limits are inclusive.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Kind {
    Policy,
    Cpus,
    Integer {
        least: i64,
        most: i64,
    },
    Number {
        quantity: Quantity,
        least: u64,
        most: u64,
        step: u64,
    },
    /// The same, or `off`.
    NumberOrOff {
        quantity: Quantity,
        least: u64,
        most: u64,
        step: u64,
    },
    Choice(&'static [&'static str]),
    /// So many processors, in hundredths.
    Processors,
    /// Words as on a kernel's command line.
    Words,
    VmFlags,
}

pub(crate) const OFF: &str = "off";
impl Kind {
    /// The canonical written form of `text`.
    pub(crate) fn canonical(self, text: &str) -> Result<String, String> {
        let text = text.trim();
        match self {
            Self::Policy => Ok(policy::Policy::parse(text)?.to_string()),
            Self::Cpus => match cpus::parse(text)? {
                none if none.is_empty() => Err("an empty list of processors leaves none to run on".into()),
                list => Ok(cpus::write(&list)),
            },
            Self::Integer { least, most } => match text.parse::<i64>() {
                Ok(value) if (least..=most).contains(&value) => Ok(value.to_string()),
                _ => Err(format!("{text:?} is not a whole number from {least} to {most}")),
            },
            Self::NumberOrOff { .. } if text == OFF => Ok(OFF.to_owned()),
            Self::Number { quantity, least, most, step } | Self::NumberOrOff { quantity, least, most, step } => {
                let value = quantity.parse(text)?;
                if !(least..=most).contains(&value) {
                    return Err(format!("{text} is not from {} to {}", quantity.write(least), quantity.write(most)));
                }
                if !value.is_multiple_of(step) {
                    return Err(format!("{text} is not a whole number of {}", quantity.write(step)));
                }
                Ok(quantity.write(value))
            }
            Self::Processors => match text.parse::<f64>() {
                Ok(value) if (0.01..=8192.0).contains(&value) && (value * 100.0).fract() == 0.0 => {
                    Ok(value.to_string())
                }
                _ => {
                    Err(format!("{text:?} is not a number of processors from 0.01 to 8192 in hundredths, such as 1.5"))
                }
            },
            Self::Words => words(text),
            Self::VmFlags => beam::canonical(text),
            Self::Choice(choices) if choices.contains(&text) => Ok(text.to_owned()),
            Self::Choice(choices) => Err(format!("{text:?} is not one of {}", choices.join(", "))),
        }
    }
}

/// Words with one space between them.
fn words(text: &str) -> Result<String, String> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || "_-.,=:/+".contains(c);
    match text.split_whitespace().find(|word| !word.chars().all(allowed)) {
        Some(word) => Err(format!("{word:?} has other characters than letters, digits and _ - . , = : / +")),
        None => Ok(text.split_whitespace().collect::<Vec<_>>().join(" ")),
    }
}
