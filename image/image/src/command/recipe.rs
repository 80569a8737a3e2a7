//! An image from a recipe.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use image::{Error, Initramfs, Recipe};

use crate::sizes::kilobytes;

#[derive(Args)]
pub struct Options {
    /// The recipe: a TOML file with a kernel, modules, files and what is done at the start
    recipe: PathBuf,
    /// The folder into which `vmlinuz` and `initramfs.cpio` are written
    #[arg(long, default_value = ".")]
    out: PathBuf,
}

/// Makes it.
pub fn make(options: &Options) -> Result<(), Error> {
    let io = |doing, path: &Path| {
        let path = path.to_owned();
        move |source| Error::Io { doing, path, source }
    };
    fs::create_dir_all(&options.out).map_err(io("make the folder", &options.out))?;
    let scratch = tempfile::tempdir_in(&options.out).map_err(io("make a folder in", &options.out))?;
    let recipe = Recipe::read(&options.recipe, &scratch.path().join("kernel"))?;
    let made = recipe.make()?;
    let [kernel, archive] = ["vmlinuz", "initramfs.cpio"].map(|name| options.out.join(name));
    fs::copy(&recipe.kernel.image, &kernel).map_err(io("write", &kernel))?;
    fs::write(&archive, &made.bytes).map_err(io("write", &archive))?;
    // A reader that has seen enough is no failure.
    let _ = io::stdout().write_all(told(&recipe, &made, &kernel, &archive).as_bytes());
    Ok(())
}

/// What was made, how large its parts are, and how to start it.
fn told(recipe: &Recipe, made: &Initramfs, kernel: &Path, archive: &Path) -> String {
    let mut out = String::new();
    for size in &made.sizes {
        out.push_str(&format!("{:>9}  {}\n", kilobytes(size.bytes), size.path));
    }
    let of_kernel = fs::metadata(kernel).map_or(0, |file| file.len());
    out.push_str(&format!("{:>9}  {}\n", kilobytes(made.bytes.len() as u64), archive.display()));
    out.push_str(&format!("{:>9}  {} (Linux {})\n", kilobytes(of_kernel), kernel.display(), recipe.kernel.version));
    out.push_str(&format!(
        "\nqemu-system-x86_64 -nographic -no-reboot -m 256 -append 'console=ttyS0 panic=-1' -kernel {} -initrd {}\n",
        kernel.display(),
        archive.display()
    ));
    out
}
