//! Building the program: the C compiler, cargo, and the folder for their output.

use std::env;
use std::fmt::Write;
use std::fs::{File, TryLockError};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use inspect::image;
use inspect::{Image, Platform};

use crate::fault::Place;
use crate::include::Files;
use crate::syntax::Item;
use crate::target::Target;
use crate::{check, model, values, write_c, write_rust};

/// An order to build a program.
#[derive(Debug)]
pub struct Order {
    /// The static configuration.
    pub cfg: PathBuf,
    /// The sources in C, and what is compiled already: objects (`.o`) and archives (`.a`).
    pub sources: Vec<PathBuf>,
    /// Folders for `#include`.
    pub include: Vec<PathBuf>,
    /// Definitions for the preprocessor: NAME or NAME=VALUE.
    pub defines: Vec<String>,
    /// The target.
    pub target: Target,
    /// The folder of all output.
    pub folder: PathBuf,
}

/// Where the crates of the RTOS are.
fn rtos() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Writes the configuration: the C files, and the Rust program.
fn configure(order: &Order, include: &[&Path]) -> Result<model::Config> {
    let own = rtos().join("c/include");
    let header = order.folder.join("kernel_cfg.h");
    let files = Files {
        include: &order.include,
        own: &own,
        target: order.target,
        headers: include,
        defines: &order.defines,
        folder: &order.folder,
    };
    let known = |items: &[Item]| write(&header, &write_c::header(&model::names(items, |_| true), order.target));
    let items = files.read(&order.cfg, known)?;
    // Numbers may be spelled with the names of objects; those that the preprocessor leaves out are known afterwards.
    known(&items)?;
    let values = values::compute(&items, order.target, include, &order.defines, &order.folder)?;
    let beginning = Place { file: order.cfg.display().to_string(), line: 1 };
    let config = check::check(&items, &values, order.target, &beginning).map_err(|faults| {
        let mut text = String::new();
        for fault in &faults {
            let _ = writeln!(text, "{fault}");
        }
        anyhow::anyhow!("{}", text.trim_end())
    })?;
    write(
        &header,
        &write_c::header(&model::names(&items, |number| values::is_present(&values, number)), order.target),
    )?;
    write(&order.folder.join("kernel_cfg.c"), &write_c::source(&items, &config))?;
    Ok(config)
}

/// Writes a file unless it has this content already, so that nothing is built anew for it.
fn write(path: &Path, text: &str) -> Result<()> {
    if std::fs::read_to_string(path).is_ok_and(|old| old == text) {
        return Ok(());
    }
    std::fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

/// A built program. Its folder is locked until this value is dropped.
pub struct Built {
    /// Where the program is.
    pub program: PathBuf,
    _folder: File,
}

/// Takes a folder, after waiting for another call that builds in it or runs what it has built there.
fn take(folder: &Path) -> Result<File> {
    let path = folder.join(".lock");
    let lock = File::create(&path).with_context(|| format!("cannot write {}", path.display()))?;
    match lock.try_lock() {
        Ok(()) => return Ok(lock),
        Err(TryLockError::WouldBlock) => {
            eprintln!("waiting for another rtos-cfg that uses {}; --folder names another", folder.display());
        }
        Err(TryLockError::Error(_)) => {}
    }
    lock.lock().with_context(|| format!("cannot lock {}", path.display()))?;
    Ok(lock)
}

/// Builds a program.
pub fn build(order: &Order) -> Result<Built> {
    let folder = &order.folder;
    std::fs::create_dir_all(folder.join("src")).with_context(|| format!("cannot make {}", folder.display()))?;
    let lock = take(folder)?;
    let own = rtos().join("c/include");
    let beside = order.cfg.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut include: Vec<&Path> = vec![folder, &own, beside];
    include.extend(order.include.iter().map(PathBuf::as_path));
    let config = configure(order, &include)?;
    write(&folder.join("src/main.rs"), &write_rust::program(&config, order.target))?;
    let (mut objects, mut archives) = (Vec::new(), Vec::new());
    let own =
        ["syslog", "serial", "logtask", "histogram", "test_svc"].map(|source| rtos().join(format!("c/src/{source}.c")));
    let sources = order.sources.iter().cloned().chain([folder.join("kernel_cfg.c")]).chain(own);
    for (number, source) in sources.enumerate() {
        let cannot = || format!("cannot read {}", source.display());
        match source.extension().and_then(|extension| extension.to_str()) {
            Some("o") => objects.push(source.canonicalize().with_context(cannot)?),
            Some("a") => archives.push(source.canonicalize().with_context(cannot)?),
            _ => {
                let object = folder.join(format!("{number}.o"));
                compile(&source, &object, order, &include)?;
                objects.push(object);
            }
        }
    }
    // A linker takes from an archive what was missing before it.
    objects.extend(archives);
    objects.extend(order.target.libraries()?);
    write(&folder.join("Cargo.toml"), &manifest(order))?;
    write(&folder.join("build.rs"), &build_script(order.target, &objects))?;
    Ok(Built { program: cargo(order, &config)?, _folder: lock })
}

fn compile(source: &Path, object: &Path, order: &Order, include: &[&Path]) -> Result<()> {
    let mut command = order.target.compile(&order.defines);
    // What a program does not use, the linker leaves out.
    command.args(["-O2", "-g", "-Wall", "-ffunction-sections", "-fdata-sections", "-c", "-o"]).arg(object);
    let made = source.ends_with("kernel_cfg.c");
    if made {
        command.args(values::WITH_LINES);
    }
    command.args(include.iter().flat_map(|path| [Path::new("-I"), path])).arg(source);
    let output = command.output().with_context(|| order.target.cannot_compile())?;
    let said = String::from_utf8_lossy(&output.stderr);
    let said = if made { values::told(&said) } else { said.trim_end().to_string() };
    if !output.status.success() {
        bail!("{said}");
    }
    if !said.is_empty() {
        eprintln!("{said}");
    }
    Ok(())
}

fn manifest(order: &Order) -> String {
    let target = order.target;
    let (name, package, folder) = target.port_crate();
    let rtos = rtos();
    let dependency = |name: &str, package: &str, folder: &str| {
        format!("{name} = {{ package = \"{package}\", path = {:?} }}\n", rtos.join(folder))
    };
    // All of a target are built in one place, where cargo knows them by their names alone.
    let mut hasher = DefaultHasher::new();
    order.folder.canonicalize().unwrap_or_else(|_| order.folder.clone()).hash(&mut hasher);
    let mut text = format!(
        "# Made by rtos-cfg.\n[package]\nname = \"application-{:016x}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n\
         [[bin]]\nname = \"application\"\npath = \"src/main.rs\"\n\n[workspace]\n\n[dependencies]\n",
        hasher.finish()
    );
    text += &dependency("rtos", "kizami-rtos", "kernel");
    text += &dependency("rtos_c", "kizami-rtos-c", "c");
    text += &dependency(name, package, &format!("ports/{folder}"));
    // The kernel is compiled as part of the application. On a board the rest is worth it too; here it would be all of Rust's library, which
    // takes half of the time of a build, and made neither signals nor activations faster.
    let lto = if target.platform.is_some() { "fat" } else { "off" };
    let _ = write!(text, "\n[profile.release]\nopt-level = 2\nlto = \"{lto}\"\ncodegen-units = 1\n");
    text + "panic = \"abort\"\ndebug = \"line-tables-only\"\n"
}

fn build_script(target: Target, objects: &[PathBuf]) -> String {
    let mut text = String::from("//! Made by rtos-cfg.\n");
    if let Some(platform) = target.platform {
        let place = rtos().join("ports/images/place.rs");
        let _ = writeln!(text, "include!({place:?});\n");
        let _ = writeln!(text, "fn main() {{");
        let _ = writeln!(text, "    place_one(\"application\", {:?}, {:?});", platform.name(), target.model().name());
    } else {
        text += "fn main() {\n";
    }
    for object in objects {
        let _ = writeln!(text, "    println!(\"cargo:rustc-link-arg={{}}\", {object:?});");
        let _ = writeln!(text, "    println!(\"cargo:rerun-if-changed={{}}\", {object:?});");
    }
    text + "}\n"
}

fn cargo(order: &Order, config: &model::Config) -> Result<PathBuf> {
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(&order.folder).args(["build", "--quiet", "--release"]);
    let made = order.folder.join("target");
    cargo.env("CARGO_TARGET_DIR", &made).env_remove("RUSTFLAGS");
    // The kernel, the same in every application, is compiled once for each target. A cargo older than 1.91 does not know of that.
    let shared = rtos().join("../target/rtos-cfg").join(order.target.platform.map_or("host", Platform::name));
    if std::fs::create_dir_all(&shared).is_ok() {
        cargo.env("CARGO_BUILD_BUILD_DIR", shared.canonicalize()?);
    }
    let program = match order.target.platform {
        None => made.join("release/application"),
        Some(platform) => {
            image::prepare(&mut cargo, platform.target())?;
            cargo.args(["--target", platform.target()]);
            made.join(platform.target()).join("release/application")
        }
    };
    let output = cargo.output().context("cannot start cargo")?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let missing = undefined(&said);
        if !missing.is_empty() {
            let told = missing.iter().map(|name| match config.functions().find(|function| function.text == *name) {
                Some(function) => format!("{}: error: no source defines {name}\n", function.place),
                None => format!("no source defines {name}\n"),
            });
            bail!("{}name every source in C, object and archive behind the .cfg file", told.collect::<String>());
        }
        bail!("cannot build the program:\n{}", said.trim_end());
    }
    Ok(program)
}

/// The names that a linker has not found, each once.
fn undefined(said: &str) -> Vec<&str> {
    let mut names = Vec::new();
    for line in said.lines() {
        let name = line.split_once("undefined symbol: ").map(|(_, name)| name.trim()).or_else(|| {
            let (_, name) = line.split_once("undefined reference to `")?;
            name.split_once('\'').map(|(name, _)| name)
        });
        if let Some(name) = name.filter(|name| !names.contains(name)) {
            names.push(name);
        }
    }
    names
}

/// A built program for a board, to be run in its emulator.
pub fn image(target: Target, path: &Path) -> Option<Image> {
    target.platform.map(|platform| Image { path: path.to_path_buf(), platform, model: target.model() })
}
