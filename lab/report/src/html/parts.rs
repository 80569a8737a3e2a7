//! Parts of the page that are not figures: findings, claims, tables, the doctor's diagnoses.

use kizami_studies::Verdict;

pub(super) use crate::plot::escape;
use crate::plot::text_width;
use crate::report::{Diagnosis, Judged, Report};
use crate::table::{RowKind, Table};

/// How many findings stand at the top.
const TOP: usize = 3;

pub fn findings(report: &Report) -> String {
    if report.findings.is_empty() {
        return String::new();
    }
    let card = |f: &crate::Finding| format!("<li><h3>{}</h3><p>{}</p></li>", prose(&f.headline), prose(&f.meaning));
    let cards: String = report.findings.iter().take(TOP).map(card).collect();
    let rest: String = report.findings.iter().skip(TOP).map(card).collect();
    let rest = match rest.as_str() {
        "" => String::new(),
        rest => format!("<details><summary>Also found</summary><ul class=\"also\">{rest}</ul></details>"),
    };
    format!("<section class=\"findings\"><h2>Most worth knowing</h2><ol>{cards}</ol>{rest}</section>")
}

pub fn claims(claims: &[Judged]) -> String {
    if claims.is_empty() {
        return String::new();
    }
    let holding = claims.iter().filter(|c| c.judgement.verdict == Verdict::Holds).count();
    let rows: String = claims
        .iter()
        .map(|claim| {
            let (class, word) = match &claim.judgement.verdict {
                Verdict::Holds => ("holds", "holds"),
                Verdict::DoesNotHold => ("fails", "does not hold"),
                Verdict::NotSupported => ("open", "not supported"),
                Verdict::NotMeasured(_) => ("open", "not measured"),
            };
            let source = match claim.source.as_str() {
                "" => String::new(),
                source => format!(" <span class=\"source\">{}</span>", escape(source)),
            };
            format!(
                "<li class=\"{class}\"><span class=\"verdict\">{word}</span><span>{}{source}<br><span class=\"shown\">{}\
                 </span></span></li>",
                escape(&claim.says),
                claim.judgement.shown.lines().map(escape).collect::<Vec<_>>().join("<br>")
            )
        })
        .collect();
    format!("<div class=\"claims\"><h3>Does it hold here? {holding} of {} do</h3><ul>{rows}</ul></div>", claims.len())
}

/// Whether a telephone, 390 pixels wide, has no room for the columns of `table` beside each other. There each row becomes a
/// block, with the names of the columns beside its figures.
fn is_wide(table: &Table) -> bool {
    /// What the margins of a telephone's page leave, and what the padding of a cell takes.
    const ROOM: f64 = 358.0;
    const PADDING: f64 = 20.0;
    /// The font size, and how much wider than the known metrics the widest font of the page is.
    const SIZE: f64 = 14.0 * 1.15;
    /// The first column breaks its lines.
    const FIRST: f64 = 124.0;
    let figures = 1..table.headers.len();
    let column = |index: usize| {
        let rows = table.rows.iter().filter(|row| row.kind != RowKind::Missing);
        let cells = rows.filter_map(|row| row.cells.get(index)).chain([&table.headers[index].text]);
        PADDING + cells.map(|cell| text_width(cell, SIZE)).fold(0.0, f64::max)
    };
    FIRST + figures.map(column).sum::<f64>() > ROOM
}

pub fn table(table: &Table) -> String {
    let class = |number: bool| if number { " class=\"n\"" } else { "" };
    let head: String = table
        .headers
        .iter()
        .map(|h| format!("<th scope=\"col\"{}>{}</th>", class(h.number), escape(&h.text)))
        .collect();
    let row = |row: &crate::Row| {
        if row.kind == RowKind::Missing {
            let (label, why) = (row.cells.first(), row.cells.get(1));
            let text = |cell: Option<&String>| escape(cell.map_or("", String::as_str));
            let span = table.headers.len().saturating_sub(1);
            return format!(
                "<tr class=\"missing\"><th scope=\"row\">{}</th><td colspan=\"{span}\">{}</td></tr>",
                text(label),
                text(why)
            );
        }
        let kind = if row.kind == RowKind::Published { " class=\"published\"" } else { "" };
        let cells: String = row
            .cells
            .iter()
            .zip(&table.headers)
            .enumerate()
            .map(|(index, (cell, header))| match index {
                0 => format!("<th scope=\"row\">{}</th>", escape(cell)),
                _ => format!("<td{} data-of=\"{}\">{}</td>", class(header.number), escape(&header.text), escape(cell)),
            })
            .collect();
        format!("<tr{kind}>{cells}</tr>")
    };
    let rows: String = table.rows.iter().map(row).collect();
    let note = match table.note.as_str() {
        "" => String::new(),
        note => format!("<p class=\"note\">{}</p>", escape(note)),
    };
    let wide = if is_wide(table) { " class=\"wide\"" } else { "" };
    format!(
        "<div class=\"scroll\" tabindex=\"0\"><table{wide}><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>{note}"
    )
}

/// Sentences in which names stand between backquotes: those are set as code.
pub fn prose(text: &str) -> String {
    let pieces: Vec<&str> = text.split('`').collect();
    if pieces.len().is_multiple_of(2) {
        return escape(text);
    }
    let set = |(index, piece): (usize, &&str)| match index % 2 {
        0 => escape(piece),
        _ => format!("<code>{}</code>", escape(piece)),
    };
    pieces.iter().enumerate().map(set).collect()
}

pub fn diagnoses(diagnoses: &[Diagnosis]) -> String {
    if diagnoses.is_empty() {
        return String::new();
    }
    let item = |d: &Diagnosis| {
        let class = match d.verdict.as_str() {
            "good" => "holds",
            "bad" => "fails",
            _ => "open",
        };
        let fix = d.fix.as_ref().map_or(String::new(), |fix| format!("<br><code>{}</code>", escape(fix)));
        format!(
            "<li class=\"{class}\"><span class=\"verdict\">{}</span><span><b>{}</b>: {}<br><span class=\"shown\">{}{fix}\
             </span></span></li>",
            escape(&d.verdict),
            escape(&d.check),
            escape(&d.found),
            prose(&d.means)
        )
    };
    let standing: String = diagnoses.iter().filter(|d| d.verdict == "bad" || d.verdict == "fair").map(item).collect();
    let fine: String = diagnoses.iter().filter(|d| d.verdict != "bad" && d.verdict != "fair").map(item).collect();
    format!(
        "<div class=\"claims\"><h3>What stands between it and real-time behaviour</h3><ul>{standing}</ul>\
         <details><summary>What does not</summary><ul>{fine}</ul></details></div>"
    )
}

pub fn facts(pairs: &[(String, String)]) -> String {
    let row = |(name, value): &(String, String)| format!("<dt>{}</dt><dd>{}</dd>", escape(name), escape(value));
    format!("<dl>{}</dl>", pairs.iter().map(row).collect::<String>())
}

/// What the notes of a recording are about.
fn noted(report: &Report) -> &'static str {
    if report.is_imported() { "What is known less exactly" } else { "What could not be done, and what went on" }
}

pub fn footer(report: &Report) -> String {
    let (recording, imported) = (&report.recording, report.is_imported());
    let cost =
        if imported { "" } else { "The time of taking the time is measured in the same run and not subtracted. " };
    let mut pairs: Vec<(String, String)> = vec![
        ("command".into(), recording.command.join(" ")),
        ("seed of the order and of the intervals".into(), recording.seed.to_string()),
        (if imported { "trials" } else { "trials, in shuffled order" }.into(), recording.order.len().to_string()),
    ];
    pairs.extend(recording.tools.iter().map(|(name, version)| (name.clone(), version.clone())));
    let notes: String = recording.notes.iter().map(|n| format!("<li>{}</li>", escape(n))).collect();
    let notes = if notes.is_empty() { notes } else { format!("<h3>{}</h3><ul>{notes}</ul>", noted(report)) };
    format!(
        "<footer><h2>About this run</h2>{notes}{}<p class=\"note\">Nothing is dropped as an outlier. {cost}AVG is the mean, VAR and STDEV divide by n − 1, \
         quartiles are type 7, tail percentiles nearest rank; intervals are 95 %, unless a claim says otherwise, and follow the dependence of neighbouring \
         samples.</p></footer>",
        facts(&pairs)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_that_is_too_wide_for_a_telephone_names_its_columns_in_every_row() {
        let mut wide = Table::new(&["times in ns"], &["AVG", "MAX", "VAR ns²", "STDEV", "median", "p99", "p99.9", "n"]);
        wide.push(
            RowKind::Measured,
            std::iter::once("ctx-ring".to_owned()).chain((0..8).map(|i| format!("12 345 67{i}"))),
        );
        let html = table(&wide);
        assert!(html.contains("<table class=\"wide\">"), "{html}");
        for (index, header) in wide.headers.iter().enumerate().skip(1) {
            assert!(html.contains(&format!("data-of=\"{}\">12 345 67{}<", header.text, index - 1)), "{html}");
        }
        let mut narrow = Table::new(&["times in ms"], &["AVG", "MAX"]);
        narrow.push(RowKind::Measured, ["messages, groups 1".to_owned(), "22.5".to_owned(), "36.4".to_owned()]);
        assert!(table(&narrow).contains("<table><thead>"));
    }

    #[test]
    fn names_in_a_sentence_are_set_as_code() {
        assert_eq!(prose("`size` bytes in `<block>`"), "<code>size</code> bytes in <code>&lt;block&gt;</code>");
        assert_eq!(prose("a ` that nothing closes & more"), "a ` that nothing closes &amp; more");
    }

    #[test]
    fn text_from_a_recording_is_text_in_the_page() {
        let mut hostile = Table::new(&["<script>"], &["\"&"]);
        hostile.push(RowKind::Measured, ["<b>".to_owned(), "1".to_owned()]);
        hostile.push(RowKind::Missing, ["</table>".to_owned(), "<i>".to_owned()]);
        let html = table(&hostile);
        for tag in ["<script>", "<b>", "<i>", "</table><"] {
            assert!(!html.contains(&format!("{tag}\"")), "{html}");
        }
        assert!(html.contains("&lt;script&gt;") && html.contains("&lt;/table&gt;"), "{html}");
    }
}
