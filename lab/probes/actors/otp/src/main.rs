//! Writer of the application's folder: `kizami-actors-otp FOLDER` writes the modules of the Erlang half, and beside
//! them the library, under the name of the module that loads it.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, fs};

use otp::ask::{self, Asked};
use otp::generate::Source;

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

fn write(folder: &Path) -> Result<(), String> {
    let cannot = |what: PathBuf| move |e: std::io::Error| format!("cannot write {}: {e}", what.display());
    let library = env::current_exe().map_err(|e| format!("the path of this program is unknown: {e}"))?;
    let library = library.with_file_name("libactors_otp.so");
    fs::create_dir_all(folder).map_err(cannot(folder.to_owned()))?;
    for source in sources(&library).map_err(|e| format!("cannot ask {}: {e}", library.display()))? {
        let path = folder.join(&source.file);
        fs::write(&path, source.text).map_err(cannot(path))?;
    }
    let to = folder.join(format!("{NATIVE}.so"));
    fs::copy(&library, &to).map_err(|e| format!("cannot copy {} to {}: {e}", library.display(), to.display()))?;
    Ok(())
}

/// What the library says of its Erlang half. It is loaded for that, as `cargo otp` does with every application: one that is linked into
/// programs too would be optimised less.
fn sources(library: &Path) -> Result<Vec<Source>, String> {
    // SAFETY: the library was built beside this program from the sources beside these. `application!` gives the function of this name
    // this type, and the library stays loaded while it is asked.
    unsafe {
        let loaded = libloading::Library::new(library).map_err(|error| error.to_string())?;
        let asked: Asked = *loaded.get(b"otp_sources\0").map_err(|error| error.to_string())?;
        ask::sources(asked, NATIVE)
    }
}
