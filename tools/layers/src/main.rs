//! `kizami-layers [FOLDER]` checks the crates below a folder, this one if none is named. Its exit status is 1 if it found
//! something, and 2 if it could not read something.

use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> ExitCode {
    let folder = std::env::args_os().nth(1).map_or_else(|| PathBuf::from("."), PathBuf::from);
    match kizami_layers::check(&folder) {
        Err(why) => {
            eprintln!("{why}");
            ExitCode::from(2)
        }
        Ok((findings, _)) if !findings.is_empty() => {
            findings.iter().for_each(|finding| eprintln!("{finding}"));
            ExitCode::FAILURE
        }
        Ok((_, crates)) => {
            println!("each file of {crates} crates imports only what lies below it");
            ExitCode::SUCCESS
        }
    }
}
