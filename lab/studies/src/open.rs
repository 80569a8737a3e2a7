//! What a recording leaves open: comparisons that its rounds do not decide, and the groups that more of them would take.

use kizami_recording::folder::{Loaded, Reader};
use kizami_recording::stats::Options;

use crate::claim::Claim;
use crate::group::Group;
use crate::judge::{Judgement, Verdict};
use crate::selector::Selector;
use crate::study::Study;
use crate::words::Size;

impl Claim {
    /// Judges the claim by what was recorded.
    pub fn judge_recorded(&self, reader: &Reader, options: &Options) -> Judgement {
        let find = |selector: &Selector| -> Vec<Loaded<'_>> {
            reader.series().filter(|loaded| selector.matches(loaded.series)).collect()
        };
        self.judge(options, &find)
    }

    fn is_about(&self, group: &Group, size: Size) -> bool {
        let jobs: Vec<_> = group.cells(size).into_iter().filter_map(|cell| cell.job().ok()).collect();
        let selects = |selector: &Selector| match &selector.group {
            Some(id) => *id == group.id,
            None => jobs.iter().any(|job| selector.matches_job(&group.id, job)),
        };
        selects(&self.of) || self.expects.other().is_some_and(selects)
    }
}

impl Study {
    /// The comparisons that the recording leaves open.
    pub fn open(&self, reader: &Reader, options: &Options) -> Vec<&Claim> {
        let compares = self.claims.iter().filter(|claim| claim.expects.other().is_some());
        let open = |claim: &&Claim| claim.judge_recorded(reader, options).verdict == Verdict::NotSupported;
        compares.filter(open).collect()
    }

    /// The groups of `claims`, as a plan names them, with so many times the rounds that the study says.
    pub fn rounds_of(&self, claims: &[&Claim], size: Size, times: usize) -> Vec<(String, usize)> {
        let of_some = self.groups.iter().filter(|group| claims.iter().any(|claim| claim.is_about(group, size)));
        of_some.map(|group| (format!("{}/{}", self.name, group.id), group.trials(size).saturating_mul(times))).collect()
    }
}
