//! The example of docs/extending.md as a test: its file and its line are put into a copy of these sources, which is
//! then built and really measures the workload.
//!
//! The copy and its build lie in the target folder and stay there, so that a second run compiles only what changed.
//! Copied files keep the times of their originals, and the additions from the document have the document's time,
//! because cargo decides by these times.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::SystemTime;

use kizami_recording::folder::{Outcome, Reader};
use serde_json::Value;

const DOCUMENT: &str = "docs/extending.md";
const NEW_FILE: &str = "lab/workloads/src/linux/page_fault.rs";
const LIST: &str = "lab/workloads/src/linux/mod.rs";
const WORKLOAD: &str = "page-fault";

#[test]
fn a_workload_is_one_new_file_and_one_line_as_the_document_shows() {
    let Some(cargo) = cargo() else {
        return skipped("kizami: the example of docs/extending.md: cargo is not there to build it");
    };
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("extending");
    let copy = place.join("source");
    let before = sources(&workspace);
    renew(&workspace, &copy, &before);

    let document = text(&workspace.join(DOCUMENT));
    let written = modified(&workspace.join(DOCUMENT));
    write(&copy.join(NEW_FILE), block(&document, "rust").as_bytes(), written);
    let list = text(&copy.join(LIST));
    let listed = modified(&copy.join(LIST)).max(written);
    write(&copy.join(LIST), patched(&list, &block(&document, "diff")).as_bytes(), listed);
    one_file_and_one_line(&before, &sources(&copy));

    let target = place.join("target");
    build(&cargo, &copy, &target);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let recording = folder.path().join("recording");
    let shown = measure(&target.join("debug/kizami"), &recording);
    assert_eq!(shown["complete"], 2, "{shown}");
    assert_eq!(shown["failed"], Value::Array(Vec::new()), "{shown}");

    let reader = Reader::open(&recording).expect("a recording");
    assert!(reader.damage().is_empty(), "{:?}", reader.damage());
    let series: Vec<_> = reader.series().collect();
    let [one] = series.as_slice() else { panic!("{} series", series.len()) };
    assert_eq!((one.series.workload.as_str(), one.series.params["pages"].as_str()), (WORKLOAD, "500"));
    for trial in &one.series.trials {
        assert_eq!((trial.rows, &trial.outcome), (500, &Outcome::Complete));
        assert!(trial.facts["minor_faults"] >= 500.0, "each page is a fault: {:?}", trial.facts);
        assert_eq!(trial.facts["allocations"], 0.0);
    }
    let report = text(Path::new(shown["report"].as_str().expect("a report's path")));
    assert!(report.contains("first touch of a page"), "the report does not have the workload");
}

/// The cargo that runs this test, or the one in PATH.
fn cargo() -> Option<PathBuf> {
    let cargo = std::env::var_os("CARGO").map_or_else(|| PathBuf::from("cargo"), PathBuf::from);
    let answer = Command::new(&cargo).arg("--version").output().ok()?;
    answer.status.success().then_some(cargo)
}

/// Names what could not be tested, for whoever runs the tests.
fn skipped(what: &str) {
    eprintln!("skipped: {what}");
    if let Some(list) = std::env::var_os("KIZAMI_SKIPPED") {
        let list = File::options().append(true).create(true).open(list);
        list.and_then(|mut file| writeln!(file, "{what}")).expect("the list of what was skipped");
    }
}

/// What a build of the lab is made of, by path in the workspace.
fn sources(workspace: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut open: Vec<PathBuf> =
        ["Cargo.toml", "Cargo.lock", "lab", "otp", "rtos", "image", "examples", "tools"].map(PathBuf::from).to_vec();
    while let Some(path) = open.pop() {
        let whole = workspace.join(&path);
        if whole.is_dir() {
            let entries = fs::read_dir(&whole).unwrap_or_else(|e| panic!("{}: {e}", whole.display()));
            open.extend(entries.map(|entry| path.join(entry.expect("an entry").file_name())));
        } else {
            let bytes = fs::read(&whole).unwrap_or_else(|e| panic!("{}: {e}", whole.display()));
            found.insert(path.to_str().expect("a name in UTF-8").to_owned(), bytes);
        }
    }
    found
}

/// Makes `copy` what `files` are in `workspace`, with the times of the originals.
fn renew(workspace: &Path, copy: &Path, files: &BTreeMap<String, Vec<u8>>) {
    match fs::remove_dir_all(copy) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => panic!("{}: {e}", copy.display()),
        _ => {}
    }
    for (path, bytes) in files {
        write(&copy.join(path), bytes, modified(&workspace.join(path)));
    }
}

fn write(path: &Path, bytes: &[u8], time: SystemTime) {
    let folder = path.parent().expect("a folder");
    let written = fs::create_dir_all(folder).and_then(|()| {
        let mut file = File::create(path)?;
        file.write_all(bytes)?;
        file.set_modified(time)
    });
    written.unwrap_or_else(|e| panic!("{}: {e}", path.display()));
}

fn modified(path: &Path) -> SystemTime {
    let time = fs::metadata(path).and_then(|about| about.modified());
    time.unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// The first block of `language` in a document.
fn block(document: &str, language: &str) -> String {
    let begin = format!("```{language}\n");
    let block = document.split_once(&begin).and_then(|(_, rest)| rest.split_once("```\n"));
    block.unwrap_or_else(|| panic!("{DOCUMENT} has no block of {language}")).0.to_owned()
}

/// `file` with a block of a diff applied: a line begins with a space if it is there, and with + if it is new.
fn patched(file: &str, diff: &str) -> String {
    let there: String =
        diff.lines().filter_map(|line| line.strip_prefix(' ')).map(|line| format!("{line}\n")).collect();
    let then: String = diff.lines().map(|line| format!("{}\n", &line[1..])).collect();
    assert_eq!(file.matches(&there).count(), 1, "{LIST} has this not once:\n{there}");
    file.replacen(&there, &then, 1)
}

/// What the document asks for is what the project promises.
fn one_file_and_one_line(before: &BTreeMap<String, Vec<u8>>, after: &BTreeMap<String, Vec<u8>>) {
    let changed: Vec<_> = after.iter().filter(|(path, bytes)| before.get(*path) != Some(*bytes)).collect();
    let paths: Vec<_> = changed.iter().map(|(path, _)| path.as_str()).collect();
    assert_eq!(paths, [LIST, NEW_FILE]);
    assert!(!before.contains_key(NEW_FILE), "{NEW_FILE} is there already");
    assert_eq!(after.len(), before.len() + 1);
    let lines = |files: &BTreeMap<String, Vec<u8>>| String::from_utf8_lossy(&files[LIST]).lines().count();
    assert_eq!(lines(after), lines(before) + 1);
}

/// Builds the program and its probe, without the network: what it needs was needed for this test too.
fn build(cargo: &Path, source: &Path, target: &Path) {
    let mut program = Command::new(cargo);
    program.args(["build", "--offline", "--package", "kizami"]);
    let mut probe = Command::new("sh");
    probe.arg(source.join("lab/probes/linux/build")).arg(target.join("debug")).arg("--offline");
    for mut command in [program, probe] {
        command.current_dir(source).env("CARGO_TARGET_DIR", target);
        // Only to be quick: nobody debugs it.
        command
            .env("CARGO_PROFILE_DEV_DEBUG", "0")
            .env("CARGO_PROFILE_STATIC_OPT_LEVEL", "0")
            .env("CARGO_INCREMENTAL", "0");
        succeeded(&command.output().expect("cargo"));
    }
}

/// Runs the workload twice, each time in a fresh process: what the program says of it.
fn measure(kizami: &Path, recording: &Path) -> Value {
    let mut command = Command::new(kizami);
    command.args(["run", WORKLOAD, "--set", "pages=500", "--trials", "2", "--wait", "--json", "--out"]).arg(recording);
    let output = command.output().expect("the program");
    succeeded(&output);
    serde_json::from_slice(&output.stdout).expect("JSON")
}

fn succeeded(output: &Output) {
    let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{}\n{}{}", output.status, said(&output.stdout), said(&output.stderr));
}
