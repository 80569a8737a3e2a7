//! `kizami completions`: completions for a shell, with the names of everything that can be named.
//!
//! The names are read from the lists of studies, workloads, environments, settings, parameters and loads, so what is added
//! there is completed without a change here. A shell completes whole words: of a choice, each value; of a number, the
//! workload's own default, to be changed.

use clap::builder::PossibleValuesParser;
use clap::{Arg, Command, CommandFactory};
use clap_complete::Shell;
use kizami_environments::{LOAD, NO_LOAD};
use kizami_settings::SETTINGS;
use kizami_workloads::{Kind, loads};

use super::output::print_text;
use crate::cli::Cli;
use crate::exit::Exit;

pub fn completions(shell: Shell) -> Result<u8, Exit> {
    print_text(&script(shell))?;
    Ok(0)
}

fn script(shell: Shell) -> String {
    let mut command = named(Cli::command());
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command, "kizami", &mut script);
    let mut script = String::from_utf8_lossy(&script).into_owned();
    if shell == Shell::Fish {
        // The generator for fish leaves out the values of what is not an option.
        for subcommand in command.get_subcommands() {
            for arg in subcommand.get_positionals().filter(|arg| arg.get_id() != "shell") {
                let values: Vec<_> = arg.get_possible_values().iter().map(|v| v.get_name().to_owned()).collect();
                if !values.is_empty() {
                    let (name, values) = (subcommand.get_name(), values.join(" "));
                    script +=
                        &format!("complete -c kizami -n \"__fish_kizami_using_subcommand {name}\" -a \"{values}\"\n");
                }
            }
        }
    }
    script
}

/// The command line with the names as the values that there are: for completions, as its parser takes more.
fn named(command: Command) -> Command {
    let studies = || kizami_studies::builtin().map(str::to_owned);
    let workloads = || kizami_workloads::ALL.iter().map(|workload| workload.name.to_owned());
    let environments = || kizami_environments::ALL.iter().map(|environment| environment.name().to_owned());
    let settings = || SETTINGS.iter().map(|setting| setting.name.to_owned());
    let loads = || loads::ALL.iter().map(|load| load.name.to_owned());
    let everything: Vec<String> =
        studies().chain(workloads()).chain(environments()).chain(settings()).chain(loads()).collect();
    let options = move |command: Command| {
        let loads = loads().chain([NO_LOAD.to_owned()]);
        let command = command.mut_arg("set", |arg| one_of(arg, pairs()));
        command.mut_arg(LOAD, |arg| one_of(arg, loads)).mut_arg("environment", |arg| one_of(arg, environments()))
    };
    command
        .mut_subcommand("run", |run| options(run).mut_arg("what", |arg| one_of(arg, studies().chain(workloads()))))
        .mut_subcommand("bench", |bench| options(bench).mut_arg("name", |arg| one_of(arg, studies())))
        .mut_subcommand("list", |list| list.mut_arg("name", |arg| one_of(arg, everything)))
}

fn one_of(arg: Arg, values: impl IntoIterator<Item = String>) -> Arg {
    let mut values: Vec<String> = values.into_iter().collect();
    values.sort();
    values.dedup();
    arg.value_parser(PossibleValuesParser::new(values))
}

/// What can follow `--set`: `NAME=VALUE` of every setting and every parameter.
fn pairs() -> Vec<String> {
    let setting = |setting: &kizami_settings::Setting| -> Vec<String> {
        let choices = setting.choices();
        let values = if choices.is_empty() { vec![String::new()] } else { choices };
        values.into_iter().map(|value| format!("{}={value}", setting.name)).collect()
    };
    let param = |param: &kizami_workloads::Param| -> Vec<String> {
        match param.kind {
            Kind::Choice(choices) => choices.iter().map(|choice| format!("{}={choice}", param.name)).collect(),
            Kind::Number { .. } => vec![format!("{}={}", param.name, param.default)],
        }
    };
    let params = kizami_workloads::ALL.iter().flat_map(|workload| workload.params);
    SETTINGS.iter().flat_map(setting).chain(params.flat_map(param)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shell_completes_every_name() {
        for shell in [Shell::Bash, Shell::Zsh, Shell::Fish, Shell::Elvish, Shell::PowerShell] {
            // What means something to the shell is quoted.
            let script = script(shell).replace('\\', "");
            let names = kizami_studies::builtin().chain(kizami_workloads::ALL.iter().map(|workload| workload.name));
            let environments = kizami_environments::ALL.iter().map(|environment| environment.name());
            let names = names.chain(environments).chain(loads::ALL.iter().map(|load| load.name));
            let settings = SETTINGS.iter().map(|setting| format!("{}=", setting.name));
            let all: Vec<String> = names.map(str::to_owned).chain(settings).chain(pairs()).collect();
            // These two have no completion of values.
            if matches!(shell, Shell::Elvish | Shell::PowerShell) {
                continue;
            }
            for name in all {
                assert!(script.contains(&name), "{shell} does not know {name}");
            }
        }
        named(Cli::command()).debug_assert();
    }
}
