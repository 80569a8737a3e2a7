//! Violations of the layers in a crate.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::Path;

use crate::circles::circles;
use crate::list::{Kind, List};
use crate::tree::{Import, Tree};

/// A crate of as many files has a list.
const FILES_WITH_LIST: usize = 10;

/// All that is wrong in a crate, each as a line that begins with a file and a line of it. `document` is where the lists are from.
pub fn judge(tree: &Tree, lists: &[List], document: &Path) -> Vec<String> {
    let imports = tree.imports();
    let mut findings = Vec::new();
    let mut exempt = HashSet::new();
    let mut listed = false;
    for list in lists.iter().filter(|list| list.of == Kind::Modules) {
        let Some(of) = Folder::of(tree, list) else { continue };
        listed = true;
        findings.extend(of.unlisted(document));
        let mut needed = BTreeSet::new();
        for (index, import) in imports.iter().enumerate() {
            if let Some(exception) = of.exception(import) {
                needed.insert(exception);
                exempt.insert(index);
            } else {
                findings.extend(of.against(import));
            }
        }
        let unneeded = (0..list.exceptions.len()).filter(|number| !needed.contains(number));
        findings.extend(unneeded.map(|number| {
            let exception = &list.exceptions[number];
            let (from, to) = (&exception.from, &exception.to);
            format!("{}:{}: {from} imports nothing from {to}: remove the exception", document.display(), exception.line)
        }));
    }
    if !listed && tree.modules.len() >= FILES_WITH_LIST {
        let (root, files) = (tree.modules[0].file.display(), tree.modules.len());
        findings.push(format!("{root}:1: a crate of {files} files has a list of its layers in {}", document.display()));
    }
    let all = imports.iter().enumerate().filter(|(index, _)| !exempt.contains(index)).map(|(_, import)| import);
    findings.extend(in_circles(tree, all));
    findings
}

/// A folder of the crate with a list.
struct Folder<'t> {
    tree: &'t Tree,
    list: &'t List,
    /// The module that the folder is.
    root: usize,
}

impl<'t> Folder<'t> {
    fn of(tree: &'t Tree, list: &'t List) -> Option<Self> {
        // A program of one file beside a library lies in the same folder, and has no modules.
        if tree.modules.len() == 1 {
            return None;
        }
        let root = tree.modules.iter().position(|module| {
            let name = module.file.file_name().and_then(|name| name.to_str());
            module.file.parent() == Some(&list.folder) && matches!(name, Some("lib.rs" | "main.rs" | "mod.rs"))
        })?;
        Some(Self { tree, list, root })
    }

    /// The name of the module right in the folder that a module is in, or is; empty for the root itself.
    fn entry(&self, module: usize) -> Option<&'t str> {
        let path = self.tree.modules[module].path.strip_prefix(&*self.tree.modules[self.root].path)?;
        Some(path.first().map_or("", String::as_str))
    }

    fn place(&self, module: usize) -> String {
        let skipped = self.tree.modules[self.root].path.len();
        self.tree.modules[module].path.get(skipped..).unwrap_or_default().join("::")
    }

    /// Modules that the list lacks, and names in it that are of none.
    fn unlisted(&self, document: &Path) -> Vec<String> {
        let modules = &self.tree.modules;
        let entries: BTreeMap<&str, usize> = (0..modules.len())
            .filter(|&module| modules[module].path.len() == modules[self.root].path.len() + 1)
            .filter_map(|module| Some((self.entry(module)?, module)))
            .collect();
        let missing = entries.iter().filter(|(name, _)| self.list.layer_of(name).is_none()).map(|(name, &module)| {
            let (file, list) = (modules[module].file.display(), self.list.line);
            format!("{file}:1: {name} stands in no layer of the list in {}:{list}", document.display())
        });
        let names = self.list.layers.iter().flat_map(|layer| layer.modules.iter().map(|name| (layer.line, name)));
        let strange = names.filter(|(_, name)| !entries.contains_key(name.as_str())).map(|(line, name)| {
            format!("{}:{line}: there is no module {name} in {}", document.display(), self.list.folder.display())
        });
        missing.chain(strange).collect()
    }

    /// Which exception an import is, by its place in the list.
    fn exception(&self, import: &Import) -> Option<usize> {
        let (from, to) = (self.place(import.from), self.place(import.to));
        self.list.exceptions.iter().position(|exception| exception.from == from && exception.to == to)
    }

    /// What is wrong with an import, if it goes against the layers.
    fn against(&self, import: &Import) -> Option<String> {
        let (from, to) = (self.entry(import.from)?, self.entry(import.to)?);
        let (above, below) = (self.list.layer_of(from)?, self.list.layer_of(to));
        let why = match below {
            _ if from == to => return None,
            // The root hands on what all of them are to others: it stands above them.
            None if to.is_empty() => "which is above all: name the module that it is from".to_owned(),
            Some(below) if below > above => return None,
            Some(below) if below == above => format!("which is in the same layer as {from}"),
            Some(_) => format!("which is above {from}"),
            None => return None,
        };
        let (file, line) = (self.tree.modules[import.from].file.display(), import.line);
        let to = if to.is_empty() { "the root" } else { to };
        Some(format!("{file}:{line}: `{}` is of {to}, {why}", import.path))
    }
}

/// Files that import each other in a circle.
fn in_circles<'i>(tree: &Tree, imports: impl Iterator<Item = &'i Import>) -> Vec<String> {
    let mut edges: BTreeMap<(usize, usize), &Import> = BTreeMap::new();
    for import in imports {
        edges.entry((import.from, import.to)).or_insert(import);
    }
    let pairs: Vec<(usize, usize)> = edges.keys().copied().collect();
    let file = |module: usize| tree.modules[module].file.display();
    circles(tree.modules.len(), &pairs)
        .iter()
        .map(|circle| {
            let steps = circle.iter().zip(circle.iter().cycle().skip(1));
            let steps: Vec<String> = steps
                .filter_map(|(&from, &to)| {
                    let import = edges.get(&(from, to))?;
                    Some(format!("{}:{}: `{}` is of {}", file(from), import.line, import.path, file(to)))
                })
                .collect();
            format!("{}, and so in a circle", steps.join("\n    "))
        })
        .collect()
}
