//! The launcher of a release, `bin/APPLICATION`: starts the release, and reaches the one that runs.
//!
//! The launcher is a program and not a script, since a machine that runs a release may have no shell. It uses the standard
//! library alone and is compiled for each release by the toolchain that compiled the application, so it runs where the
//! application runs.

mod epmd;
mod release;
mod remote;

use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use release::Release;

/// How long `stop` waits for the end.
const PATIENCE: Duration = Duration::from_secs(60);

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args_os().skip(1).map(|one| one.to_string_lossy().into_owned()).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match done(&arguments) {
        Ok(code) => code,
        Err(why) => {
            eprintln!("error: {why}");
            ExitCode::FAILURE
        }
    }
}

fn done(arguments: &[&str]) -> Result<ExitCode, String> {
    let release = Release::here()?;
    match arguments {
        ["foreground", "--realtime", rest @ ..] => foreground(&release, true, rest),
        ["foreground", rest @ ..] => foreground(&release, false, rest),
        ["console"] => console(&release),
        ["eval", expression] => code(ask(&release, expression)?.status()),
        ["pid"] => code(ask(&release, "list_to_integer(os:getpid())")?.status()),
        ["stop"] => stop(&release),
        ["version"] => {
            println!("{} {}", release.name, release.version);
            Ok(ExitCode::SUCCESS)
        }
        [] | ["help" | "-h" | "--help"] => {
            print!("{}", help(&release));
            Ok(ExitCode::SUCCESS)
        }
        other => {
            eprint!("error: `{}` is no command of {}\n\n{}", other.join(" "), release.name, help(&release));
            Ok(ExitCode::from(2))
        }
    }
}

fn help(release: &Release) -> String {
    format!(
        "{0} {1}\n\n\
         {0} foreground [--realtime] [-- ARGUMENTS]   run it, until it ends or SIGTERM\n\
         {0} console                                  an Erlang shell in the one that runs\n\
         {0} eval EXPR                                evaluate an Erlang expression in it\n\
         {0} pid                                      its process\n\
         {0} stop                                     stop it, in order, and wait until it has ended\n\
         {0} version\n\n\
         RELEASE_NODE and RELEASE_COOKIE take the place of the node's name and of releases/COOKIE.\n",
        release.name, release.version
    )
}

/// Becomes the VM, so that signals reach it and its exit status is this program's.
fn foreground(release: &Release, realtime: bool, arguments: &[&str]) -> Result<ExitCode, String> {
    let arguments = match arguments {
        ["--", rest @ ..] => rest,
        [] => &[],
        [other, ..] => return Err(format!("`{other}` is no option: arguments to the application stand after --")),
    };
    become_it(release.application(realtime)?.args(["-otp_application", &release.name, "-extra"]).args(arguments))
}

fn console(release: &Release) -> Result<ExitCode, String> {
    must_run(release)?;
    let mut erl = release.other()?;
    let own = release.other_name();
    erl.args(["-hidden", "-dist_listen", "false", release.kind(), &own, "-remsh", release.node()?]);
    become_it(&mut erl)
}

/// A VM that asks the node.
fn ask(release: &Release, expression: &str) -> Result<Command, String> {
    must_run(release)?;
    let mut erl = release.other()?;
    erl.args(remote::flags(release.kind(), &release.other_name(), release.node()?, expression));
    Ok(erl)
}

fn stop(release: &Release) -> Result<ExitCode, String> {
    let status = ask(release, "init:stop()")?.stdout(Stdio::null()).status();
    if !matches!(&status, Ok(status) if status.success()) {
        return code(status);
    }
    // Its name is given up by its end.
    let began = Instant::now();
    while release.is_known() {
        if began.elapsed() > PATIENCE {
            return Err(format!("{} did not end in {} s", release.name, PATIENCE.as_secs()));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok(ExitCode::SUCCESS)
}

fn must_run(release: &Release) -> Result<(), String> {
    let node = release.node()?;
    let elsewhere = node.contains('.') && !node.ends_with("@127.0.0.1");
    if elsewhere || release.is_known() {
        return Ok(());
    }
    Err(format!("{node} does not run here: `{} foreground` starts it", release.name))
}

fn become_it(command: &mut Command) -> Result<ExitCode, String> {
    let error = command.exec();
    Err(format!("cannot start {}: {error}", command.get_program().display()))
}

fn code(status: std::io::Result<ExitStatus>) -> Result<ExitCode, String> {
    let status = status.map_err(|error| format!("cannot start the VM: {error}"))?;
    Ok(ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX)))
}
