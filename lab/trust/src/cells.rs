//! Cells: one kind of statement about one kind of series, how often it was made, and how often it was true.

use std::fmt;

use crate::kinds::Expected;

/// The statements that are judged, in the order of the table's columns.
pub const STATEMENTS: [&str; 7] =
    ["mean", "median", "p99", "deadline, 1 in 100", "deadline, 1 in n", "maximum of 10 n", "maximum of 100 n"];

/// Where a statement is made of fewer series than this, its kind counts as refused.
const RARELY: f64 = 0.2;
/// An interval of 95 % that is given holds the truth in so many percent.
const HELD: (f64, f64) = (92.0, 98.0);
/// A deadline's statement holds in so many percent at least.
const DEADLINE: f64 = 93.0;
/// Of a kind that must be refused, so many percent are.
const REFUSED: f64 = 95.0;
/// Of all series of a kind, so many percent have a false interval at most.
const FALSE: f64 = 8.0;

/// How often a statement was made and true.
#[derive(Clone, Copy, Default)]
pub struct Cell {
    pub repeats: u32,
    pub given: u32,
    pub held: u32,
    /// Whether it was asked for at all.
    pub asked: bool,
}

impl Cell {
    /// Counts one series: what was said, if anything, and whether it is true.
    pub fn count(&mut self, said: Option<bool>) {
        self.asked = true;
        self.repeats += 1;
        self.given += u32::from(said.is_some());
        self.held += u32::from(said == Some(true));
    }

    fn percent(part: u32, of: u32) -> f64 {
        if of == 0 { 100.0 } else { 100.0 * f64::from(part) / f64::from(of) }
    }

    pub fn given_percent(&self) -> f64 {
        Self::percent(self.given, self.repeats)
    }

    pub fn held_percent(&self) -> f64 {
        Self::percent(self.held, self.given)
    }

    fn is_refused(&self) -> bool {
        self.given_percent() < 100.0 * RARELY
    }

    /// Why it is not within its bounds, each of which is allowed to be missed by so many standard errors.
    pub fn missed(&self, statement: &str, expected: Expected, heavy: bool, errors: f64) -> Option<String> {
        if !self.asked {
            return None;
        }
        let (given, held) = (self.given_percent(), self.held_percent());
        // That of a share of 5 % of so many.
        let allowed = |of: u32| errors * 100.0 * (0.05 * 0.95 / f64::from(of.max(1))).sqrt();
        let of_maximum = statement.starts_with("maximum");
        let must_be_refused = expected == Expected::Refused || heavy && of_maximum;
        if must_be_refused {
            let refused = 100.0 - given;
            return (refused + allowed(self.repeats) < REFUSED)
                .then(|| format!("refused in {refused:.1} %, bound {REFUSED} %"));
        }
        if self.is_refused() {
            let wrong = Self::percent(self.given - self.held, self.repeats);
            return (wrong > FALSE + allowed(self.repeats))
                .then(|| format!("false in {wrong:.1} % of all series, bound {FALSE} %"));
        }
        if statement.starts_with("deadline") {
            return (held + allowed(self.given) < DEADLINE)
                .then(|| format!("holds in {held:.1} %, bound {DEADLINE} %"));
        }
        let (low, high) = HELD;
        let too_wide = held > high + allowed(self.given) && expected != Expected::Discrete;
        (held + allowed(self.given) < low || too_wide)
            .then(|| format!("holds in {held:.1} %, bounds {low} and {high} %"))
    }
}

impl fmt::Display for Cell {
    /// How many percent of the given ones held, and in how many percent of series they were given.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = if !self.asked {
            String::new()
        } else if self.given == 0 {
            "refused".into()
        } else if self.is_refused() {
            format!("refused ({:.0} given)", self.given_percent())
        } else {
            format!("{:.1} ({:.0})", self.held_percent(), self.given_percent())
        };
        f.pad(&text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(repeats: u32, given: u32, held: u32) -> Cell {
        Cell { repeats, given, held, asked: true }
    }

    #[test]
    fn bounds_are_held_or_missed() {
        let missed = |cell: Cell, statement, expected, heavy| cell.missed(statement, expected, heavy, 0.0).is_some();
        use Expected::{Discrete, Refused, True};
        for (got, statement, expected, heavy, is_missed) in [
            (cell(200, 200, 190), "mean", True, false, false),
            (cell(200, 200, 183), "mean", True, false, true),
            (cell(200, 200, 200), "median", True, false, true),
            (cell(200, 200, 200), "median", Discrete, false, false),
            (cell(200, 30, 15), "mean", True, false, false),
            (cell(200, 30, 10), "mean", True, false, true),
            (cell(200, 11, 11), "mean", Refused, false, true),
            (cell(200, 9, 0), "mean", Refused, false, false),
            (cell(200, 200, 185), "deadline, 1 in n", True, false, true),
            (cell(200, 200, 200), "deadline, 1 in n", True, false, false),
            (cell(200, 11, 11), "maximum of 10 n", True, true, true),
            (cell(200, 9, 0), "maximum of 10 n", True, true, false),
            (Cell::default(), "mean", True, false, false),
        ] {
            let said = format!("{} of {} of {}, {statement}", got.held, got.given, got.repeats);
            assert_eq!(missed(got, statement, expected, heavy), is_missed, "{said}");
        }
    }
}
