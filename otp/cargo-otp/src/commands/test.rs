//! `cargo otp test`: runs the tests of an application, its functions under `#[otp::test]`, in an Erlang VM.

use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Args;

use crate::build::build_tests;
use crate::exit::code;
use crate::project::What;
use crate::vm::{spawn, tell_who_holds_up};
use crate::{erlang, say};

/// Which tests, and how they are run; as cargo has it.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct Which {
    /// Only the tests whose name holds this
    #[arg(value_name = "TESTNAME")]
    name: Option<String>,
    /// Compile them and run none
    #[arg(long)]
    no_run: bool,
    /// More parts of names, and --exact, --ignored, --include-ignored, --list, --test-threads=N, after --
    #[arg(last = true, value_name = "ARGUMENTS")]
    arguments: Vec<String>,
}

pub(crate) fn test(what: &What, which: &Which) -> Result<ExitCode> {
    let built = build_tests(what)?;
    if which.no_run {
        return Ok(ExitCode::SUCCESS);
    }
    let mut erl = erlang::program("erl")?;
    erl.args(["-boot", "no_dot_erlang", "-noinput", "+Bd", "-pa"]).arg(built.ebin());
    if let Some(config) = &built.config.vm.config {
        erl.arg("-config").arg(config);
    }
    erl.args(built.config.vm.all_flags());
    // What a test ends by a panic is told by that test, and not by the log as well.
    erl.args(["-kernel", "logger_level", "critical"]);
    erl.args(["-eval", &start(&built.name, &built.native, built.config.test.start), "-extra"]);
    erl.args(&which.name).args(spread(&which.arguments));
    if say::is_coloured() {
        erl.env("OTP_TEST_COLOUR", "always");
    }
    erl.current_dir(built.project.folder());
    say::step("Running", format_args!("tests of {} in an Erlang VM", built.name));
    tell_who_holds_up(&mut erl);
    say::command(&erl);
    let status = spawn(&mut erl)?.wait().context("cannot wait for the VM")?;
    drop(built.lock);
    Ok(code(status))
}

/// `--test-threads 2` as one argument.
fn spread(arguments: &[String]) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for argument in arguments {
        match all.last_mut() {
            Some(last) if last == "--test-threads" => *last = format!("{last}={argument}"),
            _ => all.push(argument.clone()),
        }
    }
    all
}

/// The application itself is started where `[test] start` asks for it.
fn start(name: &str, native: &str, started: bool) -> String {
    let start = if started {
        format!(
            "case application:ensure_all_started('{name}') of {{ok, _}} -> ok; {{error, {{_, Why}}}} -> \
             io:format(standard_error, \"error: ~ts does not start: ~tp~n\", ['{name}', Why]), halt(101) end, "
        )
    } else {
        String::new()
    };
    format!("io:setopts([{{encoding, unicode}}]), {start}'{native}_test':main(init:get_plain_arguments()).")
}

#[cfg(test)]
mod tests {
    #[test]
    fn flags_with_a_value_are_one_argument() {
        let said = |text: &str| super::spread(&text.split(' ').map(Into::into).collect::<Vec<String>>()).join(" ");
        assert_eq!(said("--test-threads 2 a --exact"), "--test-threads=2 a --exact");
        assert_eq!(said("--test-threads=2 a"), "--test-threads=2 a");
    }
}
