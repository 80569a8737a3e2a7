//! The command `kizami`.

mod cli;
mod commands;
mod doctor;
mod exit;
mod paths;
mod run;
mod style;

use std::process::ExitCode;

use clap::Parser;

use cli::{Cli, Command};
use exit::Exit;
use style::Style;

fn main() -> ExitCode {
    // A file that may not become as large as it would is an error of the call that writes it, which says which file, and no
    // reason to end without a word.
    // SAFETY: changes only what this process, and those that it starts, do with a signal.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
    let cli = Cli::parse();
    let style = Style::new(cli.color);
    match dispatch(&cli, &style) {
        Ok(status) => ExitCode::from(status),
        Err(Exit { status, message }) => {
            style.error(&message);
            ExitCode::from(status)
        }
    }
}

fn dispatch(cli: &Cli, style: &Style) -> Result<u8, Exit> {
    let json = cli.json;
    match &cli.command {
        Command::List(list) => commands::list::list(list.name.as_deref(), json, style),
        Command::Doctor(doctor) => commands::doctor::doctor(doctor.quick, json, style),
        Command::Run(run) => commands::run::run(&run.what, &run.options, json, style),
        Command::Bench(bench) => commands::bench::bench(&bench.name, &bench.options, json, style),
        Command::Report(report) => commands::report::report(report, json, style),
        Command::Show(show) => commands::show::show(show, json, style),
        Command::Decide(decide) => commands::decide::decide(decide, json, style),
        Command::Compare(compare) => commands::compare::compare(compare, json, style),
        Command::Export(export) => commands::export::export(export, json, style),
        Command::Import(import) => commands::import::import(import, json, style),
        Command::Completions { shell } => commands::completions::completions(*shell),
        Command::Guard { journal } => Ok(kizami_settings::guard::main(journal)),
    }
}
