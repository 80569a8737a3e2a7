//! The packages of a tree of folders: the root files of their crates, and the packages that they depend on.

use std::path::{Component, Path, PathBuf};

use toml::{Table, Value};

/// Folders in which no sources of ours are.
const PASSED_OVER: [&str; 5] = ["target", "build", "templates", "recordings", "node_modules"];

/// A package. All paths are relative to the folder that was searched.
#[derive(Debug)]
pub struct Package {
    pub folder: PathBuf,
    /// The root file of each crate in it.
    pub roots: Vec<PathBuf>,
    pub dependencies: Vec<Dependency>,
    /// The root files of which the manifest says that they have no tests (`test`), or no examples that are tests (`doctest`).
    pub without: Vec<(&'static str, PathBuf)>,
}

/// A package of this tree that another one needs to be built.
#[derive(Debug)]
pub struct Dependency {
    /// Where it stands in the manifest of that one.
    pub line: usize,
    pub folder: PathBuf,
}

/// All packages below a folder, in the order of their folders. What only tests need is no dependency here.
///
/// # Errors
/// A folder or a manifest that cannot be read.
pub fn read(folder: &Path) -> Result<Vec<Package>, String> {
    let mut packages = Vec::new();
    let shared = match manifest(&folder.join("Cargo.toml")) {
        Ok((table, _)) => table.get("workspace").and_then(|workspace| workspace.get("dependencies")).cloned(),
        Err(_) => None,
    };
    let search = Search { top: folder, shared: shared.unwrap_or(Value::Table(Table::new())) };
    search.search(folder, &mut packages)?;
    packages.sort_by(|one, other| one.folder.cmp(&other.folder));
    Ok(packages)
}

struct Search<'f> {
    top: &'f Path,
    /// The dependencies of the workspace, which packages name by their keys.
    shared: Value,
}

impl Search<'_> {
    fn search(&self, folder: &Path, packages: &mut Vec<Package>) -> Result<(), String> {
        let said = |error: std::io::Error| format!("{}: {error}", folder.display());
        if folder.join("Cargo.toml").exists() {
            packages.extend(self.package(folder)?);
        }
        for entry in folder.read_dir().map_err(said)? {
            let entry = entry.map_err(said)?;
            let name = entry.file_name();
            let hidden = name.as_encoded_bytes().starts_with(b".");
            if entry.file_type().map_err(said)?.is_dir() && !hidden && !PASSED_OVER.iter().any(|other| name == *other) {
                self.search(&entry.path(), packages)?;
            }
        }
        Ok(())
    }

    /// The package of a folder with a manifest; none if that is only of a workspace.
    fn package(&self, folder: &Path) -> Result<Option<Package>, String> {
        let (table, text) = manifest(&folder.join("Cargo.toml"))?;
        if !table.contains_key("package") {
            return Ok(None);
        }
        let relative = folder.strip_prefix(self.top).unwrap_or(folder).to_owned();
        let mut dependencies = Vec::new();
        for (key, value) in needed(&table) {
            let own = value.get("path").and_then(Value::as_str).map(|path| relative.join(path));
            let shared = || self.shared.get(key)?.get("path")?.as_str().map(PathBuf::from);
            if let Some(folder) = own.or_else(shared) {
                let stands = |line: &str| line.strip_prefix(key).is_some_and(|rest| rest.starts_with([' ', '.', '=']));
                let line = text.lines().position(stands).map_or(1, |index| index + 1);
                dependencies.push(Dependency { line, folder: plain(&folder) });
            }
        }
        let mut roots = roots(folder, &table);
        roots.iter_mut().for_each(|root| *root = plain(root.strip_prefix(self.top).unwrap_or(root)));
        let without = without(&table).into_iter().map(|(key, path)| (key, plain(&relative.join(path)))).collect();
        Ok(Some(Package { folder: relative, roots, dependencies, without }))
    }
}

fn manifest(path: &Path) -> Result<(Table, String), String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let table = text.parse().map_err(|error| format!("{}: {error}", path.display()))?;
    Ok((table, text))
}

/// What a package needs to be built, by the keys in its manifest.
fn needed(table: &Table) -> Vec<(&str, &Value)> {
    let targets = table.get("target").and_then(Value::as_table).into_iter().flat_map(Table::values);
    let tables = targets.filter_map(Value::as_table).chain([table]);
    tables
        .flat_map(|table| ["dependencies", "build-dependencies"].into_iter().filter_map(|kind| table.get(kind)))
        .filter_map(Value::as_table)
        .flatten()
        .map(|(key, value)| (key.as_str(), value))
        .collect()
}

/// What a manifest says of the package's library and programs.
fn targets(table: &Table) -> impl Iterator<Item = (&'static str, &Table)> {
    let kinds = ["lib", "bin"].into_iter().filter_map(|kind| Some((kind, table.get(kind)?)));
    kinds.flat_map(|(kind, value)| {
        let all = match value {
            Value::Array(several) => several.iter().filter_map(Value::as_table).collect(),
            other => other.as_table().into_iter().collect::<Vec<_>>(),
        };
        all.into_iter().map(move |target| (kind, target))
    })
}

/// The root files whose tests, or examples, the manifest turns off.
fn without(table: &Table) -> Vec<(&'static str, PathBuf)> {
    let of = |(kind, target): (&str, &Table)| {
        let usual = if kind == "lib" { "src/lib.rs" } else { "src/main.rs" };
        let path = PathBuf::from(target.get("path").and_then(Value::as_str).unwrap_or(usual));
        let off = |key: &&'static str| target.get(*key).and_then(Value::as_bool) == Some(false);
        ["test", "doctest"].into_iter().filter(|key| off(key)).map(|key| (key, path.clone())).collect::<Vec<_>>()
    };
    targets(table).flat_map(of).collect()
}

/// The root files of a package's library and programs.
fn roots(folder: &Path, table: &Table) -> Vec<PathBuf> {
    // A program in a folder `bin` is the head of files that others share, which take from it what it is built with.
    let named = targets(table).filter_map(|(_, target)| target.get("path")?.as_str()).map(PathBuf::from);
    let named = named.filter(|path| path.parent().is_none_or(|parent| !parent.ends_with("bin")));
    let usual = ["src/lib.rs", "src/main.rs"].map(PathBuf::from);
    let mut roots: Vec<PathBuf> =
        named.chain(usual).map(|path| folder.join(path)).filter(|path| path.is_file()).collect();
    roots.sort();
    roots.dedup();
    roots
}

/// A path without `.` and `..`.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            other => plain.push(other),
        }
    }
    plain
}
