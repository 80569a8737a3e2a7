//! Starts a program in a child that shares the lab's memory until the program begins, as posix_spawn(3) does.
//!
//! fork(2) would copy the tables of all memory that the lab has, and both sides would pay for each page once more: what a start took grew with what had
//! been measured before. The standard library forks where something is to be done in the child first. Here the thread that starts a program waits
//! until that has begun, and nothing of the lab is copied.

use std::ffi::{CString, OsStr, OsString, c_char, c_int, c_void};
use std::fs::File;
use std::io::{self, PipeReader, PipeWriter};
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd as _, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, ExitStatus};
use std::ptr;

/// Memory of the child's calls until the program begins; execvpe(3) has the paths that it tries there.
const STACK: usize = 256 << 10;

/// What a program reads on its standard input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Input {
    /// Nothing.
    Empty,
    /// What is written to [`Spawned::stdin`].
    Piped,
}

/// A program that runs, with the other ends of its standard streams.
#[derive(Debug)]
pub(crate) struct Spawned {
    pub process: Process,
    pub stdin: Option<PipeWriter>,
    pub stdout: PipeReader,
    pub stderr: PipeReader,
}

/// A child of the lab, to be waited for.
#[derive(Debug)]
pub(crate) struct Process {
    number: libc::pid_t,
    ended: Option<ExitStatus>,
}

impl Process {
    pub fn id(&self) -> u32 {
        self.number.cast_unsigned()
    }

    /// Waits for its end. May be called again.
    pub fn wait(&mut self) -> io::Result<ExitStatus> {
        if let Some(status) = self.ended {
            return Ok(status);
        }
        let mut status = 0;
        // SAFETY: the status is there for the call, and the child was not waited for yet.
        while unsafe { libc::waitpid(self.number, &raw mut status, 0) } < 0 {
            let why = io::Error::last_os_error();
            if why.kind() != io::ErrorKind::Interrupted {
                return Err(why);
            }
        }
        Ok(*self.ended.insert(ExitStatus::from_raw(status)))
    }
}

/// Starts `command` as the leader of a process group of its own; of it counts its program, its arguments, its folder, and what it changes of the lab's own
/// variables. `in_child` is run in the child before.
///
/// # Errors
/// If it could not be started, or `in_child` failed.
///
/// # Safety
/// `in_child` shares the lab's memory, whose other threads go on: it makes system calls, allocates nothing and takes no lock.
pub(crate) unsafe fn spawn(
    command: &Command,
    input: Input,
    in_child: &mut dyn FnMut() -> io::Result<()>,
) -> io::Result<Spawned> {
    let program = text(command.get_program())?;
    let arguments = command.get_args().map(text).collect::<io::Result<Vec<_>>>()?;
    let variables = variables(command)?;
    let folder = command.get_current_dir().map(|folder| text(folder.as_os_str())).transpose()?;
    let (its_stdin, stdin): (OwnedFd, _) = match input {
        Input::Empty => (File::open("/dev/null")?.into(), None),
        Input::Piped => io::pipe().map(|(reader, writer)| (reader.into(), Some(writer)))?,
    };
    let ((stdout, its_stdout), (stderr, its_stderr)) = (io::pipe()?, io::pipe()?);
    let pointers = |words: &[CString]| words.iter().map(|word| word.as_ptr()).chain([ptr::null()]).collect::<Vec<_>>();
    let mut child = Child {
        program: program.as_ptr(),
        arguments: [vec![program.as_ptr()], pointers(&arguments)].concat(),
        variables: pointers(&variables),
        folder: folder.as_ref().map(|folder| folder.as_ptr()),
        streams: [its_stdin.as_raw_fd(), its_stdout.as_raw_fd(), its_stderr.as_raw_fd()],
        in_child,
        failed: 0,
    };
    let number = child.start()?;
    let mut process = Process { number, ended: None };
    match child.failed {
        0 => Ok(Spawned { process, stdin, stdout, stderr }),
        why => {
            process.wait()?;
            Err(io::Error::from_raw_os_error(why))
        }
    }
}

/// What the child has of the lab's memory.
struct Child<'a> {
    program: *const c_char,
    arguments: Vec<*const c_char>,
    variables: Vec<*const c_char>,
    folder: Option<*const c_char>,
    streams: [RawFd; 3],
    in_child: &'a mut dyn FnMut() -> io::Result<()>,
    /// Why the program did not begin; 0 if it did.
    failed: i32,
}

impl Child<'_> {
    /// Gives the number of the child, once its program has begun or it has ended.
    fn start(&mut self) -> io::Result<libc::pid_t> {
        let mut stack: Vec<MaybeUninit<u128>> = Vec::with_capacity(STACK / size_of::<u128>());
        let top = stack.spare_capacity_mut().as_mut_ptr_range().end;
        let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
        // SAFETY: the sets are there for the calls. The child has its own stack, which like all that it uses stays until the call returns, when it has
        // a memory of its own or is gone. No handler of the lab's runs in it, as signals wait until it has none.
        unsafe {
            let (mut all, mut before) = (MaybeUninit::uninit(), MaybeUninit::uninit());
            libc::sigfillset(all.as_mut_ptr());
            libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), before.as_mut_ptr());
            let number = libc::clone(begin, top.cast(), flags, ptr::from_mut(self).cast());
            let why = io::Error::last_os_error();
            libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), ptr::null_mut());
            if number < 0 { Err(why) } else { Ok(number) }
        }
    }

    /// In the child: becomes the program.
    fn become_program(&mut self) -> io::Result<()> {
        let checked = |result: c_int| if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) };
        // SAFETY: system calls with numbers, and with texts and lists of the lab's that end as they have to.
        unsafe {
            no_handlers();
            for (number, stream) in (0..).zip(self.streams) {
                checked(libc::dup2(stream, number))?;
            }
            checked(libc::setpgid(0, 0))?;
            if let Some(folder) = self.folder {
                checked(libc::chdir(folder))?;
            }
            (self.in_child)()?;
            let mut none = MaybeUninit::uninit();
            libc::sigemptyset(none.as_mut_ptr());
            libc::pthread_sigmask(libc::SIG_SETMASK, none.as_ptr(), ptr::null_mut());
            checked(libc::execvpe(self.program, self.arguments.as_ptr(), self.variables.as_ptr()))
        }
    }
}

/// The first function of the child.
extern "C" fn begin(child: *mut c_void) -> c_int {
    // SAFETY: the lab's thread passes this, and waits.
    let child = unsafe { &mut *child.cast::<Child<'_>>() };
    if let Err(why) = child.become_program() {
        child.failed = why.raw_os_error().unwrap_or(libc::EIO);
    }
    127
}

/// Takes the lab's handlers of signals from this process; what the lab ignores is for itself, too.
///
/// # Safety
/// To be called in the child, whose actions are a copy of the lab's.
unsafe fn no_handlers() {
    for signal in 1..=libc::SIGRTMAX() {
        // SAFETY: an action may be all zeros, and is there for the calls; for signals that are none they are refused.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            let known = libc::sigaction(signal, ptr::null(), &raw mut action) == 0;
            let is_ignored = action.sa_sigaction == libc::SIG_IGN && signal != libc::SIGPIPE;
            if known && action.sa_sigaction != libc::SIG_DFL && !is_ignored {
                action = std::mem::zeroed();
                libc::sigaction(signal, &raw const action, ptr::null_mut());
            }
        }
    }
}

fn text(word: &OsStr) -> io::Result<CString> {
    let refused = || io::Error::new(io::ErrorKind::InvalidInput, "a byte of an argument is 0");
    // What `Command` keeps of a word that has one.
    if word == "<string-with-nul>" { Err(refused()) } else { CString::new(word.as_bytes()).map_err(|_| refused()) }
}

/// The lab's, as `command` changes them.
fn variables(command: &Command) -> io::Result<Vec<CString>> {
    let mut all: Vec<(OsString, OsString)> = std::env::vars_os().collect();
    for (name, value) in command.get_envs() {
        all.retain(|(known, _)| known != name);
        all.extend(value.map(|value| (name.to_owned(), value.to_owned())));
    }
    all.iter().map(|(name, value)| text(&[name.as_os_str(), value.as_os_str()].join(OsStr::new("=")))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read as _, Write as _};

    fn started(command: &Command, input: Input) -> io::Result<Spawned> {
        // SAFETY: nothing is done in the child.
        unsafe { spawn(command, input, &mut || Ok(())) }
    }

    fn said(mut spawned: Spawned) -> (String, String, Option<i32>) {
        let (mut out, mut err) = (String::new(), String::new());
        spawned.stdout.read_to_string(&mut out).unwrap();
        spawned.stderr.read_to_string(&mut err).unwrap();
        (out, err, spawned.process.wait().unwrap().code())
    }

    #[test]
    fn a_program_has_its_arguments_variables_folder_and_streams() {
        let folder = std::env::temp_dir().canonicalize().unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", "read a; echo \"$a $1 $X $Y $(pwd)\"; echo no >&2; exit 7", "sh", "b c"]);
        command.current_dir(&folder).env("X", "x").env("Y", "y").env_remove("Y");
        let mut spawned = started(&command, Input::Piped).unwrap();
        spawned.stdin.take().unwrap().write_all(b"a\n").unwrap();
        let expected = format!("a b c x  {}\n", folder.display());
        assert_eq!(said(spawned), (expected, "no\n".to_owned(), Some(7)));
        let mut nothing = Command::new("cat");
        assert_eq!(said(started(nothing.arg("-"), Input::Empty).unwrap()), (String::new(), String::new(), Some(0)));
    }

    #[test]
    fn one_that_cannot_be_started_is_told_and_leaves_nothing() {
        let none = started(&Command::new("/no/such/program"), Input::Empty).unwrap_err();
        assert_eq!(none.kind(), io::ErrorKind::NotFound);
        let mut refuses = || Err(io::Error::from_raw_os_error(libc::EPERM));
        // SAFETY: nothing is done in the child.
        let refused = unsafe { spawn(&Command::new("true"), Input::Empty, &mut refuses) }.unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::PermissionDenied);
        assert_eq!(
            started(Command::new("true").arg("a\0b"), Input::Empty).unwrap_err().kind(),
            io::ErrorKind::InvalidInput
        );
    }

    #[test]
    fn it_leads_its_group_and_has_no_signal_blocked_and_that_of_a_pipe_not_ignored() {
        let script = "ps -o pgid= -p $$; echo $$; grep -E 'Sig(Blk|Ign)' /proc/self/status | cut -f2";
        let spawned = started(Command::new("sh").args(["-c", script]), Input::Empty).unwrap();
        let (out, ..) = said(spawned);
        let words: Vec<_> = out.split_whitespace().collect();
        assert_eq!(words[0], words[1], "{out}");
        let masks: Vec<_> = words[2..].iter().map(|mask| u64::from_str_radix(mask, 16).unwrap()).collect();
        assert_eq!((masks.len(), masks[0], masks[1] & 1 << (libc::SIGPIPE - 1)), (2, 0, 0), "{out}");
    }
}
