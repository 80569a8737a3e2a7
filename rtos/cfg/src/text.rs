//! The text of a `.cfg` file without comments: each comment becomes a blank, and every line keeps its number.

use crate::fault::{Fault, Place};

/// The text of a file, from its bytes. Comments may be in any encoding; the rest is UTF-8.
pub fn clean(bytes: &[u8], file: &str) -> Result<String, Fault> {
    let place = |line| Place { file: file.to_string(), line };
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    let mut text = Vec::with_capacity(bytes.len());
    let (mut at, mut line, mut directive, mut begun) = (0, 1, false, false);
    while let Some(&byte) = bytes.get(at) {
        let rest = &bytes[at..];
        if rest.starts_with(b"/*") {
            let Some(length) = rest[2..].windows(2).position(|two| two == b"*/").map(|end| end + 4) else {
                return Err(Fault::new(&place(line), "the comment is not closed"));
            };
            let lines = rest[..length].iter().filter(|&&byte| byte == b'\n').count();
            // A directive goes on behind its comment, on whatever line that ends.
            text.extend(if directive { &b"\\\n"[..] } else { b"\n" }.repeat(lines));
            text.push(b' ');
            line += lines;
            at += length;
        } else if rest.starts_with(b"//") {
            at += rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len());
        } else if byte == b'"' || byte == b'\'' {
            let length = literal(rest);
            if length.is_none() && !directive {
                return Err(Fault::new(&place(line), format!("the {} is not closed on its line", char::from(byte))));
            }
            let length = length.unwrap_or(1);
            text.extend(&rest[..length]);
            at += length;
            begun = true;
        } else {
            match byte {
                0 => return Err(Fault::new(&place(line), "there is a byte of 0, which is no text")),
                b'#' if !begun => directive = true,
                b'\n' => {
                    line += 1;
                    directive &= text.trim_ascii_end().last() == Some(&b'\\');
                    begun = false;
                }
                _ => {}
            }
            begun |= !byte.is_ascii_whitespace();
            text.push(byte);
            at += 1;
        }
    }
    String::from_utf8(text).map_err(|error| {
        let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = 1 + before.iter().filter(|&&byte| byte == b'\n').count();
        Fault::new(&place(line), "this line is not UTF-8; what is not in a comment has to be")
    })
}

/// How long the string or character is that begins here, with its quotes; none if its line ends before it does.
fn literal(text: &[u8]) -> Option<usize> {
    let mut at = 1;
    loop {
        match text.get(at)? {
            b'\n' => return None,
            b'\\' => at += 2,
            byte if *byte == text[0] => return Some(at + 1),
            _ => at += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::clean;

    fn cleaned(text: &str) -> String {
        clean(text.as_bytes(), "x.cfg").unwrap()
    }

    #[test]
    fn comments_are_blanks_and_lines_stay_where_they_are() {
        assert_eq!(cleaned("a /* b, c */, d // e's\nf"), "a  , d \nf");
        assert_eq!(cleaned("a /* b\nc */ d"), "a \n  d");
        assert_eq!(cleaned("f(\"/* no */\", '\"', \"\\\"//\") // x"), "f(\"/* no */\", '\"', \"\\\"//\") ");
        assert_eq!(cleaned("#define X /* of\ntwo lines */ 3\n /* a\n*/ b"), "#define X \\\n  3\n \n  b");
        assert_eq!(cleaned("#error it's\na"), "#error it's\na");
        assert_eq!(clean(b"\xEF\xBB\xBFa /* \x83\x8A */", "x.cfg").unwrap(), "a  ");
    }

    #[test]
    fn what_is_no_text_is_told_with_its_line() {
        let fault = |bytes: &[u8]| clean(bytes, "x.cfg").unwrap_err().to_string();
        assert_eq!(fault(b"a\n /* b\n"), "x.cfg:2: error: the comment is not closed");
        assert_eq!(fault(b"a\nb \"c\nd\""), "x.cfg:2: error: the \" is not closed on its line");
        assert_eq!(fault(b"a\n\nb\0"), "x.cfg:3: error: there is a byte of 0, which is no text");
        assert_eq!(
            fault(b"/* \xff */\na \xff"),
            "x.cfg:2: error: this line is not UTF-8; what is not in a comment has to be"
        );
    }
}
