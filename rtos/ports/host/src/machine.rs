//! A processor: what a thread knows of itself, its start, its timer.

use core::arch::asm;
use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicI32, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::fmt::Write;
use std::mem::offset_of;
use std::sync::OnceLock;
use std::time::Instant;

use rtos::{Interrupt, Kernel, Raised};

use crate::{interrupts, memory};

/// How many processors there can be.
pub(crate) const MOST: usize = 8;

/// The mask of a processor that is locked: no interrupt has this level or a higher one.
pub(crate) const LOCKED: u8 = u8::MAX;

/// What a thread finds where its `gs` points.
#[repr(C)]
pub(crate) struct Machine {
    /// Its own address.
    myself: AtomicUsize,
    /// Interrupts of this level and below wait.
    mask: AtomicU8,
    /// How many handlers run, each interrupted by the next.
    depth: AtomicU32,
    /// The lines that have been raised, are let through, and have not been served.
    pub(crate) pending: AtomicU64,
    /// Those that have been raised and are not let through.
    pub(crate) held_back: AtomicU64,
    number: AtomicU32,
    /// The CPU exception that is to be handled, a signal's number, or 0.
    raised: AtomicI32,
    /// The thread, when it runs.
    thread: AtomicI32,
    timer: UnsafeCell<libc::timer_t>,
}

// SAFETY: `timer` is used by its own thread only; all else is atomic.
unsafe impl Sync for Machine {}

static MACHINES: [Machine; MOST] = [const {
    Machine {
        myself: AtomicUsize::new(0),
        mask: AtomicU8::new(LOCKED),
        depth: AtomicU32::new(0),
        pending: AtomicU64::new(0),
        held_back: AtomicU64::new(0),
        number: AtomicU32::new(0),
        raised: AtomicI32::new(0),
        thread: AtomicI32::new(0),
        timer: UnsafeCell::new(std::ptr::null_mut()),
    }
}; MOST];

/// What the interrupts and the other threads call, for the kernel that runs.
pub(crate) struct Program {
    begin: unsafe fn() -> !,
    pub(crate) preempt: fn(),
    pub(crate) serve: fn(u32),
    pub(crate) exception: fn(Raised) -> bool,
    pub(crate) handles: fn(u32) -> bool,
    pub(crate) owner_of: fn(usize) -> Option<rtos::entry::Owner>,
    pub(crate) interrupts: &'static [Interrupt],
    start: Instant,
    cpus: Vec<usize>,
}

static PROGRAM: OnceLock<Program> = OnceLock::new();

pub(crate) fn program() -> &'static Program {
    PROGRAM.get().expect("`run` sets it before anything else")
}

/// The processor of that number.
pub(crate) fn machine(number: usize) -> &'static Machine {
    &MACHINES[number % MOST]
}

/// The processor that this code runs on. Only to be kept while it cannot be preempted.
#[inline(always)]
pub(crate) fn this() -> &'static Machine {
    let address: *const Machine;
    // SAFETY: reads what `gs` points to. Not `pure`: it changes when the task moves to another thread.
    unsafe { asm!("mov {}, gs:[0]", out(reg) address, options(nostack, preserves_flags)) };
    // SAFETY: `enter` made `gs` point to one of the statics.
    unsafe { &*address }
}

#[inline(always)]
pub(crate) fn lock() -> u8 {
    let before: u8;
    // SAFETY: changes the mask only. Should the task move between the two, both masks are zero.
    unsafe {
        asm!(
            "mov {before}, gs:[{mask}]",
            "mov byte ptr gs:[{mask}], {locked}",
            before = out(reg_byte) before,
            mask = const offset_of!(Machine, mask),
            locked = const LOCKED,
            options(nostack, preserves_flags),
        );
    }
    before
}

#[inline(always)]
pub(crate) fn unlock(mask: u8) {
    let pending: u64;
    // SAFETY: changes the mask, and looks what has come meanwhile.
    unsafe {
        asm!(
            "mov gs:[{offset}], {mask}",
            "mov {pending}, gs:[{noted}]",
            mask = in(reg_byte) mask,
            pending = out(reg) pending,
            offset = const offset_of!(Machine, mask),
            noted = const offset_of!(Machine, pending),
            options(nostack, preserves_flags),
        );
    }
    if pending != 0 {
        interrupts::take();
    }
}

#[inline(always)]
pub(crate) fn depth() -> u32 {
    let depth: u32;
    // SAFETY: reads a number.
    unsafe {
        asm!(
            "mov {:e}, gs:[{offset}]",
            out(reg) depth,
            offset = const offset_of!(Machine, depth),
            options(nostack, preserves_flags, readonly),
        );
    }
    depth
}

#[inline(always)]
pub(crate) fn number() -> usize {
    let number: u32;
    // SAFETY: reads a number.
    unsafe {
        asm!(
            "mov {:e}, gs:[{offset}]",
            out(reg) number,
            offset = const offset_of!(Machine, number),
            options(nostack, preserves_flags),
        );
    }
    number as usize
}

impl Machine {
    pub(crate) fn mask(&self) -> u8 {
        self.mask.load(Ordering::Relaxed)
    }

    pub(crate) fn set_mask(&self, mask: u8) {
        self.mask.store(mask, Ordering::Relaxed);
    }

    pub(crate) fn enter_handler(&self) {
        self.depth.store(self.depth.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    }

    pub(crate) fn leave_handler(&self) {
        self.depth.store(self.depth.load(Ordering::Relaxed) - 1, Ordering::Relaxed);
    }

    pub(crate) fn is_in_handler(&self) -> bool {
        self.depth.load(Ordering::Relaxed) != 0
    }

    /// Notes a CPU exception of this thread, and lets it look.
    pub(crate) fn raise(&self, number: i32) {
        self.raised.store(number, Ordering::Relaxed);
        self.signal();
    }

    /// The CPU exception that was noted.
    pub(crate) fn raised(&self) -> Option<u32> {
        match self.raised.swap(0, Ordering::Relaxed) {
            0 => None,
            number => Some(number as u32),
        }
    }

    /// Lets the thread look what is pending.
    pub(crate) fn signal(&self) {
        let thread = self.thread.load(Ordering::Acquire);
        if thread != 0 {
            // SAFETY: sends a signal to a thread of this process.
            unsafe { libc::syscall(libc::SYS_tgkill, libc::getpid(), thread, interrupts::signal()) };
        }
    }
}

/// Runs a kernel in this process, whose main thread becomes processor 0.
pub fn run<K: Kernel<Port = crate::Host>>() -> ! {
    let program = Program {
        begin: rtos::entry::begin::<K>,
        preempt: rtos::entry::preempt::<K>,
        serve: interrupts::serve::<K>,
        exception: rtos::entry::exception::<K>,
        handles: |number| K::exceptions().iter().any(|exception| exception.number() == number),
        owner_of: rtos::entry::owner_of::<K>,
        interrupts: K::interrupts(),
        start: Instant::now(),
        cpus: allowed_cpus(),
    };
    assert!(PROGRAM.set(program).is_ok(), "a process runs one kernel");
    memory::guard(rtos::entry::stacks::<K>());
    interrupts::install();
    enter(0);
    // SAFETY: this is processor 0, locked, and there is no other yet.
    unsafe { rtos::entry::start::<K>() }
}

/// Makes this thread the processor of that number, locked.
fn enter(number: usize) {
    const ARCH_SET_GS: libc::c_int = 0x1001;
    let machine = machine(number);
    machine.myself.store(std::ptr::from_ref(machine) as usize, Ordering::Relaxed);
    machine.number.store(number as u32, Ordering::Relaxed);
    // SAFETY: `gs` is used for nothing else on x86-64, and points to a static from now on.
    let set = unsafe { libc::syscall(libc::SYS_arch_prctl, ARCH_SET_GS, std::ptr::from_ref(machine)) };
    assert!(set == 0, "the system does not let this thread set its gs register: {}", std::io::Error::last_os_error());
    keep_on_cpu(number, &program().cpus);
    memory::alternate_stack();
    // SAFETY: asks for the thread's number.
    let thread = unsafe { libc::syscall(libc::SYS_gettid) } as i32;
    make_timer(machine, thread);
    machine.thread.store(thread, Ordering::Release);
}

/// The CPUs that the process may use, as they are before its first thread keeps to one of them: the others inherit that.
fn allowed_cpus() -> Vec<usize> {
    // SAFETY: the set is plain data of the right size.
    unsafe {
        let mut allowed: libc::cpu_set_t = std::mem::zeroed();
        if libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &mut allowed) != 0 {
            return Vec::new();
        }
        (0..libc::CPU_SETSIZE as usize).filter(|&cpu| libc::CPU_ISSET(cpu, &allowed)).collect()
    }
}

/// Keeps this thread on the CPU of that place among those, if there are so many; otherwise on any of them.
fn keep_on_cpu(number: usize, allowed: &[usize]) {
    let kept = allowed.get(number).map_or(allowed, std::slice::from_ref);
    if kept.is_empty() {
        return;
    }
    // SAFETY: the set is plain data of the right size.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        for &cpu in kept {
            libc::CPU_SET(cpu, &mut set);
        }
        libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &set);
    }
}

fn make_timer(machine: &Machine, thread: i32) {
    // SAFETY: the description is complete, and the timer is written once, before this thread uses it.
    unsafe {
        let mut event: libc::sigevent = std::mem::zeroed();
        event.sigev_notify = libc::SIGEV_THREAD_ID;
        event.sigev_signo = interrupts::timer_signal();
        event.sigev_notify_thread_id = thread;
        let made = libc::timer_create(libc::CLOCK_MONOTONIC, &mut event, machine.timer.get());
        assert!(made == 0, "the system has no timer for this thread: {}", std::io::Error::last_os_error());
    }
}

pub(crate) fn alarm(after: u32) {
    let machine = this();
    if after == 0 {
        machine.pending.fetch_or(1 << interrupts::TIMER, Ordering::Relaxed);
        return;
    }
    let time = libc::timespec { tv_sec: (after / 1_000_000).into(), tv_nsec: (after % 1_000_000 * 1000).into() };
    let once = libc::itimerspec { it_interval: libc::timespec { tv_sec: 0, tv_nsec: 0 }, it_value: time };
    // SAFETY: the timer is this thread's.
    unsafe { libc::timer_settime(*machine.timer.get(), 0, &once, std::ptr::null_mut()) };
}

#[inline(always)]
pub(crate) fn now() -> u32 {
    program().start.elapsed().as_micros() as u32
}

/// Starts the thread that is to be the processor of that number.
pub(crate) fn start_processor(number: usize) {
    std::thread::spawn(move || {
        enter(number);
        // SAFETY: the thread is that processor, locked, and `start` calls this when everything is ready.
        unsafe { (program().begin)() }
    });
    // What is meant for it from now on waits until it has begun.
}

/// Runs something that is none of the kernel's on the CPU of the processor of that number, beside it. To be called before
/// the kernel runs.
pub fn beside(processor: usize, work: impl FnOnce() + Send + 'static) {
    let allowed = allowed_cpus();
    std::thread::spawn(move || {
        keep_on_cpu(processor, &allowed);
        work();
    });
}

/// Prints text, all of it at once, whoever else prints.
pub fn print(what: std::fmt::Arguments<'_>) {
    let mask = lock();
    let mut text = Text { bytes: [0; 512], length: 0 };
    // What does not fit is cut off.
    let _ = text.write_fmt(what);
    // SAFETY: writes initialised bytes.
    unsafe { libc::write(1, text.bytes.as_ptr().cast(), text.length) };
    unlock(mask);
}

/// Reads what is there of the standard input, without waiting. Gives how many bytes.
pub fn read(to: &mut [u8]) -> usize {
    let mut input = libc::pollfd { fd: 0, events: libc::POLLIN, revents: 0 };
    // SAFETY: the description of the one file is complete.
    if unsafe { libc::poll(&mut input, 1, 0) } != 1 {
        return 0;
    }
    // SAFETY: writes no more than fits. What an interrupt keeps from being read is there the next time.
    let length = unsafe { libc::read(0, to.as_mut_ptr().cast(), to.len()) };
    usize::try_from(length).unwrap_or(0)
}

struct Text {
    bytes: [u8; 512],
    length: usize,
}

impl Write for Text {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        let room = &mut self.bytes[self.length..];
        let length = room.len().min(text.len());
        room[..length].copy_from_slice(&text.as_bytes()[..length]);
        self.length += length;
        Ok(())
    }
}
