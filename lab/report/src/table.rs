//! A table as data, for the terminal, the HTML page and CSV.

use serde::Serialize;

/// A table.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Table {
    pub headers: Vec<Header>,
    pub rows: Vec<Row>,
    /// An explanation of the columns, where their headers are not enough.
    pub note: String,
}

#[derive(Debug, Clone, Serialize)]
pub struct Header {
    pub text: String,
    /// Numbers stand on the right.
    pub number: bool,
}

#[derive(Debug, Clone, Serialize)]
pub struct Row {
    pub kind: RowKind,
    pub cells: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RowKind {
    /// Measured by this run.
    Measured,
    /// A figure from a paper.
    Published,
    /// A requested series that was not measured: the label and the reason only.
    Missing,
}

impl Table {
    /// Headers of which the first `texts` stand on the left and the others on the right.
    pub fn new(texts: &[&str], numbers: &[&str]) -> Self {
        let header = |number| move |text: &&str| Header { text: (*text).to_owned(), number };
        let headers = texts.iter().map(header(false)).chain(numbers.iter().map(header(true))).collect();
        Self { headers, ..Self::default() }
    }

    /// Takes out the columns in which no row has anything.
    pub fn drop_empty_columns(&mut self) {
        for column in (1..self.headers.len()).rev() {
            // The second cell of a row that is missing is its reason, wherever it stands.
            let has = |row: &Row| row.kind != RowKind::Missing && row.cells.get(column).is_some_and(|c| !c.is_empty());
            if !self.rows.iter().any(has) && self.rows.iter().any(|row| row.kind != RowKind::Missing) {
                self.headers.remove(column);
                for row in self.rows.iter_mut().filter(|row| row.kind != RowKind::Missing) {
                    row.cells.remove(column);
                }
            }
        }
    }

    pub fn push(&mut self, kind: RowKind, cells: impl IntoIterator<Item = String>) {
        let mut cells: Vec<String> = cells.into_iter().collect();
        cells.resize(self.headers.len(), String::new());
        self.rows.push(Row { kind, cells });
    }
}
