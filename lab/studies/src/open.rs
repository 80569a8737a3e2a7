//! What a recording leaves open: claims that its rounds do not decide.

use kizami_recording::folder::{Loaded, Reader};
use kizami_recording::stats::Options;

use crate::claim::Claim;
use crate::judge::{Judgement, Verdict};
use crate::selector::Selector;
use crate::study::Study;

impl Claim {
    /// Judges the claim by what was recorded.
    pub fn judge_recorded(&self, reader: &Reader, options: &Options) -> Judgement {
        let find = |selector: &Selector| -> Vec<Loaded<'_>> {
            reader.series().filter(|loaded| selector.matches(loaded.series)).collect()
        };
        self.judge(options, &find)
    }
}

impl Study {
    /// The claims that the recording leaves open.
    pub fn open(&self, reader: &Reader, options: &Options) -> Vec<&Claim> {
        let open = |claim: &&Claim| claim.judge_recorded(reader, options).verdict == Verdict::NotSupported;
        self.claims.iter().filter(open).collect()
    }
}
