//! Files of others: imports, names that are no text, and text that a terminal would obey.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::harness::{Ended, Lab, text, trials};

const DATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../recording/tests/data");

fn cyclictest() -> String {
    fs::read_to_string(Path::new(DATA).join("cyclictest-2.4.json")).expect("a file of cyclictest")
}

/// Fails when there is anything that a terminal would obey.
fn obeys_nothing(ended: &Ended) {
    for said in [&ended.out, &ended.err] {
        let obeyed = said.chars().find(|c| c.is_control() && *c != '\n');
        assert_eq!(obeyed, None, "{ended}");
    }
}

#[test]
fn a_measurement_that_is_given_twice_counts_once() {
    let lab = Lab::new();
    let write = |name: &str, content: &str| fs::write(lab.path().join(name), content).expect("a file");
    write("rpi3-Base-Sum_normal-123456.csv", "count,time,heap_size,minor_gcs\r\n1,532,2586,3\r\n2,529,2586,4\r\n");
    write("rpi3-Base-Sum_normal-123457.csv", "count,time,heap_size,minor_gcs\r\n1,532,2586,3\r\n2,529,2586,4\r\n");
    write("rpi3-Base-Sum_normal-123458.csv", "count,time,heap_size,minor_gcs\r\n1,532,2586,3\r\n2,530,2586,4\r\n");
    let one = "rpi3-Base-Sum_normal-123456.csv";
    let args = ["import", "nerves", "--out", "r", one, one, "rpi3-Base-Sum_normal-123457.csv"];
    let all = [&args[..], &["rpi3-Base-Sum_normal-123458.csv"]].concat();
    lab.kizami(&all).succeeded().says(&["was given more than once, and counts once", "has the same content as"]);
    let shown = lab.show(&lab.path().join("r"));
    assert_eq!(trials(&shown).len(), 2, "{shown}");
}

#[test]
fn imports_are_told_apart_by_their_files() {
    let lab = Lab::new();
    for (folder, cycles) in [("idle", "\"min\""), ("load", "\"min\" ")] {
        fs::create_dir(lab.path().join(folder)).expect("a folder");
        fs::write(lab.path().join(folder).join("c.json"), cyclictest().replace("\"min\"", cycles)).expect("a file");
    }
    lab.kizami(&["import", "cyclictest", "--out", "r", "idle/c.json", "load/c.json"]).succeeded();
    let shown = lab.kizami(&["show", "r"]).succeeded();
    for label in ["wakeup, file idle/c, thread0", "wakeup, file load/c, thread1"] {
        assert!(shown.out.contains(label), "{label}: {shown}");
    }
}

#[test]
fn a_path_that_is_no_text_is_a_path() {
    let lab = Lab::new();
    let name = OsStr::from_bytes(b"c-\xff.json");
    fs::write(lab.path().join(name), cyclictest()).expect("a file");
    let (folder, folder_of_other) = (OsStr::from_bytes(b"r-\xff"), OsStr::from_bytes(b"s-\xff"));
    let run = |args: &[&OsStr]| {
        let mut command = lab.command(&[]);
        lab.start_command({
            command.args(args);
            command
        })
        .end()
        .succeeded()
        .says(&[])
    };
    let word = OsStr::new;
    let imported = run(&[word("import"), word("--json"), word("cyclictest"), name, word("--out"), folder]);
    assert_eq!(imported.json()["recording"], "r-\u{fffd}", "{imported}");
    for command in ["show", "report"] {
        run(&[word(command), word("--json"), folder]).json();
        run(&[word(command), folder]);
    }
    run(&[word("import"), word("cyclictest"), name, word("--out"), folder_of_other]);
    let compared = run(&[word("compare"), folder, folder_of_other]);
    assert!(compared.out.contains("r-\u{fffd}"), "{compared}");
    for format in ["csv", "summary", "cyclictest", "figures"] {
        run(&[word("export"), word("--json"), word(format), folder, word("--out"), OsStr::from_bytes(b"out-\xff")])
            .json();
    }
}

#[test]
fn nothing_in_a_recording_commands_the_terminal() {
    let lab = Lab::new();
    let evil = "\\u001b[2J\\u001b]0;owned\\u0007\\u009b31m\\u202e";
    let json = cyclictest().replace("\"cmdline:\": \"", &format!("\"cmdline:\": \"{evil}"));
    let json = json.replace("\"release\": \"", &format!("\"release\": \"{evil}"));
    let name = "c-\u{1b}[2J.json";
    fs::write(lab.path().join(name), &json).expect("a file");
    fs::write(lab.path().join("d.json"), json.replace("[2J", "[3J")).expect("a file");
    obeys_nothing(&lab.kizami(&["import", "cyclictest", name, "d.json", "--out", "r\u{1b}[31m"]).succeeded());

    // What the importer lets through is one thing, what somebody writes into a recording another.
    let recording = lab.path().join("r\u{1b}[31m");
    let path = recording.join("recording.json");
    let edited =
        fs::read_to_string(&path).expect("a recording").replace("\"kernel\": \"", &format!("\"kernel\": \"{evil}"));
    fs::write(&path, edited.replace("\"part\": \"", &format!("\"part\": \"{evil}"))).expect("a file");
    for args in
        [&["show"][..], &["show", "--json"], &["show", "--series", "d"], &["show", "--deadline", "50us"], &["report"]]
    {
        obeys_nothing(&lab.kizami(&[args, &[text(&recording)]].concat()).ended_with(4));
    }
    obeys_nothing(&lab.kizami(&["show", "no\u{1b}[2Jthing"]).ended_with(4));

    // A study that came with a recording, or from anywhere.
    let study = "name = \"mine\"\ntitle = \"M\\u001b[2J\"\n[[group]]\nid = \"a\"\ntitle = \"\\u001b[2J\"\nworkloads = [\"empty\"]\n";
    fs::write(lab.path().join("mine.toml"), study).expect("a file");
    obeys_nothing(&lab.kizami(&["run", "mine.toml", "--wait", "--set", "samples=1000", "--out", "m"]).succeeded());
    obeys_nothing(&lab.kizami(&["show", "m"]).succeeded());
}

#[test]
fn what_other_tools_measured_is_shown_as_what_it_is() {
    let lab = Lab::new();
    let others = Path::new(DATA).join("others");
    for (format, file, title, label) in [
        ("hyperfine", "hyperfine-1.15.json", "run time of a command", "run-time, command sleep 0.003"),
        ("fio", "fio-3.33-plus.json", "latency of input and output", "direction read"),
        ("histogram", "cyclictest-2.4-histogram.txt", "wake-up from an absolute periodic timer", "thread1"),
        ("histogram", "rtla-osnoise-hist.txt", "noise of the operating system", "cpu11"),
    ] {
        let out = format!("r-{file}");
        let imported = lab.kizami(&["import", format, text(&others.join(file)), "--out", &out]).succeeded();
        let shown = lab.kizami(&["show", &out]).succeeded();
        assert!(!imported.err.contains("left out of the report") && !shown.err.contains("left out of"), "{shown}");
        assert!(shown.out.contains(title) && shown.out.contains(label), "{shown}");
        lab.kizami(&["report", &out]).succeeded();
    }
    let wrong = text(&others.join("oslat-2.4.json")).to_owned();
    let refused = lab.kizami(&["import", "cyclictest", &wrong, "--out", "none"]).ended_with(1);
    refused.says(&["oslat-2.4.json: it is the JSON of oslat", "kizami import oslat", "No recording was made"]);
    assert!(!lab.path().join("none").exists());
}

#[test]
fn a_recording_is_the_same_by_whatever_path() {
    let lab = Lab::new();
    let args = ["run", "empty", "--wait", "--trials", "6", "--set", "samples=500", "--set", "nice=1,2", "--out", "r"];
    lab.kizami(&args).succeeded();
    let mut names: Vec<String> = trials(&lab.show(&lab.path().join("r"))).into_iter().map(|(name, ..)| name).collect();
    names.dedup();
    let [one, two] = &names[..] else { panic!("{names:?}") };
    // Whether two series were interleaved decides how they are compared.
    let compared = |folder: &str| {
        let (a, b) = (format!("r:{one}"), format!("{folder}:{two}"));
        lab.kizami(&["compare", "--json", "--measure", "mean", &a, &b]).succeeded().json()[0]["comparison"].clone()
    };
    let plain = compared("r");
    assert!(plain.is_object(), "{plain}");
    for folder in ["./r", text(&lab.path().join("r"))] {
        assert_eq!(compared(folder), plain, "{folder}");
    }
}
