//! Erlang source that is made to be read: quoting, type notation, and lines that are not too long.

pub(super) use crate::data::types::atom as quoted;
use crate::data::types::variable as plain_variable;
use crate::process::description::{Argument, Message};

/// The longest line where there is a place to break it.
const WIDTH: usize = 120;

/// The function that asks for `message` whom the type `server` says: by `cast`, or by a call that has so much `time`. That of a call
/// stands there a second time, with the time as an argument.
pub(super) fn ask(message: &Message, server: &str, cast: &str, time: &str) -> String {
    let (name, names) = (quoted(message.name), names(&message.arguments));
    let comma = if message.arguments.is_empty() { "" } else { ", " };
    let request = if message.arguments.is_empty() { name.clone() } else { format!("{{{name}, {names}}}") };
    let mut arguments: Vec<_> = std::iter::once(server.to_owned()).chain(typed(&message.arguments)).collect();
    if message.reply.is_empty() {
        return format!(
            "{}\n{name}(Server{comma}{names}) ->\n    {cast}(Server, {request}).",
            spec(&name, &arguments, "ok")
        );
    }
    let plain = spec(&name, &arguments, &message.reply);
    arguments.push("timeout()".into());
    let timed = spec(&name, &arguments, &message.reply);
    format!(
        "{plain}\n{name}(Server{comma}{names}) ->\n    {name}(Server{comma}{names}, {time}).\n\n\
         {timed}\n{name}(Server{comma}{names}, Timeout) ->\n    call(Server, {request}, Timeout)."
    )
}

/// `-spec name(Argument :: Type, …) -> Result.`
pub(super) fn spec(name: &str, arguments: &[String], result: &str) -> String {
    let head = format!("-spec {name}(");
    let line = format!("{head}{}) ->", arguments.join(", "));
    if fits(&format!("{line} {result}.")) {
        return format!("{line} {result}.");
    }
    let indent = " ".repeat(head.chars().count());
    let line = if fits(&line) { line } else { format!("{head}{}) ->", arguments.join(&format!(",\n{indent}"))) };
    format!("{line}\n{}.", alternatives(result, 10))
}

/// `-type name() :: Definition.`, with what the user's documentation says of it.
pub(super) fn type_(name: &str, about: &str, definition: &str) -> String {
    let mut text = String::new();
    comment(&mut |line| text += &(line + "\n"), about);
    let (head, indent) = (format!("-type {name}() ::"), 8);
    if fits(&format!("{head} {definition}.")) {
        return format!("{text}{head} {definition}.");
    }
    let holds = if pieces(definition, '|').len() == 1 { held(definition) } else { None };
    match holds {
        Some((opens, each)) => format!("{text}{head} {opens}\n    {}\n}}.", each.join(",\n    ")),
        None => format!("{text}{head}\n{}.", alternatives(definition, indent)),
    }
}

/// `-export([name/1, …]).`, or another attribute that lists what the module has.
pub(super) fn listed(attribute: &str, each: &[String]) -> String {
    let head = format!("-{attribute}([");
    let indent = " ".repeat(head.len());
    let mut lines = vec![head];
    for (number, one) in each.iter().enumerate() {
        let last = number + 1 == each.len();
        let one = format!("{one}{}", if last { "])." } else { "," });
        let line = lines.last_mut().expect("there is the first");
        if number == 0 {
            *line += &one;
        } else if fits(&format!("{line} {one}")) {
            *line += &format!(" {one}");
        } else {
            lines.push(format!("{indent}{one}"));
        }
    }
    lines.join("\n")
}

/// A union in lines that begin so far to the right: in one, or in one for each alternative.
fn alternatives(definition: &str, indent: usize) -> String {
    let line = format!("{}{definition}", " ".repeat(indent));
    if fits(&line) {
        return line;
    }
    let each = pieces(definition, '|');
    if each.len() == 1 {
        return line;
    }
    let indent = " ".repeat(indent);
    format!("{indent}  {}", each.join(&format!("\n{indent}| ")))
}

/// What a map or a tuple opens with, and what stands in it.
fn held(definition: &str) -> Option<(&'static str, Vec<&str>)> {
    let (opens, inside) = match (definition.strip_prefix("#{"), definition.strip_prefix('{')) {
        (Some(inside), _) => ("#{", inside),
        (None, Some(inside)) => ("{", inside),
        (None, None) => return None,
    };
    Some((opens, pieces(inside.strip_suffix('}')?, ',')))
}

/// What stands between these signs, which are in no parentheses and no quotes.
fn pieces(text: &str, sign: char) -> Vec<&str> {
    let (mut found, mut from, mut depth, mut letters) = (Vec::new(), 0, 0, text.char_indices());
    while let Some((at, letter)) = letters.next() {
        match letter {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            '\'' => {
                while let Some((_, letter)) = letters.next() {
                    match letter {
                        '\\' => drop(letters.next()),
                        '\'' => break,
                        _ => {}
                    }
                }
            }
            letter if letter == sign && depth == 0 => {
                found.push(text[from..at].trim());
                from = at + 1;
            }
            _ => {}
        }
    }
    found.push(text[from..].trim());
    found
}

fn fits(line: &str) -> bool {
    line.chars().count() <= WIDTH
}

pub(super) fn comment(line: &mut impl FnMut(String), about: &str) {
    about.trim().lines().for_each(|text| line(format!("%% {}", text.trim()).trim_end().to_owned()));
}

/// `Argument :: Type` of each.
pub(super) fn typed(arguments: &[Argument]) -> impl Iterator<Item = String> {
    arguments.iter().map(|argument| format!("{} :: {}", variable(argument.name), argument.ty))
}

pub(super) fn names(arguments: &[Argument]) -> String {
    let names: Vec<_> = arguments.iter().map(|argument| variable(argument.name)).collect();
    names.join(", ")
}

/// `retry_after` as Erlang names a variable: `RetryAfter`. Never `Server`, `Name` or `Timeout`, which the functions have themselves.
fn variable(name: &str) -> String {
    let name = plain_variable(name);
    if ["Server", "Name", "Timeout"].contains(&name.as_str()) { format!("The{name}") } else { name }
}

/// A string as Erlang writes it. Its escapes are not Rust's: a character by its number is `\x{…}`, and no other form is the same.
pub(super) fn text(text: &str) -> String {
    let mut written = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' | '\\' => written.extend(['\\', letter]),
            letter if letter.is_control() => written += &format!("\\x{{{:x}}}", u32::from(letter)),
            letter => written.push(letter),
        }
    }
    written + "\""
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_written_as_erlang_has_them() {
        assert_eq!(
            ["plain", "a \"b\" \\", "a\nb\u{7f}\0c", "é 刻"].map(text),
            ["\"plain\"", "\"a \\\"b\\\" \\\\\"", "\"a\\x{a}b\\x{7f}\\x{0}c\"", "\"é 刻\""]
        );
    }

    #[test]
    fn names_are_written_as_erlang_has_them() {
        assert_eq!(
            ["plain_1", "receive", "Upper", "it's", "a@b"].map(quoted),
            ["plain_1", "'receive'", "'Upper'", "'it\\'s'", "a@b"]
        );
        assert_eq!(["n", "retry_after", "_unused", "server"].map(variable), ["N", "RetryAfter", "Unused", "TheServer"]);
    }

    #[test]
    fn a_short_type_is_a_line_and_a_long_one_a_line_for_each_of_its_parts() {
        assert_eq!(
            type_("on", "Whether it is\n on.", "boolean()"),
            "%% Whether it is\n%% on.\n-type on() :: boolean()."
        );
        let long = ["{'a|b\\', c', integer() | none}", &"x".repeat(60), &"y".repeat(60)];
        assert_eq!(
            type_("u", "", &long.join(" | ")),
            format!("-type u() ::\n          {}\n        | {}\n        | {}.", long[0], long[1], long[2])
        );
        let entries = ["a := {x | y, z}", &format!("b => {} | none", "b".repeat(110))];
        assert_eq!(
            type_("m", "", &format!("#{{{}}}", entries.join(", "))),
            format!("-type m() :: #{{\n    {},\n    {}\n}}.", entries[0], entries[1])
        );
    }

    #[test]
    fn a_long_spec_or_list_is_broken_where_one_would_break_it() {
        let (a, b) = (format!("A :: {}", "a".repeat(50)), format!("B :: {}", "b".repeat(50)));
        assert_eq!(spec("f", &["server()".into()], "ok"), "-spec f(server()) -> ok.");
        assert_eq!(
            spec("f", &["server()".into(), a.clone()], &"r".repeat(60)),
            format!("-spec f(server(), {a}) ->\n          {}.", "r".repeat(60))
        );
        assert_eq!(
            spec("f", &["server()".into(), a.clone(), b.clone()], "ok"),
            format!("-spec f(server(),\n        {a},\n        {b}) ->\n          ok.")
        );
        assert_eq!(listed("export", &["a/1".into(), "b/2".into()]), "-export([a/1, b/2]).");
        let long = "f".repeat(100);
        assert_eq!(
            listed("export", &["a/1".into(), long.clone(), "b/2".into()]),
            format!("-export([a/1, {long},\n         b/2]).")
        );
    }
}
