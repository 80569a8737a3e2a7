//! Layers: whether the modules of each crate import only from the layers below them.
//!
//! docs/architecture.md lists the layers of each crate, and those of the packages, from the top down. This tool finds
//! every import or dependency against them, and files that import each other in a circle, in whatever layer. Beside these it finds tests
//! that are never run.

pub mod circles;
pub mod crates;
pub mod judge;
pub mod list;
pub mod packages;
pub mod scan;
pub mod tree;
pub mod untested;

use std::path::{Path, PathBuf};

use list::Kind;

/// The document that has the lists.
pub const DOCUMENT: &str = "docs/architecture.md";

/// What is wrong in the crates below a folder, and how many crates there are.
///
/// # Errors
/// What cannot be read.
pub fn check(folder: &Path) -> Result<(Vec<String>, usize), String> {
    let lists = list::read(&folder.join(DOCUMENT))?;
    let crates = crates::read(folder)?;
    let mut findings = Vec::new();
    for list in lists.iter().filter(|list| list.of == Kind::Modules) {
        let inside = |root: &PathBuf| root.parent().is_some_and(|parent| list.folder.starts_with(parent));
        if !crates.iter().flat_map(|one| &one.roots).any(inside) {
            findings.push(format!("{DOCUMENT}:{}: {} is no folder of a crate", list.line, list.folder.display()));
        }
    }
    let document = Path::new(DOCUMENT);
    for list in lists.iter().filter(|list| list.of == Kind::Packages) {
        findings.extend(packages::judge(&crates, list, document));
    }
    findings.extend(untested::judge(folder, &crates)?);
    let mut count = 0;
    for root in crates.iter().flat_map(|one| &one.roots) {
        let tree = tree::Tree::read(folder, root)?;
        findings.extend(judge::judge(&tree, &lists, document));
        count += 1;
    }
    Ok((findings, count))
}
