//! The child of the monitor that becomes the guest.

use std::io;

use landlock::{ABI, Access as _, AccessFs, AccessNet, CompatLevel, Compatible as _, Ruleset, RulesetAttr as _, Scope};
use unikernel_abi::boot::Range;
use unikernel_abi::{BOOT, BOOT_END, Counts, IMAGE, MOST_DEVICES, PAGE, RINGS, START};

use super::enter::{CODE, HANDLER_STACK, HANDLER_STACK_LEN, LAST, Last, TOLD, Told, code};
use super::vdso::Vdso;
use crate::backend::Statistics;
use crate::bpf::Instruction;
use crate::guest::Guest;
use crate::memory::{Buffer, Memory};
use crate::outcome::{Fault, FaultKind, Outcome};
use crate::processors::Places;
use crate::program::Access;

/// The end of what a process may map.
const USER_END: u64 = (1 << 47) - PAGE;

/// A page that both processes have, in which the child says how it ended. The guest may write to it: it is believed for a message, and
/// for nothing else.
pub(super) struct Report {
    page: *mut Told,
}

impl Report {
    pub fn new() -> io::Result<Self> {
        let page = map(0, PAGE, libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_ANONYMOUS)?;
        Ok(Self { page: page as *mut Told })
    }

    fn told(&self) -> Told {
        // SAFETY: the page is mapped as long as this lives, and any bytes are a `Told`; the child has ended or is this process.
        unsafe { self.page.read_volatile() }
    }

    /// What the guest says that it asked of each of so many devices.
    pub fn statistics(&self, devices: usize) -> Vec<Statistics> {
        let counts = |n: usize| {
            // SAFETY: the page has room for all of them behind what is told, and any bytes are numbers.
            let Counts { reads, writes, flushes, bytes_read, bytes_written } =
                unsafe { self.page.cast::<u8>().add(COUNTS_BEHIND).cast::<Counts>().add(n).read_volatile() };
            Statistics { reads, writes, flushes, bytes_read, bytes_written, ..Statistics::default() }
        };
        (0..devices).map(counts).collect()
    }

    /// How the guest ended, by the status that the kernel gives of its process.
    pub fn outcome(&self, status: i32) -> Result<Outcome, (String, io::Error)> {
        let told = self.told();
        if told.failed != 0 {
            let step = STEPS.get(told.failed as usize).copied().unwrap_or("an unknown step");
            return Err((step.to_owned(), io::Error::from_raw_os_error((-told.error) as i32)));
        }
        if libc::WIFSIGNALED(status) {
            return Ok(Outcome::Killed { signal: libc::WTERMSIG(status) });
        }
        let Told { address, at, .. } = told;
        let fault = |kind| Outcome::Fault(Fault { kind, address, at });
        Ok(match told.signal as i32 {
            libc::SIGSEGV | libc::SIGBUS => fault(FaultKind::Memory),
            libc::SIGILL | libc::SIGTRAP => fault(FaultKind::Instruction),
            libc::SIGFPE => fault(FaultKind::Arithmetic),
            libc::SIGSYS => Outcome::Violation { call: Some(address), at },
            _ => Outcome::Exited(libc::WEXITSTATUS(status) as u8),
        })
    }
}

/// Where in that page the guest counts.
const COUNTS_BEHIND: usize = 256;
pub(super) const COUNTS: Range =
    Range { start: TOLD + COUNTS_BEHIND as u64, len: (MOST_DEVICES * size_of::<Counts>()) as u64 };
const _: () = assert!(size_of::<Told>() <= COUNTS_BEHIND && COUNTS_BEHIND as u64 + COUNTS.len <= PAGE);

/// What can fail in the child. The numbers of the first two are those of the code of [`super::enter`].
const STEPS: [&str; 10] = [
    "",
    "the monitor's memory could not be given up",
    "the filter of system calls was refused",
    "its memory could not be had",
    "its memory could not be protected",
    "its rights could not be given up",
    "its files could not be closed",
    "its faults could not be caught",
    "the restartable sequences of the C library could not be ended",
    "the program could not be read",
];
const MEMORY: usize = 3;
const PROTECTION: usize = 4;
const RIGHTS: usize = 5;
const FILES: usize = 6;
const FAULTS: usize = 7;
const SEQUENCES: usize = 8;
const PROGRAM: usize = 9;

/// What a child becomes a guest with.
pub(super) struct Needs<'a> {
    pub guest: &'a Guest,
    pub told: &'a [u8],
    pub filter: &'a [Instruction],
    pub vdso: &'a Vdso,
    /// Descriptors that it keeps, beside the console.
    pub files: &'a [u32],
    /// Its memory, where it has it from the monitor.
    pub memory: Option<&'a Memory>,
    /// Where it is to run, if that matters.
    pub places: Option<Places>,
}

/// Becomes the guest. What fails is told to the monitor.
pub(super) fn become_guest(needs: &Needs<'_>, report: &Report) -> ! {
    let Err((step, why)) = prepare(needs, report);
    // SAFETY: the page is there, and nobody else writes to it now; after that this process ends, without running what the monitor wanted
    // to be run at its own end.
    unsafe {
        let error = -i64::from(why.raw_os_error().unwrap_or(libc::EIO));
        report.page.write_volatile(Told { failed: step as u64, error, ..Told::default() });
        libc::_exit(i32::from(unikernel_abi::exit::FAULT));
    }
}

enum Never {}

fn prepare(needs: &Needs<'_>, report: &Report) -> Result<Never, (usize, io::Error)> {
    let guest = needs.guest;
    let step = |step: usize| move |why: io::Error| (step, why);
    // Whoever ends the monitor ends the guest.
    check(set_own(libc::PR_SET_PDEATHSIG, libc::SIGKILL as u64)).map_err(step(RIGHTS))?;
    needs.places.inspect(Places::keep_guest);
    memory(needs, report).map_err(step(MEMORY))?;
    // SAFETY: as the program and the guest were checked it lies within what was mapped, and nothing else uses it yet.
    guest.program().load(|start, len| Some(unsafe { Buffer::at(start, len) })).map_err(step(PROGRAM))?;
    catch_faults().map_err(step(FAULTS))?;
    end_sequences().map_err(step(SEQUENCES))?;
    close_files(needs.files).map_err(step(FILES))?;
    check(set_own(libc::PR_SET_NO_NEW_PRIVS, 1)).map_err(step(RIGHTS))?;
    check(set_own(libc::PR_SET_DUMPABLE, 0)).map_err(step(RIGHTS))?;
    give_up_files_and_network().map_err(step(RIGHTS))?;
    last(needs).map_err(step(MEMORY))?;
    for segment in guest.program().segments() {
        let access = match segment.access {
            Access::Read => libc::PROT_READ,
            Access::Write => continue,
            Access::Execute => libc::PROT_READ | libc::PROT_EXEC,
        };
        protect(segment.start / PAGE * PAGE, segment.start + segment.len, access).map_err(step(PROTECTION))?;
    }
    protect(BOOT, BOOT_END, libc::PROT_READ).map_err(step(PROTECTION))?;
    protect(LAST, CODE, libc::PROT_READ).map_err(step(PROTECTION))?;
    protect(CODE, RINGS, libc::PROT_READ | libc::PROT_EXEC).map_err(step(PROTECTION))?;
    if needs.memory.is_none() {
        // No device has rings.
        protect(RINGS, IMAGE, libc::PROT_NONE).map_err(step(PROTECTION))?;
    }
    // SAFETY: the code was put there, and what it needs; nothing of this process is used after it.
    let enter: extern "C" fn() -> ! = unsafe { std::mem::transmute(CODE) };
    enter()
}

/// The guest's memory: what it is told, and zeros.
fn memory(needs: &Needs<'_>, report: &Report) -> io::Result<()> {
    let guest = needs.guest;
    if needs.memory.is_none() {
        let fixed = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED_NOREPLACE | libc::MAP_NORESERVE;
        if map(START, guest.end() - START, libc::PROT_READ | libc::PROT_WRITE, fixed)? != START {
            return Err(io::Error::from_raw_os_error(libc::EEXIST));
        }
    }
    let put = |at: u64, bytes: &[u8]| {
        // SAFETY: it lies within what was mapped, as the program and the guest were checked.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), at as *mut u8, bytes.len()) }
    };
    put(BOOT, needs.told);
    // The page below the stack is not there.
    protect(guest.stack().start - PAGE, guest.stack().start, libc::PROT_NONE)?;
    let (page, told) = (report.page.cast(), TOLD as *mut libc::c_void);
    // SAFETY: the page of the report is mapped a second time, where the handler finds it.
    let second = unsafe { libc::mremap(page, 0, PAGE as usize, libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED, told) };
    if second == libc::MAP_FAILED { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Puts the code of the last steps where it is run, and what it needs.
fn last(needs: &Needs<'_>) -> io::Result<()> {
    let Needs { guest, filter, vdso, .. } = *needs;
    let (code, _) = code();
    let instructions_at = LAST + size_of::<Last>().next_multiple_of(8) as u64;
    let len = size_of_val(filter);
    if instructions_at + len as u64 > LAST + PAGE {
        return Err(io::Error::from_raw_os_error(libc::E2BIG));
    }
    let range = |start: u64, end: u64| [start, end.saturating_sub(start)];
    let (keep_start, keep_end) =
        if vdso.pages.is_empty() { (USER_END, USER_END) } else { (vdso.pages.start, vdso.pages.end) };
    let last = Last {
        unmap: [range(guest.end(), keep_start), range(keep_end, USER_END), [0, 0], [0, 0]],
        filter_len: filter.len() as u16,
        filter: instructions_at,
        stack: guest.stack().start + guest.stack().len,
        boot: BOOT,
        entry: guest.program().entry(),
    };
    // SAFETY: the pages are mapped, can be written still, and have room for it.
    unsafe {
        (LAST as *mut Last).write(last);
        std::ptr::copy_nonoverlapping(filter.as_ptr().cast::<u8>(), instructions_at as *mut u8, len);
        std::ptr::copy_nonoverlapping(code.as_ptr(), CODE as *mut u8, code.len());
    }
    Ok(())
}

/// What the guest may not do runs the handler, on a stack of its own.
fn catch_faults() -> io::Result<()> {
    let (_, handler) = code();
    let stack =
        libc::stack_t { ss_sp: HANDLER_STACK as *mut libc::c_void, ss_flags: 0, ss_size: HANDLER_STACK_LEN as usize };
    // SAFETY: the stack is mapped memory that nothing else uses, and the handler code that never returns.
    unsafe {
        check(libc::sigaltstack(&stack, std::ptr::null_mut()))?;
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = (CODE + handler) as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_NODEFER;
        for signal in [libc::SIGSEGV, libc::SIGBUS, libc::SIGILL, libc::SIGFPE, libc::SIGTRAP, libc::SIGSYS] {
            check(libc::sigaction(signal, &action, std::ptr::null_mut()))?;
        }
    }
    Ok(())
}

/// The kernel writes to memory of the C library whenever it takes the processor from a thread, which ends the process when that is gone.
fn end_sequences() -> io::Result<()> {
    const UNREGISTER: u64 = 1;
    const SIGNATURE: u64 = 0x5305_3053;
    let (offset, size): (*const isize, *const u32);
    // SAFETY: the addresses are read that the linker put there, or the loader, for the two names: zero where the C library has them not.
    unsafe {
        std::arch::asm!(
            ".weak __rseq_offset, __rseq_size",
            "mov {offset}, qword ptr [rip + __rseq_offset@GOTPCREL]",
            "mov {size}, qword ptr [rip + __rseq_size@GOTPCREL]",
            offset = out(reg) offset, size = out(reg) size, options(nostack, readonly),
        );
    }
    if offset.is_null() || size.is_null() {
        return Ok(());
    }
    // SAFETY: the two are constants of the C library, which is linked to the monitor or loaded.
    let (offset, size) = unsafe { (*offset as i64, u64::from(*size)) };
    if size == 0 {
        return Ok(());
    }
    let thread: u64;
    // SAFETY: the first word of what the register points to is its own address, on this system.
    unsafe { std::arch::asm!("mov {}, qword ptr fs:[0]", out(reg) thread, options(nostack, readonly)) };
    let area = thread.wrapping_add_signed(offset);
    // SAFETY: the call only makes the kernel forget the area, of which it knows the size as 32 at least.
    let done = unsafe { libc::syscall(libc::SYS_rseq, area, size.max(32), UNREGISTER, SIGNATURE) };
    check(done as i32)
}

/// All but the console and these.
fn close_files(files: &[u32]) -> io::Result<()> {
    let mut kept: Vec<u32> = files.iter().copied().chain([1, 2]).collect();
    kept.sort_unstable();
    kept.dedup();
    let mut from = 0;
    for file in kept.into_iter().chain([u32::MAX]) {
        if from < file {
            let to = if file == u32::MAX { file } else { file - 1 };
            // SAFETY: what is closed is not used by this process any more.
            check(unsafe { libc::syscall(libc::SYS_close_range, from, to, 0) } as i32)?;
        }
        from = file.saturating_add(1);
    }
    Ok(())
}

/// Behind the filter there is nothing that would need it. If the filter should have a hole, this is behind it.
fn give_up_files_and_network() -> io::Result<()> {
    let ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(ABI::V6))
        .and_then(|ruleset| ruleset.handle_access(AccessNet::from_all(ABI::V6)))
        .and_then(|ruleset| ruleset.scope(Scope::from_all(ABI::V6)))
        .and_then(|ruleset| ruleset.create())
        .and_then(|ruleset| ruleset.restrict_self());
    ruleset.map(|_| ()).map_err(io::Error::other)
}

fn map(at: u64, len: u64, access: i32, flags: i32) -> io::Result<u64> {
    // SAFETY: nothing that is mapped is replaced: without an address the kernel chooses one, and with one it refuses to.
    let mapped = unsafe { libc::mmap(at as *mut libc::c_void, len as usize, access, flags, -1, 0) };
    if mapped == libc::MAP_FAILED { Err(io::Error::last_os_error()) } else { Ok(mapped as u64) }
}

fn protect(start: u64, end: u64, access: i32) -> io::Result<()> {
    // SAFETY: the pages are the guest's, of which nothing in this process is kept.
    check(unsafe { libc::mprotect(start as *mut libc::c_void, (end - start) as usize, access) })
}

fn set_own(option: i32, value: u64) -> i32 {
    // SAFETY: the options that are given here take a number.
    unsafe { libc::prctl(option, value, 0, 0, 0) }
}

fn check(result: i32) -> io::Result<()> {
    if result == -1 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
