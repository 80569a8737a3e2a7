//! Violations of the layers are found, with file and line, and code without a violation is not reported.

use std::fs;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

const LIST: &str = "```layers crate/src\ntop  above\nmiddle beside  between\nbottom  below\n```\n";

/// A crate of these files, and a document with this text.
fn tree(document: &str, files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |path: &Path, text: &str| {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write(&folder.path().join("docs/architecture.md"), document);
    write(&folder.path().join("crate/Cargo.toml"), "[package]\nname = \"one\"\n");
    for (path, text) in files {
        write(&folder.path().join("crate/src").join(path), text);
    }
    folder
}

/// The exit status of the program and what it says of such a tree.
fn said(document: &str, files: &[(&str, &str)]) -> (Option<i32>, String) {
    let folder = tree(document, files);
    let output = Command::new(env!("CARGO_BIN_EXE_kizami-layers")).arg(folder.path()).output().unwrap();
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

/// A crate with one more line in a file, which is its third.
fn with_line(file: &str, line: &str) -> (Option<i32>, String) {
    let files = [
        ("lib.rs", "mod beside;\nmod bottom;\nmod middle;\nmod top;\npub use bottom::Thing;\n"),
        ("top.rs", "use crate::middle::Other;\npub struct Above(Other);\n"),
        ("middle/mod.rs", "mod inner;\npub use inner::Other;\n"),
        ("middle/inner.rs", "use crate::bottom::Thing;\npub struct Other(Thing);\n"),
        ("beside.rs", "//! Nothing.\n\n"),
        ("bottom.rs", "//! Nothing.\npub struct Thing;\n"),
    ];
    let files: Vec<(&str, String)> = files
        .into_iter()
        .map(|(name, text)| (name, if name == file { format!("{text}{line}\n") } else { text.to_owned() }))
        .collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (*name, text.as_str())).collect();
    said(LIST, &files)
}

#[test]
fn what_holds_to_its_layers_passes() {
    assert_eq!(with_line("bottom.rs", ""), (Some(0), String::new()));
    // Comments and texts name what they like, and so do tests.
    for line in [
        "/// See [`crate::top::Above`].\npub struct Documented;",
        "pub const TEXT: &str = \"crate::top::Above\";",
        "#[cfg(test)]\nmod tests {\n    use crate::top::Above;\n}",
        "#[cfg(test)]\nuse crate::top::Above;",
    ] {
        assert_eq!(with_line("bottom.rs", line), (Some(0), String::new()), "{line}");
    }
}

#[test]
fn an_import_against_the_layers_is_named_with_file_and_line() {
    for (file, line, what) in [
        (
            "bottom.rs",
            "use crate::top::Above;",
            "crate/src/bottom.rs:3: `crate::top::Above` is of top, which is above bottom",
        ),
        ("bottom.rs", "use super::top::Above;", "crate/src/bottom.rs:3: `super::top::Above` is of top"),
        ("bottom.rs", "use crate::{top::Above as Other};", "crate/src/bottom.rs:3: `crate::top::Above` is of top"),
        ("bottom.rs", "pub use crate::top::Above;", "crate/src/bottom.rs:3: `crate::top::Above` is of top"),
        ("bottom.rs", "fn f() { let _: crate::top::Above; }", "crate/src/bottom.rs:3: `crate::top::Above` is of top"),
        ("bottom.rs", "struct F { one: crate::top::Above }", "crate/src/bottom.rs:3: `crate::top::Above` is of top"),
        ("bottom.rs", "fn f() { g(0..crate::top::LAST) }", "crate/src/bottom.rs:3: `crate::top::LAST` is of top"),
        ("bottom.rs", "macro_rules! m { () => { $crate::top::Above } }", "crate/src/bottom.rs:3: `crate::top::Above`"),
        (
            "bottom.rs",
            "mod inside {\n    use super::super::top::Above;\n}",
            "bottom.rs:4: `super::super::top::Above` is of top",
        ),
        // By way of a module that is named first.
        ("bottom.rs", "use crate::top;\nfn f() { top::g() }", "crate/src/bottom.rs:4: `top::g` is of top"),
        // It hands on what is of a file of its own, and that file is what counts.
        ("bottom.rs", "use crate::middle::Other;", "crate/src/bottom.rs:3: `crate::middle::Other` is of middle"),
        (
            "middle/inner.rs",
            "use crate::beside::*;",
            "crate/src/middle/inner.rs:3: `crate::beside` is of beside, which is in the same layer",
        ),
        ("bottom.rs", "use crate::NAME;", "crate/src/bottom.rs:3: `crate::NAME` is of the root, which is above all"),
    ] {
        let (status, said) = with_line(file, line);
        assert_eq!(status, Some(1), "{line}: {said}");
        assert!(said.contains(what), "{line}: {said}");
    }
}

#[test]
fn a_circle_of_files_is_found_within_a_layer_too() {
    let files = [
        ("lib.rs", "mod one;\nmod three;\nmod two;\n"),
        ("one.rs", "use crate::two::Two;\npub struct One;\n"),
        ("two.rs", "use crate::three;\npub struct Two;\nfn f() { three::g() }\n"),
        ("three.rs", "\n\nuse super::one::One;\n"),
    ];
    let (status, said) = said("", &files);
    assert_eq!(status, Some(1), "{said}");
    for line in
        ["one.rs:1: `crate::two::Two` is of", "two.rs:1: `crate::three` is of", "three.rs:3: `super::one::One` is of"]
    {
        assert!(said.contains(line), "{said}");
    }
}

#[test]
fn modules_that_a_macro_declares_are_seen() {
    let files = [
        (
            "lib.rs",
            "macro_rules! all { ($($name:ident),*) => { $(mod $name;)* } }\nall!(one, two);\n#[cfg(test)]\nmod tests;\n",
        ),
        ("one.rs", "use crate::two::Two;\n"),
        ("two.rs", "pub struct Two;\nuse crate::one::One;\n"),
        ("tests.rs", "use crate::one::One;\n"),
    ];
    let (status, said) = said("", &files);
    assert!(status == Some(1) && said.contains("two.rs:2: `crate::one::One` is of crate/src/one.rs"), "{said}");
    assert!(!said.contains("tests.rs"), "{said}");
}

#[test]
fn a_module_without_a_layer_and_a_name_without_a_module_are_found() {
    let (status, said) =
        said(LIST, &[("lib.rs", "mod bottom;\nmod strange;\n"), ("bottom.rs", ""), ("strange.rs", "")]);
    assert_eq!(status, Some(1));
    assert!(said.contains("crate/src/strange.rs:1: strange stands in no layer"), "{said}");
    assert!(said.contains("docs/architecture.md:2: there is no module top"), "{said}");
}

#[test]
fn an_exception_exempts_one_import_and_must_be_needed() {
    let files = [
        ("lib.rs", "mod bottom;\nmod top;\n"),
        ("top.rs", "use crate::bottom::Thing;\n"),
        ("bottom.rs", "use crate::top::Above;\n"),
    ];
    let list = |exception: &str| format!("```layers crate/src\ntop  above\nbottom  below\n{exception}\n```\n");
    assert_eq!(said(&list("except bottom -> top  each knows the other"), &files), (Some(0), String::new()));
    let files = [files[0], files[1], ("bottom.rs", "")];
    let (status, said) = said(&list("except bottom -> top  each knows the other"), &files);
    assert_eq!(status, Some(1));
    assert!(said.contains("docs/architecture.md:4: bottom imports nothing from top: remove the exception"), "{said}");
}

#[test]
fn a_crate_of_many_files_has_a_list() {
    let names: Vec<String> = (0..12).map(|number| format!("m{number}")).collect();
    let root: String = names.iter().map(|name| format!("mod {name};\n")).collect();
    let paths: Vec<String> = names.iter().map(|name| format!("{name}.rs")).collect();
    let mut files = vec![("lib.rs", root.as_str())];
    files.extend(paths.iter().map(|path| (path.as_str(), "")));
    let (status, said) = said("", &files);
    assert_eq!(status, Some(1));
    assert!(said.contains("crate/src/lib.rs:1: a crate of 13 files has a list"), "{said}");
}

#[test]
fn what_cannot_be_read_is_told_with_its_place() {
    let (status, said) = said("", &[("lib.rs", "mod missing;\n")]);
    assert!(status == Some(2) && said.contains("crate/src/missing.rs"), "{said}");
    let (status, told) = self::said("", &[("lib.rs", "fn f() {\n")]);
    assert!(status == Some(2) && told.contains("crate/src/lib.rs: line"), "{told}");
    let (status, told) = self::said("```layers nowhere/src\ntop  above\n```\n", &[("lib.rs", "")]);
    assert!(
        status == Some(1) && told.contains("docs/architecture.md:1: nowhere/src is no folder of a crate"),
        "{told}"
    );
}

/// A tree of packages with these manifests, beside the crate.
fn packages(list: &str, manifests: &[(&str, &str)]) -> (Option<i32>, String) {
    let folder = tree(&format!("```packages .\n{list}```\n"), &[("lib.rs", "")]);
    for (path, text) in manifests {
        let path = folder.path().join(path).join("Cargo.toml");
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let output = Command::new(env!("CARGO_BIN_EXE_kizami-layers")).arg(folder.path()).output().unwrap();
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn a_dependency_against_the_layers_of_the_packages_is_named_with_file_and_line() {
    let list = "lab crate  above\nproduct  below\n";
    let lab = ("lab/one", "[package]\nname = \"one\"\n[dependencies]\nproduct = { path = \"../../product\" }\n");
    let plain = ("product", "[package]\nname = \"product\"\n");
    assert_eq!(packages(list, &[lab, plain]), (Some(0), String::new()));
    let upwards = ("product", "[package]\nname = \"product\"\n\n[dependencies]\none = { path = \"../lab/one\" }\n");
    let (status, said) = packages(list, &[("lab/one", "[package]\nname = \"one\"\n"), upwards]);
    assert!(
        status == Some(1) && said.contains("product/Cargo.toml:5: the dependency is of lab/one, which is above"),
        "{said}"
    );
    // By way of the workspace's own list.
    let workspace = ("", "[workspace.dependencies]\none = { path = \"lab/one\" }\n");
    let upwards = ("product", "[package]\nname = \"product\"\n[dependencies]\none.workspace = true\n");
    let (status, said) = packages(list, &[("lab/one", "[package]\nname = \"one\"\n"), workspace, upwards]);
    assert!(status == Some(1) && said.contains("product/Cargo.toml:4: the dependency is of lab/one"), "{said}");
    // Tests may use what they like.
    let tests = ("product", "[package]\nname = \"product\"\n[dev-dependencies]\none = { path = \"../lab/one\" }\n");
    assert_eq!(packages(list, &[("lab/one", "[package]\nname = \"one\"\n"), tests]).0, Some(0));
    let (status, said) = packages(list, &[lab, plain, ("other", "[package]\nname = \"other\"\n")]);
    assert!(status == Some(1) && said.contains("other/Cargo.toml:1: the package stands in no layer"), "{said}");
}

/// A target that is said to have no tests is built for none.
#[test]
fn a_test_that_is_never_run_is_found() {
    let folder = tree(LIST, &[("lib.rs", "//! ```\n//! one();\n//! ```\n\n#[cfg(test)]\nmod tests {}\n")]);
    let manifest = |more: &str| {
        let text = format!("[package]\nname = \"one\"\n\n[lib]\n{more}\n");
        fs::write(folder.path().join("crate/Cargo.toml"), text).unwrap();
        let output = Command::new(env!("CARGO_BIN_EXE_kizami-layers")).arg(folder.path()).output().unwrap();
        String::from_utf8(output.stderr).unwrap()
    };
    let never = "this is never run, because crate/Cargo.toml says";
    assert!(!manifest("test = true").contains(never));
    assert!(manifest("test = false").contains(&format!("crate/src/lib.rs:5: {never} test = false")));
    assert!(manifest("doctest = false").contains(&format!("crate/src/lib.rs:1: {never} doctest = false")));
}
