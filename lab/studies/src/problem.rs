//! Problems of a study: the fault and its place, in messages for the study's author.

use std::fmt;

/// One problem of a file. Shown as a compiler shows it: `file:line:column: message; suggestion`.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Problem {
    pub file: String,
    /// Counted from 1; 0 for a problem of the whole file.
    pub line: usize,
    /// In characters, counted from 1; 0 for a problem of the whole file.
    pub column: usize,
    pub message: String,
    /// A suggestion, such as `did you mean "workloads"?`; may be empty.
    pub suggestion: String,
}

impl Problem {
    /// A problem at byte `offset` of `text`.
    pub(crate) fn at(file: &str, text: &str, offset: usize, message: String, suggestion: String) -> Self {
        let mut offset = offset.min(text.len());
        while !text.is_char_boundary(offset) {
            offset -= 1;
        }
        let before = &text[..offset];
        let line_begin = before.rfind('\n').map_or(0, |newline| newline + 1);
        let (line, column) = (before.matches('\n').count() + 1, before[line_begin..].chars().count() + 1);
        Self { file: file.to_owned(), line, column, message, suggestion }
    }

    /// A problem of the whole file.
    pub(crate) fn of_file(file: &str, message: String, suggestion: String) -> Self {
        Self { file: file.to_owned(), line: 0, column: 0, message, suggestion }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if self.line > 0 {
            write!(f, ":{}:{}", self.line, self.column)?;
        }
        write!(f, ": {}", self.message)?;
        if self.suggestion.is_empty() { Ok(()) } else { write!(f, "; {}", self.suggestion) }
    }
}

impl std::error::Error for Problem {}

/// Below this likeness (1 is equal), a name is not what was meant.
const LIKE: f64 = 0.6;
/// Up to this many names are listed when none is like what was written.
const FEW: usize = 20;

/// The name that was probably meant.
pub(crate) fn nearest<'a>(written: &str, known: &[&'a str]) -> Option<&'a str> {
    let like = |name: &str| strsim::normalized_damerau_levenshtein(&written.to_lowercase(), &name.to_lowercase());
    let best = known.iter().copied().max_by(|a, b| like(a).total_cmp(&like(b)))?;
    (like(best) >= LIKE).then_some(best)
}

/// `did you mean "x"?`, or the names that there are, or nothing.
pub(crate) fn suggest(written: &str, known: &[&str]) -> String {
    match nearest(written, known) {
        Some(name) => format!("did you mean {name:?}?"),
        None if known.is_empty() => String::new(),
        None if known.len() <= FEW => format!("there are {}", known.join(", ")),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_a_line_and_a_column_in_characters() {
        let text = "größe = 1\nfoo = 2\n";
        let at = |offset| Problem::at("a.toml", text, offset, "no".into(), String::new());
        assert_eq!((at(0).line, at(0).column), (1, 1));
        let after_umlauts = text.find('=').unwrap_or_default();
        assert_eq!((at(after_umlauts).line, at(after_umlauts).column), (1, 7));
        let second = text.find('2').unwrap_or_default();
        assert_eq!(at(second).to_string(), "a.toml:2:7: no");
        assert_eq!((at(999).line, at(999).column), (3, 1));
    }

    #[test]
    fn a_near_name_is_suggested_and_a_far_one_is_not() {
        let known = ["workloads", "environments", "params"];
        assert_eq!(suggest("worklods", &known), "did you mean \"workloads\"?");
        assert_eq!(suggest("Params", &known), "did you mean \"params\"?");
        assert_eq!(suggest("xyzzy", &known), "there are workloads, environments, params");
        assert_eq!(suggest("xyzzy", &[]), "");
    }
}
