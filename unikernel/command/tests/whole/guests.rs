//! What a guest has: arguments, time, memory, an end.

use crate::support::{guest, monitors, run_plain, unikernel};

#[test]
fn a_guest_is_given_arguments_and_variables() {
    for monitor in monitors() {
        let ran = run_plain(monitor, &["hello", "you", "me"]);
        assert_eq!((ran.code, ran.out.as_str(), ran.error.as_str()), (Some(0), "hello, you and me\n", ""), "{monitor}");
        let run = |variable: &str| {
            let mut command = unikernel();
            command.arg("run").arg(guest("plain")).args([
                "--monitor",
                monitor,
                "--env",
                "A=b=c",
                "--",
                "variable",
                variable,
            ]);
            String::from_utf8(command.output().unwrap().stdout).unwrap()
        };
        assert_eq!((run("A").as_str(), run("B").as_str()), ("Some(\"b=c\")\n", "None\n"), "{monitor}");
    }
}

#[test]
fn it_ends_with_its_own_code_and_a_panic_says_where() {
    for monitor in monitors() {
        assert_eq!(run_plain(monitor, &["exit", "7"]).code, Some(7), "{monitor}");
        let ran = run_plain(monitor, &["panic", "x"]);
        assert_eq!(ran.code, Some(101), "{monitor}");
        let said = ran.error + &ran.out;
        assert!(said.contains("plain.rs:") && said.contains("as I was told: x"), "{monitor}: {said}");
    }
}

#[test]
fn it_has_time_memory_and_numbers() {
    for monitor in monitors() {
        let ran = run_plain(monitor, &["time"]);
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
        let told: u64 = ran.out.trim().parse().unwrap_or_else(|_| panic!("{monitor}: {ran:?}"));
        assert!(since.abs_diff(told) < 60, "{monitor}: {told} of {since}");
        let ran = run_plain(monitor, &["memory"]);
        assert_eq!((ran.code, ran.out.as_str()), (Some(0), "memory is right\n"), "{monitor}: {ran:?}");
        let ran = run_plain(monitor, &["float"]);
        assert_eq!(ran.out, "1.596163\n", "{monitor}: {ran:?}");
    }
}

#[test]
fn it_has_all_of_its_memory_again_and_again() {
    for monitor in monitors() {
        let ran = run_plain(monitor, &["heap"]);
        let lines: Vec<&str> = ran.out.lines().collect();
        assert!(lines.len() == 3 && lines.iter().all(|line| *line == lines[0]), "{monitor}: {ran:?}");
        let pieces: u64 = lines[0].split(' ').next().unwrap().parse().unwrap();
        // Of 16 MiB all but the program, the stack and the pages of the monitor.
        assert!((140..=165).contains(&pieces), "{monitor}: {pieces}");
    }
}

#[test]
fn much_text_arrives_in_order() {
    for monitor in monitors() {
        let ran = run_plain(monitor, &["long"]);
        assert!(ran.out.lines().enumerate().all(|(n, line)| line == format!("line {n} of many")), "{monitor}");
        assert_eq!(ran.out.lines().count(), 100_000, "{monitor}");
    }
}
