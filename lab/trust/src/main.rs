//! `./x bench trust`: prints how often the statements of the lab are right, and fails where a bound is missed.

use std::fs;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;
use kizami_trust::{Scope, judge};

/// How often the statements of kizami are right: simulated series of known truth, through the command
#[derive(Parser)]
struct Cli {
    /// Simulated series of each kind and size
    #[arg(long, default_value_t = 1000)]
    repeats: u64,
    /// Where the random numbers start
    #[arg(long, default_value_t = 20_261_125)]
    seed: u64,
    /// Leave out series that are longer
    #[arg(long, default_value_t = usize::MAX, hide_default_value = true)]
    largest: usize,
    /// Put the table into this file, between its lines `<!-- trust -->` and `<!-- /trust -->`
    #[arg(long, value_name = "FILE")]
    write: Option<PathBuf>,
    /// The command that is judged [default: the one beside this program]
    #[arg(long)]
    kizami: Option<PathBuf>,
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let beside = || std::env::current_exe().ok().map(|own| own.with_file_name("kizami"));
    let Some(kizami) = cli.kizami.or_else(beside) else {
        eprintln!("error: where kizami is must be said with --kizami");
        return ExitCode::FAILURE;
    };
    let scope = Scope { repeats: cli.repeats, seed: cli.seed, largest: cli.largest, errors: 0.0 };
    let terminal = std::io::stderr().is_terminal();
    let progress = |done: usize, all: usize| {
        if terminal {
            eprint!("\r{done} of {all} kinds of series judged");
        } else {
            eprintln!("{done} of {all} kinds of series judged");
        }
    };
    match judge(&kizami, &scope, &progress) {
        Err(why) => {
            eprintln!("\nerror: {why}");
            ExitCode::FAILURE
        }
        Ok(judged) => {
            if terminal {
                eprintln!();
            }
            let table = format!(
                "Percent of the given intervals that hold the truth (and percent of series for which one is given); {} series \
                 each, seed {}.\n\n{}",
                cli.repeats, cli.seed, judged.table
            );
            println!("{table}");
            if let Some(Err(why)) = cli.write.map(|path| put(&path, &table)) {
                eprintln!("error: {why}");
                return ExitCode::FAILURE;
            }
            judged.missed.iter().for_each(|why| println!("missed: {why}"));
            let (all, missed) = (judged.statements, judged.missed.len());
            let verdict = if missed == 0 { "all bounds held".to_owned() } else { format!("{missed} of {all} missed") };
            println!("trust: {all} kinds of statements about kinds of series: {verdict}");
            if missed == 0 { ExitCode::SUCCESS } else { ExitCode::from(5) }
        }
    }
}

/// Replaces what stands between the marks of a file.
fn put(path: &Path, table: &str) -> Result<(), String> {
    const MARKS: [&str; 2] = ["<!-- trust -->\n", "<!-- /trust -->\n"];
    let text = fs::read_to_string(path).map_err(|e| format!("could not read {}: {e}", path.display()))?;
    let parts = text.split_once(MARKS[0]).and_then(|(before, rest)| Some((before, rest.split_once(MARKS[1])?.1)));
    let Some((before, after)) = parts else {
        return Err(format!("{} has no lines {} and {}", path.display(), MARKS[0].trim(), MARKS[1].trim()));
    };
    let text = format!("{before}{}\n{table}\n{}{after}", MARKS[0], MARKS[1]);
    fs::write(path, text).map_err(|e| format!("could not write {}: {e}", path.display()))
}
