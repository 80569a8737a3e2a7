//! Virtual machines: the same probe in a guest, whose samples outlive it, and nothing of it left, however the run ends.

use std::fs;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::Value;

use crate::harness::{
    Lab, Left, is_root, lacks_root, processes, recorded, rows_so_far, series_in, skipped, text, trials,
};
use crate::namespace::View;

/// Words for a kernel.
const WORDS: &str = "threadirqs audit=0";

const PROGRAM: &str = "qemu-system-x86";

/// Whether this test can only name itself as skipped, because no guest comes up here.
pub fn lacks_guests(lab: &Lab, test: &str) -> bool {
    lab.working(test, &["qemu"]).is_empty()
}

/// The number of the monitor's process.
pub fn monitor(parent: i32) -> Option<i32> {
    // A name has 15 letters in the table of processes.
    processes().into_iter().find(|p| p.parent == parent && p.name.starts_with(PROGRAM)).map(|p| p.pid)
}

#[test]
fn the_same_probe_runs_in_a_guest_under_the_settings_that_were_asked_for() {
    let lab = Lab::new();
    if lacks_guests(&lab, "the same probe") {
        return;
    }
    let before = Left::now();
    let network = if is_root() { "link" } else { "user" };
    let workloads = ["run", "syscall", "clock-gap", "fcntl-lock", "net-rtt", "tcp", "udp"];
    let run = [&workloads[..], &["--wait", "--environment", "host,qemu", "--trials", "2"]].concat();
    let set = [
        "--set",
        &format!("network={network}"),
        "--set",
        "protocol=tcp,udp",
        "--set",
        "trips=200",
        "--set",
        "vm_cpus=1",
        "--set",
        "vm_memory=256MiB",
        "--set",
        "machine=q35",
        "--set",
        "vm_kernel=rt",
        "--set",
        &format!("kernel_args={WORDS}"),
        "--set",
        "samples=300",
        "--set",
        "duration=300ms",
    ];
    let ended = lab.kizami(&[&run[..], &set].concat());
    before.again();
    if ended.said().contains("there is no rt kernel") {
        return skipped("kizami: the same probe in qemu with a kernel for real time: none was fetched");
    }
    ended.succeeded();
    let recording = recorded(&lab.recording());
    let crc = |trial: &Value| trial["facts"]["program_crc32"].clone();
    let host = crc(&series_in(&recording, "host")[0]["trials"][0]);
    assert!(host.is_number(), "{host}");
    let guests = series_in(&recording, "qemu");
    // One clock gap series a processor, as the guest has them and not as the host has, and a round trip by each protocol.
    assert_eq!(guests.len(), 7, "{recording}");
    for series in guests {
        // Whether it is emulated is what the monitor says.
        let accelerator = &series["trials"][0]["effective"]["accel"]["value"];
        assert_eq!(series["emulated"] == true, accelerator == "tcg", "{series}");
        for trial in series["trials"].as_array().expect("trials") {
            assert_eq!(trial["outcome"], "complete", "{trial}");
            assert_eq!(crc(trial), host);
            assert!(trial["rows"].as_u64().expect("rows") > 0, "{trial}");
            for (name, value) in [
                ("vm_cpus", "1"),
                ("vm_memory", "256MiB"),
                ("machine", "q35"),
                ("vm_kernel", "rt"),
                ("preemption", "rt"),
                ("kernel_args", WORDS),
                ("network", network),
            ] {
                let effective = &trial["effective"][name];
                assert_eq!((&effective["value"], &effective["as_requested"]), (&value.into(), &true.into()), "{trial}");
            }
        }
    }
    // What was sent out of the guest was counted on the host.
    for series in series_in(&recording, "qemu").into_iter().filter(|series| series["workload"] == "net-rtt") {
        let facts = &series["trials"][0]["facts"];
        assert_eq!(facts["answered"], 201.0, "{facts}");
    }
}

#[test]
fn rows_that_are_sent_are_as_whole_as_rows_in_shared_memory() {
    let lab = Lab::new();
    if lacks_guests(&lab, "boards with and without shared memory") {
        return;
    }
    let before = Left::now();
    let run = ["run", "syscall", "wakeup", "net-rtt", "--wait", "--environment", "qemu", "--trials", "2"];
    // More rows than are sent at once, and workloads that go on while some are sent.
    let sizes = ["--set", "samples=20000", "--set", "batch=1", "--set", "cycles=1500", "--set", "trips=100"];
    let sizes = [&sizes[..], &["--set", "network=user"]].concat();
    lab.kizami(&[&run[..], &sizes, &["--set", "machine=default,microvm"]].concat()).succeeded();
    before.again();
    let mut told = Vec::new();
    for series in series_in(&recorded(&lab.recording()), "qemu") {
        let rows = match series["workload"].as_str() {
            Some("syscall") => 20_000,
            Some("wakeup") => 1500,
            _ => 100,
        };
        for trial in series["trials"].as_array().expect("trials") {
            assert_eq!((&trial["outcome"], &trial["rows"]), (&"complete".into(), &rows.into()), "{trial}");
            assert_eq!(trial["dropped"], 0, "{trial}");
            assert_eq!(trial["effective"]["network"]["value"], "user", "{trial}");
            let machine = &trial["effective"]["machine"];
            assert_eq!(machine["as_requested"], true, "{trial}");
            told.push((rows, machine["value"].as_str().expect("a board").to_owned()));
        }
    }
    told.sort();
    let each = |rows, board: &str| [(rows, board.to_owned()), (rows, board.to_owned())];
    assert_eq!(told, [100, 1500, 20_000].map(|rows| [each(rows, "microvm"), each(rows, "pc")]).concat().concat());
}

#[test]
fn a_board_of_another_processor_does_the_same_work() {
    let lab = Lab::new();
    let available = kizami_environments::find("qemu").expect("it is in the list").available();
    if let Err(why) = available {
        return skipped(&format!("kizami: an arm64 board in qemu: {why}"));
    }
    let before = Left::now();
    let run = ["run", "syscall", "wakeup", "--wait", "--environment", "qemu", "--set", "machine=virt", "--trials", "2"];
    let sizes = ["--set", "samples=2000", "--set", "batch=1", "--set", "cycles=30", "--set", "vm_cpus=2"];
    let ended = lab.kizami(&[&run[..], &sizes].concat());
    before.again();
    if ended.said().contains("./x setup arm64") {
        return skipped("kizami: an arm64 board in qemu: ./x setup arm64 brings what it takes");
    }
    ended.succeeded();
    let recording = recorded(&lab.recording());
    let series = series_in(&recording, "qemu");
    assert_eq!(series.len(), 2, "{recording}");
    for series in series {
        assert_eq!(series["emulated"], true, "{series}");
        let rows = if series["workload"] == "syscall" { 2000 } else { 30 };
        for trial in series["trials"].as_array().expect("trials") {
            assert_eq!((&trial["outcome"], &trial["rows"]), (&"complete".into(), &rows.into()), "{trial}");
            for (name, value) in [("machine", "virt"), ("vm_kernel", "cloud"), ("vm_cpus", "2"), ("accel", "tcg")] {
                assert_eq!(trial["effective"][name]["value"], value, "{trial}");
            }
            let kernel = trial["effective"]["kernel"]["value"].as_str().expect("a release");
            assert!(kernel.ends_with("-arm64"), "{kernel}");
        }
    }
}

/// How many guests are killed in a test, each at another moment; `KIZAMI_KILLS` says another number.
const KILLS: usize = 3;
const CYCLES: u64 = 3000;

#[test]
fn every_row_that_a_killed_guest_had_counted_is_in_the_recording() {
    let lab = Lab::new();
    if lacks_guests(&lab, "a guest that is killed") {
        return;
    }
    let kills = std::env::var("KIZAMI_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(KILLS);
    let before = Left::now();
    // A series whose trials fail twice in a row is given up: so each that is killed is followed by one that is not.
    let (all, cycles) = (2 * kills, format!("cycles={CYCLES}"));
    let run = ["run", "wakeup", "--wait", "--environment", "qemu", "--json", "--set", &cycles];
    let mut run = lab.start(&[&run[..], &["--trials", &all.to_string()]].concat());
    let parent = run.pid();
    let mut counted = Vec::new();
    for kill in 0..kills {
        let begun = format!("[{}/{all}]", 2 * kill + 1);
        let messages = run.output();
        run.wait_for(&begun, || fs::read_to_string(&messages).ok()?.contains(&begun).then_some(()));
        // The memory of the trial before is that of this one, once it is made anew.
        let underway = move || rows_so_far(parent).filter(|rows| (1..CYCLES).contains(rows));
        run.wait_for("rows", underway);
        let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("a time");
        // Any moment of the first second.
        std::thread::sleep(Duration::from_nanos(now.subsec_nanos().into()));
        let machine = run.wait_for("a monitor", || monitor(parent));
        counted.push(run.wait_for("rows", underway));
        // SAFETY: the call takes numbers; the process was found to be the monitor of our run.
        unsafe { libc::kill(machine, libc::SIGKILL) };
    }
    run.end().ended_with(3).says(&["wakeup in qemu", "ended with its machine", "signal 9"]);
    let trials = trials(&lab.show(&lab.recording()));
    assert_eq!(trials.len(), all);
    for (rows, pair) in counted.iter().zip(trials.chunks(2)) {
        let [(_, killed, how), (_, whole, outcome)] = pair else { panic!("{trials:?}") };
        assert!(killed >= rows && *killed < CYCLES && how["failed"].is_string(), "{rows} were counted: {trials:?}");
        assert!(*whole == CYCLES && outcome == "complete", "{trials:?}");
    }
    before.again();
}

#[test]
fn a_guest_that_does_not_come_up_costs_its_own_series() {
    let lab = Lab::new();
    if lacks_guests(&lab, "a guest that does not come up") {
        return;
    }
    let before = Left::now();
    // Without its first process a kernel panics.
    let run =
        ["run", "syscall", "--wait", "--environment", "host,qemu", "--set", "kernel_args=rdinit=/nothing;default"];
    let ended = lab.kizami(&run).ended_with(3);
    ended.says(&["syscall in qemu", "did not come up", "panic"]);
    let trials = trials(&lab.show(&lab.recording()));
    assert_eq!(trials.iter().filter(|(_, _, outcome)| *outcome == "complete").count(), 2, "{trials:?}");
    before.again();
}

#[test]
fn nothing_of_a_guest_outlives_its_run() {
    if lacks_guests(&Lab::new(), "interrupts") {
        return;
    }
    for (signal, while_it_boots) in [(libc::SIGINT, false), (libc::SIGKILL, false), (libc::SIGINT, true)] {
        let lab = Lab::new();
        let before = Left::now();
        let network = if is_root() { "network=link" } else { "network=user" };
        let run = ["run", "wakeup", "--wait", "--environment", "qemu", "--set", "cycles=100000", "--set", network];
        let mut run = lab.start(&run);
        if while_it_boots {
            let parent = run.pid();
            run.wait_for("a monitor", || monitor(parent));
            std::thread::sleep(Duration::from_millis(300));
        } else {
            run.wait_for_rows(20);
        }
        run.stopped_by(signal);
        before.again();
        if !while_it_boots && signal == libc::SIGINT {
            let rows: u64 = trials(&lab.show(&lab.recording())).iter().map(|trial| trial.1).sum();
            assert!(rows >= 20, "{rows} rows");
        }
    }
}

/// The least time of a system call in each of two trials of a run, which boots a machine whose clock is its instructions.
fn least_of_a_run() -> Option<[u64; 2]> {
    let lab = Lab::new();
    if lacks_guests(&lab, "a clock of instructions") {
        return None;
    }
    // A thousand calls would last longer than a tick of 1 ms, so that none were without an interrupt.
    let set = "icount=3 vm_cpus=1 op=getppid samples=100 batch=20";
    let set: Vec<_> = set.split(' ').flat_map(|one| ["--set", one]).collect();
    let run = ["run", "syscall", "--wait", "--environment", "qemu", "--trials", "2"];
    lab.kizami(&[&run[..], &set].concat()).succeeded();
    let folder = lab.path().join("rows");
    lab.kizami(&["export", "csv", text(&lab.recording()), "--out", text(&folder)]).succeeded();
    let rows = fs::read_to_string(folder.join("syscall.qemu.csv")).expect("rows");
    let cells = rows.lines().skip(1).map(|line| line.split(',').collect::<Vec<_>>());
    let warm: Vec<(u64, u64)> = cells
        .filter(|cells| cells[2] == "0")
        .map(|cells| (cells[0].parse().expect("a trial"), cells[3].parse().expect("a time")))
        .collect();
    let least = |trial| {
        let times: Vec<u64> = warm.iter().filter(|sample| sample.0 == trial).map(|sample| sample.1).collect();
        let least = times.iter().copied().min().expect("samples");
        // What no interrupt falls into takes the same, and much of it is so.
        assert!(times.iter().filter(|time| **time == least).count() > times.len() / 20, "{times:?}");
        least
    };
    Some([least(1), least(2)])
}

#[test]
fn where_instructions_are_the_clock_it_repeats_to_the_nanosecond() {
    if let (Some(first), Some(second)) = (least_of_a_run(), least_of_a_run()) {
        assert!(first.iter().chain(&second).all(|time| *time == first[0]), "{first:?} {second:?}");
    }
}

/// A load of this machine would take no time there.
#[test]
fn where_instructions_are_the_clock_a_guest_has_loads_of_its_own_and_it_protects_its_datagrams() {
    let lab = Lab::new();
    if lacks_guests(&lab, "loads and IPsec of a guest's own") {
        return;
    }
    let run = ["run", "udp", "--wait", "--environment", "qemu", "--trials", "1", "--load", "cpu", "--set", "icount=3"];
    let set = ["--set", "vm_cpus=1", "--set", "ipsec=gcm", "--set", "ip=6", "--set", "rate=2Mbit"];
    lab.kizami(&[&run[..], &set, &["--set", "duration=200ms"]].concat()).succeeded();
    let recording = recorded(&lab.recording());
    let trial = &series_in(&recording, "qemu")[0]["trials"][0];
    assert_eq!(trial["outcome"], "complete", "{trial}");
    assert!(trial["facts"]["received"].as_f64().is_some_and(|received| received > 10.0), "{trial}");
    assert_eq!(trial["effective"]["load"]["value"], "cpu", "{trial}");
    assert!(trial["facts"]["load_cpu_operations"].as_f64().is_some_and(|operations| operations > 0.0), "{trial}");
}

/// The disk of a monitor, as that was given it.
const DISK: i32 = 6;

#[test]
fn files_are_on_a_disk_and_one_that_is_full_costs_its_own_series() {
    let lab = Lab::new();
    if lacks_guests(&lab, "a disk") {
        return;
    }
    let before = Left::now();
    // The larger file has no room on the disk.
    let set = "files_on=disk disk_cache=none,directsync disk_engine=native disk_size=16MiB size=4KiB,64MiB samples=20";
    let set: Vec<_> = set.split(' ').flat_map(|one| ["--set", one]).collect();
    let mut run = lab.start(&[&["run", "file", "--wait", "--environment", "qemu", "--trials", "1"][..], &set].concat());
    let parent = run.pid();
    let disk = run.wait_for("a monitor with a disk", || {
        let file = fs::read_link(format!("/proc/{}/fd/{DISK}", monitor(parent)?)).ok()?;
        Some(file.to_string_lossy().into_owned()).filter(|file| file.contains("disk-"))
    });
    // What has no name is gone with who has it, also after a kill -9.
    assert!(disk.starts_with(text(lab.path())) && disk.ends_with(" (deleted)"), "{disk}");
    run.end().ended_with(3).says(&["file in qemu", "No space left on device"]);
    before.again();

    let recording = recorded(&lab.recording());
    let series = series_in(&recording, "qemu");
    assert_eq!(series.len(), 4, "{recording}");
    for series in series {
        let (trial, cache) = (&series["trials"][0], &series["requested"]["disk_cache"]);
        // The cache as the guest sees it: one that has to be flushed, or none.
        let seen = if cache == "none" { "write back" } else { "write through" };
        let expected = [
            ("files_on", "disk".into()),
            ("disk_cache", cache.clone()),
            ("disk_engine", "native".into()),
            ("disk_size", "16MiB".into()),
            ("write_cache", seen.into()),
        ];
        for (name, value) in expected {
            let effective = &trial["effective"][name];
            assert_eq!((&effective["value"], &effective["as_requested"]), (&value, &true.into()), "{name}: {trial}");
        }
        match series["params"]["size"].as_str() {
            Some("4KiB") => assert_eq!((&trial["outcome"], &trial["rows"]), (&"complete".into(), &20.into())),
            _ => {
                assert!(trial["outcome"]["failed"].as_str().is_some_and(|why| why.contains("No space left")), "{trial}")
            }
        }
    }
}

#[test]
fn a_full_disk_of_the_host_under_that_of_a_guest_costs_its_own_series() {
    let lab = Lab::new();
    if lacks_root("a full disk under that of a guest") || lacks_guests(&lab, "a full disk under that of a guest") {
        return;
    }
    let before = Left::now();
    let disk = lab.path().join("disk");
    fs::create_dir(&disk).expect("a folder");
    // The disk of the guest has room for the larger file, and the host has none for that disk.
    let view = View::with_memory_at(&disk, 24 << 20);
    let out = disk.join("recording");
    // A kernel that has its file system, and what that takes, in modules.
    let set = "files_on=disk disk_size=64MiB vm_kernel=ordinary size=4KiB,32MiB samples=5";
    let set: Vec<_> = set.split(' ').flat_map(|one| ["--set", one]).collect();
    let run = ["run", "file", "--wait", "--environment", "qemu", "--trials", "1", "--out", text(&out)];
    let run = lab.start_command(view.join(lab.command(&[&run[..], &set].concat()))).end().ended_with(3);
    run.says(&["file in qemu", "the disk of the machine could not write", "No space left on device", "file system of"]);
    before.again();
    // The room is there again, so that the recording is whole.
    let recording = recorded(&view.outside(&out));
    for series in series_in(&recording, "qemu") {
        let trial = &series["trials"][0];
        let whole = trial["outcome"] == "complete" && trial["rows"] == 5;
        assert_eq!(whole, series["params"]["size"] == "4KiB", "{trial}");
        for (name, value) in [("disk_cache", "writeback"), ("disk_engine", "threads"), ("files_on", "disk")] {
            assert_eq!(trial["effective"][name]["value"], value, "{trial}");
        }
    }
}

#[test]
fn what_a_disk_cannot_be_is_refused_before_a_machine_is_booted() {
    let lab = Lab::new();
    let refused = |environment: &str, set: &[&str], words: &[&str]| {
        let set: Vec<_> = set.iter().flat_map(|one| ["--set", one]).collect();
        let run = ["run", "file", "--wait", "--environment", environment];
        lab.kizami(&[&run[..], &set].concat()).ended_with(2).says(words);
    };
    refused("qemu", &["files_on=disk", "disk_engine=native"], &["disk_engine", "O_DIRECT", "disk_cache=none"]);
    refused("qemu", &["disk_cache=none"], &["disk_cache", "files_on=disk"]);
    refused("qemu", &["files_on=bind"], &["files_on", "tmpfs or disk"]);
    refused("bwrap", &["files_on=disk"], &["files_on", "overlay, bind or tmpfs"]);
}
