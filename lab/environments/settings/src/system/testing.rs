//! Recorded trees of files, for tests.

use std::fs;
use std::path::PathBuf;

use crate::root::Root;

/// A tree with these files in a folder of that name, which the test removes.
pub fn tree(name: &str, files: &[(&str, &str)]) -> (Root, PathBuf) {
    let folder = std::env::temp_dir().join(format!("kizami-{name}-{}", std::process::id()));
    for (file, text) in files {
        let file = folder.join(file);
        fs::create_dir_all(file.parent().expect("a file in a folder")).expect("a folder");
        fs::write(file, text).expect("a file");
    }
    (Root::tree(&folder), folder)
}
