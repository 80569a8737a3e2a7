//! The protocol between devices and the gateway: lines, and their answers.
//!
//! | line | answer |
//! |---|---|
//! | `hello NAME` | `ok`; from then on the connection is that device's |
//! | `KEY NUMBER` | `ok`: a reading, kept as the device's last of that key |
//! | `get NAME KEY` | the last reading, or `none` |
//! | `devices` | the names of all that are connected, with spaces between |
//! | `ping` | `pong` |
//! | `quit` | `bye`, and the end |
//!
//! A wrong line is answered with `error` and the reason. Names and keys are 1 to 32 letters, digits, `_` or `-`.

/// What a line asks for.
#[derive(Debug, PartialEq)]
pub enum Request {
    Hello(String),
    Reading(String, f64),
    Get(String, String),
    Devices,
    Ping,
    Quit,
}

/// The longest line, in bytes.
pub const LONGEST_LINE: usize = 256;

/// # Errors
/// Why it is no request, in words for the device's maker.
pub fn read(line: &[u8]) -> Result<Request, &'static str> {
    let line = std::str::from_utf8(line).map_err(|_| "a line is UTF-8")?;
    let mut words = line.split_ascii_whitespace();
    let request = match (words.next(), words.next(), words.next()) {
        (Some("hello"), Some(device), None) => Request::Hello(name(device)?),
        (Some("get"), Some(device), Some(key)) => Request::Get(name(device)?, name(key)?),
        (Some("devices"), None, None) => Request::Devices,
        (Some("ping"), None, None) => Request::Ping,
        (Some("quit"), None, None) => Request::Quit,
        (Some("hello" | "get" | "devices" | "ping" | "quit"), _, _) => return Err("another number of words"),
        (Some(key), Some(value), None) => {
            let value: f64 = value.parse().map_err(|_| "a reading is a number")?;
            // "nan" and "inf" are numbers to Rust; no sensor measures them.
            if !value.is_finite() {
                return Err("a reading is a number");
            }
            Request::Reading(name(key)?, value)
        }
        (None, _, _) => return Err("the line is empty"),
        _ => return Err("no such request"),
    };
    if words.next().is_some() { Err("another number of words") } else { Ok(request) }
}

fn name(word: &str) -> Result<String, &'static str> {
    let plain = word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-');
    if plain && (1..=32).contains(&word.len()) {
        Ok(word.to_owned())
    } else {
        Err("a name is 1 to 32 letters, digits, _ or -")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read() {
        assert_eq!(read(b"hello boiler-1"), Ok(Request::Hello("boiler-1".into())));
        assert_eq!(read(b"  temp   21.5 "), Ok(Request::Reading("temp".into(), 21.5)));
        assert_eq!(read(b"get a b"), Ok(Request::Get("a".into(), "b".into())));
    }

    #[test]
    fn what_is_no_request_is_said_why() {
        let why = |line: &[u8]| read(line).expect_err("it is wrong");
        assert_eq!(why(b"\xff\xfe"), "a line is UTF-8");
        assert_eq!(why(b""), "the line is empty");
        assert_eq!(why(b"temp hot"), "a reading is a number");
        assert_eq!(why(b"temp nan"), "a reading is a number");
        assert_eq!(why(b"te\x00mp 1"), "a name is 1 to 32 letters, digits, _ or -");
        assert_eq!(why(b"get a"), "another number of words");
        assert_eq!(why(b"get a b c"), "another number of words");
        assert_eq!(why(b"a b c"), "no such request");
    }
}
