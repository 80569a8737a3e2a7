//! What the lab is told. Who cannot be written to hears nothing: that is seen at the other end.

use core::fmt::{self, Write};

/// Rows of one line.
const ROWS: usize = 64;

pub fn ready(out: &mut impl Write) {
    let _ = writeln!(out, "{{\"ready\":{{}}}}");
}

/// A figure beside the samples.
pub fn fact(out: &mut impl Write, name: &str, value: u64) {
    let _ = writeln!(out, "{{\"fact\":{{\"name\":\"{name}\",\"value\":{value}}}}}");
}

/// What the machine's clock says: no report, but a line for whoever started the machine.
pub fn clock(out: &mut impl Write, nanoseconds: u64) {
    let _ = writeln!(out, "clock {nanoseconds}");
}

/// What is in force of a setting.
pub fn effective(out: &mut impl Write, setting: &str, value: &str, as_requested: bool, why: &str) {
    let (value, why) = (Text(value), Text(why));
    let _ = writeln!(
        out,
        "{{\"effective\":{{\"setting\":\"{setting}\",\"value\":\"{value}\",\"as_requested\":{as_requested},\"why\":\"{why}\"}}}}"
    );
}

/// Rows of one column of a part, such as times in nanoseconds.
pub fn samples(out: &mut impl Write, part: usize, samples: &[u64]) {
    rows(out, part, samples.iter().map(core::slice::from_ref));
}

/// Rows of several columns.
pub fn rows<'a>(out: &mut impl Write, part: usize, rows: impl Iterator<Item = &'a [u64]>) {
    let mut rows = rows.peekable();
    while rows.peek().is_some() {
        let _ = write!(out, "{{\"rows\":{{\"part\":{part},\"rows\":[");
        for (n, row) in rows.by_ref().take(ROWS).enumerate() {
            let _ = write!(out, "{}[", if n > 0 { "," } else { "" });
            for (n, cell) in row.iter().enumerate() {
                let _ = write!(out, "{}{cell}", if n > 0 { "," } else { "" });
            }
            let _ = out.write_str("]");
        }
        let _ = writeln!(out, "]}}}}");
    }
}

pub fn done(out: &mut impl Write) {
    let _ = writeln!(out, "{{\"done\":{{}}}}");
}

pub fn failed(out: &mut impl Write, why: &str) {
    let _ = writeln!(out, "{{\"failed\":{{\"why\":\"{}\"}}}}", Text(why));
}

/// Within a string of JSON.
struct Text<'a>(&'a str);

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in self.0.chars() {
            match c {
                '"' | '\\' => write!(f, "\\{c}")?,
                c if c.is_control() => write!(f, "\\u{:04x}", u32::from(c))?,
                c => write!(f, "{c}")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::String;

    fn said(work: impl FnOnce(&mut String)) -> String {
        let mut said = String::new();
        work(&mut said);
        said
    }

    #[test]
    fn lines_are_what_the_lab_reads() {
        assert_eq!(said(ready), "{\"ready\":{}}\n");
        assert_eq!(said(|out| fact(out, "x", 3)), "{\"fact\":{\"name\":\"x\",\"value\":3}}\n");
        assert_eq!(said(|out| failed(out, "a \"b\"\n\\")), "{\"failed\":{\"why\":\"a \\\"b\\\"\\u000a\\\\\"}}\n");
        assert_eq!(said(|out| samples(out, 1, &[7, 8])), "{\"rows\":{\"part\":1,\"rows\":[[7],[8]]}}\n");
        let table = [[1, 2], [3, 4]];
        let expected = "{\"rows\":{\"part\":0,\"rows\":[[1,2],[3,4]]}}\n";
        assert_eq!(said(|out| rows(out, 0, table.iter().map(|row| &row[..]))), expected);
        assert_eq!(said(|out| samples(out, 0, &[])), "");
        assert_eq!(said(|out| samples(out, 0, &[5; 130])).lines().count(), 3, "64, 64 and 2");
    }
}
