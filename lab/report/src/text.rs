//! The report in a terminal: the findings, claims and tables of the page, and box plots of block characters.

use anstyle::{AnsiColor, Style};
use comfy_table::{Cell, CellAlignment, ContentArrangement, presets};
use kizami_studies::Verdict;

use crate::decisions::Decisions;
use crate::report::{Judged, Report};
use crate::section::Section;
use crate::table::{RowKind, Table};

/// How many findings end a run.
const TOP: usize = 3;

/// How wide, and whether in colour.
#[derive(Debug, Clone, Copy)]
pub struct Look {
    pub colour: bool,
    pub width: usize,
}

impl Look {
    fn paint(self, style: Style, text: &str) -> String {
        if self.colour { format!("{style}{text}{style:#}") } else { text.to_owned() }
    }

    fn bold(self, text: &str) -> String {
        self.paint(Style::new().bold(), text)
    }

    fn dim(self, text: &str) -> String {
        self.paint(Style::new().dimmed(), text)
    }
}

/// All of it.
pub fn write(report: &Report, look: Look) -> String {
    let mut out = String::new();
    for chapter in &report.chapters {
        out.push_str(&format!("\n{}\n", look.paint(Style::new().bold().underline(), &chapter.title)));
        for section in &chapter.sections {
            out.push_str(&write_section(section, look));
        }
        out.push_str(&claims(&chapter.claims, look));
    }
    out
}

fn write_section(section: &Section, look: Look) -> String {
    let mut out = format!("\n{}\n", look.bold(&section.title));
    for table in &section.tables {
        out.push_str(&write_table(table, look));
    }
    for drawn in &section.figures {
        if let Some(drawing) = drawn.figure.terminal(look.width) {
            out.push_str(&format!("\n{drawing}\n"));
        }
    }
    for sentence in &section.refused {
        out.push_str(&look.paint(Style::new().fg_color(Some(AnsiColor::Yellow.into())), &format!("! {sentence}\n")));
    }
    if !section.settings.is_empty() {
        let line = crate::settings::line(&section.settings);
        out.push_str(&look.dim(&format!("{line}\n")));
    }
    out
}

/// The columns that are given up first where the terminal is too narrow for all.
const LESSER: [&str; 7] = [crate::tables::FURTHER, "first", "p99.9", "n", "intervals", "median", "p99"];

/// `table` without the lesser columns that do not fit: a broken number is worse than a missing one, and the page has all.
fn fitting(table: &Table, width: usize) -> Table {
    let mut table = table.clone();
    let widest = |table: &Table, column: usize| {
        let cells = table.rows.iter().filter(|r| r.kind != RowKind::Missing || column == 0);
        let cells =
            cells.filter_map(|r| r.cells.get(column)).map(|c| c.chars().count() + if column == 0 { 2 } else { 0 });
        cells.chain([table.headers[column].text.chars().count()]).max().unwrap_or(0) + 2
    };
    for lesser in LESSER {
        let needed: usize = (0..table.headers.len()).map(|column| widest(&table, column)).sum();
        let Some(column) = table.headers.iter().position(|h| h.text == lesser).filter(|_| needed > width) else {
            continue;
        };
        table.headers.remove(column);
        for row in table.rows.iter_mut().filter(|r| r.kind != RowKind::Missing && column < r.cells.len()) {
            row.cells.remove(column);
        }
    }
    table
}

/// A table in the terminal's form.
pub fn write_table(table: &Table, look: Look) -> String {
    let narrower = fitting(table, look.width);
    let table = &narrower;
    let mut drawn = comfy_table::Table::new();
    drawn.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Dynamic);
    drawn.set_width(u16::try_from(look.width).unwrap_or(u16::MAX));
    let cell = |text: &str, number: bool, style: Option<Style>| {
        let text = style.map_or_else(|| text.to_owned(), |style| look.paint(style, text));
        Cell::new(text).set_alignment(if number { CellAlignment::Right } else { CellAlignment::Left })
    };
    drawn.set_header(table.headers.iter().map(|h| cell(&h.text, h.number, Some(Style::new().dimmed()))));
    for row in table.rows.iter().filter(|row| row.kind != RowKind::Missing) {
        let style = (row.kind == RowKind::Published).then(|| Style::new().dimmed());
        let cells = row.cells.iter().zip(&table.headers).enumerate().map(|(index, (text, header))| {
            let indented = format!("  {text}");
            let text = if index == 0 && row.kind == RowKind::Published { &indented } else { text };
            cell(text, header.number, style)
        });
        drawn.add_row(cells);
    }
    let mut out = format!("{drawn}\n");
    for row in table.rows.iter().filter(|row| row.kind == RowKind::Missing) {
        let text = |index: usize| row.cells.get(index).map_or("", String::as_str);
        out.push_str(&look.dim(&format!(" {}: {}\n", text(0), text(1))));
    }
    if !table.note.is_empty() {
        out.push_str(&look.dim(&format!("{}\n", table.note)));
    }
    out
}

fn claims(claims: &[Judged], look: Look) -> String {
    if claims.is_empty() {
        return String::new();
    }
    let holding = claims.iter().filter(|c| c.judgement.verdict == Verdict::Holds).count();
    let mut out = format!("\n{}\n", look.bold(&format!("Does it hold here? {holding} of {} do", claims.len())));
    for claim in claims {
        let (mark, colour) = match claim.judgement.verdict {
            Verdict::Holds => ("✓", AnsiColor::Green),
            Verdict::DoesNotHold => ("✗", AnsiColor::Red),
            Verdict::NotSupported | Verdict::NotMeasured(_) => ("–", AnsiColor::Yellow),
        };
        let mark = look.paint(Style::new().fg_color(Some(colour.into())), mark);
        out.push_str(&format!("{mark} {}\n", claim.says));
        claim.judgement.shown.lines().for_each(|line| out.push_str(&format!("  {}\n", look.dim(line))));
    }
    out
}

/// Whether wake-ups meet what the run is held to; nothing where it is held to nothing.
pub fn decisions(report: &Report, look: Look) -> String {
    let of = |decisions: &Decisions| {
        let table = write_table(&decisions.table(), look);
        let of = if decisions.study.is_empty() { String::new() } else { format!(" ({})", decisions.study) };
        format!("\n{}\n{table}", look.bold(&format!("Is the deadline met?{of}")))
    };
    report.decisions.iter().map(of).collect()
}

/// The end of a run: what is most worth knowing.
pub fn findings(report: &Report, look: Look) -> String {
    let mut out = String::new();
    if !report.findings.is_empty() {
        out.push_str(&format!("\n{}\n", look.bold("Most worth knowing about this machine")));
    }
    for (index, finding) in report.findings.iter().take(TOP).enumerate() {
        let number = look.paint(Style::new().bold().fg_color(Some(AnsiColor::Cyan.into())), &format!("{}.", index + 1));
        out.push_str(&format!("{number} {}\n", wrap(&finding.headline, look.width, 3)));
        if !finding.meaning.is_empty() {
            out.push_str(&format!("   {}\n", look.dim(&wrap(&finding.meaning, look.width, 3))));
        }
    }
    out
}

/// Breaks `text` at spaces, so that lines of `width` columns stay whole; further lines are indented.
pub fn wrap(text: &str, width: usize, indent: usize) -> String {
    let room = width.saturating_sub(indent).max(20);
    let mut out = String::new();
    let mut column = 0;
    for word in text.split_whitespace() {
        let length = word.chars().count();
        if column > 0 && column + 1 + length > room {
            out.push('\n');
            out.push_str(&" ".repeat(indent));
            column = 0;
        } else if column > 0 {
            out.push(' ');
            column += 1;
        }
        out.push_str(word);
        column += length;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_sentences_are_broken_between_words() {
        let wrapped = wrap("one two three four five six seven eight nine ten", 24, 3);
        assert!(wrapped.lines().all(|line| line.chars().count() <= 24), "{wrapped}");
        assert_eq!(wrapped.split_whitespace().count(), 10);
    }

    #[test]
    fn a_table_keeps_every_cell_and_marks_what_was_published() {
        let mut table = Table::new(&["µs"], &["AVG"]);
        table.push(RowKind::Measured, ["sum".to_owned(), "12.5".to_owned()]);
        table.push(RowKind::Published, ["Raspberry Pi".to_owned(), "4990".to_owned()]);
        let text = write_table(&table, Look { colour: false, width: 80 });
        assert!(text.contains("sum") && text.contains("12.5") && text.contains("  Raspberry Pi"), "{text}");
    }
}
