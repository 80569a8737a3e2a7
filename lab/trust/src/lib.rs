//! How often the statements of the lab are right: simulated series of known truth go through the product's own way in and
//! out, and what it says of them is judged. `./x bench trust` prints the table that stands in docs/measuring.md.
//!
//! A statement that is made must hold as often as it says; where it cannot, it must not be made. Every random number comes
//! from one seed, so a table can be had again to the last digit.

mod cells;
mod decisions;
mod kinds;
mod others;
mod product;
mod series;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use cells::STATEMENTS;
use kinds::{KINDS, Kind};
use others::Outcome;
use product::Product;
use series::Row;

/// How much is simulated.
pub struct Scope {
    pub repeats: u64,
    pub seed: u64,
    /// Sizes above this are left out.
    pub largest: usize,
    /// Standard errors by which a bound may be missed, for the chance that few repeats leave.
    pub errors: f64,
}

/// The outcome of all simulations.
pub struct Judged {
    /// As Markdown.
    pub table: String,
    /// What is not within its bounds.
    pub missed: Vec<String>,
    pub statements: usize,
}

/// Simulates and judges; `kizami` is the command. `progress` is told what was done.
///
/// # Errors
/// What the command did not do, or the disk.
pub fn judge(kizami: &Path, scope: &Scope, progress: &(dyn Fn(usize, usize) + Sync)) -> Result<Judged, String> {
    let product = Product { kizami: kizami.to_owned() };
    let folder = tempfile::tempdir_in(scratch()).map_err(|e| format!("no folder for recordings: {e}"))?;
    let cells: Vec<(&Kind, usize)> = KINDS
        .iter()
        .flat_map(|kind| kind.sizes.iter().map(move |&size| (kind, size)))
        .filter(|(_, size)| *size <= scope.largest)
        .collect();
    let all = cells.len() + 4;
    let done = AtomicUsize::new(0);
    let tell = || progress(done.fetch_add(1, Ordering::Relaxed) + 1, all);
    let one = |(kind, size): &(&Kind, usize)| {
        let row = series::judge(&product, kind, *size, scope.repeats, scope.seed, folder.path());
        tell();
        row
    };
    let rows: Vec<Row> = in_parallel(&cells, &one)?;
    let mut outcomes = Vec::new();
    for number in [1, 5] {
        outcomes.extend(others::differences(&product, number, scope.repeats, scope.seed, folder.path())?);
        tell();
    }
    outcomes.extend(others::censored(&product, scope.repeats, scope.seed, folder.path())?);
    tell();
    outcomes.extend(decisions::decisions(&product, (scope.repeats, scope.seed), scope.largest, folder.path())?);
    tell();
    Ok(told(&cells, &rows, &outcomes, scope))
}

/// A folder in memory if there is one: recordings are synced with each trial, which is not what is judged here.
fn scratch() -> PathBuf {
    let memory = PathBuf::from("/dev/shm");
    if memory.is_dir() { memory } else { std::env::temp_dir() }
}

/// `one` of each item, in their order, on all processors.
fn in_parallel<T: Sync, U: Send>(
    items: &[T],
    one: &(impl Fn(&T) -> Result<U, String> + Sync),
) -> Result<Vec<U>, String> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::new());
    let work = || {
        while let Some((index, item)) =
            Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|i| Some((i, items.get(i)?)))
        {
            let result = one(item);
            done.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push((index, result));
        }
    };
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(work);
        }
    });
    let mut done = done.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    done.sort_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, result)| result).collect()
}

fn told(cells: &[(&Kind, usize)], rows: &[Row], outcomes: &[Outcome], scope: &Scope) -> Judged {
    let (mut table, mut missed, mut statements) = (String::new(), Vec::new(), 0);
    let _ = writeln!(table, "| series | samples | {} |", STATEMENTS.join(" | "));
    let _ = writeln!(table, "| --- | ---: |{}", " ---: |".repeat(STATEMENTS.len()));
    let mut before = "";
    for ((kind, size), row) in cells.iter().zip(rows) {
        let name = if kind.name == before { String::new() } else { format!("{}: {}", kind.name, kind.about) };
        before = kind.name;
        let _ = write!(table, "| {name} | {size} |");
        for (cell, statement) in row.iter().zip(STATEMENTS) {
            let _ = write!(table, " {cell} |");
            statements += usize::from(cell.asked);
            if let Some(why) = cell.missed(statement, kind.expected, kind.heavy, scope.errors) {
                missed.push(format!("{} of {size}, {statement}: {why}", kind.name));
            }
        }
        table.push('\n');
    }
    let _ = writeln!(table, "\n| statement | made | false | bound |\n| --- | ---: | ---: | ---: |");
    for outcome in outcomes {
        let percent = outcome.percent();
        let _ = writeln!(table, "| {} | {} | {percent:.1} % | {} % |", outcome.what, outcome.made, outcome.bound);
        statements += 1;
        let share = outcome.bound / 100.0;
        let error = 100.0 * (share * (1.0 - share) / f64::from(outcome.made.max(1))).sqrt();
        if percent > outcome.bound + scope.errors * error || outcome.made == 0 {
            missed.push(format!("{}: false in {percent:.1} %, bound {} %", outcome.what, outcome.bound));
        }
    }
    Judged { table, missed, statements }
}
