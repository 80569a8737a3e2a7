//! Processes. Without an MMU there is no fork: a child shares the memory of its parent, which waits until the child has begun a program of
//! its own; or it shares it for good, and has a stack of its own in it.

use alloc::string::String;
use alloc::vec::Vec;

use linux_raw_sys::general::{
    __NR_clone, __NR_execve, __NR_exit, __NR_exit_group, __NR_getcpu, __NR_getpid, __NR_getppid, __NR_ioctl,
    __NR_prctl, __NR_reboot, __NR_setsid, __NR_sync, __NR_syslog, __NR_wait4, CLONE_VFORK, CLONE_VM, WNOHANG,
};
use linux_raw_sys::ioctl::TIOCSCTTY;
use linux_raw_sys::prctl::PR_SET_NAME;

use super::call::call;
use super::errno::{Errno, Result};
use super::files::{self, Fd};
use super::signals::SIGCHLD;

/// The stack on which a child begins a program: a few calls deep.
const BRIEF: usize = 1024;

pub fn id() -> usize {
    // SAFETY: asks for a number.
    unsafe { call(__NR_getpid, [0; 6]) }.unwrap_or(0)
}

/// The process that started this one.
#[inline]
pub fn parent() -> usize {
    // SAFETY: asks for a number.
    unsafe { call(__NR_getppid, [0; 6]) }.unwrap_or(0)
}

/// The processor that this runs on.
pub fn processor() -> u32 {
    let mut number = 0u32;
    // SAFETY: room for the number; what else could be told is not asked for.
    let _ = unsafe { call(__NR_getcpu, [(&raw mut number) as usize, 0, 0, 0, 0, 0]) };
    number
}

/// Calls this process so, in lists of all; the first 15 letters of it.
pub fn name(text: &str) {
    let mut name = [0u8; 16];
    for (place, letter) in name[..15].iter_mut().zip(text.bytes()) {
        *place = letter;
    }
    // SAFETY: a text of 16 bytes that ends with a zero. It is always taken.
    let _ = unsafe { call(__NR_prctl, [PR_SET_NAME as usize, name.as_ptr() as usize, 0, 0, 0, 0]) };
}

/// Ends this process with all its threads.
pub fn exit(status: i32) -> ! {
    loop {
        // SAFETY: does not come back.
        let _ = unsafe { call(__NR_exit_group, [status as usize, 0, 0, 0, 0, 0]) };
    }
}

/// Starts a child at `begin(argument)` on the stack that ends at `top`, which shares this process's memory, and what else `flags` say. Its
/// status is what `begin` returns.
///
/// # Safety
/// The stack and what `argument` points to stay until the child has ended, or, with `CLONE_VFORK`, has begun a program; and what both
/// use of this memory at the same time is made for that.
///
/// # Errors
/// What the kernel said.
pub unsafe fn clone(flags: u32, top: *mut u8, begin: extern "C" fn(usize) -> i32, argument: usize) -> Result<usize> {
    // SAFETY: the caller's promise.
    let result = unsafe { start(flags as usize, top as usize, begin as *const () as usize, argument) };
    if result < 0 { Err(Errno(-result as u32)) } else { Ok(result as usize) }
}

/// # Safety
/// See [`clone`].
#[cfg(target_arch = "arm")]
#[unsafe(naked)]
unsafe extern "C" fn start(flags: usize, top: usize, begin: usize, argument: usize) -> isize {
    // The child finds on its stack where it begins, since it returns from the call with this function's frame nowhere.
    core::arch::naked_asm!(
        "push {{r4, r7, lr}}",
        "bic r1, r1, #7",
        "stmdb r1!, {{r2, r3}}",
        "movs r2, #0",
        "movs r3, #0",
        "movs r4, #0",
        "mov r7, #{clone}",
        "svc 0",
        "cbz r0, 1f",
        "pop {{r4, r7, pc}}",
        "1:",
        "pop {{r1}}",
        "pop {{r0}}",
        "blx r1",
        "mov r7, #{exit}",
        "svc 0",
        clone = const __NR_clone,
        exit = const __NR_exit,
    )
}

/// # Safety
/// See [`clone`].
#[cfg(target_arch = "x86_64")]
#[unsafe(naked)]
unsafe extern "C" fn start(flags: usize, top: usize, begin: usize, argument: usize) -> isize {
    core::arch::naked_asm!(
        "and rsi, -16",
        "sub rsi, 16",
        "mov [rsi], rdx",
        "mov [rsi + 8], rcx",
        "xor edx, edx",
        "xor r10d, r10d",
        "xor r8d, r8d",
        "mov eax, {clone}",
        "syscall",
        "test rax, rax",
        "jz 2f",
        "ret",
        "2:",
        "pop rax",
        "pop rdi",
        "xor ebp, ebp",
        "call rax",
        "mov edi, eax",
        "mov eax, {exit}",
        "syscall",
        clone = const __NR_clone,
        exit = const __NR_exit,
    )
}

/// # Safety
/// See [`clone`].
#[cfg(target_arch = "aarch64")]
#[unsafe(naked)]
unsafe extern "C" fn start(flags: usize, top: usize, begin: usize, argument: usize) -> isize {
    core::arch::naked_asm!(
        "and x1, x1, #-16",
        "stp x2, x3, [x1, #-16]!",
        "mov x2, #0",
        "mov x3, #0",
        "mov x4, #0",
        "mov x8, #{clone}",
        "svc 0",
        "cbz x0, 1f",
        "ret",
        "1:",
        "ldp x1, x0, [sp], #16",
        "blr x1",
        "mov x8, #{exit}",
        "svc 0",
        clone = const __NR_clone,
        exit = const __NR_exit,
    )
}

/// A program that is to be started.
#[derive(Debug)]
pub struct Program<'a> {
    pub path: &'a str,
    /// The words of its command line, the first of which is its name.
    pub words: &'a [&'a str],
    pub environment: &'a [&'a str],
    /// What it has as 0, 1 and 2; as this process has them, where nothing is said.
    pub streams: [Option<&'a Fd>; 3],
    /// Whether it leads a session of its own, whose terminal is what it has as 0.
    pub leads: bool,
}

/// A program, as the kernel takes it.
struct Prepared<'a> {
    program: &'a Program<'a>,
    path: Vec<u8>,
    words: Vec<*const u8>,
    environment: Vec<*const u8>,
    /// Why it could not be begun. The child writes it while its parent waits.
    failed: Option<Errno>,
}

/// Starts a program; its number. It is known by then whether it could be begun.
///
/// # Errors
/// What the kernel said.
pub fn spawn(program: &Program<'_>) -> Result<usize> {
    let texts = |words: &[&str]| -> Vec<Vec<u8>> { words.iter().map(|word| terminated(word)).collect() };
    let (words, environment) = (texts(program.words), texts(program.environment));
    let pointers = |texts: &[Vec<u8>]| texts.iter().map(|text| text.as_ptr()).chain([core::ptr::null()]).collect();
    let mut prepared = Prepared {
        program,
        path: terminated(program.path),
        words: pointers(&words),
        environment: pointers(&environment),
        failed: None,
    };
    let mut stack = alloc::vec![0u64; BRIEF / 8];
    let top = stack.as_mut_ptr_range().end.cast();
    // SAFETY: the parent waits until the child has begun its program or ended; until then the child alone uses this memory.
    let child = unsafe { clone(CLONE_VM | CLONE_VFORK | SIGCHLD, top, begin, (&raw mut prepared) as usize) }?;
    match prepared.failed {
        None => Ok(child),
        Some(why) => {
            let _ = wait(Some(child), true);
            Err(why)
        }
    }
}

fn terminated(word: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(word.len() + 1);
    bytes.extend_from_slice(word.as_bytes());
    bytes.push(0);
    bytes
}

/// In the child: makes its streams, and begins the program.
extern "C" fn begin(prepared: usize) -> i32 {
    // SAFETY: `spawn` waits meanwhile, with this value where it is.
    let prepared = unsafe { &mut *core::ptr::with_exposed_provenance_mut::<Prepared<'_>>(prepared) };
    prepared.failed = exec(prepared).err();
    127
}

fn exec(prepared: &Prepared<'_>) -> Result<()> {
    let program = prepared.program;
    for (number, stream) in program.streams.iter().enumerate() {
        if let Some(stream) = stream {
            stream.also(number)?;
        }
    }
    if program.leads {
        // SAFETY: numbers. Without a terminal there is none to be had.
        unsafe {
            call(__NR_setsid, [0; 6])?;
            let _ = call(__NR_ioctl, [0, TIOCSCTTY as usize, 0, 0, 0, 0]);
        }
    }
    let (path, words, environment) = (prepared.path.as_ptr(), prepared.words.as_ptr(), prepared.environment.as_ptr());
    // SAFETY: a text that ends with a zero, and two lists of such that end with nothing.
    unsafe { call(__NR_execve, [path as usize, words as usize, environment as usize, 0, 0, 0]) }.map(drop)
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    Status(u8),
    Signal(u8),
}

/// Waits for that child, or for any: which, and how it ended. Without `patiently` only one that has ended already.
///
/// # Errors
/// `ECHILD` when there is none, `EINTR` when a signal came.
pub fn wait(child: Option<usize>, patiently: bool) -> Result<Option<(usize, Ending)>> {
    let mut status = 0i32;
    let (which, how) = (child.unwrap_or(usize::MAX), if patiently { 0 } else { WNOHANG });
    // SAFETY: room for the status; what it took is not asked for.
    let ended = unsafe { call(__NR_wait4, [which, (&raw mut status) as usize, how as usize, 0, 0, 0]) }?;
    let ending = match status & 0x7f {
        0 => Ending::Status((status >> 8) as u8),
        signal => Ending::Signal(signal as u8),
    };
    Ok((ended != 0).then_some((ended, ending)))
}

/// How a machine ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    Off,
    Again,
}

/// Writes out what is in memory, and ends the machine.
///
/// # Errors
/// What the kernel said; where it works, nothing comes back.
pub fn end_machine(how: End) -> Result<()> {
    const FIRST: usize = 0xfee1_dead;
    const SECOND: usize = 672_274_793;
    let what: usize = match how {
        End::Off => 0x4321_fedc,
        End::Again => 0x0123_4567,
    };
    // SAFETY: numbers, which say that it is meant.
    unsafe {
        let _ = call(__NR_sync, [0; 6]);
        call(__NR_reboot, [FIRST, SECOND, what, 0, 0, 0]).map(drop)
    }
}

/// What the kernel has said, as far as it still knows.
///
/// # Errors
/// What the kernel said.
pub fn kernel_log() -> Result<Vec<u8>> {
    const READ_ALL: usize = 3;
    const SIZE: usize = 10;
    // SAFETY: numbers.
    let size = unsafe { call(__NR_syslog, [SIZE, 0, 0, 0, 0, 0]) }?;
    let mut log: Vec<u8> = alloc::vec![0; size];
    // SAFETY: room for the log, as long as we say.
    let read = unsafe { call(__NR_syslog, [READ_ALL, log.as_mut_ptr() as usize, log.len(), 0, 0, 0]) }?;
    log.truncate(read);
    Ok(log)
}

/// The numbers of all processes, and their names.
///
/// # Errors
/// When /proc is not mounted.
pub fn all() -> Result<Vec<(usize, String)>> {
    let numbers = files::names("/proc")?.into_iter().filter_map(|(name, _)| name.parse().ok());
    let name = |number: usize| {
        let name = files::text(&alloc::format!("/proc/{number}/comm")).unwrap_or_default();
        (number, String::from(name.trim_end()))
    };
    Ok(numbers.map(name).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    fn shell<'a>(words: &'a [&'a str], streams: [Option<&'a Fd>; 3]) -> Program<'a> {
        Program { path: "/bin/sh", words, environment: &["A=b"], streams, leads: false }
    }

    #[test]
    fn a_program_is_begun_with_its_words_and_streams_and_its_end_is_told() {
        let (read, write) = files::pipe().expect("a pipe");
        let child =
            spawn(&shell(&["sh", "-c", "echo $A$1; exit 3", "sh", "c"], [None, Some(&write), None])).expect("begun");
        drop(write);
        assert_eq!(wait(Some(child), true), Ok(Some((child, Ending::Status(3)))));
        let mut said = [0; 20];
        let read = read.read(&mut said).expect("read");
        assert_eq!(&said[..read], b"bc\n");
        let child = spawn(&shell(&["sh", "-c", "kill -9 $$"], [None; 3])).expect("begun");
        assert_eq!(wait(Some(child), true), Ok(Some((child, Ending::Signal(9)))));
    }

    #[test]
    fn a_program_that_cannot_be_begun_is_told_at_once() {
        let none = Program { path: "/nowhere/at/all", ..shell(&["none"], [None; 3]) };
        let why = spawn(&none).expect_err("there is none");
        assert_eq!(why.to_string(), "there is no such file");
    }
}
