//! Builds: settings, workspaces of several crates, names that are taken, and two builds at once.

mod common;

use std::fs::{self, File};
use std::io::BufRead;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

use common::{InTime, Running, User, edit, lock, said, target};

#[test]
fn all_that_is_wrong_in_the_settings_is_shown_before_anything_is_compiled() {
    let user = User::new();
    let path = user.application("set_one", "minimal");
    fs::write(path.join("otp.toml"), "[vm]\nflgas = []\n\n[realtime]\npriority = 100\n").expect("settings");
    let told = user.refused(&path, &["build"]);
    assert!(told.contains("otp.toml:2:1") && told.contains("did you mean `flags`?"), "{told}");
    assert!(told.contains("otp.toml:5:12") && told.contains("a number from 1 to 99"), "{told}");
    assert!(!told.contains("Compiling"), "{told}");
}

#[test]
fn a_profile_that_aborts_is_refused_before_anything_is_compiled_and_by_the_library() {
    let user = User::new();
    let path = user.application("abort_one", "minimal");
    let aborts = "\n[profile.dev]\npanic = \"abort\"\n\n[profile.vm]\ninherits = \"dev\"\npanic = \"unwind\"\n";
    edit(&path.join("Cargo.toml"), |text| text + aborts);
    let told = user.refused(&path, &["build"]);
    assert!(
        told.contains("[profile.dev] in ") && told.contains("abort_one/Cargo.toml says `panic = \"abort\"`"),
        "{told}"
    );
    assert!(told.contains("would end the whole Erlang VM") && told.contains("`--profile vm`"), "{told}");
    assert!(!told.contains("Compiling"), "{told}");
    let variable = user.cargo_otp(&path, &["build", "--profile", "vm"]).env("CARGO_PROFILE_VM_PANIC", "abort").output();
    let told = said(&variable.expect("start cargo otp"));
    assert!(told.contains("the variable CARGO_PROFILE_VM_PANIC says `abort`"), "{told}");
    // Who builds with cargo alone.
    let cargo = user.in_its_place(Command::new(env!("CARGO")), &path).arg("check").output().expect("start cargo");
    let told = said(&cargo);
    assert!(!cargo.status.success() && told.contains("kizami-otp needs panic = \"unwind\""), "{told}");
    // Its tests unwind, as all tests do.
    let told = user.done(&path, &["test"]);
    assert!(told.contains("test result: ok"), "{told}");
}

#[test]
fn a_build_waits_for_another_of_the_same_application() {
    let user = User::new();
    let path = user.application("slow_one", "minimal");
    let file = target().join("otp/debug/slow_one.lock");
    fs::create_dir_all(file.parent().expect("a folder")).expect("make it");
    let held = File::create(&file).expect("the lock");
    held.lock().expect("lock it");
    let mut build = Running::start(&mut user.cargo_otp(&path, &["build"]));
    let mut lines = build.errors().lines();
    let first = lines.next().expect("a line").expect("a text");
    assert!(first.contains("Blocking waiting for file lock on build directory"), "{first}");
    held.unlock().expect("unlock it");
    let rest: Vec<_> = lines.map_while(Result::ok).collect();
    assert_eq!(build.ends(), Some(0), "{rest:?}");
}

#[test]
fn builds_beside_each_other_come_to_the_same() {
    let user = User::new();
    let path = user.application("twin_one", "minimal");
    let mut builds = [(); 3].map(|()| Running::start(&mut user.cargo_otp(&path, &["build"])));
    for build in &mut builds {
        let lines: Vec<_> = build.errors().lines().map_while(Result::ok).collect();
        assert_eq!(build.ends(), Some(0), "{lines:?}");
    }
    assert!(target().join("otp/debug/twin_one/ebin/twin_one.app").is_file());
    assert!(!user.done(&path, &["build"]).contains("the Erlang half"), "it is there");
}

#[test]
fn two_behaviours_of_one_name_are_refused_with_their_places() {
    let user = User::new();
    let path = user.application("double_one", "minimal");
    user.done(&path, &["add", "greeter"]);
    let told = user.refused(&path, &["build"]);
    assert!(told.contains("is called `double_one_greeter` in Erlang") && told.contains("module = "), "{told}");
    for file in ["src/greeter.rs", "src/lib.rs"] {
        let at = told.find(&format!("{file}:")).unwrap_or_else(|| panic!("no {file} in {told}"));
        let line: String = told[at + file.len() + 1..].chars().take_while(char::is_ascii_digit).collect();
        let text = fs::read_to_string(path.join(file)).expect("the source");
        let named = text.lines().nth(line.parse::<usize>().expect("a line") - 1).expect("it is there");
        assert_eq!(named, "#[gen_server]", "{told}");
    }
}

#[test]
fn names_of_otp_are_refused() {
    let user = User::new();
    let path = user.application("named_one", "minimal");
    edit(&path.join("src/lib.rs"), |text| text.replace("#[gen_server]", "#[gen_server(module = \"queue\")]"));
    let told = user.refused(&path, &["build"]);
    assert!(told.contains("`queue` is a module of Erlang/OTP") && told.contains("of stdlib-"), "{told}");
}

#[test]
fn a_library_that_is_no_application_is_told_what_it_lacks() {
    let user = User::new();
    let path = user.application("bare_one", "minimal");
    edit(&path.join("src/lib.rs"), |text| text.replace("otp::application!(root);", ""));
    assert!(user.refused(&path, &["build"]).contains("write `otp::application!(root);` into its lib.rs"));
}

/// Those of the compiler, and cargo's last word.
#[test]
fn a_mistake_in_a_callback_is_told_once_and_where_it_is() {
    let user = User::new();
    let path = user.application("wrong_one", "statem");
    let good = fs::read_to_string(path.join("src/valve.rs")).expect("the source");
    for (right, wrong) in [
        ("self.given += litres;", "self.given += ;"),
        ("self.given += litres;", "self.given += \"litres\";"),
        ("Ok((State::Closed,", "Ok((State:Closed,"),
    ] {
        fs::write(path.join("src/valve.rs"), good.replace(right, wrong)).expect("change the source");
        let told = user.refused(&path, &["build"]);
        let errors: Vec<_> = told.lines().filter(|line| line.starts_with("error")).collect();
        assert!(errors.len() == 2 && errors[1].contains("could not compile `wrong_one`"), "{told}");
        let line = 1 + good.lines().position(|line| line.contains(right)).expect("the line");
        assert!(told.contains(&format!("--> src/valve.rs:{line}:")), "{told}");
    }
}

#[test]
fn another_erlang_is_asked_and_refused_when_it_is_too_old() {
    let user = User::new();
    let path = user.application("aged_one", "minimal");
    let tools = user.folder.path().join("tools");
    fs::create_dir(&tools).expect("a folder");
    let build = || {
        let others = std::env::var_os("PATH").expect("where programs are");
        let folders = std::env::join_paths([tools.clone()].into_iter().chain(std::env::split_paths(&others)));
        said(&user.cargo_otp(&path, &["build"]).env("PATH", folders.expect("a path")).output_in_time())
    };
    // The folder may be there from an earlier run of this test, and up to date.
    let _ = fs::remove_dir_all(target().join("otp/debug/aged_one"));
    let told = build();
    assert!(told.contains("Compiling the Erlang half"), "{told}");
    fs::write(tools.join("erl"), "#!/bin/sh\necho release 24\necho erts 12.0\necho root /usr\n").expect("a script");
    fs::set_permissions(tools.join("erl"), fs::Permissions::from_mode(0o755)).expect("make it a program");
    let told = build();
    assert!(told.contains("this is Erlang/OTP 24, and 25 or newer is needed"), "another Erlang is asked: {told}");
}

#[test]
fn without_an_erlang_nothing_is_compiled() {
    let user = User::new();
    let path = user.application("bound_one", "minimal");
    let tools = user.folder.path().join("tools");
    fs::create_dir(&tools).expect("a folder");
    let cargo = Path::new(env!("CARGO"));
    for name in ["cargo", "rustc"] {
        symlink(cargo.with_file_name(name), tools.join(name)).expect("a link");
    }
    for arguments in [&["run"][..], &["test"], &["release"]] {
        let output = user.cargo_otp(&path, arguments).env("PATH", &tools).output_in_time();
        let told = said(&output);
        assert!(told.contains("erl is not in PATH: install OTP 25 or newer") && !told.contains("Compiling"), "{told}");
    }
}

/// A crate for each kind of process, and one that links them.
#[test]
fn behaviours_may_come_from_crates_of_their_own() {
    let user = User::new();
    let whole = user.folder.path();
    let otp = Path::new(env!("CARGO_MANIFEST_DIR")).join("../otp");
    let package = |name: &str, more: &str, text: &str| {
        let folder = whole.join(name);
        fs::create_dir_all(folder.join("src")).expect("a folder");
        let manifest = format!(
            "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n{more}\n[dependencies]\n\
             kizami-otp = {{ path = {otp:?} }}\n"
        );
        fs::write(folder.join("Cargo.toml"), manifest).expect("a manifest");
        fs::write(folder.join("src/lib.rs"), text).expect("a source");
    };
    fs::write(
        whole.join("Cargo.toml"),
        "[workspace]\nmembers = [\"near\", \"far\", \"whole_one\"]\nresolver = \"3\"\n",
    )
    .expect("a workspace");
    lock(whole);
    for (name, ty) in [("near", "Near"), ("far", "Far")] {
        let server = format!(
            "use otp::{{Init, gen_server}};\n/// One.\npub struct {ty};\n#[gen_server]\nimpl {ty} {{\n    \
             fn init() -> Init<Self> {{ Ok({ty}) }}\n    #[call]\n    fn ping(&mut self) -> u64 {{ 1 }}\n}}\n"
        );
        package(name, "", &server);
    }
    let root = "otp::application!(root);\n#[otp::supervisor]\npub fn root() -> otp::Tree {\n    \
                otp::one_for_one().child(otp::worker::<near::Near>(()).name(\"near\"))\n}\n";
    package(
        "whole_one",
        "[lib]\ncrate-type = [\"cdylib\"]\n[dependencies.near]\npath = \"../near\"\n[dependencies.far]\npath = \"../far\"\n",
        root,
    );
    let ebin = target().join("otp/debug/whole_one/ebin");
    let told = user.done(whole, &["build"]);
    assert!(told.contains("write `use far as _;` into lib.rs") && !told.contains("use near as _"), "{told}");
    assert!(ebin.join("whole_one_near.beam").is_file() && !ebin.join("whole_one_far.beam").exists());
    edit(&whole.join("whole_one/src/lib.rs"), |text| format!("use far as _;\n{text}"));
    assert!(!user.done(whole, &["build"]).contains("use far as _"));
    assert!(ebin.join("whole_one_near.beam").is_file() && ebin.join("whole_one_far.beam").is_file());
    // Both run: the one in the tree, and the other where Erlang starts it.
    let both = "{ok, Far} = whole_one_far:start_link(), \
                io:format(\"~p~n\", [{whole_one_near:ping(near), whole_one_far:ping(Far)}]), init:stop().";
    assert!(user.done(whole, &["run", "--vm=-eval", &format!("--vm={both}")]).contains("{1,1}\n"));
    let told = user.refused(&whole.join("near"), &["build"]);
    assert!(told.contains("`near` makes no library for a VM") && told.contains("`-p whole_one` is meant"), "{told}");
    assert!(user.refused(whole, &["build", "-p", "whole_on"]).contains("did you mean `whole_one`?"));
}
