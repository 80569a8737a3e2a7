//! Requests through io_uring: many of them are under way at once, and end in whatever order they do.
//!
//! A ring can do nothing but what a guest may ask: it is made without rights, is given the two files of the disk and reads, writes and flushes
//! of these alone, and only then begins to work. The filter of system calls would not see what goes through it.

use std::io;
use std::os::fd::AsRawFd as _;
use std::time::{Duration, Instant};

use io_uring::register::Restriction;
use io_uring::squeue::{Entry, Flags};
use io_uring::types::{Fixed, FsyncFlags};
use io_uring::{IoUring, opcode};
use unikernel_abi::call::Op;
use unikernel_abi::ring::{DEPTH, SEGMENTS};

use crate::backend::Request;
use crate::disk::Disk;
use crate::event::Event;
use crate::memory::{Buffer, Memory};

/// The files that a ring knows: that of the disk, and the one whose writes are durable when they are done.
const FILE: Fixed = Fixed(0);
const DURABLE: Fixed = Fixed(1);
/// The guest's memory, as far as it is registered.
const MEMORY: u16 = 0;
/// The kernel registers no larger buffer.
const MOST_REGISTERED: u64 = 1 << 30;

/// A ring for one disk.
pub(crate) struct Uring {
    ring: IoUring,
    /// What is under way, by the number that the kernel gives back. They stay where they are: the kernel reads the parts.
    slots: Box<[Slot]>,
    free: Vec<u32>,
    /// The kernel knows the guest's memory already.
    registered: bool,
    /// What each request takes is wanted.
    timed: bool,
}

/// Whether this system lets a process have one: some have turned it off.
pub fn works() -> bool {
    IoUring::new(2).is_ok()
}

/// A request that is under way.
#[derive(Clone, Copy)]
struct Slot {
    id: u32,
    request: Request,
    /// Where in the file it goes on.
    offset: u64,
    /// What of its data is left.
    left: [libc::iovec; SEGMENTS],
    start: Option<Instant>,
}

// SAFETY: the parts are those of a guest's memory, which every thread of the process has, and which is mapped longer than a ring works.
unsafe impl Send for Uring {}

/// What became of a request, which is called so by the guest.
pub(crate) struct Ended {
    pub id: u32,
    pub request: Request,
    pub result: io::Result<()>,
    /// What it took, if that is wanted.
    pub time: Option<Duration>,
}

const NOTHING: libc::iovec = libc::iovec { iov_base: std::ptr::null_mut(), iov_len: 0 };

impl Uring {
    /// For that disk; `told` is told when something has ended while [it is to be](Self::tell).
    pub fn new(disk: &Disk, memory: &Memory, told: &Event) -> io::Result<Self> {
        let ring = IoUring::builder().setup_r_disabled().build(DEPTH)?;
        let submitter = ring.submitter();
        submitter.register_files(&[disk.file().as_raw_fd(), disk.durable().as_raw_fd()])?;
        // It keeps the guest's memory from being looked up with each request, where the disk reads and writes it by itself; the most that a
        // process may keep so can be less than that.
        let registered = disk.is_direct() && memory.len() <= MOST_REGISTERED && {
            let all = libc::iovec { iov_base: memory.host() as *mut libc::c_void, iov_len: memory.len() as usize };
            // SAFETY: the memory is mapped longer than the ring works.
            unsafe { submitter.register_buffers(&[all]) }.is_ok()
        };
        submitter.register_eventfd(told.descriptor())?;
        let fixed = Flags::FIXED_FILE.bits();
        let operations = [
            opcode::Readv::CODE,
            opcode::Writev::CODE,
            opcode::ReadFixed::CODE,
            opcode::WriteFixed::CODE,
            opcode::Fsync::CODE,
        ];
        let mut restrictions: Vec<_> = operations.into_iter().map(Restriction::sqe_op).collect();
        restrictions.extend([Restriction::sqe_flags_allowed(fixed), Restriction::sqe_flags_required(fixed)]);
        submitter.register_restrictions(&mut restrictions)?;
        submitter.register_enable_rings()?;
        let empty = Slot {
            id: 0,
            request: Request { op: Op::Flush, offset: 0, len: 0 },
            offset: 0,
            left: [NOTHING; SEGMENTS],
            start: None,
        };
        let mut this = Self {
            ring,
            slots: vec![empty; DEPTH as usize].into(),
            free: (0..DEPTH).rev().collect(),
            registered,
            timed: disk.is_timed(),
        };
        this.tell(false);
        Ok(this)
    }

    /// Whether there is room for another request.
    pub fn has_room(&self) -> bool {
        !self.free.is_empty()
    }

    pub fn is_idle(&self) -> bool {
        self.free.len() == self.slots.len()
    }

    /// Puts a request there, of which there has to be [room](Self::has_room) for; it is begun with the next [`Self::begin`].
    pub fn put(&mut self, id: u32, request: Request, data: &[Buffer]) {
        let Some(number) = self.free.pop() else { return };
        let mut left = [NOTHING; SEGMENTS];
        for (left, buffer) in left.iter_mut().zip(data) {
            *left = libc::iovec { iov_base: buffer.start().cast(), iov_len: buffer.len() };
        }
        self.slots[number as usize] =
            Slot { id, request, offset: request.offset, left, start: self.timed.then(Instant::now) };
        self.push(number);
    }

    fn push(&mut self, number: u32) {
        let entry = self.slots[number as usize].entry(self.registered).user_data(number.into());
        // SAFETY: the memory is the guest's, which is mapped as long as the monitor serves it, and longer than this ring, which waits for
        // what is under way when it goes; the guest may change it meanwhile, which is its own affair. The parts are in a slot, which stays where it
        // is and is nobody else's until the request has ended. There is an entry for each slot, so that there is always one.
        let pushed = unsafe { self.ring.submission().push(&entry) };
        debug_assert!(pushed.is_ok());
    }

    /// Begins what was put there.
    pub fn begin(&self) -> io::Result<()> {
        loop {
            match self.ring.submit() {
                Err(why) if why.kind() == io::ErrorKind::Interrupted => {}
                begun => return begun.map(drop),
            }
        }
    }

    /// What has ended, and is to be said.
    pub fn ended(&mut self) -> io::Result<Vec<Ended>> {
        let results: Vec<(u32, i32)> =
            self.ring.completion().map(|entry| (entry.user_data() as u32, entry.result())).collect();
        let mut all = Vec::with_capacity(results.len());
        let mut again = false;
        for (number, result) in results {
            let slot = &mut self.slots[number as usize];
            let is_over = match result {
                _ if slot.request.op == Op::Flush => Some(of_kernel(result).map(drop)),
                _ if -result == libc::EINTR => None,
                0 if slot.is_left() => Some(Err(io::ErrorKind::UnexpectedEof.into())),
                _ => of_kernel(result)
                    .map(|moved| slot.moved(moved))
                    .map_or_else(|why| Some(Err(why)), |()| (!slot.is_left()).then_some(Ok(()))),
            };
            match is_over {
                Some(result) => {
                    let time = slot.start.map(|start| start.elapsed());
                    all.push(Ended { id: slot.id, request: slot.request, result, time });
                    self.free.push(number);
                }
                None => {
                    self.push(number);
                    again = true;
                }
            }
        }
        if again {
            self.begin()?;
        }
        Ok(all)
    }

    /// Whether something has ended that was not seen yet.
    pub fn has_ended(&mut self) -> bool {
        !self.ring.completion().is_empty()
    }

    /// Whether the event is told when something ends.
    pub fn tell(&mut self, is_wanted: bool) {
        let completion = self.ring.completion();
        if is_wanted { completion.enable_eventfd() } else { completion.disable_eventfd() }
    }
}

fn of_kernel(result: i32) -> io::Result<usize> {
    usize::try_from(result).map_err(|_| io::Error::from_raw_os_error(-result))
}

impl Slot {
    fn is_left(&self) -> bool {
        self.left.iter().any(|part| part.iov_len > 0)
    }

    /// So many bytes of what was left are there.
    fn moved(&mut self, bytes: usize) {
        self.offset += bytes as u64;
        let mut bytes = bytes;
        for part in &mut self.left {
            let now = bytes.min(part.iov_len);
            // SAFETY: it is not more than the part has.
            part.iov_base = unsafe { part.iov_base.cast::<u8>().add(now) }.cast();
            part.iov_len -= now;
            bytes -= now;
        }
    }

    fn entry(&self, registered: bool) -> Entry {
        let (op, offset) = (self.request.op, self.offset);
        let file = if op == Op::WriteDurable { DURABLE } else { FILE };
        let mut some = self.left.iter().filter(|part| part.iov_len > 0);
        let (first, is_one) = (some.next().copied().unwrap_or(NOTHING), some.next().is_none());
        let (start, len) = (first.iov_base.cast::<u8>(), first.iov_len as u32);
        let (parts, count) = (self.left.as_ptr(), SEGMENTS as u32);
        match op {
            Op::Flush => opcode::Fsync::new(FILE).flags(FsyncFlags::DATASYNC).build(),
            Op::Read if registered && is_one => opcode::ReadFixed::new(file, start, len, MEMORY).offset(offset).build(),
            Op::Read => opcode::Readv::new(file, parts, count).offset(offset).build(),
            Op::Write | Op::WriteDurable if registered && is_one => {
                opcode::WriteFixed::new(file, start, len, MEMORY).offset(offset).build()
            }
            Op::Write | Op::WriteDurable => opcode::Writev::new(file, parts, count).offset(offset).build(),
        }
    }
}

impl Drop for Uring {
    /// Nothing of it is under way any more in memory that goes next.
    fn drop(&mut self) {
        while !self.is_idle() {
            let waited = self.ring.submit_and_wait(1);
            let interrupted = waited.as_ref().is_err_and(|why| why.kind() == io::ErrorKind::Interrupted);
            if self.ended().is_err() || (waited.is_err() && !interrupted) {
                return;
            }
        }
    }
}
