//! Violations of the layers between packages.

use std::path::{Path, PathBuf};

use crate::crates::Package;
use crate::list::List;

/// All dependencies that go against a list, and packages that it lacks, each as a line that begins with a file and a line of it.
/// A name of the list is a folder below that of the list, and stands for all packages in it that no longer name stands for.
pub fn judge(packages: &[Package], list: &List, document: &Path) -> Vec<String> {
    let names: Vec<(usize, PathBuf)> = list
        .layers
        .iter()
        .enumerate()
        .flat_map(|(layer, names)| names.modules.iter().map(move |name| (layer, list.folder.join(name))))
        .map(|(layer, path)| (layer, path.components().filter(|part| part.as_os_str() != ".").collect()))
        .collect();
    let inside: PathBuf = list.folder.components().filter(|part| part.as_os_str() != ".").collect();
    let find = |folder: &Path| {
        let fits = names.iter().filter(|(_, name)| folder.starts_with(name));
        fits.max_by_key(|(_, name)| name.components().count())
    };
    let mut findings = Vec::new();
    for (layer, name) in &names {
        if !packages.iter().any(|package| package.folder.starts_with(name)) {
            let line = list.layers[*layer].line;
            findings.push(format!("{}:{line}: there is no package in {}", document.display(), name.display()));
        }
    }
    for package in packages.iter().filter(|package| package.folder.starts_with(&inside)) {
        let manifest = package.folder.join("Cargo.toml");
        let Some((above, name)) = find(&package.folder) else {
            let list = format!("{}:{}", document.display(), list.line);
            findings.push(format!("{}:1: the package stands in no layer of the list in {list}", manifest.display()));
            continue;
        };
        for dependency in &package.dependencies {
            let Some((below, other)) = find(&dependency.folder) else { continue };
            if name != other && below <= above {
                let (line, folder) = (dependency.line, dependency.folder.display());
                let where_ = if below == above { "in the same layer as" } else { "above" };
                findings.push(format!(
                    "{}:{line}: the dependency is of {folder}, which is {where_} {}",
                    manifest.display(),
                    name.display()
                ));
            }
        }
    }
    findings
}
