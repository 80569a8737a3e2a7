//! More rounds for comparisons that those of the plan leave open.
//!
//! A machine that others share decides a difference of a few per cent in ten rounds on one day and in a hundred on another. So a
//! study may say how often its open comparisons are looked at again, each time after as many rounds more as there were. What each
//! look may miss is its part of five in a hundred ([`Claim::confidence`](kizami_studies::Claim::confidence)), so that several
//! looks are wrong no more often than one.

use std::path::Path;

use kizami_recording::folder::Reader;
use kizami_recording::stats::Options;
use kizami_studies::{Claim, Plan, Size, Study};

/// More names of claims than this are counted.
const NAMED: usize = 3;

/// The looks at what a run leaves open.
#[derive(Debug)]
pub struct Looks<'a> {
    studies: &'a [Study],
    size: Size,
    /// How often the rounds were doubled.
    doubled: usize,
}

impl<'a> Looks<'a> {
    /// At the comparisons of `studies`. Whoever says how many trials there are gets these, and no look: `trials`.
    pub fn new(studies: &'a [Study], size: Size, trials: Option<usize>) -> Self {
        Self { studies: if trials.is_some() { &[] } else { studies }, size, doubled: 0 }
    }

    /// Plans more rounds for the groups that the recording in `folder` leaves open; says for which claims. `None` where
    /// nothing is open, or was looked at often enough.
    pub fn more(&mut self, plan: &mut Plan, folder: &Path) -> Option<String> {
        let most = self.studies.iter().map(|study| study.doublings).max()?;
        if self.doubled == most {
            return None;
        }
        // A recording that cannot be read is told about when the run has ended.
        let reader = Reader::open(folder).ok()?;
        let options = Options { seed: plan.seed, ..Options::default() };
        let open = |study: &'a Study| (study, study.open(&reader, &options));
        let open: Vec<_> = self.studies.iter().map(open).collect();
        // Another group may have asked for as many of the same already.
        while self.doubled < most {
            self.doubled += 1;
            let going_on = open.iter().filter(|(study, _)| study.doublings >= self.doubled);
            let of = |(study, claims): &(&Study, Vec<&Claim>)| study.rounds_of(claims, self.size, 1 << self.doubled);
            let starts = plan.go_on(&going_on.clone().flat_map(of).collect::<Vec<_>>());
            if starts > 0 {
                let claims: Vec<&Claim> = going_on.flat_map(|(_, claims)| claims).copied().collect();
                return Some(sentence(&claims, starts));
            }
        }
        None
    }

    /// The plan with every round that it may come to.
    pub fn most(&self, plan: &Plan) -> Plan {
        let mut most = plan.clone();
        for study in self.studies {
            let compares: Vec<&Claim> = study.claims.iter().filter(|claim| claim.expects.other().is_some()).collect();
            most.go_on(&study.rounds_of(&compares, self.size, 1 << study.doublings));
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
