//! The modules of a crate, and the module that a path leads to.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::scan::{Scanned, scan};

/// A module that lies in a file of its own.
#[derive(Debug)]
pub struct Module {
    pub file: PathBuf,
    /// Its names from the crate's root, which has none.
    pub path: Vec<String>,
    parent: Option<usize>,
    children: BTreeMap<String, usize>,
    scanned: Scanned,
}

/// A crate: its modules, of which the first is the root.
#[derive(Debug)]
pub struct Tree {
    pub modules: Vec<Module>,
}

/// That one module names something of another.
#[derive(Debug, PartialEq, Eq)]
pub struct Import {
    pub from: usize,
    pub to: usize,
    pub line: usize,
    /// As it stands in the file.
    pub path: String,
}

/// How many times a name may stand for another one before that is taken for a circle of names.
const MOST_NAMES: usize = 16;

impl Tree {
    /// Reads the file of a crate's root, and the modules that it has. Files are named from that folder.
    ///
    /// # Errors
    /// A file that cannot be read, or is no Rust.
    pub fn read(from: &Path, root: &Path) -> Result<Tree, String> {
        let mut tree = Tree { modules: Vec::new() };
        let folder = root.parent().unwrap_or(Path::new("")).to_owned();
        tree.add(from, root.to_owned(), folder, Vec::new(), None)?;
        Ok(tree)
    }

    /// Adds the module of a file, whose modules lie in that folder.
    fn add(
        &mut self,
        from: &Path,
        file: PathBuf,
        folder: PathBuf,
        path: Vec<String>,
        parent: Option<usize>,
    ) -> Result<usize, String> {
        let text = std::fs::read_to_string(from.join(&file)).map_err(|error| format!("{}: {error}", file.display()))?;
        let scanned = scan(&text).map_err(|error| format!("{}: {error}", file.display()))?;
        let beside = file.parent().unwrap_or(Path::new("")).to_owned();
        let mut names = scanned.children.clone();
        if scanned.by_macro {
            let others = files_in(&from.join(&folder)).into_iter().filter(|name| !scanned.tests.contains(name));
            others.for_each(|name| _ = names.entry(name).or_insert(None));
        }
        let this = self.modules.len();
        self.modules.push(Module { file, path: path.clone(), parent, children: BTreeMap::new(), scanned });
        for (name, at) in names {
            let inside = folder.join(&name);
            let (file, inside) = match at {
                // The modules of a file that is named so lie beside it.
                Some(at) => (beside.join(&at), beside.join(&at).parent().unwrap_or(Path::new("")).to_owned()),
                None if from.join(&inside).join("mod.rs").exists() => (inside.join("mod.rs"), inside),
                None => (inside.with_extension("rs"), inside),
            };
            let path = path.iter().cloned().chain([name.clone()]).collect();
            let child = self.add(from, file, inside, path, Some(this))?;
            self.modules[this].children.insert(name, child);
        }
        Ok(this)
    }

    /// Whether a module lies in another, or is it.
    pub fn is_in(&self, module: usize, other: usize) -> bool {
        self.modules[module].path.starts_with(&self.modules[other].path)
    }

    /// What the modules name of each other. What a module hands on of those in it is not what it uses.
    pub fn imports(&self) -> Vec<Import> {
        let mut imports = Vec::new();
        for (from, module) in self.modules.iter().enumerate() {
            for mention in &module.scanned.mentions {
                let Some(to) = self.lead(from, &mention.path, mention.within.len(), 0) else { continue };
                if to == from || mention.handed_on && self.is_in(to, from) {
                    continue;
                }
                imports.push(Import { from, to, line: mention.line, path: mention.path.join("::") });
            }
        }
        imports
    }

    /// The module that a path leads to, as it is written in a module, within so many modules of the same file. None if it
    /// leads out of the crate.
    fn lead(&self, from: usize, path: &[String], within: usize, names: usize) -> Option<usize> {
        let (first, rest) = path.split_first()?;
        match first.as_str() {
            "crate" => self.descend(0, rest, names),
            "self" => self.descend(from, rest, names),
            "super" => {
                let (mut at, mut rest, mut within) = (from, rest, within);
                loop {
                    match within {
                        0 => at = self.modules[at].parent?,
                        _ => within -= 1,
                    }
                    match rest.split_first() {
                        Some((next, after)) if next == "super" => rest = after,
                        _ => break self.descend(at, rest, names),
                    }
                }
            }
            name => {
                let module = &self.modules[from];
                if let Some(&child) = module.children.get(name) {
                    return self.descend(child, rest, names);
                }
                let target = module.scanned.names.get(name).filter(|target| target.first() != Some(first))?;
                let target: Vec<String> = target.iter().chain(rest).cloned().collect();
                (names < MOST_NAMES).then(|| self.lead(from, &target, 0, names + 1))?
            }
        }
    }

    /// From a module along the names of a path: into its modules, or to where a name is handed on from.
    fn descend(&self, at: usize, path: &[String], names: usize) -> Option<usize> {
        let Some((name, rest)) = path.split_first() else { return Some(at) };
        let module = &self.modules[at];
        if let Some(&child) = module.children.get(name) {
            return self.descend(child, rest, names);
        }
        if module.scanned.items.contains(name) {
            return Some(at);
        }
        if names >= MOST_NAMES {
            return None;
        }
        if let Some(target) = module.scanned.names.get(name) {
            let target: Vec<String> = target.iter().chain(rest).cloned().collect();
            return self.lead(at, &target, 0, names + 1);
        }
        if at == 0
            && let Some(defined) = self.modules.iter().position(|one| one.scanned.exported_macros.contains(name))
        {
            return Some(defined);
        }
        for glob in &module.scanned.globs {
            if let Some(of) = self.lead(at, glob, 0, names + 1)
                && self.has(of, name)
            {
                return self.descend(of, path, names + 1);
            }
        }
        Some(at)
    }

    fn has(&self, module: usize, name: &str) -> bool {
        let module = &self.modules[module];
        module.children.contains_key(name)
            || module.scanned.items.contains(name)
            || module.scanned.names.contains_key(name)
    }
}

/// The names of the modules that files in a folder could be, beside the module of the folder itself.
fn files_in(folder: &Path) -> Vec<String> {
    let entries = folder.read_dir().into_iter().flatten().flatten().map(|entry| entry.path());
    let module = |path: PathBuf| {
        let name = path.file_stem()?.to_str()?.to_owned();
        let is = path.join("mod.rs").exists() || path.extension().is_some_and(|end| end == "rs");
        (is && !["mod", "lib", "main"].contains(&name.as_str())).then_some(name)
    };
    entries.filter_map(module).collect()
}
