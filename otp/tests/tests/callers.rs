//! Programs in Erlang and Elixir that use every behaviour: in a VM they get the answers that they expect, and dialyzer, which
//! knows nothing but the types of the generated modules, accepts all of them and finds the wrong callers.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use in_a_vm::{compiled, run, skipped};
// Its behaviours are linked into this program, so that what they say of themselves can be asked for.
use otp_tests as _;

const CALLER: &str = include_str!("../erlang/caller.erl");

/// What stands between the exports of a module and its functions.
fn types(module: &str) -> String {
    let sources = otp::generate::sources("otp_tests_native").expect("the Erlang half");
    let source = sources.into_iter().find(|source| source.file == format!("{module}.erl")).expect("the module");
    let from = source.text.find("-export_type").expect("its types");
    let to = source.text.find("\n-spec").expect("its functions");
    source.text[from..to].to_owned()
}

#[test]
fn each_type_stands_once_in_a_module_under_a_name_that_is_no_other_s() {
    assert_eq!(
        types("station"),
        "\
-export_type([server/0, started/0, settings/0, reading/0, quality/0, page_reading/0, reading_2/0, group/0, the_map/0,
              the_server/0, process/0, call_error/0]).

%% A process, its name on this node, its name on another, or among all.
-type server() :: pid() | atom() | {atom(), node()} | {global, term()}.
-type started() :: {ok, pid()} | ignore | {error, term()}.
-type settings() :: #{limit := non_neg_integer()}.

%% What a sensor found.
-type reading() :: #{sensor := binary(), value := integer(), quality => quality()}.
-type quality() :: good | {doubtful, non_neg_integer()}.

%% A part of many.
-type page_reading() :: #{items := [reading()], next => non_neg_integer() | undefined}.
-type reading_2() :: {reading, integer(), integer()}.

%% Sensors that belong together, and groups of such.
-type group() :: #{name := binary(), groups := [group()]}.
-type the_map() :: #{width := non_neg_integer()}.
-type the_server() :: {server, Port :: non_neg_integer()}.

%% A process, or its name on this node, on another or elsewhere.
-type process() :: pid() | atom() | {atom(), node()} | {global, term()} | {via, module(), term()}.

%% Why a call has no answer.
-type call_error() :: {timeout, non_neg_integer()} | {down, term()} | {refused, binary()} | {malformed, binary()}.
"
    );
    // A type of states, or of events, that has the name of what it is for.
    assert_eq!(
        types("valve"),
        "\
-export_type([state/0, the_data/0]).

-type data() :: {module(), reference()}.

%% What a valve is doing.
-type state() :: closed | {open, the_data()}.

%% What goes through it.
-type the_data() :: #{litres := non_neg_integer()}.
"
    );
    assert!(types("alarms").contains("\n-type event() :: {broken, #{reading := reading()}} | repaired.\n"));
    assert!(types("stations").ends_with("\n-type settings() :: #{limit := non_neg_integer()}.\n"));
}

#[test]
fn a_program_in_erlang_speaks_of_the_types_by_their_names() {
    let folder = compiled("otp_tests", &[("caller", CALLER)]);
    let said = run(folder.path(), Command::new("erl").args(["-noshell", "-pa", ".", "-eval", &all("caller")]));
    assert!(said.ends_with("all is well\n"), "{said}");
}

#[test]
fn a_program_in_elixir_speaks_of_the_types_by_their_names() {
    let folder = compiled("otp_tests", &[("caller", CALLER)]);
    if elixir(folder.path()).is_none() {
        return skipped("a caller in Elixir: it is not installed (Debian's elixir)");
    }
    let said = run(folder.path(), Command::new("elixir").args(["-pa", ".", "-e", "Caller.all(); IO.puts(\"well\")"]));
    assert!(said.ends_with("well\n"), "{said}");
}

#[test]
fn dialyzer_accepts_what_is_generated_and_those_who_call_it() {
    let folder = compiled("otp_tests", &[("caller", CALLER)]);
    // Elixir's compiler knows what is in a module of its own.
    let paths = elixir(folder.path());
    if let Some(said) = dialyzer("whether dialyzer accepts what is generated", folder.path(), paths.as_slice()) {
        assert!(said.ends_with("accepted\n"), "{said}");
    }
}

#[test]
fn dialyzer_finds_a_caller_that_is_wrong_by_the_types_alone() {
    let wrong = include_str!("../erlang/wrong.erl");
    let folder = compiled("otp_tests", &[("wrong", wrong)]);
    let what = "whether dialyzer finds a caller that is wrong";
    let Some(said) = dialyzer(what, folder.path(), &[]) else { return };
    assert!(said.ends_with("warned\n"), "{said}");
    // Where each function stands, and the next one begins.
    let lines: Vec<_> = wrong.lines().collect();
    let starts = (1..=lines.len()).filter(|line| {
        let text = lines[line - 1];
        text.starts_with(|letter: char| letter.is_ascii_lowercase()) && text.ends_with("->")
    });
    let starts: Vec<_> = starts.collect();
    let found: Vec<usize> =
        said.lines().filter_map(|line| line.strip_prefix("wrong.erl:")?.split(':').next()?.parse().ok()).collect();
    assert_eq!(starts.len(), 8, "{wrong}");
    for (at, start) in starts.iter().enumerate() {
        // A spec stands above its function.
        let (first, end) = (start - 1, starts.get(at + 1).map_or(lines.len() + 1, |next| next - 1));
        assert!(found.iter().any(|line| (first..end).contains(line)), "{} is not found in:\n{said}", lines[start - 1]);
    }
    let others = said.lines().filter(|line| line.contains(".erl:") && !line.starts_with("wrong.erl:"));
    assert_eq!(others.collect::<Vec<_>>(), Vec::<&str>::new(), "{said}");
}

/// What a VM does that tries all that a module has to show.
fn all(module: &str) -> String {
    format!("ok = {module}:all(), io:format(\"all is well~n\"), init:stop().")
}

/// Compiles the caller in Elixir, if there is Elixir, and says where its modules are.
fn elixir(folder: &Path) -> Option<String> {
    let mut elixir = Command::new("elixir");
    let found =
        elixir.args(["-e", "IO.write(:code.lib_dir(:elixir))"]).output().ok().filter(|out| out.status.success())?;
    std::fs::write(folder.join("caller.ex"), include_str!("../erlang/caller.ex")).expect("write a source");
    run(folder, Command::new("elixirc").args(["--warnings-as-errors", "-pa", ".", "-o", ".", "caller.ex"]));
    Some(format!("{}/ebin", String::from_utf8_lossy(&found.stdout)))
}

fn beams(folder: &Path) -> Vec<PathBuf> {
    let each = std::fs::read_dir(folder).expect("the folder").map(|entry| entry.expect("its entry").path());
    let mut beams: Vec<_> = each.filter(|path| path.extension().is_some_and(|extension| extension == "beam")).collect();
    beams.sort();
    beams
}

/// What dialyzer says of the modules in the folder, with others in these paths; `None` where it cannot be tried, which is named.
fn dialyzer(what: &str, folder: &Path, paths: &[String]) -> Option<String> {
    /// One makes what dialyzer knows of OTP, and the others wait for that.
    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let release = run(
        folder,
        Command::new("erl").args(["-noshell", "-eval", "io:put_chars(erlang:system_info(version)), halt()."]),
    );
    // Those of another VM, or made from another list of modules, say something else.
    let source = include_str!("../erlang/typed.erl");
    std::fs::write(folder.join("typed.erl"), source).expect("write a source");
    std::fs::create_dir_all(folder.join("typed")).expect("a folder");
    run(folder, Command::new("erlc").args(["-Werror", "-o", "typed", "typed.erl"]));
    let list: u64 = source.bytes().fold(7, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte.into()));
    let plt = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("otp-{release}-{list:x}.plt"));
    let mut erl = Command::new("erl");
    erl.args(["-noshell", "-pa", "typed"]).args(paths).args(["-run", "typed", "main"]).arg(plt).args(beams(folder));
    let said = run(folder, &mut erl);
    if let Some(why) = said.lines().last().and_then(|line| line.strip_prefix("cannot: ")) {
        skipped(&format!("{what}: {why}"));
        return None;
    }
    Some(said)
}
