//! The parser of a `.cfg` file.
//!
//! A statement is a static API with its arguments, such as `CRE_SEM(SEM1, { TA_TPRI, 0, 1 });`. Lines that begin with
//! `#` are the C preprocessor's, and stay where they are, as does `INCLUDE`. `CLASS(x) { … }` gives the class of the
//! objects in its braces.

use crate::fault::{Fault, Place};
use crate::syntax::{Argument, Item, Statement};

/// Reads the text of a file, which has no comments.
pub fn parse(text: &str, file: &str) -> Result<Vec<Item>, Fault> {
    let mut reader = Reader { rest: text, line: 1, file };
    let mut items = Vec::new();
    let mut class: Option<(String, Place)> = None;
    loop {
        reader.skip();
        let place = reader.place();
        if reader.rest.is_empty() {
            return match class {
                Some((name, place)) => Err(Fault::new(&place, format!("CLASS({name}) is not closed"))),
                None => Ok(items),
            };
        }
        if reader.rest.starts_with('#') {
            items.push(Item::Directive(reader.directive(), place));
        } else if reader.take("}") {
            if class.take().is_none() {
                return Err(Fault::new(&place, "there is nothing that this '}' closes"));
            }
        } else {
            let name = reader.word();
            if name.is_empty() {
                return Err(Fault::new(&place, format!("a static API was expected, not '{}'", reader.start())));
            }
            reader.expect("(", &format!("after {name}"))?;
            let arguments = reader.arguments(")", &place)?;
            reader.skip();
            if name == "CLASS" {
                let [Argument::Text(of, _)] = &arguments[..] else {
                    return Err(Fault::new(&place, "CLASS takes the name of a class"));
                };
                if class.is_some() {
                    return Err(Fault::new(&place, "a class stands in a class"));
                }
                class = Some((of.clone(), place));
                reader.expect("{", "after CLASS(…)")?;
            } else if reader.rest.starts_with('{') {
                return Err(Fault::new(
                    &place,
                    format!("there is no block {name}(…) {{ }}; the only one is CLASS (E_RSFN)"),
                ));
            } else {
                reader.expect(";", &format!("after {name}(…)"))?;
                items.push(Item::Statement(Statement { name, arguments, class: class.clone(), place }));
            }
        }
    }
}

struct Reader<'a> {
    rest: &'a str,
    line: usize,
    file: &'a str,
}

impl Reader<'_> {
    fn place(&self) -> Place {
        Place { file: self.file.to_string(), line: self.line }
    }

    fn advance(&mut self, bytes: usize) {
        self.line += self.rest[..bytes].matches('\n').count();
        self.rest = &self.rest[bytes..];
    }

    fn skip(&mut self) {
        self.advance(self.rest.len() - self.rest.trim_start().len());
    }

    /// A line of the preprocessor, with those that it is continued on.
    fn directive(&mut self) -> String {
        let mut text = String::new();
        loop {
            let end = self.rest.find('\n').unwrap_or(self.rest.len());
            let line = &self.rest[..end];
            text.push_str(line);
            let more = line.trim_end().ends_with('\\') && end < self.rest.len();
            self.advance(end + usize::from(end < self.rest.len()));
            if !more {
                return text;
            }
            text.push('\n');
        }
    }

    fn take(&mut self, what: &str) -> bool {
        let there = self.rest.starts_with(what);
        if there {
            self.advance(what.len());
        }
        there
    }

    fn expect(&mut self, what: &str, after: &str) -> Result<(), Fault> {
        self.skip();
        if self.take(what) {
            return Ok(());
        }
        Err(Fault::new(&self.place(), format!("'{what}' was expected {after}, not '{}'", self.start())))
    }

    /// How the rest begins, for a message.
    fn start(&self) -> String {
        let line = self.rest.lines().next().unwrap_or("the end of the file");
        if line.is_empty() { "the end of the file".to_string() } else { line.chars().take(20).collect() }
    }

    fn word(&mut self) -> String {
        let end = self.rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(self.rest.len());
        let word = self.rest[..end].to_string();
        self.advance(end);
        word
    }

    /// Arguments up to that closing mark, which is taken.
    fn arguments(&mut self, close: &str, opened: &Place) -> Result<Vec<Argument>, Fault> {
        let mut arguments = Vec::new();
        loop {
            self.skip();
            if self.take(close) {
                return Ok(arguments);
            }
            if self.rest.starts_with('#') {
                return Err(Fault::new(&self.place(), "a line of the preprocessor cannot stand in a statement"));
            }
            let place = self.place();
            if self.take("{") {
                arguments.push(Argument::Packet(self.arguments("}", &place)?, place));
            } else {
                arguments.push(Argument::Text(self.expression(close, opened)?, place));
            }
            self.skip();
            if !self.take(",") && !self.rest.starts_with(close) {
                if self.rest.is_empty() {
                    return Err(Fault::new(opened, format!("'{close}' is missing")));
                }
                return Err(Fault::new(
                    &self.place(),
                    format!("',' or '{close}' was expected, not '{}'", self.start()),
                ));
            }
        }
    }

    /// Text of C up to a comma or that mark, neither of which is in parentheses, brackets or quotes.
    fn expression(&mut self, close: &str, opened: &Place) -> Result<String, Fault> {
        let mut depth = 0;
        let mut quote = None;
        let mut escaped = false;
        for (at, c) in self.rest.char_indices() {
            match quote {
                Some(_) if escaped => escaped = false,
                Some(_) if c == '\\' => escaped = true,
                Some(mark) if c == mark => quote = None,
                Some(_) => {}
                None if c == '"' || c == '\'' => quote = Some(c),
                None if depth == 0 && ",)]}".contains(c) => {
                    let text = self.rest[..at].trim_end().replace('\n', " ");
                    let place = self.place();
                    self.advance(at);
                    if text.is_empty() {
                        return Err(Fault::new(&place, "an argument is empty"));
                    }
                    return Ok(text);
                }
                None if c == '(' || c == '[' => depth += 1,
                None if c == ')' || c == ']' => depth -= 1,
                None if c == ';' => break,
                None => {}
            }
        }
        Err(Fault::new(opened, format!("'{close}' is missing")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn statement(item: &Item) -> &Statement {
        match item {
            Item::Statement(statement) => statement,
            Item::Directive(..) => panic!("{item:?}"),
        }
    }

    #[test]
    fn statements_classes_and_directives_have_their_lines() {
        let text = "#include \"a.h\"\n\n CLASS(CLS_PRC2) {\n  CRE_TSK(T, { TA_ACT, (1, 2), f(a, b),\n 5 });\n}\n";
        let items = parse(text, "x.cfg").unwrap();
        assert_eq!(items.len(), 2);
        assert!(matches!(&items[0], Item::Directive(line, _) if line == "#include \"a.h\""));
        let task = statement(&items[1]);
        assert_eq!((task.name.as_str(), task.place.line), ("CRE_TSK", 4));
        assert_eq!(task.class.as_ref().unwrap().0, "CLS_PRC2");
        let Argument::Packet(packet, _) = &task.arguments[1] else { panic!() };
        let texts = packet.iter().map(|argument| match argument {
            Argument::Text(text, place) => (text.as_str(), place.line),
            Argument::Packet(..) => panic!(),
        });
        assert_eq!(texts.collect::<Vec<_>>(), [("TA_ACT", 4), ("(1, 2)", 4), ("f(a, b)", 4), ("5", 5)]);
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line() {
        let fault = |text: &str| parse(text, "x.cfg").unwrap_err().to_string();
        assert_eq!(fault("\nCRE_SEM(S, { 1, 2 )"), "x.cfg:2: error: ',' or '}' was expected, not ')'");
        assert_eq!(
            fault("CRE_SEM(S, { 1, 2 })\nX();"),
            "x.cfg:2: error: ';' was expected after CRE_SEM(…), not 'X();'"
        );
        assert_eq!(fault("\n\nCLASS(A) {\n"), "x.cfg:3: error: CLASS(A) is not closed");
        assert_eq!(fault("}"), "x.cfg:1: error: there is nothing that this '}' closes");
        assert_eq!(fault("CRE_SEM(S, { 1,, 2 });"), "x.cfg:1: error: an argument is empty");
        assert_eq!(fault("CRE_SEM(S"), "x.cfg:1: error: ')' is missing");
        assert_eq!(
            fault("CRE_SEM(S, { 1,\n#ifdef A\n 2 });"),
            "x.cfg:2: error: a line of the preprocessor cannot stand in a statement"
        );
        assert_eq!(fault("=;"), "x.cfg:1: error: a static API was expected, not '=;'");
    }
}
