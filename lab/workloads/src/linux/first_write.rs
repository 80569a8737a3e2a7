//! The first write to a file that was there before.
//!
//! In a container whose files lie on an overlay, a file of the image is copied to the container's own layer when it is first opened for
//! writing, all of it: the environment puts such files into [`FOLDER`]. Anywhere else the workload makes them itself, and the same
//! calls copy nothing.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use crate::bench::{Bench, Failure, clock_ns};
use crate::os::memory::PageAligned;
use crate::spec::{Kind, Param, Params, Part, Workload};

/// Where the files are that an environment has made, in the folder for files.
pub const FOLDER: &str = "below";
/// What they hold.
pub const BYTE: u8 = 0x5a;

pub static WORKLOAD: Workload = Workload {
    name: "first-write",
    title: "first write to a file that was there before",
    about: "Opens a file of `size` bytes that was there before, and writes `chunk` bytes at its beginning; each sample has a file of its \
            own. In a container whose files are on an overlay (files_on=overlay) they are files of its image, of which the kernel makes a copy \
            in the container's own layer then (copy-up), however little is written. Elsewhere nothing is copied, and a sample is an \
            open and a write. The page cache has the files. Not in the figure: making and closing them.",
    reference: "",
    params: &[
        Param { name: "size", about: "bytes of each file", kind: Kind::size(1, 1 << 30), default: "1MiB" },
        Param { name: "chunk", about: "bytes that are written", kind: Kind::size(1, 16 << 20), default: "4KiB" },
        Param { name: "samples", about: "how many files", kind: Kind::count(1, 10_000), default: "50" },
    ],
    parts: |params, _| vec![Part::times(params.number("samples"))],
    // Making them takes most of it.
    seconds: |params| params.number("size") as f64 * params.number("samples") as f64 / 300e6,
    linux: Some(run),
    beam: None,
};

/// The files that an environment makes for `params`: how many, and of how many bytes each. None for another workload.
pub fn below(params: &Params) -> Option<(u64, u64)> {
    (params.workload().name == WORKLOAD.name).then(|| (params.number("samples"), params.number("size")))
}

/// The name of file number `index` in [`FOLDER`].
pub fn name(index: u64) -> String {
    format!("{index}")
}

/// Removes what this made.
struct Made(Option<PathBuf>);

impl Drop for Made {
    fn drop(&mut self) {
        if let Some(folder) = &self.0 {
            let _ = fs::remove_dir_all(folder);
        }
    }
}

fn run(params: &Params, bench: &mut Bench<'_>) -> Result<(), Failure> {
    let mut recorder = bench.recorder(0)?;
    let chunk = PageAligned::new(params.number("chunk") as usize, 0xa5)?;
    let folder = bench.scratch().join(FOLDER);
    let there = folder.is_dir();
    let _made = Made((!there).then(|| folder.clone()));
    if !there && !make(&folder, params, bench)? {
        return Ok(());
    }
    let mut paths = Vec::new();
    for index in 0..params.number("samples") {
        let path = folder.join(name(index));
        let size = fs::metadata(&path).map_err(Failure::os(format!("look at {}", path.display())))?.len();
        if size != params.number("size") {
            let why = format!("{} was to have {} bytes, and has {size}", path.display(), params.number("size"));
            return Err(Failure::Impossible(why));
        }
        // Into the page cache.
        let read = File::open(&path).and_then(|mut file| io::copy(&mut file, &mut io::sink()));
        read.map_err(Failure::os(format!("read {}", path.display())))?;
        paths.push(path);
    }
    let mut options = OpenOptions::new();
    options.write(true);
    bench.window(|bench| -> Result<(), Failure> {
        for path in &paths {
            // The words of a failure are made when there is one: making them takes memory.
            let failed = |doing: &str, source| Failure::Os { doing: format!("{doing} {}", path.display()), source };
            let before = clock_ns();
            let file = options.open(path).map_err(|source| failed("open", source))?;
            file.write_all_at(&chunk, 0).map_err(|source| failed("write", source))?;
            recorder.push(clock_ns() - before);
            drop(file);
            if bench.stopped() {
                break;
            }
        }
        Ok(())
    })?;
    let (value, why) = if there {
        ("of the image", "they were there when the probe began; if they lie in a lower layer of an overlay, the first opening for writing copies each")
    } else {
        ("made before", "the probe made them itself, so nothing has to be copied")
    };
    bench.effective("files", value, true, why);
    Ok(())
}

/// Makes the files; `false` when it was stopped before.
fn make(folder: &Path, params: &Params, bench: &Bench<'_>) -> Result<bool, Failure> {
    fs::create_dir(folder).map_err(Failure::os(format!("make the folder {}", folder.display())))?;
    let content = PageAligned::new(params.number("size").min(1 << 20) as usize, BYTE)?;
    for index in 0..params.number("samples") {
        let path = folder.join(name(index));
        let failed = |source| Failure::Os { doing: format!("make {}", path.display()), source };
        let file = File::create_new(&path).map_err(failed)?;
        let mut at = 0;
        while at < params.number("size") {
            if bench.stopped() {
                return Ok(false);
            }
            let piece = content.len().min((params.number("size") - at) as usize);
            file.write_all_at(&content[..piece], at).map_err(failed)?;
            at += piece as u64;
        }
    }
    Ok(true)
}
