//! Tests that are never run: those of a target whose manifest says that it has none, so that no program is built for them.

use std::path::Path;

use crate::crates::Package;
use crate::tree::Tree;

/// Every such test, each as a line that begins with a file and a line of it.
///
/// # Errors
/// What cannot be read.
pub fn judge(folder: &Path, packages: &[Package]) -> Result<Vec<String>, String> {
    let mut findings = Vec::new();
    for package in packages {
        let manifest = package.folder.join("Cargo.toml");
        for (key, root) in &package.without {
            let is_one = if *key == "doctest" { examples } else { tests };
            for module in Tree::read(folder, root)?.modules {
                let read = std::fs::read_to_string(folder.join(&module.file));
                let text = read.map_err(|error| format!("{}: {error}", module.file.display()))?;
                findings.extend(is_one(&text).map(|line| {
                    let (file, manifest) = (module.file.display(), manifest.display());
                    format!(
                        "{file}:{line}: this is never run, because {manifest} says {key} = false of {}",
                        root.display()
                    )
                }));
            }
        }
    }
    Ok(findings)
}

/// The first line of a text that is there for tests.
fn tests(text: &str) -> Option<usize> {
    let marks = ["#[test]", "#[cfg(test)]", "#[cfg(all(test"];
    let line = text.lines().position(|line| marks.iter().any(|mark| line.trim_start().starts_with(mark)));
    line.map(|index| index + 1)
}

/// The first line of an example that rustdoc would run.
fn examples(text: &str) -> Option<usize> {
    let mut inside = false;
    for (index, line) in text.lines().enumerate() {
        let line = line.trim_start();
        let comment = line.strip_prefix("///").or_else(|| line.strip_prefix("//!")).map(str::trim);
        let Some(language) = comment.and_then(|comment| comment.strip_prefix("```")) else { continue };
        let is_run =
            ["", "rust", "no_run", "should_panic"].iter().any(|word| language.split(',').any(|one| one == *word));
        if !inside && is_run {
            return Some(index + 1);
        }
        inside = !inside;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{examples, tests};

    #[test]
    fn what_would_be_run_is_found() {
        assert_eq!(tests("fn one() {}\n\n#[cfg(test)]\nmod tests;\n"), Some(3));
        assert_eq!(tests("// #[test]\nfn one() {}\n"), None);
        assert_eq!(examples("/// Text.\n///\n/// ```\n/// one();\n/// ```\n"), Some(3));
        assert_eq!(examples("//! ```text\n//! one\n//! ```\n//!\n//! ```rust,no_run\n//! ```\n"), Some(5));
        assert_eq!(examples("/// ```ignore\n/// ```\n"), None);
    }
}
