//! Refused configurations: an error in a `.cfg` file is reported with its file and line, before anything is built.

use std::path::PathBuf;
use std::process::Command;

/// What `rtos-cfg` says of a configuration.
fn refused(name: &str, text: &str, arguments: &[&str]) -> String {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("refused-{name}"));
    std::fs::create_dir_all(&folder).unwrap();
    let declared = "#include <kernel.h>\nextern void task(EXINF exinf);\nextern int variable;\n#define SMALL 64\n";
    std::fs::write(folder.join("app.h"), declared).unwrap();
    std::fs::write(folder.join("app.cfg"), text).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_rtos-cfg"))
        .current_dir(&folder)
        .args(["app.cfg", "--folder", "build"])
        .args(arguments)
        .output()
        .unwrap();
    assert!(!output.status.success(), "it was built");
    String::from_utf8_lossy(&output.stderr).trim_end().to_string()
}

const TASK: &str = "#include \"app.h\"\nCRE_TSK(A, { TA_ACT, 0, task, 5, 65536, NULL });\n";

#[test]
fn lines_that_are_not_the_application_s() {
    let line = |number| format!("{TASK}CFG_INT({number}, {{ 0, -1 }});\n");
    let said = refused("own-line", &line(3), &["--target", "m33"]);
    assert_eq!(said, "app.cfg:3: error: line 3 is the kernel's own (E_OBJ)");
    let said = refused("private-line", &line(27), &["--target", "a9"]);
    assert_eq!(said, "app.cfg:3: error: the line is 27, and must be from 32 to 95 (E_PAR)");
}

#[test]
fn sub_priorities_of_what_is_none() {
    let of = |text: &str| refused("sub-priorities", &format!("{TASK}{text}\n"), &[]);
    assert_eq!(of("ENA_SPR(17);"), "app.cfg:3: error: the priority is 17, and must be from 1 to 16 (E_PAR)");
    assert_eq!(of("ENA_SPR({ 5 });"), "app.cfg:3: error: the priority was expected; write ENA_SPR(priority); (E_PAR)");
    assert_eq!(of("ENA_SPR(5, 6);"), "app.cfg:3: error: this is too much; write ENA_SPR(priority); (E_PAR)");
    assert_eq!(of("CLASS(CLS_PRC1) { ENA_SPR(5); }"), "app.cfg:3: error: ENA_SPR is of no class (E_RSATR)");
}

#[test]
fn a_class_of_many_statements_is_told_of_once() {
    let text = format!("{TASK}CLASS(CLS_PRC2) {{\nCRE_SEM(S, {{ 0, 0, 1 }});\nCRE_SEM(T, {{ 0, 0, 1 }});\n}}\n");
    let said = refused("class-once", &text, &[]);
    assert_eq!(said, "app.cfg:3: error: 'CLS_PRC2' names a processor; the target has 1 (E_RSATR)");
}

#[test]
fn a_stack_that_is_too_small() {
    let text = "#include \"app.h\"\n\nCRE_TSK(A, { TA_ACT, 0, task, 5,\n  SMALL * 2, NULL });\n";
    let said = refused("stack", text, &["--target", "m33"]);
    assert_eq!(
        said,
        "app.cfg:4: error: the stack has 128 bytes, and this target needs at least 256: TARGET_MIN_STKSZ, and what the task needs besides (E_PAR)"
    );
}

#[test]
fn a_name_twice() {
    let said = refused("name", &format!("{TASK}CRE_SEM(A, {{ TA_NULL, 0, 1 }});\n"), &[]);
    assert_eq!(said, "app.cfg:3: error: there is a 'A' already, at app.cfg:2 (E_OBJ)");
}

#[test]
fn a_class_that_the_target_does_not_have() {
    let text = "CLASS(CLS_PRC2) {\n  CRE_SEM(S, { TA_NULL, 0, 1 });\n}\n";
    let said = refused("class", text, &[]);
    assert_eq!(said, "app.cfg:1: error: 'CLS_PRC2' names a processor; the target has 1 (E_RSATR)");
    let said = refused("class-3", &text.replace('2', "3"), &["--processors", "2"]);
    assert_eq!(said, "app.cfg:1: error: 'CLS_PRC3' names a processor; the target has 2 (E_RSATR)");
    let said = refused("class-x", &text.replace("CLS_PRC2", "OTHER"), &[]);
    assert!(said.starts_with("app.cfg:1: error: there is no class 'OTHER'; there are CLS_PRCn"), "{said}");
}

#[test]
fn values_out_of_their_ranges() {
    let cases = [
        ("CRE_TSK(A, { 0, 0, task, 17, 65536, NULL });", "the priority is 17, and must be from 1 to 16 (E_PAR)"),
        ("CRE_TSK(A, { 8, 0, task, 1, 65536, NULL });", "the attribute 0x8 has bits that mean nothing here (E_RSATR)"),
        (
            "CRE_TSK(A, { 0, 0, task, 1, 65536, mine });",
            "the stack must be NULL: the kernel makes the memory itself (E_NOSPT)",
        ),
        (
            "CRE_TSK(A, { 0, 0, task, 1, 0, NULL });",
            "the stack has 0 bytes, and this target needs at least 32768: TARGET_MIN_STKSZ, and what the task needs besides (E_PAR)",
        ),
        (
            "CRE_MPF(A, { 0, 1, 8, area + 1, NULL });",
            "'area + 1' is not the name of an array of MPF_T, nor NULL (E_NOSPT)",
        ),
        ("CRE_SEM(A, { 0, 2, 1 });", "the number of resources is 2, and must be from 0 to 1 (E_PAR)"),
        ("CRE_PDQ(A, { 0, 4, 0, NULL });", "the lowest priority is 0, and must be from 1 to 16 (E_PAR)"),
        ("CRE_CYC(A, { 0, { TNFY_ACTTSK, B }, 0, 0 });", "the period is 0, and must be from 1 to 4000000000 (E_PAR)"),
        ("CRE_ALM(A, { 0, { TNFY_NOTHING } });", "there is no notification 'TNFY_NOTHING' (E_PAR)"),
        ("CRE_ALM(A, { 0, { TNFY_SIGSEM } });", "there is no notification 'TNFY_SIGSEM' (E_PAR)"),
        ("CRE_ALM(A, { 0, { TNFY_SETVAR, &v, 1, 2 } });", "there is no notification 'TNFY_SETVAR, &v, 1, 2' (E_PAR)"),
        (
            "CRE_ALM(A, { 0, { TNFY_INCVAR|TENFY_INCVAR, &v, &w } });",
            "'TNFY_INCVAR|TENFY_INCVAR' cannot fail (E_RSATR)",
        ),
        ("CFG_INT(64, { 0, -1 });", "the line is 64, and must be from 2 to 63 (E_PAR)"),
        ("CRE_ISR(A, { 0, 0, 9, task, 1 });", "line 9 has no CFG_INT (E_OBJ)"),
        ("DEF_INH(9, { 0, handler });", "line 9 has no CFG_INT (E_OBJ)"),
        ("DEF_EXC(1, { 0, handler });", "there is no exception 1; this target has [4, 5, 7, 8, 11] (E_PAR)"),
        ("DEF_EXC(0x20004, { 0, handler });", "the exception is of processor 2; the target has 1 (E_PAR)"),
        ("DEF_EXC(4, { 1, handler });", "the attribute 0x1 has bits that mean nothing here (E_RSATR)"),
        ("DEF_OVR({ 0, one }); DEF_OVR({ 0, two });", "there is an overrun handler already, at app.cfg:3 (E_OBJ)"),
        ("DEF_EXC(4, { 0, one }); DEF_EXC(4, { 0, two });", "exception 4 has a handler already, at app.cfg:3 (E_OBJ)"),
        ("CRE_XYZ(A, { 0 });", "there is no static API 'CRE_XYZ' (E_RSFN)"),
        ("CRE_SEM(1A, { 0, 0, 1 });", "'1A' is not a name in C (E_PAR)"),
        ("CRE_SEM(int, { 0, 0, 1 });", "'int' is not a name in C (E_PAR)"),
        ("CRE_TSK(task, { 0, 0, task, 5, 65536, NULL });", "'task' is the name of a function too (E_OBJ)"),
        ("CRE_SEM(A, { 0, \"5\", 1 });", "a number was expected (E_PAR)"),
        (
            "CRE_TSK(A, { 0, 0, task, 5, 1LL << 40, NULL });",
            "the size of the stack is 1099511627776, and must be from 1 to 1073741824 (E_PAR)",
        ),
        ("DOMAIN(D) { CRE_SEM(A, { 0, 0, 1 }); }", "there is no block DOMAIN(…) { }; the only one is CLASS (E_RSFN)"),
        (
            "DEF_ICS({ 0, 0 });",
            "there is no static API 'DEF_ICS'; leave it out, the port has the stack of handlers (E_RSFN)",
        ),
        ("/* CRE_SEM(A, { 0, 0, 1 });", "the comment is not closed"),
        (
            "CRE_SEM(A, { 0, 0x100000000, 1 });",
            "the number of resources is 4294967296, and must be from 0 to 1 (E_PAR)",
        ),
        ("CRE_MPF(A, { 0, 1 << 24, 1 << 24 });", "the number of blocks is 16777216, and must be from 1 to 1 (E_PAR)"),
        (
            "CRE_SEM(A, { 0, 0, 1, 5 });",
            "this is too much; write CRE_SEM(name, { attribute, number of resources, most resources }); (E_PAR)",
        ),
        (
            "CRE_SEM(A, 0, 0, 1);",
            "a packet in braces is missing; write CRE_SEM(name, { attribute, number of resources, most resources }); (E_PAR)",
        ),
        ("CRE_SPN({ 0 });", "the name is missing; write CRE_SPN(name, { attribute }); (E_PAR)"),
        ("DEF_OVR(A, { 0, f });", "this is too much; write DEF_OVR({ attribute, function }); (E_PAR)"),
        (
            "CRE_ALM(A, { 0, TNFY_SIGSEM });",
            "the notification was expected; write CRE_ALM(name, { attribute, notification }); (E_PAR)",
        ),
        (
            "CRE_FLG(F, { 0, 0 }); CRE_ALM(A, { 0, { TNFY_SIGSEM, F } });",
            "F is one of the event flags, not of the semaphores (E_ID)",
        ),
        ("CRE_SEM(A, { 0, 0, 1 });", "there is no task in this configuration; CRE_TSK makes one"),
        ("INCLUDE(\"app.h\");", "INCLUDE is for .cfg files; the C header needs #include \"app.h\""),
        ("INCLUDE(\"no.cfg\");", "there is no file no.cfg in ./"),
    ];
    for (number, (statement, what)) in cases.into_iter().enumerate() {
        let said = refused(&format!("value-{number}"), &format!("#include \"app.h\"\n\n{statement}\n"), &[]);
        // A configuration without a task is told of as a whole.
        let line = if what.starts_with("there is no task") { 1 } else { 3 };
        assert_eq!(said, format!("app.cfg:{line}: error: {what}"));
    }
}

#[test]
fn every_fault_is_told_at_once() {
    let said = refused("all", "CRE_SEM(A, { 0, 2, 1 });\nCRE_SEM(B, { 0, 3, 1 });\n", &[]);
    assert_eq!(said.lines().count(), 2, "{said}");
}

#[test]
fn what_the_c_compiler_refuses() {
    // The compiler's own words, and nothing of the files that are made for it.
    let refused = |name: &str, statement: &str| {
        let said = refused(name, &format!("#include \"app.h\"\n\n{statement}\n"), &[]);
        assert_eq!(said.lines().filter(|line| !line.starts_with("app.cfg:3: error: ")).count(), 0, "{said}");
        said
    };
    assert!(refused("c", "CRE_SEM(A, { TA_NULL, UNKNOWN, 1 });").contains("UNKNOWN"));
    assert!(refused("constant", "CRE_SEM(A, { TA_NULL, variable, 1 });").contains("is not constant"));
    assert!(refused("word", "CRE_SEM(E_OK, { TA_NULL, 0, 1 });").contains("a word of kernel.h already (E_OBJ)"));
    assert!(refused("function", "CRE_TSK(A, { 0, 0, nobody, 5, 65536, NULL });").contains("nobody"));
}

#[test]
fn memory_that_does_not_fit_its_pool() {
    let refused = |name: &str, area: &str| {
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("refused-{name}"));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("area.h"), format!("extern {area};\n")).unwrap();
        refused(name, &format!("{TASK}#include \"area.h\"\nCRE_MPF(P, {{ 0, 2, 20, area, NULL }});\n"), &[])
    };
    let said = refused("pool-type", "char area[48]");
    assert!(said.contains("app.cfg:4: error:") && said.contains("not an array of MPF_T (E_PAR)"), "{said}");
    let said = refused("pool-size", "MPF_T area[5]");
    assert!(said.contains("app.cfg:4: error:") && said.contains("too small for the pool (E_PAR)"), "{said}");
}

#[test]
fn what_the_preprocessor_leaves_out_is_not_there() {
    // `B` is left out, so `A` twice is what is wrong, and nothing else.
    let text = "#include \"app.h\"\n#ifdef NEVER\nCRE_SEM(B, { 0, 9, 1 });\n#endif\nCRE_SEM(A, { 0, 0, 1 });\nCRE_SEM(A, { 0, 0, 1 });\n";
    let said = refused("left-out", text, &[]);
    assert_eq!(said, "app.cfg:6: error: there is a 'A' already, at app.cfg:5 (E_OBJ)");
}

#[test]
fn a_function_that_no_source_defines() {
    let said = refused("undefined", TASK, &[]);
    assert_eq!(
        said,
        "app.cfg:2: error: no source defines task\nname every source in C, object and archive behind the .cfg file"
    );
    let said = refused("no-object", TASK, &["task.o"]);
    assert_eq!(said, "cannot read task.o: No such file or directory (os error 2)");
}

#[test]
fn two_at_once_take_turns() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("at-once");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("app.h"), "extern void task(EXINF exinf);\n").unwrap();
    std::fs::write(folder.join("right.cfg"), TASK).unwrap();
    std::fs::write(folder.join("wrong.cfg"), format!("{TASK}CRE_SEM(S, {{ TA_NULL, 0, 1 }});\n")).unwrap();
    for (name, what) in [("right", "1"), ("wrong", "2")] {
        let says = format!(
            "#include <kernel.h>\n#include <t_syslog.h>\nvoid task(EXINF exinf) {{ (void)exinf; syslog(LOG_NOTICE, \"{what}\"); (void)ext_ker(); }}\n"
        );
        std::fs::write(folder.join(format!("{name}.c")), says).unwrap();
    }
    let start = |name: &str| {
        Command::new(env!("CARGO_BIN_EXE_rtos-cfg"))
            .current_dir(&folder)
            .args([format!("{name}.cfg"), format!("{name}.c")])
            .args(["--folder", "build", "--run", "--seconds", "60"])
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap()
    };
    let said = [start("right"), start("wrong")].map(|child| child.wait_with_output().unwrap().stdout);
    assert_eq!(said.map(|said| String::from_utf8(said).unwrap()), ["1\n", "2\n"]);
}
