//! hvt: the guest is a virtual machine, whose only device is its monitor.
//!
//! The guest's code has the least privilege that the processor knows (CPL 3), and page tables that it cannot see. It asks by a write to
//! where no memory is, which stops it; the monitor does what was asked, and lets it go on. What it does besides that it may not do ends in a
//! few instructions of the monitor's, which tell it, or in a processor that can no longer go on.

mod fault;
mod registers;
mod tables;

use std::io::{self, Write as _};
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use kvm_bindings::kvm_userspace_memory_region;
use kvm_ioctls::{Kvm, VcpuExit, VcpuFd, VmFd};
use unikernel_abi::boot::{Clock, Range};
use unikernel_abi::call::{Block, Console, place};
use unikernel_abi::{BOOT, BOOT_END, Kind, PAGE, START, Status};

use crate::backend::{Backend, Statistics};
use crate::boot;
use crate::confine::{self, Work};
use crate::disk::Disk;
use crate::event::Event;
use crate::guest::{Asked, Guest, Interface, Rings};
use crate::memory::Memory;
use crate::outcome::{Fault, FaultKind, Outcome};
use crate::processors::Places;
use crate::program::Access;
use crate::ring::{self, Broken, Server};
use tables::Area;

/// A guest's memory lies below the place of its calls.
const MOST_MEMORY: u64 = 3 << 30;
/// The most text of one call.
const MOST_TEXT: u64 = 1 << 20;

/// Why a guest could not be started, or went on no longer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HvtError {
    #[error(transparent)]
    TooMuchTold(#[from] boot::TooMuch),
    #[error("/dev/kvm cannot be used: {0} (spt needs none)")]
    Kvm(kvm_ioctls::Error),
    #[error("{0}: {1}")]
    System(&'static str, kvm_ioctls::Error),
    #[error("no memory for the guest: {0}")]
    Memory(io::Error),
    #[error("the program could not be read: {0}")]
    Program(io::Error),
    #[error("a thread could not be confined: {0}")]
    Confined(io::Error),
    #[error("the log of a disk: {0}")]
    Log(io::Error),
    #[error("the devices could not be served: {0}")]
    Rings(io::Error),
    #[error("under hvt a guest has at most {MOST_MEMORY} bytes of memory")]
    TooMuchMemory,
    #[error("the virtual processor stopped: {0}")]
    Stopped(String),
}

/// What came of a guest.
#[derive(Clone, Debug)]
pub struct Ran {
    pub outcome: Outcome,
    pub exits: Exits,
    /// What was asked of each device.
    pub statistics: Vec<Statistics>,
}

/// How often a guest was left for its monitor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Exits {
    pub all: u64,
    /// To do a request to a block device.
    pub block: u64,
    /// To wait for one in a ring.
    pub wait: u64,
}

/// Runs a guest until it ends.
///
/// # Errors
/// If it could not be started.
pub fn run(guest: &Guest) -> Result<Ran, HvtError> {
    match guest.interface() {
        Interface::Rings(rings) => with_rings(guest, rings),
        Interface::Blocks | Interface::Calls => with_calls(guest),
    }
}

/// A machine that the guest lies in.
struct Ready {
    vcpu: VcpuFd,
    vm: VmFd,
    memory: Memory,
    /// Of its page tables, which the guest has no addresses for. It goes after the machine.
    _hidden: Memory,
}

/// Makes the machine, and puts the guest into it.
fn ready(guest: &Guest, rings: Option<Rings>) -> Result<Ready, HvtError> {
    let failed = |what: &'static str| move |why| HvtError::System(what, why);
    if guest.end() > MOST_MEMORY {
        return Err(HvtError::TooMuchMemory);
    }
    let kvm = Kvm::new().map_err(HvtError::Kvm)?;
    let vm = kvm.create_vm().map_err(failed("no virtual machine could be made"))?;
    let vcpu = vm.create_vcpu(0).map_err(failed("no virtual processor could be made"))?;
    let tables_at = guest.end().next_multiple_of(2 << 20);
    let page_tables = tables::of(&areas(guest), tables_at);
    let memory = Memory::new(START, guest.end() - START, guest.writable()).map_err(HvtError::Memory)?;
    let hidden = Memory::new(tables_at, page_tables.len() as u64, Vec::new()).map_err(HvtError::Memory)?;
    give(&vm, 0, START, &memory).map_err(failed("the guest's memory was refused"))?;
    give(&vm, 1, tables_at, &hidden).map_err(failed("the guest's page tables were refused"))?;
    let asked = |number, _: &Disk| Asked {
        handle: number as u32,
        durable_handle: number as u32,
        rings: rings.map_or(0, |_| ring::base(number)),
        poll_ns: rings.map_or(0, |rings| rings.poll.as_nanos() as u64),
    };
    let devices = guest.devices(asked);
    let told = boot::pages(guest, Kind::Hvt, clock(&vcpu), &devices, Range::default())?;
    let put = memory.put(BOOT, &told) && memory.put(fault::START, &fault::pages());
    if !put || !hidden.put(tables_at, &page_tables) {
        return Err(HvtError::Memory(io::ErrorKind::InvalidInput.into()));
    }
    guest.program().load(|start, len| memory.at(start, len)).map_err(HvtError::Program)?;
    registers::set(&kvm, &vcpu, guest, tables_at).map_err(failed("the virtual processor refused its registers"))?;
    Ok(Ready { vcpu, vm, memory, _hidden: hidden })
}

/// The thread that runs the guest does what it asks.
fn with_calls(guest: &Guest) -> Result<Ran, HvtError> {
    // In this order, as what comes last goes first.
    let Ready { memory, _hidden, vm: _vm, vcpu } = ready(guest, None)?;
    let backends = guest.disks().iter().map(Backend::new).collect::<io::Result<Vec<_>>>().map_err(HvtError::Log)?;
    let logs = backends.iter().filter_map(Backend::log).collect();
    let mut machine = Machine { vcpu, backends, memory: &memory, wake: None, exits: Exits::default() };
    let filter = Work { disks: guest.disks(), logs, processor: true, ..Work::default() }.filter();
    let outcome = std::thread::scope(|scope| {
        let running = scope.spawn(|| {
            confine::confine(&filter).map_err(HvtError::Confined)?;
            machine.run()
        });
        running.join().unwrap_or_else(|_| Err(HvtError::Stopped("its thread panicked".into())))
    })?;
    let statistics = machine.backends.iter().map(|backend| backend.statistics).collect();
    Ok(Ran { outcome, exits: machine.exits, statistics })
}

/// Another thread does what the guest asks.
fn with_rings(guest: &Guest, rings: Rings) -> Result<Ran, HvtError> {
    let Ready { memory, _hidden, vm, vcpu } = ready(guest, Some(rings))?;
    let (doorbell, wake) = Event::new().and_then(|event| Ok((event, Event::new()?))).map_err(HvtError::Memory)?;
    registers::tell_at(&vm, place::DOORBELL, doorbell.descriptor())
        .map_err(|why| HvtError::System("the doorbell was refused", why))?;
    let mut server = Server::new(&memory, guest.disks(), &doorbell, &wake, rings).map_err(HvtError::Rings)?;
    let (ended, broken) = (AtomicBool::new(false), AtomicBool::new(false));
    registers::catch_interruptions();
    let events = [&doorbell, &wake];
    let of_server = Work { disks: guest.disks(), logs: server.logs(), events: &events, ..Work::default() }.filter();
    let of_processor = Work { events: &events, processor: true, ..Work::default() }.filter();
    let processor = AtomicI32::new(0);
    let places = Places::of(guest.disks(), rings);
    let (ran, served) = std::thread::scope(|scope| {
        let serving = scope.spawn(|| {
            places.inspect(Places::keep_server);
            let served = confine::confine(&of_server).map(|()| server.run(&ended));
            if !matches!(served, Ok(Ok(()))) {
                broken.store(true, Ordering::Release);
                // The guest may wait for what never comes, or compute for ever.
                wake.tell();
                while !ended.load(Ordering::Acquire) {
                    registers::interrupt(processor.load(Ordering::Acquire));
                    std::thread::sleep(Duration::from_millis(5));
                }
            }
            served
        });
        let running = scope.spawn(|| {
            processor.store(registers::this_thread(), Ordering::Release);
            places.inspect(Places::keep_guest);
            let wake = Some((&wake, &broken));
            let mut machine = Machine { vcpu, backends: Vec::new(), memory: &memory, wake, exits: Exits::default() };
            let outcome = confine::confine(&of_processor).map_err(HvtError::Confined).and_then(|()| machine.run());
            outcome.map(|outcome| (outcome, machine.exits))
        });
        let ran = running.join().unwrap_or_else(|_| Err(HvtError::Stopped("its thread panicked".into())));
        ended.store(true, Ordering::Release);
        doorbell.tell();
        (ran, serving.join().unwrap_or(Ok(Err(Broken))))
    });
    let (outcome, exits) = ran?;
    let served = served.map_err(HvtError::Confined)?;
    let outcome = if served.is_ok() { outcome } else { Outcome::Violation { call: None, at: 0 } };
    Ok(Ran { outcome, exits, statistics: server.statistics() })
}

fn give(vm: &VmFd, slot: u32, at: u64, memory: &Memory) -> Result<(), kvm_ioctls::Error> {
    let region = kvm_userspace_memory_region {
        slot,
        flags: 0,
        guest_phys_addr: at,
        memory_size: memory.len(),
        userspace_addr: memory.host(),
    };
    // SAFETY: the memory is mapped, and longer than the machine: it is dropped after it.
    unsafe { vm.set_user_memory_region(region) }
}

/// What the guest has, and the processor for it.
fn areas(guest: &Guest) -> Vec<Area> {
    let user = |start, end, access| Area { start, end, access, user: true };
    let mut areas = vec![user(BOOT, BOOT_END, Access::Read), user(place::PAGE, place::PAGE + PAGE, Access::Write)];
    areas.extend(fault::areas());
    if matches!(guest.interface(), Interface::Rings(_)) {
        areas.extend((0..guest.disks().len()).map(|n| user(ring::base(n), ring::base(n) + ring::SIZE, Access::Write)));
    }
    for segment in guest.program().segments() {
        let (start, end) = (segment.start / PAGE * PAGE, (segment.start + segment.len).next_multiple_of(PAGE));
        areas.push(user(start, end, segment.access));
    }
    for range in [guest.heap(), guest.stack()] {
        areas.push(user(range.start, range.start + range.len, Access::Write));
    }
    areas
}

/// By the time stamp counter, if the kernel says how fast it is.
fn clock(vcpu: &VcpuFd) -> Clock {
    let tsc_hz = vcpu.get_tsc_khz().map_or(0, |khz| u64::from(khz) * 1000);
    Clock { tsc_hz, ..Clock::default() }
}

/// A machine that runs.
struct Machine<'a> {
    vcpu: VcpuFd,
    backends: Vec<Backend<'a>>,
    memory: &'a Memory,
    /// With rings: what is told when there is a completion, and whether the guest has broken one.
    wake: Option<(&'a Event, &'a AtomicBool)>,
    exits: Exits,
}

impl Machine<'_> {
    fn run(&mut self) -> Result<Outcome, HvtError> {
        loop {
            let wake = self.wake;
            let is_broken = || wake.is_some_and(|(_, broken)| broken.load(Ordering::Acquire));
            let asked = match self.vcpu.run() {
                Ok(VcpuExit::MmioWrite(at, data)) => {
                    <[u8; 4]>::try_from(data).ok().map(|data| (at, u32::from_le_bytes(data)))
                }
                Ok(VcpuExit::IoOut(fault::PORT, _)) => {
                    self.exits.all += 1;
                    return Ok(self.fault());
                }
                Ok(VcpuExit::Shutdown | VcpuExit::Hlt) => None,
                Ok(VcpuExit::IoIn(..) | VcpuExit::IoOut(..) | VcpuExit::MmioRead(..)) => None,
                Ok(VcpuExit::Intr) if is_broken() => None,
                Ok(VcpuExit::Intr) => continue,
                Ok(other) => return Err(HvtError::Stopped(format!("{other:?}"))),
                Err(why) if why.errno() == libc::EINTR && is_broken() => None,
                Err(why) if why.errno() == libc::EINTR || why.errno() == libc::EAGAIN => continue,
                Err(why) => return Err(HvtError::Stopped(why.to_string())),
            };
            self.exits.all += 1;
            let done = match asked {
                Some((place::EXIT, value)) => return Ok(Outcome::Exited(value as u8)),
                Some((place::CONSOLE, value)) => self.console(value),
                Some((place::BLOCK, value)) => self.block(value),
                Some((place::TIME, value)) => self.time(value),
                Some((place::WAIT, _)) => self.wait(),
                // With rings the kernel tells the other thread, and the guest is not left.
                Some(_) | None => None,
            };
            if done.is_none() {
                return Ok(self.violation());
            }
        }
    }

    /// The words of the argument of a call, which were copied.
    fn argument<const N: usize>(&self, address: u32) -> Option<[u64; N]> {
        let mut words = [0; N];
        for (n, word) in words.iter_mut().enumerate() {
            *word = u64::from_le_bytes(self.memory.copy(u64::from(address) + 8 * n as u64)?);
        }
        Some(words)
    }

    fn console(&self, address: u32) -> Option<()> {
        const { assert!(size_of::<Console>() == 24) };
        let [text, len, stream] = self.argument(address)?;
        let text = self.memory.get(text, (len <= MOST_TEXT).then_some(len)?)?;
        // Nobody may listen any more.
        let _ = match stream {
            1 => io::stdout().write_all(&text).and_then(|()| io::stdout().flush()),
            2 => io::stderr().write_all(&text),
            _ => return None,
        };
        Some(())
    }

    fn block(&mut self, address: u32) -> Option<()> {
        const { assert!(size_of::<Block>() == 40) };
        self.exits.block += 1;
        let [what, block, data, len, _] = self.argument(address)?;
        let (device, op) = (what as u32, (what >> 32) as u32);
        let status = match self.backends.get_mut(device as usize) {
            None => Status::Invalid,
            Some(backend) => {
                let refuse = |backend: &Backend<'_>, status| {
                    backend.trace(op, block, len, status, None);
                    status
                };
                match backend.check(op, block, len) {
                    Err(status) => refuse(backend, status),
                    Ok(request) if request.len == 0 => backend.perform(request, &[]),
                    Ok(request) => match request.buffer(self.memory, data, request.len) {
                        Some(buffer) => backend.perform(request, &[buffer]),
                        None => refuse(backend, Status::Invalid),
                    },
                }
            }
        };
        self.memory.answer(u64::from(address) + 32, &(status as u32).to_le_bytes()).then_some(())
    }

    /// Until there is a completion, or will never be one.
    fn wait(&mut self) -> Option<()> {
        self.exits.wait += 1;
        let (wake, broken) = self.wake?;
        if !broken.load(Ordering::Acquire) {
            wake.wait();
        }
        (!broken.load(Ordering::Acquire)).then_some(())
    }

    fn time(&self, address: u32) -> Option<()> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as u64);
        self.memory.answer(u64::from(address), &now.to_le_bytes()).then_some(())
    }

    /// Where the guest is.
    fn place(&self) -> u64 {
        self.vcpu.get_regs().map_or(0, |registers| registers.rip)
    }

    fn violation(&self) -> Outcome {
        Outcome::Violation { call: None, at: self.place() }
    }

    fn fault(&self) -> Outcome {
        let told = fault::told(self.memory, &self.vcpu);
        let kind = match told.vector {
            0 | 16 | 19 => FaultKind::Arithmetic,
            6 | 3 | 1 => FaultKind::Instruction,
            _ => FaultKind::Memory,
        };
        Outcome::Fault(Fault { kind, address: told.address, at: told.at })
    }
}
