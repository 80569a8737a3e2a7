//! What a container is asked to be, and what an engine makes of that.

use std::ffi::CString;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use kizami_protocol::Keep;
use kizami_settings::{Policy, Root, system};
use kizami_workloads::linux::first_write;

use crate::environment::Job;
use crate::error::Error;

/// Paths in a container.
pub(super) const PROBE: &str = "/probe";
/// The folder that it shares with the lab.
pub(super) const SHARED: &str = "/lab";
/// The folder for the files of the work.
pub(super) const SCRATCH: &str = "/scratch";

/// Where the files of the work are; the values of the setting `files_on`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Files {
    Overlay,
    Bind,
    Tmpfs,
}

impl Files {
    pub(super) fn parse(value: &str) -> Option<Self> {
        Some(match value {
            "overlay" => Self::Overlay,
            "bind" => Self::Bind,
            "tmpfs" => Self::Tmpfs,
            _ => return None,
        })
    }
}

/// Files that are in the image of a container, in the folder for files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Below {
    pub count: u64,
    /// Of each.
    pub bytes: u64,
}

impl Below {
    /// The most bytes of all of them.
    const MOST: u64 = 4 << 30;

    /// Those that the workload of `job` is to find.
    pub(super) fn of(job: &Job) -> Result<Option<Self>, Error> {
        let Some((count, bytes)) = first_write::below(&job.params) else { return Ok(None) };
        if count.saturating_mul(bytes) > Self::MOST {
            return Err(Error::Unusable(format!(
                "an image with {count} files of {bytes} bytes would be larger than 4 GiB: choose fewer samples or a smaller size"
            )));
        }
        Ok(Some(Self { count, bytes }))
    }

    /// Their paths in the folder for files.
    pub(super) fn paths(self) -> impl Iterator<Item = String> {
        (0..self.count).map(|index| format!("{}/{}", first_write::FOLDER, first_write::name(index)))
    }

    /// What each holds.
    pub(super) fn content(self) -> impl Read {
        io::repeat(first_write::BYTE).take(self.bytes)
    }
}

/// One container.
#[derive(Debug)]
pub(super) struct Asked<'a> {
    /// No other container of this machine has this name.
    pub name: &'a str,
    /// The probe's file on this machine.
    pub probe: &'a Path,
    pub arguments: &'a [&'a str],
    /// An empty folder of this container alone, for what its engine needs.
    pub folder: &'a Path,
    /// A folder that becomes [`SHARED`].
    pub shared: &'a Path,
    pub files: Files,
    /// Files of the layer below, where files are on an overlay.
    pub below: Option<Below>,
    /// A folder of the host for files, if they are on it.
    pub scratch: &'a Path,
    /// Linux's names of capabilities that the settings of the work take, without their `CAP_`. Whoever has one needs no
    /// resource limit for the same.
    pub capabilities: &'a [&'static str],
    /// Whether calls pass the filter of the engine; none says what the engine does by itself.
    pub seccomp: Option<bool>,
    /// Whether the probe is a child of the container's first process, and not that; none says what the engine does by itself.
    pub init: Option<bool>,
    /// Processors' worth of time.
    pub cpu_limit: Option<f64>,
    pub cpuset: Option<&'a str>,
    /// How many control groups deep it lies, where that is not for its engine to say.
    pub depth: Option<usize>,
    /// Bytes.
    pub memory: Option<u64>,
    /// Microseconds of each second for threads with a real-time policy, where a group without them refuses one.
    pub real_time: Option<u64>,
}

impl Asked<'_> {
    /// The program of the container and its arguments, where the engine makes that the first process.
    pub(super) fn program(&self) -> impl Iterator<Item = &str> {
        let init = (self.init == Some(true)).then_some("init");
        [PROBE].into_iter().chain(init).chain(self.arguments.iter().copied())
    }
}

/// The share of real time of a container: less than all, because several groups have one at the same time, and together they
/// may have no more than the machine.
pub(super) fn real_time() -> Option<u64> {
    system::real_time_of_groups(&Root::machine()).map(|all| all / 3)
}

/// The share of a container whose work asks for `policy`, once there is as much to give; none for a policy that needs none.
pub(super) fn real_time_for(policy: &str) -> Option<u64> {
    let share = real_time().filter(|_| Policy::parse(policy).is_ok_and(Policy::is_real_time))?;
    system::await_real_time(&Root::machine(), share);
    Some(share)
}

/// Whether `folder` lies on a layer itself, as in a container: no other layer can be above it.
pub(super) fn is_layer(folder: &Path) -> bool {
    let Ok(path) = CString::new(folder.as_os_str().as_bytes()) else { return false };
    // SAFETY: a path that ends in NUL; the kernel fills the structure, which is all zeros before, or refuses.
    let (got, about) = unsafe {
        let mut about: libc::statfs = std::mem::zeroed();
        (libc::statfs(path.as_ptr(), &raw mut about), about)
    };
    got == 0 && about.f_type == libc::OVERLAYFS_SUPER_MAGIC
}

/// How a container is started, in the foreground.
pub(super) struct Prepared {
    pub command: Command,
    /// What removes it, if it is not gone with the command.
    pub keep: Option<Keep>,
}

/// A program that starts containers.
pub(super) trait Engine: Sync {
    fn name(&self) -> &'static str;

    fn title(&self) -> &'static str;

    /// Debian's package that has the program, which has the engine's name.
    fn package(&self) -> &'static str;

    /// Where files are unless it is asked for, if this machine has those of the run in `scratch`.
    fn files(&self, scratch: &Path) -> Files;

    /// Whether it does what these settings of a container ask for: by name.
    fn has(&self, setting: &str) -> bool;

    fn versions(&self) -> Vec<(String, String)>;

    /// # Errors
    /// When it cannot start this container, or any.
    fn prepare(&self, asked: &Asked<'_>) -> Result<Prepared, Error>;

    /// Seconds that starting and ending a container takes, about.
    fn starting(&self) -> f64;

    /// The file with the number of the daemon that serves its containers, if one does.
    fn daemon(&self) -> Option<PathBuf> {
        None
    }

    /// Ends what served several containers.
    fn end(&self) {}
}
