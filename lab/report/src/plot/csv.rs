//! The numbers of a figure as CSV.

/// Rows of CSV. Every figure writes its numbers through this, so that texts are quoted in one way.
pub struct Table(::csv::Writer<Vec<u8>>);

impl Table {
    pub fn new(header: &[&str]) -> Self {
        let mut table = Self(::csv::Writer::from_writer(Vec::new()));
        table.row(header.iter().map(|s| (*s).to_owned()));
        table
    }

    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        // Writing to memory fails only for rows of unequal length, which each caller's tests would show as missing.
        let _ = self.0.write_record(cells);
    }

    pub fn finish(self) -> String {
        self.0.into_inner().ok().and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_default()
    }
}
