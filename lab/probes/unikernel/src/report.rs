//! What the lab is told.

use core::fmt;

use unikernel::{print, println};

/// Rows of one line.
const ROWS: usize = 64;

pub fn ready() {
    println!("{{\"ready\":{{}}}}");
}

pub fn fact(name: &str, value: u64) {
    println!("{{\"fact\":{{\"name\":\"{name}\",\"value\":{value}}}}}");
}

pub fn effective(setting: &str, value: &str, as_requested: bool, why: &str) {
    println!(
        "{{\"effective\":{{\"setting\":\"{setting}\",\"value\":\"{}\",\"as_requested\":{as_requested},\"why\":\"{}\"}}}}",
        Text(value),
        Text(why)
    );
}

/// The samples of the only part, in nanoseconds.
pub fn rows(samples: &[u64]) {
    for piece in samples.chunks(ROWS) {
        print!("{{\"rows\":{{\"part\":0,\"rows\":[");
        for (n, sample) in piece.iter().enumerate() {
            print!("{}[{sample}]", if n > 0 { "," } else { "" });
        }
        println!("]}}}}");
    }
}

/// The only row, of several columns.
pub fn row(cells: &[u64]) {
    print!("{{\"rows\":{{\"part\":0,\"rows\":[[");
    for (n, cell) in cells.iter().enumerate() {
        print!("{}{cell}", if n > 0 { "," } else { "" });
    }
    println!("]]}}}}");
}

pub fn done() {
    println!("{{\"done\":{{}}}}");
}

pub fn failed(why: &str) {
    println!("{{\"failed\":{{\"why\":\"{}\"}}}}", Text(why));
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
