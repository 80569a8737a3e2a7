//! The paths in a source file.
//!
//! A file is read as tokens, so that paths inside of macros are seen as well; comments and string literals hold no
//! paths. Code under `#[cfg(test)]` is skipped: tests may use anything.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{Delimiter, Ident, Spacing, TokenStream, TokenTree};

/// A path as it stands in a file, such as `crate::wait::Order`, without what a `use` renames it to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mention {
    pub line: usize,
    pub path: Vec<String>,
    /// The inline modules around it, from the outermost.
    pub within: Vec<String>,
    /// Whether it is handed on: a `pub use`.
    pub handed_on: bool,
}

/// What a file says of modules.
#[derive(Debug, Default)]
pub struct Scanned {
    /// The modules that lie in files of their own, each with the path of an attribute `path`, if it has one.
    pub children: BTreeMap<String, Option<String>>,
    /// Modules in files of their own that are there for tests only.
    pub tests: BTreeSet<String>,
    /// Whether a macro declares modules, by names that it is given.
    pub by_macro: bool,
    pub mentions: Vec<Mention>,
    /// What names stand for here: those that `use` brings, each with its path.
    pub names: BTreeMap<String, Vec<String>>,
    /// The modules all of whose names are brought here.
    pub globs: Vec<Vec<String>>,
    /// The names of what is defined here.
    pub items: BTreeSet<String>,
    /// The macros that are defined here for the whole crate.
    pub exported_macros: BTreeSet<String>,
}

/// Reads the text of a file. The error says where the text is no Rust.
pub fn scan(text: &str) -> Result<Scanned, String> {
    let tokens: TokenStream = text.parse().map_err(|error: proc_macro2::LexError| {
        let at = error.span().start();
        format!("line {}: this cannot be read as Rust: {error}", at.line)
    })?;
    let mut scanned = Scanned::default();
    walk(tokens, &mut Vec::new(), &mut scanned);
    Ok(scanned)
}

/// The tokens of one level, with a place in them.
struct Level {
    tokens: Vec<TokenTree>,
    at: usize,
}

impl Level {
    fn ident(&self, ahead: usize) -> Option<&Ident> {
        match self.tokens.get(self.at + ahead) {
            Some(TokenTree::Ident(ident)) => Some(ident),
            _ => None,
        }
    }

    fn is_ident(&self, ahead: usize, name: &str) -> bool {
        self.ident(ahead).is_some_and(|ident| ident == name)
    }

    fn is_punct(&self, ahead: usize, character: char) -> bool {
        matches!(self.tokens.get(self.at + ahead), Some(TokenTree::Punct(punct)) if punct.as_char() == character)
    }

    fn group(&self, ahead: usize, delimiter: Delimiter) -> Option<TokenStream> {
        match self.tokens.get(self.at + ahead) {
            Some(TokenTree::Group(group)) if group.delimiter() == delimiter => Some(group.stream()),
            _ => None,
        }
    }

    fn is_colons(&self, ahead: usize) -> bool {
        self.is_punct(ahead, ':') && self.is_punct(ahead + 1, ':')
    }

    /// Whether what stands here goes on from a path or a value, and so is no beginning of a path.
    fn goes_on(&self) -> bool {
        let before = |back: usize| self.at.checked_sub(back).and_then(|at| self.tokens.get(at));
        match before(1) {
            Some(TokenTree::Punct(punct)) if punct.as_char() == '.' => {
                // Behind the dots of a range something begins.
                !matches!(before(2), Some(TokenTree::Punct(other)) if other.as_char() == '.')
            }
            Some(TokenTree::Punct(punct)) if punct.as_char() == ':' => {
                matches!(before(2), Some(TokenTree::Punct(other)) if other.as_char() == ':' && other.spacing() == Spacing::Joint)
            }
            _ => false,
        }
    }

    fn done(&self) -> bool {
        self.at >= self.tokens.len()
    }

    /// Goes behind the item that begins here.
    fn skip_item(&mut self) {
        while !self.done() {
            let last = self.is_punct(0, ';') || self.group(0, Delimiter::Brace).is_some();
            self.at += 1;
            if last {
                return;
            }
        }
    }
}

/// What the attributes before an item say of it.
#[derive(Default)]
struct Attributes {
    path: Option<String>,
    exports: bool,
}

fn walk(tokens: TokenStream, within: &mut Vec<String>, scanned: &mut Scanned) {
    let mut level = Level { tokens: tokens.into_iter().collect(), at: 0 };
    let mut attributes = Attributes::default();
    let mut public = false;
    while !level.done() {
        if let Some(length) = attribute(&level, &mut attributes) {
            level.at += length;
            if attributes.is_test(&level, length) {
                if level.is_ident(0, "mod") {
                    scanned.tests.extend(level.ident(1).map(Ident::to_string));
                }
                level.skip_item();
            }
            continue;
        }
        if level.is_ident(0, "pub") {
            public = true;
            level.at += if level.group(1, Delimiter::Parenthesis).is_some() { 2 } else { 1 };
            continue;
        }
        step(&mut level, &mut attributes, public, within, scanned);
        public = false;
        attributes = Attributes::default();
    }
}

impl Attributes {
    /// Whether the attribute that ends here, of so many tokens, says that what follows is there for tests only.
    fn is_test(&self, level: &Level, length: usize) -> bool {
        let Some(TokenTree::Group(group)) = level.tokens.get(level.at - 1) else { return false };
        let words = group.stream().to_string().replace(' ', "");
        length == 2 && (words == "cfg(test)" || words.starts_with("cfg(all(test,"))
    }
}

/// How many tokens the attribute that begins here has, if one does; notes what it says.
fn attribute(level: &Level, attributes: &mut Attributes) -> Option<usize> {
    if !level.is_punct(0, '#') {
        return None;
    }
    let inner = level.is_punct(1, '!') as usize;
    let content: Vec<TokenTree> = level.group(1 + inner, Delimiter::Bracket)?.into_iter().collect();
    match &content[..] {
        [TokenTree::Ident(name)] if name == "macro_export" => attributes.exports = true,
        [TokenTree::Ident(name), _, TokenTree::Literal(path)] if name == "path" => {
            attributes.path = Some(path.to_string().trim_matches('"').to_owned());
        }
        _ => {}
    }
    Some(2 + inner)
}

fn step(level: &mut Level, attributes: &mut Attributes, public: bool, within: &mut Vec<String>, scanned: &mut Scanned) {
    if level.is_ident(0, "use") && !level.is_punct(1, '<') {
        level.at += 1;
        if level.is_colons(0) {
            level.at += 2;
        }
        import(level, &mut Vec::new(), public, within, scanned);
        return;
    }
    if level.is_ident(0, "mod")
        && let Some(name) = level.ident(1).map(Ident::to_string)
    {
        if let Some(body) = level.group(2, Delimiter::Brace) {
            within.push(name);
            walk(body, within, scanned);
            within.pop();
        } else if within.is_empty() {
            scanned.children.insert(name, attributes.path.take());
        }
        level.at += 3;
        return;
    }
    scanned.by_macro |= level.is_ident(0, "mod") && level.is_punct(1, '$');
    if level.is_ident(0, "extern") && level.is_ident(1, "crate") && level.is_ident(2, "self") {
        if let Some(alias) = level.ident(4) {
            scanned.names.insert(alias.to_string(), vec!["crate".to_owned()]);
        }
        level.at += 5;
        return;
    }
    if level.is_ident(0, "macro_rules")
        && let Some(name) = level.ident(2).map(Ident::to_string)
    {
        if attributes.exports {
            scanned.exported_macros.insert(name.clone());
        }
        scanned.items.insert(name);
        level.at += 3;
        return;
    }
    const ITEMS: [&str; 8] = ["fn", "struct", "enum", "trait", "type", "const", "static", "union"];
    if ITEMS.iter().any(|word| level.is_ident(0, word)) {
        if within.is_empty()
            && let Some(name) = level.ident(1)
        {
            scanned.items.insert(name.to_string());
        }
        level.at += 1;
        return;
    }
    if level.ident(0).is_some() && level.is_colons(1) && !level.goes_on() {
        path(level, within, scanned);
        return;
    }
    if let Some(TokenTree::Group(group)) = level.tokens.get(level.at) {
        walk(group.stream(), within, scanned);
    }
    level.at += 1;
}

/// A path in code: as many names as there are with `::` between them.
fn path(level: &mut Level, within: &[String], scanned: &mut Scanned) {
    let line = level.tokens[level.at].span().start().line;
    let mut path = Vec::new();
    while let Some(name) = level.ident(0) {
        path.push(name.to_string());
        level.at += 1;
        if !(level.is_colons(0) && level.ident(2).is_some()) {
            break;
        }
        level.at += 2;
    }
    // What a macro's variable goes on with is not known.
    if path != ["crate"] {
        scanned.mentions.push(Mention { line, path, within: within.to_vec(), handed_on: false });
    }
}

/// The tree of a `use`, up to its end: at a `;`, or at a `,` or the end of the braces around it.
fn import(level: &mut Level, before: &mut Vec<String>, public: bool, within: &[String], scanned: &mut Scanned) {
    let depth = before.len();
    while !level.done() {
        let line = level.tokens[level.at].span().start().line;
        if let Some(list) = level.group(0, Delimiter::Brace) {
            let mut inner = Level { tokens: list.into_iter().collect(), at: 0 };
            while !inner.done() {
                import(&mut inner, before, public, within, scanned);
            }
            level.at += 1;
        } else if level.is_punct(0, '*') {
            scanned.globs.push(before.clone());
            scanned.mentions.push(Mention { line, path: before.clone(), within: within.to_vec(), handed_on: public });
            level.at += 1;
        } else if let Some(name) = level.ident(0).map(Ident::to_string) {
            level.at += 1;
            if level.is_colons(0) {
                before.push(name);
                level.at += 2;
                continue;
            }
            let mut path = before.clone();
            if name != "self" || before.is_empty() {
                path.push(name);
            }
            let mut stands = path.last().cloned().unwrap_or_default();
            if level.is_ident(0, "as") {
                stands = level.ident(1).map(Ident::to_string).unwrap_or_default();
                level.at += 2;
            }
            scanned.names.insert(stands, path.clone());
            scanned.mentions.push(Mention { line, path, within: within.to_vec(), handed_on: public });
        } else {
            level.at += 1;
            break;
        }
    }
    before.truncate(depth);
}
