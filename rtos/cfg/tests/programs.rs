//! Applications in C, built and run.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The application in that folder, below this crate's, says that.
fn says(application: &str, target: &str, processors: u8, expected: &str) {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(application);
    let name = source.file_name().unwrap().to_string_lossy();
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{target}-{processors}"));
    let output = Command::new(env!("CARGO_BIN_EXE_rtos-cfg"))
        .args([source.join("app.cfg"), source.join("app.c")])
        .arg("-I")
        .arg(source.join("parts"))
        .args(["--target", target, "--processors", &processors.to_string(), "--run", "--folder"])
        .arg(folder)
        // So that a busy machine holds no emulator up. Two processors have turns then, which are long for who waits for the other.
        .args((target != "host" && processors == 1).then_some("--icount"))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(said, expected);
}

/// The example: tasks, a data queue, a mutex, semaphores, notifications.
fn example(target: &str, processors: u8) {
    let expected = "the kernel starts\n\
                    consumer 7: the sum is 55\n\
                    all 10 received; not too early\n\
                    an object that there is not: -18 (E_ID is -18)\n\
                    beats: some\n\
                    the kernel ends\n";
    says("../../examples/rtos-c", target, processors, expected);
}

/// Handlers of a CPU exception, an overrun and an interrupt; and a little of the C library.
fn handlers(target: &str, processors: u8) {
    let expected = "sorted: 7 5 3\n\
                    an exception: sns_ctx 1, xsns_dpn 0\n\
                    the task at fault is dormant: 1\n\
                    overrun: state 2, itself 1, exinf 42\n\
                    sta_ovr of a dormant task: 0 (E_OK is 0)\n";
    says("tests/handlers", target, processors, expected);
}

/// Every service, in every context, with what it does not take: one table, and the order in which checks are made.
fn refusals(target: &str, processors: u8) {
    let expected = "more than 5000 calls\n0 of them gave something else\nnothing has changed\n";
    says("tests/refusals", target, processors, expected);
}

/// Going on behind the instruction that raised a CPU exception, and trying it again.
fn returning(target: &str, processors: u8) {
    let expected = "in a task: 300 calls, registers 1, pending 0, locked 0\n\
                    tried again: 900 calls, registers 1, pending 0, locked 0\n\
                    under dis_dsp: 300 calls, registers 1, pending 1, locked 0\n\
                    locked: 300 calls, registers 1, pending 1, locked 1\n\
                    in a handler: 300 calls, registers 1, pending 1, locked 0\n\
                    on the last processor: 600 calls, registers 1, pending 0, locked 0\n";
    says("tests/returning", target, processors, expected);
}

/// Two tasks that migrate, in turn and in step, with nothing printed meanwhile.
fn rovers(target: &str) {
    says("tests/rovers", target, 2, "in turn\nby the clock\nat once\nmade up: 0 stand still\n");
}

/// The system services and headers of TOPPERS, memory that the application names, and a restricted task.
fn services(target: &str, processors: u8) {
    let name = match target {
        "host" => "Linux",
        "m33" => "Cortex-M33",
        "a9" => "Cortex-A9",
        _ => "RP2040",
    };
    let expected = format!(
        "Kizami RTOS for {name}, processors: {processors}\n\
         Test program: services\n\
         Check point 1 passed.\nCheck point 2 passed.\nCheck point 3 passed.\n\
         a record: -7 and words\n\
         a note: -1,    ab, !, 1234, 7%\n\
         > 1000 : 1\n\
         Check point 4 passed.\nAll check points passed.\n"
    );
    says("tests/services", target, processors, &expected);
}

/// Sub-priorities, also under mutexes.
fn sub_priorities(target: &str, processors: u8) {
    let pinned = if processors > 1 { "APB" } else { "A" };
    let expected = format!(
        "as activated: ABC\n\
         sub-priorities: 3 1 2\n\
         by sub-priority: BCA\n\
         when it has ended: 1\n\
         the second is B: 1\n\
         changed while ready, the same twice: CBA\n\
         the lowest, behind those of it: BCA\n\
         rot_rdq: -28 0\n\
         where they do not tell: DE\n\
         of another priority: DA\n\
         steps back: ABa\n\
         boosted by a ceiling: AaB.\n\
         boosted by inheritance: ACacB.\n\
         refused: -18 -18\n\
         with a pinned task: {pinned}\n"
    );
    says("tests/subpriorities", target, processors, &expected);
}

/// What belongs to a processor.
fn classes(target: &str) {
    let expected = "begun: 5, then 1 2\n\
                    cycles: 1 1, of them elsewhere: 0\n\
                    the interrupt: 2\n\
                    the rover: 2 1\n\
                    alarms: 1\nalarms: 2\nalarms: 1\nalarms: 2\n\
                    not allowed: -17\nnot allowed: -17 -17\nnot allowed: -17 -18\n\
                    ended: 1 2, then 5\n";
    says("tests/classes", target, 2, expected);
}

/// A configuration as they are written for TOPPERS.
fn style(target: &str, processors: u8) {
    let expected = "before the kernel runs: 1, then 0\n\
                    flag 0x80000001, priority 10, next processor 0\n\
                    services of the line: 12\n\
                    a semaphore from the start: 0, -50\n\
                    itself: -18 -18 -18 -18\n\
                    notifications: -43, -43, then 7\n\
                    a spin lock: 1\n\
                    flags: 0, -50\n\
                    |42   |   ab|-0042|beef|%q|!%|\n\
                    7, E_OBJ, 9, 12345678\n12345678\nE_OK, E_OK, E_COMM, unknown error\n\
                    locked: 1, then 0, on 1; late enough: 1\nstill locked: 1\nregisters: 12345678, 0\n\
                    a port: -41 0 -41 -18\nto the port\nwritten: 12\nab\0cd\x04\x04\u{fffd}\nbytes: 9\nunread: 0, closed: 0\nprinted\na.c:7: 'sig_sem(0)' gave -18, E_ID\n";
    says("tests/style", target, processors, expected);
}

/// A source, compiled into an archive by somebody else's build.
fn archive(source: &Path) -> PathBuf {
    let [object, archive] = ["low.o", "low.a"].map(|name| Path::new(env!("CARGO_TARGET_TMPDIR")).join(name));
    let headers = Path::new(env!("CARGO_MANIFEST_DIR")).join("../c/include");
    let compile = Command::new("cc")
        .args(["-c", "-DTNUM_PRCID=1", "-I"])
        .args([&headers, source])
        .arg("-o")
        .arg(&object)
        .status();
    let collect = Command::new("ar").arg("rcs").args([&archive, &object]).status();
    assert!(compile.unwrap().success() && collect.unwrap().success());
    archive
}

/// What is typed comes to the application that reads the serial port, while others run; and -D, and a task out of an archive.
#[test]
fn what_is_typed_is_read() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/typed");
    let mut command = Command::new(env!("CARGO_BIN_EXE_rtos-cfg"));
    command.args([source.join("app.cfg"), archive(&source.join("low.c")), source.join("app.c")]);
    command.args(["-D", "GREETING=\"read\"", "-D", "LENGTH=3", "--run", "--seconds", "60", "--folder"]);
    command.arg(Path::new(env!("CARGO_TARGET_TMPDIR")).join("typed"));
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"abcdef").unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "read abc: 3\nread def: 3\nothers ran: 1\n");
    assert!(output.status.success());
}

/// By a clock that goes on by instructions each run is the same to the microsecond, and waiting for 100 s, which is longer than an
/// emulator may run, takes that long by the program's clock and no time by ours.
fn repeats(target: &str) {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/times");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("times-{target}"));
    let run = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rtos-cfg"));
        command.args([source.join("app.cfg"), source.join("app.c")]);
        let output = command.args(["--target", target, "--run", "--icount", "--folder"]).arg(&folder).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let first = run();
    assert_eq!(first.lines().filter(|line| line.starts_with("woken at ")).count(), 20, "{first}");
    let waited = first.lines().last().unwrap().strip_prefix("waited for ").unwrap().parse::<u32>().unwrap();
    assert!((100_000_000..100_001_000).contains(&waited), "{first}");
    assert_eq!(run(), first);
}

#[test]
fn a_clock_of_instructions_repeats() {
    repeats("m33");
    repeats("a9");
}

#[test]
fn on_this_machine() {
    style("host", 2);
    example("host", 2);
    handlers("host", 1);
    refusals("host", 2);
    returning("host", 2);
    classes("host");
    rovers("host");
    services("host", 2);
    sub_priorities("host", 1);
    sub_priorities("host", 2);
}

#[test]
fn on_a_cortex_m33() {
    style("m33", 1);
    example("m33", 1);
    handlers("m33", 2);
    refusals("m33", 1);
    returning("m33", 2);
    classes("m33");
    rovers("m33");
    services("m33", 1);
    sub_priorities("m33", 1);
}

#[test]
fn on_a_cortex_a9() {
    example("a9", 2);
    refusals("a9", 2);
    returning("a9", 2);
    handlers("a9", 1);
    classes("a9");
    rovers("a9");
    services("a9", 2);
    sub_priorities("a9", 2);
}

#[test]
fn on_an_rp2040() {
    example("rp2040", 2);
    refusals("rp2040", 1);
    returning("rp2040", 2);
    handlers("rp2040", 1);
    classes("rp2040");
    rovers("rp2040");
    services("rp2040", 2);
    sub_priorities("rp2040", 2);
}
