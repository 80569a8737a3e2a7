//! A mount namespace in which one folder is a small file system in memory: a disk that is full when the test wants it,
//! or a machine without control groups.

use std::ffi::CString;
use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// The view; it lasts as long as its process.
pub struct View {
    holder: Child,
    namespace: File,
    /// The folder that is its root: not that of the machine where the tests themselves run in another.
    root: File,
}

impl View {
    /// Mounts an empty file system of `bytes` bytes over `folder`, for those alone who join.
    pub fn with_memory_at(folder: &Path, bytes: u64) -> Self {
        let at = CString::new(folder.as_os_str().as_bytes()).expect("a path");
        let options = CString::new(format!("size={bytes}")).expect("text");
        Self::changed(move || {
            let tmpfs = c"tmpfs".as_ptr();
            // SAFETY: a system call on texts that end in NUL.
            checked(unsafe { libc::mount(tmpfs, at.as_ptr(), tmpfs, 0, options.as_ptr().cast()) })
        })
    }

    /// Takes away all control groups, for those alone who join.
    pub fn without_cgroups() -> Self {
        let mounts = fs::read_to_string("/proc/self/mounts").expect("what is mounted");
        let at = |line: &str| {
            let mut words = line.split(' ').skip(1);
            let (at, kind) = (words.next()?, words.next()?);
            kind.starts_with("cgroup").then(|| CString::new(at).expect("a path"))
        };
        let all: Vec<_> = mounts.lines().filter_map(at).collect();
        Self::changed(move || {
            // SAFETY: a system call on a text that ends in NUL.
            all.iter().try_for_each(|at| checked(unsafe { libc::umount2(at.as_ptr(), libc::MNT_DETACH) }))
        })
    }

    fn changed(change: impl Fn() -> io::Result<()> + Send + Sync + 'static) -> Self {
        let make = move || {
            // SAFETY: system calls on values of ours that end in NUL, in a child between fork and exec.
            unsafe {
                checked(libc::unshare(libc::CLONE_NEWNS))?;
                let nothing = std::ptr::null();
                let private = libc::MS_REC | libc::MS_PRIVATE;
                checked(libc::mount(nothing, c"/".as_ptr(), nothing, private, nothing.cast()))?;
            }
            change()
        };
        // It ends when its input does, which is when the test ends, however that is.
        let mut holder = Command::new("cat");
        holder.stdin(Stdio::piped()).stdout(Stdio::null()).current_dir("/");
        // SAFETY: see there.
        let holder = unsafe { holder.pre_exec(make) }.spawn().expect("root may have a view of its own");
        let of_holder = |what| File::open(format!("/proc/{}/{what}", holder.id())).expect("the view of our child");
        let (namespace, root) = (of_holder("ns/mnt"), of_holder("root"));
        Self { holder, namespace, root }
    }

    /// Makes `command` see it.
    pub fn join(&self, mut command: Command) -> Command {
        let own = |file: &File| file.try_clone().expect("a descriptor");
        let (namespace, root) = (own(&self.namespace), own(&self.root));
        let folder = command.get_current_dir().map(|f| CString::new(f.as_os_str().as_bytes()).expect("a path"));
        let join = move || {
            // SAFETY: system calls on a descriptor and a path of ours, in a child between fork and exec.
            unsafe {
                checked(libc::setns(namespace.as_raw_fd(), libc::CLONE_NEWNS))?;
                // Joining goes to the root folder of the machine.
                checked(libc::fchdir(root.as_raw_fd()))?;
                checked(libc::chroot(c".".as_ptr()))?;
                folder.as_ref().map_or(Ok(()), |folder| checked(libc::chdir(folder.as_ptr())))
            }
        };
        // SAFETY: see there.
        unsafe { command.pre_exec(join) };
        command
    }

    /// Where `path` of the view is for everybody else.
    pub fn outside(&self, path: &Path) -> PathBuf {
        let root = PathBuf::from(format!("/proc/{}/root", self.holder.id()));
        root.join(path.strip_prefix("/").expect("a path from the root"))
    }

    /// Fills what is left of the file system at `folder`.
    pub fn fill(&self, folder: &Path) {
        let mut file = File::create(self.outside(folder).join("filler")).expect("a file");
        let zeros = [0; 4096];
        let full = std::iter::repeat_with(|| io::Write::write_all(&mut file, &zeros)).find_map(Result::err);
        assert_eq!(full.map(|e| e.kind()), Some(io::ErrorKind::StorageFull));
    }

    pub fn make_room(&self, folder: &Path) {
        fs::remove_file(self.outside(folder).join("filler")).expect("the file that fills it");
    }
}

impl Drop for View {
    fn drop(&mut self) {
        let _ = self.holder.kill().and_then(|()| self.holder.wait());
    }
}

fn checked(result: libc::c_int) -> io::Result<()> {
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
