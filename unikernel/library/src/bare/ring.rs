//! The guest's side of the rings.

use core::cell::Cell;
use core::sync::atomic::AtomicU32;

use unikernel_abi::call::Op;
use unikernel_abi::ring::{Completion, Control, DEPTH, Request, Segment, completion_at, place, request_at};
use unikernel_abi::{Device, MOST_DEVICES, RINGS, Status};

/// How often a completion is looked for between two looks at the clock.
const LOOKS: u32 = 64;

/// The counts of a device that are the guest's.
struct Counts {
    submitted: Cell<u32>,
    seen: Cell<u32>,
}

/// Of all devices.
struct All([Counts; MOST_DEVICES]);

// SAFETY: there is one thread, and nothing interrupts it.
unsafe impl Sync for All {}

static ALL: All = All([const { Counts { submitted: Cell::new(0), seen: Cell::new(0) } }; MOST_DEVICES]);

fn word(address: u64) -> &'static AtomicU32 {
    // SAFETY: the monitor says that rings lie there, and both sides use it as what it is.
    unsafe { AtomicU32::from_ptr(address as *mut u32) }
}

/// A large request is asked for in parts of so many bytes, which a monitor may do beside each other.
const PART: u64 = 1 << 20;
/// So many parts at most are under way.
const UNDER_WAY: u32 = 32;

const _: () = assert!(UNDER_WAY <= DEPTH);

/// What is left of a request.
struct Rest {
    block: u64,
    data: Segment,
    /// There is a part to be asked for yet: a flush is one, and has no data.
    some: bool,
}

impl Rest {
    fn part(&mut self, block_size: u64) -> Option<(u64, Segment)> {
        if !self.some {
            return None;
        }
        let (block, part) = (self.block, Segment { start: self.data.start, len: self.data.len.min(PART) });
        self.block += part.len / block_size;
        self.data = Segment { start: part.start + part.len, len: self.data.len - part.len };
        self.some = self.data.len > 0;
        Some((block, part))
    }
}

/// Asks, and waits until it is done.
pub fn perform(device: &Device, op: Op, block: u64, start: u64, len: usize) -> Result<(), Status> {
    let number = ((device.rings - RINGS) / place::STRIDE) as usize;
    let Some(counts) = ALL.0.get(number) else { return Err(Status::Invalid) };
    let control = |count, sleeps| Control { count: word(device.rings + count), sleeps: word(device.rings + sleeps) };
    let (asked, told) =
        (control(place::SUBMITTED, place::MONITOR_SLEEPS), control(place::COMPLETED, place::GUEST_SLEEPS));
    let mut rest = Rest { block, data: Segment { start, len: len as u64 }, some: true };
    let (mut submitted, mut seen) = (counts.submitted.get(), counts.seen.get());
    let mut result = Ok(());
    loop {
        let before = submitted;
        // After one that failed no more are asked for; those under way use memory that is the caller's, and are waited for.
        while result.is_ok() && submitted.wrapping_sub(seen) < UNDER_WAY {
            let Some((block, part)) = rest.part(device.block_size.into()) else { break };
            let data = [part, Segment::default(), Segment::default()];
            let request = Request { op: op as u16, segments: u16::from(part.len > 0), id: submitted, block, data };
            // SAFETY: the place is one of the ring, and the monitor has taken what was there: fewer are under way than it has places.
            unsafe { ((device.rings + request_at(submitted)) as *mut Request).write_volatile(request) };
            submitted = submitted.wrapping_add(1);
        }
        if submitted != before && asked.publish(submitted) {
            super::ring_doorbell(device);
        }
        if submitted == seen {
            break;
        }
        wait(device, told, seen);
        while seen != told.published() {
            // SAFETY: the monitor has put it there before it counted up.
            let completion = unsafe { ((device.rings + completion_at(seen)) as *const Completion).read_volatile() };
            seen = seen.wrapping_add(1);
            if result.is_ok() && completion.status != Status::Ok as u32 {
                result = Err(Status::of(completion.status));
            }
        }
    }
    counts.submitted.set(submitted);
    counts.seen.set(seen);
    result
}

/// Until there is a completion: looks for a while, and sleeps then.
fn wait(device: &Device, told: Control<'_>, seen: u32) {
    let mut until = None;
    while told.published() == seen {
        let found = (0..LOOKS).any(|_| {
            core::hint::spin_loop();
            told.published() != seen
        });
        if found {
            return;
        }
        let now = super::monotonic();
        if now < *until.get_or_insert(now + device.poll_ns) {
            continue;
        }
        if told.may_sleep(seen) {
            super::wait_for_completion(device);
            told.awake();
        }
        until = None;
    }
}
