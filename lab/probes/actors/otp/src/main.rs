//! Puts the application into a folder, ready to be compiled: `kizami-actors-otp FOLDER` writes the modules of its Erlang half,
//! and beside them the library, under the name of the module that loads it.

use std::path::PathBuf;
use std::process::ExitCode;
use std::{env, fs};

// Its behaviours are linked into this program, so that what they say of themselves can be asked for.
use actors_otp as _;

const NATIVE: &str = "actors_otp_native";

fn main() -> ExitCode {
    let Some(folder) = env::args_os().nth(1).map(PathBuf::from) else {
        eprintln!("usage: kizami-actors-otp FOLDER");
        return ExitCode::from(2);
    };
    match write(&folder) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("kizami-actors-otp: {error}");
            ExitCode::FAILURE
        }
    }
}

fn write(folder: &std::path::Path) -> Result<(), String> {
    let cannot = |what: PathBuf| move |e: std::io::Error| format!("cannot write {}: {e}", what.display());
    fs::create_dir_all(folder).map_err(cannot(folder.to_owned()))?;
    for source in otp::generate::sources(NATIVE) {
        let path = folder.join(&source.file);
        fs::write(&path, source.text).map_err(cannot(path))?;
    }
    let library = env::current_exe().map_err(|e| format!("the path of this program is unknown: {e}"))?;
    let library = library.with_file_name("libactors_otp.so");
    let to = folder.join(format!("{NATIVE}.so"));
    fs::copy(&library, &to).map_err(|e| format!("cannot copy {} to {}: {e}", library.display(), to.display()))?;
    Ok(())
}
