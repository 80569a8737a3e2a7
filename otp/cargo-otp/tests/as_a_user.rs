//! The first steps of a new user: making an application, building it, running it, a panic and the restart, adding to it.

mod common;

use std::fs;
use std::io::BufRead;
use std::os::unix::fs::symlink;
use std::path::Path;

use common::{InTime, User, edit, said, target};

#[test]
fn an_application_is_made_built_and_run() {
    let user = User::new();
    let path = user.application("first_one", "minimal");
    assert!(user.done(&path, &["build"]).contains("Compiling the Erlang half of first_one"));
    let again = user.done(&path, &["build", "-v"]);
    assert!(!again.contains("the Erlang half") && !again.contains("\"-noinput\""), "nothing changed: {again}");
    // One that calls its own greeter once, panics for a name, and ends.
    edit(&path.join("src/lib.rs"), |text| {
        let refusal = "assert!(name != \"nobody\", \"nobody is not greeted\");\n        self.greeted += 1;";
        text.replace("self.greeted += 1;", refusal)
    });
    assert!(user.done(&path, &["build"]).contains("the Erlang half"), "the source changed");
    let talk = "io:format(\"~ts~n\", [first_one_greeter:greet(first_one_greeter, <<\"A\">>)]), \
                try first_one_greeter:greet(first_one_greeter, <<\"nobody\">>) catch exit:_ -> ended end, \
                (fun Wait() -> case whereis(first_one_greeter) of undefined -> timer:sleep(10), Wait(); _ -> ok end end)(), \
                io:format(\"~ts~n\", [first_one_greeter:greet(first_one_greeter, <<\"B\">>)]), init:stop().";
    let said = user.done(&path, &["run", "--vm=-eval", &format!("--vm={talk}")]);
    assert_eq!(said.matches("the greeter is there").count(), 2, "{said}");
    assert!(said.contains("Hello, A! You are number 1.") && said.contains("Hello, B! You are number 1."), "{said}");
    assert!(said.contains("nobody is not greeted") && said.contains("src/lib.rs"), "{said}");
}

#[test]
fn an_application_whose_root_panics_says_so_and_fails() {
    let user = User::new();
    let path = user.application("broken_one", "minimal");
    edit(&path.join("src/lib.rs"), |text| {
        text.replace("    one_for_one()", "    assert!(false, \"no tree today\");\n    one_for_one()")
    });
    let output = user.cargo_otp(&path, &["run"]).output_in_time();
    let said = said(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("broken_one does not start") && said.contains("no tree today"), "{said}");
}

/// A VM has one module of a name, whatever application it is of; and one command line.
#[test]
fn applications_share_a_vm_and_each_has_its_own_modules_and_arguments() {
    let user = User::new();
    let host = user.application("host_one", "minimal");
    for (name, template) in [("guest_one", "minimal"), ("guest_two", "cluster")] {
        user.done(&user.application(name, template), &["build"]);
    }
    let path = |name: &str| format!("--vm={}", target().join(format!("otp/debug/{name}/ebin")).display());
    let (one, two) = (path("guest_one"), path("guest_two"));
    let said = |arguments: &str| {
        let check = format!(
            "--vm=ok = application:start(guest_one), ok = application:load(guest_two), {arguments} \
             ok = application:start(guest_two), io:format(\"missing ~p~n\", [guest_two_links:missing(links)]), \
             [io:format(\"~ts~n\", [M:greet(M, <<\"A\">>)]) || M <- [host_one_greeter, guest_one_greeter, guest_one_greeter]], \
             init:stop()."
        );
        user.done(&host, &["run", "--vm=-pa", &one, "--vm=-pa", &two, "--vm=-eval", &check, "--", "of the host"])
    };
    // The host's arguments are no nodes, with which guest_two would not start.
    let without = said("");
    assert!(without.contains("missing []"), "{without}");
    assert_eq!(without.matches("You are number 1.").count(), 2, "{without}");
    assert!(without.contains("You are number 2."), "{without}");
    let with = said("application:set_env(guest_two, arguments, [\"guest_two@127.0.0.1\"]),");
    assert!(with.contains("missing ['guest_two@127.0.0.1']"), "{with}");
}

/// A service with one more of each behaviour; its tree as the notes of `add` have it.
#[test]
fn a_service_grows_and_is_documented() {
    let user = User::new();
    let path = user.application("grown_one", "service");
    let templates = Path::new(env!("CARGO_MANIFEST_DIR")).join("templates/add");
    assert_eq!(fs::read_dir(templates).expect("the templates").count(), 4, "each is tried here");
    let (mut children, mut grandchild) = (String::new(), String::new());
    for (name, behaviour) in
        [("ledger", "gen_server"), ("kiln", "statem"), ("news", "event"), ("ledgers", "supervisor")]
    {
        let said = user.done(&path, &["add", name, "--behaviour", behaviour]);
        let child = said.lines().find(|line| line.trim().starts_with(".child(")).expect("the line of a tree");
        *(if name == "ledger" { &mut grandchild } else { &mut children }) += child.trim();
    }
    user.finds_formatted(&path);
    edit(&path.join("src/lib.rs"), |text| {
        text.replace(".child(supervisor::<stores>(()))", &format!(".child(supervisor::<stores>(())){children}"))
    });
    edit(&path.join("src/ledgers.rs"), |text| {
        text.replace("Duration::from_secs(5))", &format!("Duration::from_secs(5)){grandchild}"))
    });
    let tested = user.done(&path, &["test"]);
    assert!(tested.contains("test result: ok. 4 passed") && !tested.contains("warning"), "{tested}");
    let check = "grown_one_ledger:add(ledger, 5), {ok, 3} = grown_one_store:put(samples, 3), \
                 io:format(\"counted ~p~n\", [grown_one_ledger:count(ledger)]), \
                 grown_one_kiln:work(kiln, <<\"cups\">>), io:format(\"done ~p~n\", [grown_one_kiln:done(kiln)]), \
                 ok = grown_one_news:add_handler(news_events), gen_event:notify(news_events, {failed, #{why => <<\"wind\">>}}), \
                 io:format(\"failed ~p~n\", [grown_one_news:failures(news_events)]), init:stop().";
    let said = user.done(&path, &["run", "--vm=-eval", &format!("--vm={check}")]);
    assert!(said.contains("counted 5\ndone 1\nfailed [<<\"wind\">>]\n"), "{said}");
    let page = user.done(&path, &["doc"]);
    let page = page.lines().find_map(|line| line.trim().strip_prefix("Generated ")).expect("a page");
    let page = fs::read_to_string(page).expect("the page of the Erlang modules");
    assert!(
        page.contains("## grown_one_ledger\n") && page.contains("add(server(), Number :: non_neg_integer()) -> ok."),
        "{page}"
    );
}

#[test]
fn a_folder_that_is_there_becomes_an_application_and_nothing_is_written_over() {
    let user = User::new();
    let folder = user.folder.path().join("there");
    fs::create_dir_all(folder.join("src")).expect("a folder");
    fs::write(folder.join("src/lib.rs"), "mine").expect("a source");
    assert!(user.refused(&folder, &["init"]).contains("src/lib.rs is there already"));
    assert!(!folder.join("Cargo.toml").exists(), "nothing is written when not all can be");
    fs::remove_dir_all(folder.join("src")).expect("remove it");
    user.done(&folder, &["init", "--name", "another"]);
    let manifest = fs::read_to_string(folder.join("Cargo.toml")).expect("a manifest");
    assert!(manifest.contains("name = \"another\""), "{manifest}");
    assert!(user.refused(&folder, &["init"]).contains("is a package already"));
}

#[test]
fn what_cannot_be_written_leaves_nothing_half_done() {
    let user = User::new();
    let path = user.application("held_one", "minimal");
    // Everybody reads this, and nobody writes it.
    fs::remove_file(path.join("src/lib.rs")).expect("remove it");
    symlink("/proc/version", path.join("src/lib.rs")).expect("a link");
    assert!(user.refused(&path, &["add", "more"]).contains("src/lib.rs\n"));
    assert!(!path.join("src/more.rs").exists());
    let full = ["new", "/proc/no_such_one"];
    assert!(user.refused(user.folder.path(), &full).contains("cannot make /proc/no_such_one"));
}

#[test]
fn what_cannot_be_is_refused_with_what_to_do() {
    let user = User::new();
    let folder = user.folder.path();
    assert!(user.refused(folder, &["new", "My-App"]).contains("it is an atom in Erlang"));
    for name in ["match", "self", "gen"] {
        assert!(user.refused(folder, &["new", name]).contains("it has a meaning in Rust"));
    }
    assert!(user.refused(folder, &["new", "stdlib"]).contains("Erlang/OTP has it already, in stdlib-"));
    fs::create_dir(folder.join("there")).expect("a folder");
    assert!(user.refused(folder, &["new", "there"]).contains("is there already"));
    assert!(user.refused(folder, &["build"]).contains("could not find `Cargo.toml`"));
    let unknown = user.cargo_otp(folder, &["build", "--relaese"]).output_in_time();
    assert_eq!(unknown.status.code(), Some(2));
    assert!(said(&unknown).contains("--release"), "{}", said(&unknown));
}

#[test]
fn what_is_here_is_told_and_commands_are_completed() {
    let user = User::new();
    let info = user.done(user.folder.path(), &["info"]);
    assert!(info.contains("runtime system ") && info.contains("\nnodes          none\n"), "{info}");
    let script = user.done(user.folder.path(), &["completions", "bash"]);
    assert!(script.as_bytes().lines().map_while(Result::ok).any(|line| line.contains("--manifest-path")), "{script}");
}
