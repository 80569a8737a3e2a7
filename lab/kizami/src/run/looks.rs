//! More rounds for claims that those of the plan leave open.
//!
//! A machine that others share decides a difference of a few per cent in ten rounds on one day and in a hundred on another. So a
//! study may say how often a bench looks at its open claims again, each time after as many rounds more as there were. What each
//! look may miss is its part of five in a hundred ([`Claim::confidence`](kizami_studies::Claim::confidence)), so that several
//! looks are wrong no more often than one.

use std::path::Path;

use kizami_recording::folder::Reader;
use kizami_recording::stats::Options;
use kizami_studies::{Claim, Plan, Study};

/// How many rounds a run has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rounds {
    /// Those of its plan.
    Planned,
    /// More of what its studies claim, while that stays open.
    UntilDecided,
}

/// More names of claims than this are counted.
const NAMED: usize = 3;

/// The looks at what a run leaves open.
#[derive(Debug)]
pub struct Looks<'a> {
    studies: &'a [Study],
    /// How often there was one.
    looked: usize,
}

impl<'a> Looks<'a> {
    /// At the claims of `studies`, where `rounds` go on. Whoever says how many trials there are gets these, and no look: `trials`.
    pub fn new(studies: &'a [Study], rounds: Rounds, trials: Option<usize>) -> Self {
        let looks = rounds == Rounds::UntilDecided && trials.is_none();
        Self { studies: if looks { studies } else { &[] }, looked: 0 }
    }

    /// Plans more rounds for what the recording in `folder` leaves open; says for which claims. `None` where nothing is open, or
    /// was looked at often enough.
    pub fn more(&mut self, plan: &mut Plan, folder: &Path) -> Option<String> {
        let studies: Vec<_> = self.studies.iter().filter(|study| study.doublings > self.looked).collect();
        if studies.is_empty() {
            return None;
        }
        self.looked += 1;
        // A recording that cannot be read is told about when the run has ended.
        let reader = Reader::open(folder).ok()?;
        let options = Options { seed: plan.seed, ..Options::default() };
        let open: Vec<_> = studies.iter().flat_map(|study| study.open(&reader, &options)).collect();
        let starts = plan.go_on(&open);
        (starts > 0).then(|| sentence(&open, starts))
    }

    /// The plan with every round that it may come to.
    pub fn most(&self, plan: &Plan) -> Plan {
        let mut most = plan.clone();
        for study in self.studies {
            let all: Vec<_> = study.claims.iter().collect();
            for _ in 0..study.doublings {
                most.go_on(&all);
            }
        }
        most
    }
}

fn sentence(open: &[&Claim], starts: usize) -> String {
    let mut names: Vec<String> = open.iter().take(NAMED).map(|claim| claim.says.clone()).collect();
    if open.len() > NAMED {
        names.push(format!("{} more", open.len() - NAMED));
    }
    let (is, them) = if open.len() == 1 { ("is", "it") } else { ("are", "them") };
    format!("{} {is} not decided: {starts} more trials for {them}", names.join("; "))
}
