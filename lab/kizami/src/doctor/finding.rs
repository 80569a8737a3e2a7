//! Findings of the doctor: the result of one check, its verdict for real-time work, and the command that would change
//! it.

use kizami_recording::foreign::printable;
use serde::Serialize;

/// The verdict of a check for real-time work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    Good,
    /// It costs something; whether that matters depends on the work.
    Fair,
    /// It stands in the way.
    Bad,
    /// It could not be found out.
    Unknown,
    /// The machine does not have the thing, or it was not looked at.
    NotApplicable,
}

/// The result of one check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    pub theme: &'static str,
    pub check: &'static str,
    pub verdict: Verdict,
    /// In a few words.
    pub found: String,
    /// The consequence, in a sentence.
    pub means: String,
    /// The command that would change it, to be copied.
    pub fix: Option<String>,
}

impl Finding {
    pub(super) fn new(
        check: &'static str,
        verdict: Verdict,
        found: impl Into<String>,
        means: impl Into<String>,
    ) -> Self {
        // Any user of the machine can give a process any name.
        let text = |text: String| printable(&text).into_owned();
        Self { theme: "", check, verdict, found: text(found.into()), means: text(means.into()), fix: None }
    }

    pub(super) fn fix(mut self, command: impl Into<String>) -> Self {
        self.fix = Some(command.into());
        self
    }

    /// For what a recorded tree cannot tell.
    pub(super) fn not_measured(check: &'static str) -> Self {
        let means = "This is measured on the machine itself; a recorded tree does not tell it.";
        Self::new(check, Verdict::NotApplicable, "not measured", means)
    }
}
