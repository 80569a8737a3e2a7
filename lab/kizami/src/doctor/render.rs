//! The findings for a terminal: grouped by theme, with a mark for each verdict, an explanation only where a finding
//! needs one, and the command on a line of its own so that it can be copied.

use std::fmt::Write;

use anstyle::{AnsiColor, Style};

use super::finding::{Finding, Verdict};

/// The column in which findings begin.
const INDENT: usize = 26;
/// Lines longer than this are hard to read, however wide the terminal is.
const WIDEST: usize = 110;

/// Writes `findings` in lines of at most `width` columns; commands are never broken.
pub fn render(findings: &[Finding], colour: bool, width: usize) -> String {
    let paint = Paint { colour };
    let width = width.clamp(INDENT + 30, WIDEST);
    let mut out = String::new();
    let mut theme = "";
    for finding in findings {
        if finding.theme != theme {
            theme = finding.theme;
            let (first, rest) = theme.split_at(theme.len().min(1));
            let title = format!("{}{rest}", first.to_uppercase());
            // Writing to a String cannot fail.
            let _ = writeln!(out, "\n{}", paint.with(Style::new().bold(), &title));
        }
        one(&mut out, finding, &paint, width);
    }
    let _ = writeln!(out);
    for line in wrapped(&summary(findings), width) {
        let _ = writeln!(out, "{}", paint.with(Style::new().bold(), &line));
    }
    if let Some(Finding { fix: Some(fix), .. }) = first(findings) {
        let _ = writeln!(out, "{} {fix}", paint.with(command(), "$"));
    }
    out
}

fn one(out: &mut String, finding: &Finding, paint: &Paint, width: usize) {
    let (mark, style) = match finding.verdict {
        Verdict::Good => ("✓", colour(AnsiColor::Green)),
        Verdict::Fair => ("!", colour(AnsiColor::Yellow)),
        Verdict::Bad => ("✗", colour(AnsiColor::Red)),
        Verdict::Unknown => ("?", colour(AnsiColor::Yellow)),
        Verdict::NotApplicable => ("–", Style::new().dimmed()),
    };
    let quiet = matches!(finding.verdict, Verdict::Good | Verdict::NotApplicable);
    let name = format!("{:<1$}", finding.check, INDENT - 4);
    let found = wrapped(&finding.found, width - INDENT);
    let (head, rest) = found.split_first().map_or(("", &[][..]), |(head, rest)| (head.as_str(), rest));
    let found_style = if finding.verdict == Verdict::NotApplicable { Style::new().dimmed() } else { Style::new() };
    let name_style = if quiet { Style::new() } else { Style::new().bold() };
    let _ = writeln!(
        out,
        "  {} {}{}",
        paint.with(style.bold(), mark),
        paint.with(name_style, &name),
        paint.with(found_style, head)
    );
    for line in rest {
        let _ = writeln!(out, "{:INDENT$}{}", "", paint.with(found_style, line));
    }
    if quiet {
        return;
    }
    for line in wrapped(&finding.means, width - INDENT) {
        let _ = writeln!(out, "{:INDENT$}{}", "", paint.with(Style::new().dimmed(), &line));
    }
    if let Some(fix) = &finding.fix {
        // Further left, where that keeps it on one line.
        let indent = if INDENT + 2 + fix.chars().count() > width { 4 } else { INDENT };
        let _ = writeln!(out, "{:indent$}{} {fix}", "", paint.with(command(), "$"));
    }
}

fn colour(colour: AnsiColor) -> Style {
    Style::new().fg_color(Some(colour.into()))
}

fn command() -> Style {
    colour(AnsiColor::Cyan).bold()
}

struct Paint {
    colour: bool,
}

impl Paint {
    fn with(&self, style: Style, text: &str) -> String {
        if self.colour && !text.is_empty() { format!("{style}{text}{style:#}") } else { text.to_owned() }
    }
}

/// The worst finding that can be changed, the first of them: what to do first.
fn first(findings: &[Finding]) -> Option<&Finding> {
    let of = |verdict| findings.iter().find(move |f| f.verdict == verdict && f.fix.is_some());
    of(Verdict::Bad).or_else(|| of(Verdict::Fair))
}

/// One sentence for all of it.
fn summary(findings: &[Finding]) -> String {
    let count = |verdict| findings.iter().filter(|f| f.verdict == verdict).count();
    let things = |n: usize| if n == 1 { "1 thing".to_owned() } else { format!("{n} things") };
    let (bad, fair) = (count(Verdict::Bad), count(Verdict::Fair));
    let counted = match (bad, fair) {
        (0, 0) => return "Nothing that was looked at stands in the way.".into(),
        (0, fair) => format!("Nothing stands in the way; {} could be better", things(fair)),
        (bad, 0) => format!("{} {} in the way", things(bad), if bad == 1 { "stands" } else { "stand" }),
        (bad, fair) => {
            let stand = if bad == 1 { "stands" } else { "stand" };
            format!("{} {stand} in the way and {fair} more could be better", things(bad))
        }
    };
    match first(findings) {
        Some(finding) => format!("{counted}; the first to change: {}.", finding.check),
        None => format!("{counted}; no command of this machine changes that."),
    }
}

/// `text` in lines of at most `width` characters; a longer word has a line of its own.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let line = lines.last().map_or(0, |line| line.chars().count());
        if line > 0 && line + 1 + word.chars().count() > width {
            lines.push(String::new());
        }
        if let Some(line) = lines.last_mut() {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::super::tests::looked_at;
    use super::*;

    fn finding(verdict: Verdict, fix: Option<&str>) -> Finding {
        let finding = Finding::new("check", verdict, "found", "It means something.");
        Finding { theme: "theme", fix: fix.map(str::to_owned), ..finding }
    }

    #[test]
    fn no_line_but_a_command_is_wider_than_the_terminal() {
        for (name, width) in [("server", 80), ("pi", 120), ("container", 60)] {
            let text = render(&looked_at(name), false, width);
            for line in text.lines().filter(|line| !line.trim_start().starts_with("$ ")) {
                assert!(line.chars().count() <= width, "{name} {width}: {line}");
            }
        }
    }

    #[test]
    fn colour_adds_nothing_but_colour() {
        let findings = looked_at("server");
        let (plain, coloured) = (render(&findings, false, 100), render(&findings, true, 100));
        assert!(!plain.contains('\u{1b}') && coloured.contains('\u{1b}'));
        let mut stripped = String::new();
        let mut rest = coloured.as_str();
        while let Some((text, code)) = rest.split_once('\u{1b}') {
            stripped.push_str(text);
            rest = code.split_once('m').map_or("", |(_, rest)| rest);
        }
        assert_eq!(stripped + rest, plain);
    }

    #[test]
    fn the_summary_counts_and_names_what_to_change_first() {
        let (bad, fair, good) = (Verdict::Bad, Verdict::Fair, Verdict::Good);
        let of = |findings: &[Finding]| summary(findings);
        assert_eq!(of(&[finding(good, None)]), "Nothing that was looked at stands in the way.");
        assert_eq!(
            of(&[finding(fair, Some("b")), finding(bad, Some("a"))]),
            "1 thing stands in the way and 1 more could be better; the first to change: check."
        );
        assert!(of(&[finding(bad, None), finding(bad, None)]).ends_with("no command of this machine changes that."));
        let text = render(&[finding(fair, Some("b")), finding(bad, Some("a"))], false, 80);
        assert!(text.ends_with("$ a\n"), "{text}");
    }

    #[test]
    fn what_is_good_needs_no_explanation() {
        let text = render(&[finding(Verdict::Good, None), finding(Verdict::Bad, Some("do this"))], false, 80);
        assert_eq!(text.matches("It means something.").count(), 1);
        assert!(text.contains("$ do this"));
    }
}
