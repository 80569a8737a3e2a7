//! Holds settings of the machine while a command runs, then puts them back:
//!
//! ```text
//! sudo hold rt_runtime=off governor=performance -- cyclictest -p 80
//! ```
//!
//! Without a command it restores the settings that an earlier run left changed.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, ExitCode};

use kizami_settings::{Guard, Root, Settings, guard};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [first, journal] = &arguments[..]
        && first == guard::ARGUMENT
    {
        return ExitCode::from(guard::main(Path::new(journal)));
    }
    match hold(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}

fn hold(arguments: &[String]) -> Result<(), String> {
    let root = Root::from_environment();
    for sentence in guard::recover(&root) {
        println!("{sentence}");
    }
    let mut halves = arguments.splitn(2, |a| a == "--");
    let (pairs, command) = (halves.next().unwrap_or_default(), halves.next().unwrap_or_default());
    let Some((program, rest)) = command.split_first() else { return Ok(()) };
    let pairs = pairs.iter().map(|pair| pair.split_once('=').ok_or(format!("{pair} is not of the form name=value")));
    let pairs = pairs.map(|p| p.map(|(n, v)| (n.to_owned(), v.to_owned()))).collect::<Result<BTreeMap<_, _>, _>>()?;
    let settings = Settings::new(&pairs).map_err(|(_, why)| why)?;
    let exe = std::env::current_exe().map_err(|e| e.to_string())?;
    let (guard, effective) = Guard::engage(&root, &exe, &settings);
    for (name, effective) in effective {
        let mark = if effective.as_requested { "" } else { " REFUSED" };
        println!("{name} = {}{mark} {}", effective.value, effective.why);
    }
    let mut command = Command::new(program);
    command.args(rest);
    if !guard.cgroups().is_empty() {
        kizami_settings::process::InChild::new(&settings).joining(guard.cgroups()).attach(&mut command);
    }
    let status = command.status().map_err(|e| format!("{program}: {e}"))?;
    println!("{status}");
    guard.release()
}
