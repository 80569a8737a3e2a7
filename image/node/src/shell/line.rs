//! A line, as it was typed, in parts.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// Commands, one behind the other.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Line(pub Vec<Command>);

/// Programs, each of which reads what the one before says.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Command {
    pub stages: Vec<Stage>,
    /// The next does not wait for its end.
    pub behind: bool,
}

/// A program with its words.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Stage {
    pub words: Vec<String>,
    /// What it reads in place of the terminal.
    pub input: Option<String>,
    /// Where it writes, and whether that is kept and added to.
    pub output: Option<(String, bool)>,
}

/// What stands in a line between blanks.
#[derive(Debug, PartialEq, Eq)]
enum Token {
    Word(String),
    /// One of `|`, `&`, `;`, `<`, `>`, and `+` for `>>`.
    Sign(char),
}

/// Reads a line. `$NAME` and `$?` stand for what `value` says of them, outside of `'…'`.
///
/// # Errors
/// A sentence about what cannot be understood.
pub fn parse(text: &str, value: impl Fn(&str) -> String) -> Result<Line, String> {
    let (mut line, mut command, mut stage) = (Line::default(), Command::default(), Stage::default());
    let mut tokens = tokens(text, value)?.into_iter();
    while let Some(token) = tokens.next() {
        match token {
            Token::Word(word) => stage.words.push(word),
            Token::Sign(sign @ ('<' | '>' | '+')) => {
                let Some(Token::Word(file)) = tokens.next() else {
                    return Err(format!(
                        "behind {} stands the name of a file",
                        if sign == '+' { ">>" } else { written(sign) }
                    ));
                };
                match sign {
                    '<' => stage.input = Some(file),
                    _ => stage.output = Some((file, sign == '+')),
                }
            }
            Token::Sign('|') => command.stages.push(whole(&mut stage, "|")?),
            Token::Sign(sign) => {
                let nothing = stage == Stage::default() && command.stages.is_empty();
                if sign == '&' || !nothing {
                    command.stages.push(whole(&mut stage, written(sign))?);
                    command.behind = sign == '&';
                    line.0.push(core::mem::take(&mut command));
                }
            }
        }
    }
    if !command.stages.is_empty() || stage != Stage::default() {
        command.stages.push(whole(&mut stage, "the end of the line")?);
        line.0.push(command);
    }
    Ok(line)
}

fn written(sign: char) -> &'static str {
    match sign {
        '<' => "<",
        '>' => ">",
        '&' => "&",
        _ => ";",
    }
}

/// Takes a stage that has a program.
fn whole(stage: &mut Stage, before: &str) -> Result<Stage, String> {
    if stage.words.is_empty() {
        Err(format!("there is no command before {before}"))
    } else {
        Ok(core::mem::take(stage))
    }
}

fn tokens(text: &str, value: impl Fn(&str) -> String) -> Result<Vec<Token>, String> {
    let mut tokens = Vec::new();
    // A word that is empty is one if it was quoted.
    let mut word: Option<String> = None;
    let mut quoted_by = None;
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match (letter, quoted_by) {
            ('\'' | '"', None) => {
                quoted_by = Some(letter);
                word.get_or_insert_default();
            }
            (letter, Some(quote)) if letter == quote => quoted_by = None,
            ('\\', None | Some('"')) => match letters.next() {
                Some(next) => word.get_or_insert_default().push(next),
                None => return Err("the line ends with \\".into()),
            },
            ('$', None | Some('"')) => {
                let mut name = String::new();
                while let Some(next) = letters.next_if(|next| next.is_alphanumeric() || matches!(next, '_' | '?')) {
                    name.push(next);
                    if next == '?' {
                        break;
                    }
                }
                let word = word.get_or_insert_default();
                if name.is_empty() { word.push('$') } else { word.push_str(&value(&name)) }
            }
            (letter, Some(_)) => word.get_or_insert_default().push(letter),
            ('#', None) if word.is_none() => break,
            (letter, None) if letter.is_whitespace() => tokens.extend(word.take().map(Token::Word)),
            ('|' | '&' | ';' | '<' | '>', None) => {
                tokens.extend(word.take().map(Token::Word));
                let twice = letter == '>' && letters.next_if_eq(&'>').is_some();
                tokens.push(Token::Sign(if twice { '+' } else { letter }));
            }
            (letter, None) => word.get_or_insert_default().push(letter),
        }
    }
    if let Some(quote) = quoted_by {
        return Err(format!("a {quote} is opened and not closed"));
    }
    tokens.extend(word.map(Token::Word));
    Ok(tokens)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<Vec<Vec<String>>>, String> {
        let line = parse(text, |name| format!("<{name}>"))?;
        Ok(line.0.into_iter().map(|command| command.stages.into_iter().map(|stage| stage.words).collect()).collect())
    }

    #[test]
    fn words_quotes_and_values() {
        for (text, words) in [
            ("ls  -l /proc", &["ls", "-l", "/proc"][..]),
            ("echo 'a b' \"c d\"e '' f#g # not this", &["echo", "a b", "c de", "", "f#g"]),
            ("echo $? \"$A\" '$A' $ a$B-c $?x", &["echo", "<?>", "<A>", "$A", "$", "a<B>-c", "<?>x"]),
            (r#"echo a\ b \; "\"" '\'"#, &["echo", "a b", ";", "\"", "\\"]),
        ] {
            assert_eq!(
                read(text),
                Ok(alloc::vec![alloc::vec![words.iter().map(|word| String::from(*word)).collect()]]),
                "{text}"
            );
        }
        assert_eq!(read("   # nothing"), Ok(Vec::new()));
        assert_eq!(read(" ; ;"), Ok(Vec::new()));
    }

    #[test]
    fn pipes_files_and_what_runs_behind() {
        let line = parse("cat<a|grep x >b; ping h& ls >> c", |_| String::new()).expect("a line");
        let [first, second, third] = &line.0[..] else { panic!("three commands: {line:?}") };
        assert_eq!((first.stages.len(), first.behind), (2, false));
        assert_eq!(first.stages[0].input.as_deref(), Some("a"));
        assert_eq!(first.stages[1].output, Some(("b".into(), false)));
        assert!(second.behind && !third.behind);
        assert_eq!(third.stages[0].output, Some(("c".into(), true)));
    }

    #[test]
    fn what_cannot_be_understood_is_told() {
        for (text, said) in [
            ("echo 'a", "a ' is opened and not closed"),
            ("ls >", "behind > stands the name of a file"),
            ("ls >> | x", "behind >> stands"),
            ("| x", "no command before |"),
            ("x |", "no command before the end of the line"),
            ("x | ; y", "no command before ;"),
            ("&", "no command before &"),
            ("> a", "no command before the end"),
            ("a\\", "ends with \\"),
        ] {
            assert!(read(text).is_err_and(|why| why.contains(said)), "{text}: {:?}", read(text));
        }
    }
}
