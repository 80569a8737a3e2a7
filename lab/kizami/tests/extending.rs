//! The examples of docs/extending.md as a test: the file and the line of each are put into a copy of these sources, which is
//! then built and really measures the new workload, also in the new environment.
//!
//! The copy and its build lie in the target folder and stay there, so that a second run compiles only what changed, and the first
//! one begins with what was compiled for this test. Copied files keep the times of their originals, and the additions from the
//! document have the document's time, or that of the first run if it is later, because cargo decides by these times.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::SystemTime;

use kizami_recording::folder::{Outcome, Reader};
use serde_json::Value;

const DOCUMENT: &str = "docs/extending.md";
const WORKLOAD: &str = "page-fault";

/// An example of the document: below which heading it stands, its file, and the list that its line is put into.
struct Example {
    heading: &'static str,
    file: &'static str,
    list: &'static str,
}

const EXAMPLES: [Example; 2] = [
    Example {
        heading: "\n## An environment\n",
        file: "lab/environments/src/unshare.rs",
        list: "lab/environments/src/lib.rs",
    },
    Example {
        heading: "\n## A workload\n",
        file: "lab/workloads/src/linux/page_fault.rs",
        list: "lab/workloads/src/linux/mod.rs",
    },
];

#[test]
fn what_is_added_is_one_new_file_and_one_line_as_the_document_shows() {
    let Some(cargo) = cargo() else {
        return skipped("kizami: the example of docs/extending.md: cargo is not there to build it");
    };
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("extending");
    let copy = place.join("source");
    let before = sources(&workspace);
    renew(&workspace, &copy, &before);

    let target = place.join("target");
    let begun = place.join("begun");
    if !begun.exists() {
        let compiled = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("the folder of what is built");
        begin_with(compiled, &target);
        write(&begun, b"", SystemTime::now());
    }

    let document = text(&workspace.join(DOCUMENT));
    let written = modified(&workspace.join(DOCUMENT)).max(modified(&begun));
    for Example { heading, file, list } in EXAMPLES {
        let (_, section) = document.split_once(heading).expect("a section of the document");
        write(&copy.join(file), block(section, "rust").as_bytes(), written);
        let there = text(&copy.join(list));
        let listed = modified(&copy.join(list)).max(written);
        write(&copy.join(list), patched(&there, &block(section, "diff")).as_bytes(), listed);
    }
    one_file_and_one_line_each(&before, &sources(&copy));

    build(&cargo, &copy, &target);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let recording = folder.path().join("recording");
    let environments = environments();
    let shown = measure(&target.join("debug/kizami"), &environments, &recording);
    assert_eq!(shown["complete"], 2 * environments.len(), "{shown}");
    assert_eq!(shown["failed"], Value::Array(Vec::new()), "{shown}");

    let reader = Reader::open(&recording).expect("a recording");
    assert!(reader.damage().is_empty(), "{:?}", reader.damage());
    let series: Vec<_> = reader.series().collect();
    assert_eq!(series.iter().map(|one| one.series.environment.as_str()).collect::<Vec<_>>(), environments);
    for one in &series {
        assert_eq!((one.series.workload.as_str(), one.series.params["pages"].as_str()), (WORKLOAD, "500"));
        for trial in &one.series.trials {
            assert_eq!((trial.rows, &trial.outcome), (500, &Outcome::Complete));
            assert!(trial.facts["minor_faults"] >= 500.0, "each page is a fault: {:?}", trial.facts);
            assert_eq!(trial.facts["allocations"], 0.0);
        }
    }
    let report = text(Path::new(shown["report"].as_str().expect("a report's path")));
    assert!(report.contains("first touch of a page"), "the report does not have the workload");
}

/// The host, and the new environment where this user may have it.
fn environments() -> Vec<&'static str> {
    let mut command = Command::new("unshare");
    command.args(["--mount", "--uts", "--ipc", "--net", "--pid", "--fork", "--mount-proc", "true"]);
    let may = command.output().is_ok_and(|output| output.status.success());
    if !may {
        skipped("kizami: the environment of docs/extending.md: new namespaces are refused here");
    }
    if may { vec!["host", "unshare"] } else { vec!["host"] }
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
        ["Cargo.toml", "Cargo.lock", "lab", "otp", "rtos", "image", "unikernel", "examples", "tools"]
            .map(PathBuf::from)
            .to_vec();
    while let Some(path) = open.pop() {
        let whole = workspace.join(&path);
        if whole.is_dir() {
            open.extend(entries(&whole).iter().map(|entry| path.join(entry.file_name().expect("a name"))));
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
    assert_eq!(file.matches(&there).count(), 1, "the list has this not once:\n{there}");
    file.replacen(&there, &then, 1)
}

/// What the document asks for is what the project promises.
fn one_file_and_one_line_each(before: &BTreeMap<String, Vec<u8>>, after: &BTreeMap<String, Vec<u8>>) {
    let changed = after.iter().filter(|(path, bytes)| before.get(*path) != Some(*bytes)).map(|(path, _)| path.as_str());
    let mut asked: Vec<_> = EXAMPLES.iter().flat_map(|example| [example.file, example.list]).collect();
    asked.sort_unstable();
    assert_eq!(changed.collect::<Vec<_>>(), asked);
    for Example { file, list, .. } in EXAMPLES {
        assert!(!before.contains_key(file), "{file} is there already");
        let lines = |files: &BTreeMap<String, Vec<u8>>| String::from_utf8_lossy(&files[list]).lines().count();
        assert_eq!(lines(after), lines(before) + 1);
    }
}

/// Puts to `target` what is `compiled` of the profiles that are built below, as far as cargo finds it again: libraries, and what it
/// notes of them. What of it does not hold for the copy, cargo compiles by itself.
fn begin_with(compiled: &Path, target: &Path) {
    let is_profile = |path: &Path| {
        let named = path.file_name().is_some_and(|name| ["debug", "static", "small"].iter().any(|one| name == *one));
        named && path.join(".fingerprint").is_dir()
    };
    let beside = entries(compiled);
    let within = beside.iter().filter(|path| path.is_dir()).flat_map(|folder| entries(folder));
    for profile in within.chain(beside.clone()).filter(|path| is_profile(path)) {
        let copy = target.join(profile.strip_prefix(compiled).expect("a path below it"));
        for noted in [".fingerprint", "build"] {
            copy_all(&profile.join(noted), &copy.join(noted), &|_| true);
        }
        let is_library =
            |path: &Path| path.extension().is_some_and(|is| ["rlib", "rmeta", "so", "d"].iter().any(|one| is == *one));
        copy_all(&profile.join("deps"), &copy.join("deps"), &is_library);
    }
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    entries.map(|entry| entry.expect("an entry").path()).collect()
}

/// Copies the files that are `wanted` from a folder and those in it, with their times.
fn copy_all(from: &Path, to: &Path, wanted: &dyn Fn(&Path) -> bool) {
    fs::create_dir_all(to).unwrap_or_else(|e| panic!("{}: {e}", to.display()));
    for path in entries(from) {
        let copy = to.join(path.file_name().expect("a name"));
        if path.is_dir() {
            copy_all(&path, &copy, wanted);
        } else if wanted(&path) {
            let copied = fs::copy(&path, &copy).and_then(|_| File::open(&copy));
            match copied.and_then(|file| file.set_modified(fs::metadata(&path)?.modified()?)) {
                // Another build has taken it away.
                Err(e) if e.kind() == std::io::ErrorKind::NotFound => {}
                dated => dated.unwrap_or_else(|e| panic!("{}: {e}", copy.display())),
            }
        }
    }
}

/// Builds the program and its probe, without the network: what it needs was needed for this test too.
fn build(cargo: &Path, source: &Path, target: &Path) {
    let mut program = Command::new(cargo);
    program.args(["build", "--offline", "--package", "kizami"]);
    let mut probe = Command::new("sh");
    probe.arg(source.join("lab/probes/linux/build")).arg(target.join("debug")).arg("--offline");
    // How fast it is does not matter here, nor where its lines are, and to optimise it takes longer than all the rest.
    for what in ["debug=false", "package.kizami-recording.opt-level=0"] {
        program.arg("--config").arg(format!("profile.dev.{what}"));
    }
    for package in ["kizami-workloads", "kizami-probe"] {
        probe.arg("--config").arg(format!("profile.static.package.{package}.opt-level=0"));
    }
    for mut command in [program, probe] {
        command.current_dir(source).env("CARGO_TARGET_DIR", target);
        succeeded(&command.output().expect("cargo"));
    }
}

/// Runs the workload twice in each, each time in a fresh process: what the program says of it.
fn measure(kizami: &Path, environments: &[&str], recording: &Path) -> Value {
    let mut command = Command::new(kizami);
    command.args(["run", WORKLOAD, "--set", "pages=500", "--trials", "2", "--environment", &environments.join(",")]);
    command.args(["--wait", "--json", "--out"]).arg(recording);
    let output = command.output().expect("the program");
    succeeded(&output);
    serde_json::from_slice(&output.stdout).expect("JSON")
}

fn succeeded(output: &Output) {
    let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{}\n{}{}", output.status, said(&output.stdout), said(&output.stderr));
}
