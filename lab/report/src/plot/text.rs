//! Text in a drawing: its width, cutting, wrapping and escaping.
//!
//! The drawings ask for Helvetica, Arial or Liberation Sans, which share their advance widths on purpose; so the width
//! of a string is known without a font engine, and a layout made here holds on Linux, macOS and Windows alike. Where none
//! of them is installed, texts are a little wider than was reckoned.

/// Advance widths of U+0020 to U+007E in thousandths of the font size (Adobe's Helvetica metrics, Core 14 AFM).
const WIDTHS: [u16; 95] = [
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556, 556, 556, 556, 556,
    556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833,
    722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556,
    556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334,
    260, 334, 584,
];

fn advance(c: char) -> f64 {
    match c {
        ' '..='~' => f64::from(WIDTHS[c as usize - 32]) / 1000.0,
        '…' => 1.0,
        '·' => 0.278,
        'µ' => 0.576,
        '–' | '×' | '−' => 0.584,
        // Scripts of full-width characters; everything else is near a lower-case letter.
        '\u{1100}'..='\u{11ff}' | '\u{2e80}'..='\u{ffef}' | '\u{1f000}'..='\u{3ffff}' => 1.0,
        _ => 0.62,
    }
}

/// Width of `text` in drawing units when set at `size`.
pub fn width(text: &str, size: f64) -> f64 {
    text.chars().map(advance).sum::<f64>() * size
}

/// `text`, cut with an ellipsis so that it is at most `room` wide at `size`.
pub fn fit(text: &str, size: f64, room: f64) -> String {
    if width(text, size) <= room {
        return text.to_owned();
    }
    let mut left = room - advance('…') * size;
    let mut kept = String::new();
    for c in text.chars() {
        left -= advance(c) * size;
        if left < 0.0 {
            break;
        }
        kept.push(c);
    }
    kept.truncate(kept.trim_end().len());
    kept.push('…');
    kept
}

/// `name`, cut in its middle so that it is at most `room` wide at `size`: names of series often differ only in their last
/// word.
pub fn fit_name(name: &str, size: f64, room: f64) -> String {
    if width(name, size) <= room {
        return name.to_owned();
    }
    /// Share of the room that the first part gets.
    const HEAD: f64 = 0.55;
    let chars: Vec<char> = name.chars().collect();
    let room = room - advance('…') * size;
    let fitting = |chars: &mut dyn Iterator<Item = &char>, mut room: f64| -> usize {
        chars
            .take_while(|c| {
                room -= advance(**c) * size;
                room >= 0.0
            })
            .count()
    };
    let head = fitting(&mut chars.iter(), room * HEAD);
    let left = room - chars[..head].iter().map(|c| advance(*c) * size).sum::<f64>();
    let tail = fitting(&mut chars[head..].iter().rev(), left);
    let (head, tail) = (&chars[..head], &chars[chars.len() - tail..]);
    let text = |part: &[char]| part.iter().collect::<String>();
    format!("{}…{}", text(head).trim_end(), text(tail).trim_start())
}

/// `text` in lines of at most `room`; at most `lines` of them, the last one cut when more would be needed.
pub fn wrap(text: &str, size: f64, room: f64, lines: usize) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match out.last_mut() {
            Some(line) if width(line, size) + width(word, size) + advance(' ') * size <= room => {
                line.push(' ');
                line.push_str(word);
            }
            _ => out.push(word.to_owned()),
        }
    }
    if out.len() > lines && lines > 0 {
        let rest = out.split_off(lines - 1).join(" ");
        out.push(rest);
    }
    out.iter().map(|line| fit(line, size, room)).collect()
}

/// `text` for use inside XML elements and attributes. Characters that XML 1.0 forbids become U+FFFD.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' | '\r' => out.push(' '),
            '\0'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_text_fits_and_says_that_it_was_cut() {
        let long = "wake-up of a thread under SCHED_FIFO 90 with memory load";
        let cut = fit(long, 12.0, 100.0);
        assert!(width(&cut, 12.0) <= 100.0);
        assert!(cut.ends_with('…') && long.starts_with(cut.trim_end_matches('…')));
        assert_eq!(fit("short", 12.0, 100.0), "short");
        assert_eq!(fit("x", 12.0, 0.0), "…");
    }

    #[test]
    fn names_that_differ_at_their_end_still_differ_when_they_are_cut() {
        let long = "cmdline cyclictest -q -t2 -i 500 -l 300 -h 100000 --json=measured.json, thread";
        let [a, b] = ["0", "1"].map(|end| fit_name(&format!("{long}{end}"), 12.0, 150.0));
        assert_ne!(a, b);
        assert!(a.starts_with("cmdline cycl") && a.ends_with("thread0") && a.contains('…'), "{a}");
        assert!(width(&a, 12.0) <= 150.0);
        assert_eq!(fit_name("short", 12.0, 100.0), "short");
        assert_eq!(fit_name("x", 12.0, 0.0), "…");
    }

    #[test]
    fn wrapping_keeps_every_word_until_the_last_line() {
        let lines = wrap("one two three four five six seven", 12.0, 60.0, 9);
        assert_eq!(lines.join(" "), "one two three four five six seven");
        assert!(lines.iter().all(|l| width(l, 12.0) <= 60.0));
        let cut = wrap("one two three four five six seven", 12.0, 60.0, 2);
        assert_eq!(cut.len(), 2);
        assert!(cut[1].ends_with('…'));
    }

    #[test]
    fn hostile_text_cannot_leave_its_element() {
        assert_eq!(escape("</text><script a='\"&"), "&lt;/text&gt;&lt;script a=&#39;&quot;&amp;");
        assert_eq!(escape("a\u{0}b\nc"), "a\u{fffd}b c");
    }

    #[test]
    fn digits_all_have_the_same_width() {
        assert!("0123456789".chars().all(|c| advance(c) == advance('0')));
    }
}
