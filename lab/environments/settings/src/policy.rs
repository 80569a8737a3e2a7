//! Scheduling policies in their written form: `other`, `fifo:80`, `deadline:1ms/5ms/10ms`. See sched(7).

use std::fmt;

use kizami_recording::quantity::Quantity;

/// A policy with its parameters, within the limits of the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Policy {
    Other,
    Batch,
    Idle,
    /// First in, first out; priority 1 to 99.
    Fifo(u32),
    /// Round robin; priority 1 to 99.
    Rr(u32),
    /// Earliest deadline first; nanoseconds.
    Deadline {
        runtime: u64,
        deadline: u64,
        period: u64,
    },
}

pub(crate) const VALUES: &str = "other, batch, idle, fifo:1-99, rr:1-99 or deadline:RUNTIME/DEADLINE/PERIOD";

impl Policy {
    /// Reads the written form.
    ///
    /// # Errors
    /// A sentence that says what would be accepted.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (name, rest) = text.split_once(':').map_or((text, None), |(name, rest)| (name, Some(rest)));
        match (name, rest) {
            ("other", None) => Ok(Self::Other),
            ("batch", None) => Ok(Self::Batch),
            ("idle", None) => Ok(Self::Idle),
            ("fifo", Some(priority)) => Ok(Self::Fifo(priority_of(text, priority)?)),
            ("rr", Some(priority)) => Ok(Self::Rr(priority_of(text, priority)?)),
            ("deadline", Some(times)) => deadline(text, times),
            ("fifo" | "rr", None) => Err(format!("{text:?} lacks its priority, such as {text}:80")),
            ("deadline", None) => Err(format!("{text:?} lacks its times, such as deadline:1ms/5ms/10ms")),
            _ => Err(format!("{text:?} is not {VALUES}")),
        }
    }

    /// Whether the kernel runs it before every thread of an ordinary policy.
    pub fn is_real_time(self) -> bool {
        matches!(self, Self::Fifo(_) | Self::Rr(_) | Self::Deadline { .. })
    }
}

fn priority_of(text: &str, priority: &str) -> Result<u32, String> {
    let number = priority.parse().ok().filter(|p| (1..=99).contains(p));
    number.ok_or_else(|| format!("the priority in {text:?} is not a whole number from 1 to 99"))
}

/// The limits are those of `__checkparam_dl` in the kernel's deadline.c.
fn deadline(text: &str, times: &str) -> Result<Policy, String> {
    /// The kernel keeps times in units of 1024 ns.
    const LEAST: u64 = 1 << 10;
    let times: Vec<_> = times.split('/').map(|t| Quantity::Time.parse(t)).collect::<Result<_, _>>()?;
    match times[..] {
        [runtime, deadline, period] if LEAST <= runtime && runtime <= deadline && deadline <= period => {
            Ok(Policy::Deadline { runtime, deadline, period })
        }
        [_, _, _] => Err(format!(
            "{text:?} cannot be met: 1024ns <= runtime <= deadline <= period, such as deadline:1ms/5ms/10ms"
        )),
        _ => Err(format!("{text:?} needs three times, such as deadline:1ms/5ms/10ms")),
    }
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Other => f.write_str("other"),
            Self::Batch => f.write_str("batch"),
            Self::Idle => f.write_str("idle"),
            Self::Fifo(priority) => write!(f, "fifo:{priority}"),
            Self::Rr(priority) => write!(f, "rr:{priority}"),
            Self::Deadline { runtime, deadline, period } => {
                let time = |t: &u64| Quantity::Time.write(*t);
                write!(f, "deadline:{}/{}/{}", time(runtime), time(deadline), time(period))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_written_form_is_read_back_as_the_same() {
        for text in ["other", "batch", "idle", "fifo:1", "fifo:99", "rr:50", "deadline:1ms/5ms/10ms"] {
            assert_eq!(Policy::parse(text).map(|p| p.to_string()).as_deref(), Ok(text));
        }
    }

    #[test]
    fn what_the_kernel_would_refuse_is_refused_with_what_would_do() {
        for (text, hint) in [
            ("fifo", "fifo:80"),
            ("fifo:0", "1 to 99"),
            ("rr:100", "1 to 99"),
            ("other:5", "fifo:1-99"),
            ("FIFO:5", "fifo:1-99"),
            ("deadline:1ms/2ms", "three times"),
            ("deadline:2ms/1ms/3ms", "runtime <= deadline"),
            ("deadline:10ns/1ms/3ms", "1024ns"),
            ("deadline:1/2/3", "unit"),
        ] {
            let error = Policy::parse(text).expect_err(text);
            assert!(error.contains(hint), "{text}: {error}");
        }
    }
}
