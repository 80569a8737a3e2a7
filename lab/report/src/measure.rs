//! A measure: a row of a group with its analysed series. The tables and figures of a section are made of measures.

use kizami_recording::folder::Series;
use kizami_studies::Row;

use crate::analysis::Analysis;

/// A row with its series, analysed.
pub(crate) struct Measure<'r, 'a> {
    pub row: &'r Row,
    pub analysis: &'r Analysis<'a>,
}

impl<'a> Measure<'_, 'a> {
    pub(crate) fn series(&self) -> &'a Series {
        self.analysis.series()
    }
}
