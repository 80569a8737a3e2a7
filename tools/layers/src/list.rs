//! The lists of layers in docs/architecture.md.
//!
//! A list is a block of code that begins with "```layers" and the folder of its modules, or with "```packages" and a
//! folder of packages. From the top down, each line names modules (or folders of packages) of one layer and, after two
//! spaces, describes them. A module may use those of the lines below its own, and none of its own line or above.
//! Exceptions stand in the list too, with their reason:
//!
//! ```text
//! except client -> server  each holds the address of the other
//! ```

use std::path::{Path, PathBuf};

/// What a list names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Modules,
    Packages,
}

/// The layers of one folder, from the top.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct List {
    pub of: Kind,
    pub folder: PathBuf,
    /// The line of the document in which it begins.
    pub line: usize,
    pub layers: Vec<Layer>,
    pub exceptions: Vec<Exception>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layer {
    pub line: usize,
    pub modules: Vec<String>,
}

/// An import against the direction that there is a reason for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exception {
    pub line: usize,
    /// Modules of the folder, as `objects::mutex`.
    pub from: String,
    pub to: String,
}

/// What the block of a list begins with.
const OPENS: [(&str, Kind); 2] = [("```layers", Kind::Modules), ("```packages", Kind::Packages)];

/// Reads the lists of a document.
///
/// # Errors
/// The first line that is none of a list's, and why.
pub fn read(document: &Path) -> Result<Vec<List>, String> {
    let text = std::fs::read_to_string(document).map_err(|error| format!("{}: {error}", document.display()))?;
    parse(&text).map_err(|(line, why)| format!("{}:{line}: {why}", document.display()))
}

fn parse(text: &str) -> Result<Vec<List>, (usize, String)> {
    let mut lists: Vec<List> = Vec::new();
    let mut open = false;
    for (number, line) in text.lines().enumerate().map(|(index, line)| (index + 1, line)) {
        let opens = OPENS.iter().find_map(|(word, of)| Some((line.strip_prefix(word)?, *of)));
        if let Some((folder, of)) = opens {
            let folder = PathBuf::from(folder.trim());
            if folder.as_os_str().is_empty() {
                return Err((number, "a list says which folder it is of: ```layers otp/otp/src".to_owned()));
            }
            if let Some(other) = lists.iter().find(|list| list.folder == folder && list.of == of) {
                return Err((
                    number,
                    format!("there is a list of {} in line {} already", folder.display(), other.line),
                ));
            }
            lists.push(List { of, folder, line: number, layers: Vec::new(), exceptions: Vec::new() });
            open = true;
        } else if line.starts_with("```") {
            open = false;
        } else if open
            && !line.trim().is_empty()
            && let Some(list) = lists.last_mut()
        {
            add(list, number, line).map_err(|why| (number, why))?;
        }
    }
    Ok(lists)
}

fn add(list: &mut List, number: usize, line: &str) -> Result<(), String> {
    let (names, about) = line.trim().split_once("  ").unwrap_or((line.trim(), ""));
    if about.trim().is_empty() {
        return Err("after the names, and two spaces, a line says what they are or why they are exempt".to_owned());
    }
    if let Some(pair) = names.strip_prefix("except ") {
        let (from, to) = pair.split_once(" -> ").ok_or("an exception names two modules: except one -> other  why")?;
        list.exceptions.push(Exception { line: number, from: from.trim().to_owned(), to: to.trim().to_owned() });
        return Ok(());
    }
    let modules: Vec<String> = names.split(' ').map(str::to_owned).collect();
    for name in &modules {
        if list.layers.iter().any(|layer| layer.modules.contains(name)) {
            return Err(format!("{name} stands in this list already"));
        }
    }
    list.layers.push(Layer { line: number, modules });
    Ok(())
}

impl List {
    /// In which layer a module of the folder is, counted from the top.
    pub fn layer_of(&self, module: &str) -> Option<usize> {
        self.layers.iter().position(|layer| layer.modules.iter().any(|name| name == module))
    }
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn a_list_is_read_from_a_document() {
        let text =
            "# Layers\n\n```layers a/src\ntop  above\nx y  beside\n\nexcept x -> top  a reason\n```\ntext  more\n";
        let lists = parse(text).unwrap();
        let [list] = &lists[..] else { panic!("{lists:?}") };
        assert_eq!((list.folder.to_str(), list.line), (Some("a/src"), 3));
        assert_eq!(list.layers.iter().map(|layer| layer.modules.join(" ")).collect::<Vec<_>>(), ["top", "x y"]);
        assert_eq!((list.layer_of("y"), list.layer_of("z")), (Some(1), None));
        let exception = &list.exceptions[0];
        assert_eq!((exception.line, &*exception.from, &*exception.to), (7, "x", "top"));
    }

    #[test]
    fn what_is_no_list_is_refused_with_its_line() {
        for (text, line, why) in [
            ("```layers\n```", 1, "which folder"),
            ("```layers a\n```\n```layers a\n```", 3, "in line 1 already"),
            ("```layers a\ntop\n```", 2, "says what they are"),
            ("```layers a\ntop  x\ntop  x\n```", 3, "already"),
            ("```layers a\nexcept top  x\n```", 2, "two modules"),
        ] {
            let (at, said) = parse(text).unwrap_err();
            assert!(at == line && said.contains(why), "{text}: {at}: {said}");
        }
    }
}
