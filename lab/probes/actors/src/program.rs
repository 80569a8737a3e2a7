//! Programs and their outcomes, and the checks of results that all systems share.

use std::time::{Duration, Instant};

use kizami_workloads::Params;

/// A program with its parameters; what they mean stands in `lab/workloads/src/actors`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Program {
    PingPong { n: u64 },
    ThreadRing { p: usize, n: u64 },
    ForkJoin { p: usize, n: u64 },
    Create { p: usize },
    Big { p: usize },
    Ask { asks: u64, others: usize },
    Recover { crashes: u64 },
    Beside(Wakeups),
}

/// One that wakes up, and others that compute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wakeups {
    pub wakeups: usize,
    pub period: Duration,
    pub computing: u64,
}

impl Program {
    /// The program that a workload and its parameters are.
    pub fn of(params: &Params) -> Result<Self, String> {
        let count = |name| usize::try_from(params.number(name)).map_err(|_| format!("{name} is too large"));
        Ok(match params.workload().name {
            "pingpong" => Self::PingPong { n: params.number("n") },
            "thread-ring" => Self::ThreadRing { p: count("p")?, n: params.number("n") },
            "fork-join" => Self::ForkJoin { p: count("p")?, n: params.number("n") },
            "fork-join-create" => Self::Create { p: count("p")? },
            "big" => Self::Big { p: count("p")? },
            "ask" => Self::Ask { asks: params.number("asks"), others: count("others")? },
            "recover" => Self::Recover { crashes: params.number("crashes") },
            "beside-computing" => Self::Beside(Wakeups {
                wakeups: count("wakeups")?,
                period: Duration::from_micros(params.number("period_us")),
                computing: params.number("computing"),
            }),
            other => return Err(format!("{other} is no program of actors")),
        })
    }
}

/// The refusal of a program that a system does not have.
pub fn not_written<T>(system: &str) -> Result<T, String> {
    Err(format!("this program is not written for {system}"))
}

/// The result of a program that passed its checks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// The samples of each part of the workload.
    pub parts: Vec<Vec<u64>>,
    /// Where the actors ran, in a few words.
    pub placement: String,
}

impl Outcome {
    /// That of a program whose sample is its whole time.
    pub fn whole(elapsed: Duration) -> Self {
        Self::samples(vec![nanoseconds(elapsed)])
    }

    pub fn samples(samples: Vec<u64>) -> Self {
        Self { parts: vec![samples], placement: String::new() }
    }

    pub fn placed(mut self, placement: impl Into<String>) -> Self {
        self.placement = placement.into();
        self
    }
}

pub fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// Fails unless the program came to what it must come to.
pub fn check<T: PartialEq + std::fmt::Display>(what: &str, got: T, wanted: T) -> Result<(), String> {
    if got == wanted {
        return Ok(());
    }
    Err(format!("the program came to a wrong result: {what} is {got} and must be {wanted}"))
}

/// What a system that ended early is answered with.
pub fn gone<E>(_: E) -> String {
    "an actor ended before the program was done, so nobody can report".into()
}

/// How many messages the one has had that gets the 0 of a rally that begins with `n`.
pub fn rally_share(n: u64) -> u64 {
    n / 2 + 1
}

/// A worker of Big: what it has had so far, and whether it has written to the others.
#[derive(Debug, Default)]
pub struct Tally {
    pub sent: bool,
    pub received: u64,
    pub senders: u64,
}

impl Tally {
    pub fn take(&mut self, sender: usize) {
        self.received += 1;
        self.senders += sender as u64;
    }

    /// What to report, once all is sent and had: the sum of the senders.
    pub fn done(&self, p: usize) -> Option<u64> {
        (self.sent && self.received == p as u64 - 1).then_some(self.senders)
    }
}

/// Checks what the workers of Big reported: each the sum of all numbers but its own.
pub fn check_big(p: usize, reports: impl Iterator<Item = (usize, u64)>) -> Result<(), String> {
    let all = (p as u64) * (p as u64 - 1) / 2;
    for (worker, senders) in reports {
        check(&format!("the sum of the senders at worker {worker}"), senders, all - worker as u64)?;
    }
    Ok(())
}

/// Measures what the actors weigh, from before the first is made.
pub struct Creation {
    resident: u64,
    begun: Instant,
}

impl Creation {
    pub fn begin() -> Result<Self, String> {
        Ok(Self { resident: resident()?, begun: Instant::now() })
    }

    /// To be called when all `p` have started and live.
    pub fn end(self, p: usize) -> Result<Outcome, String> {
        let elapsed = self.begun.elapsed();
        let each = resident()?.saturating_sub(self.resident) / p as u64;
        Ok(Outcome { parts: vec![vec![nanoseconds(elapsed)], vec![each]], placement: String::new() })
    }
}

/// The memory of this process that is resident, in bytes.
fn resident() -> Result<u64, String> {
    let unreadable = || "could not read how much memory is resident from /proc/self/statm".to_owned();
    let text = std::fs::read_to_string("/proc/self/statm").map_err(|e| format!("{}: {e}", unreadable()))?;
    let pages: u64 = text.split(' ').nth(1).and_then(|field| field.parse().ok()).ok_or_else(unreadable)?;
    // SAFETY: asks for a number.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    Ok(pages * u64::try_from(page).map_err(|_| unreadable())?)
}

/// Reports of panics cost time and go nowhere; who measures a panic switches them off.
pub fn silence_panics() {
    std::panic::set_hook(Box::new(|_| {}));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_gets_the_last_message_of_a_rally_has_had_every_second() {
        for n in 1..20u64 {
            let (mut had, mut turn) = ([0, 0], 0);
            for _ in (0..=n).rev() {
                had[turn] += 1;
                turn = 1 - turn;
            }
            assert_eq!(had[1 - turn], rally_share(n), "{n}");
        }
    }

    #[test]
    fn a_message_that_went_to_the_wrong_worker_is_noticed() {
        assert!(check_big(3, [(0, 3), (1, 2), (2, 1)].into_iter()).is_ok());
        assert!(check_big(3, [(0, 3), (1, 1), (2, 2)].into_iter()).is_err());
    }

    #[test]
    fn memory_that_is_touched_is_seen() {
        let creation = Creation::begin().unwrap();
        let kept = std::hint::black_box(vec![7u8; 64 << 20]);
        let outcome = creation.end(64).unwrap();
        assert!(outcome.parts[1][0] > 900_000, "{outcome:?} with {}", kept.len());
    }
}
