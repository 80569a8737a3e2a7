//! The guest's side of the rings.

use core::cell::Cell;
use core::sync::atomic::AtomicU32;

use unikernel_abi::call::Op;
use unikernel_abi::ring::{Completion, Control, Request, Segment, completion_at, place, request_at};
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

/// Asks, and waits until it is done.
pub fn perform(device: &Device, op: Op, block: u64, start: u64, len: usize) -> Result<(), Status> {
    let number = ((device.rings - RINGS) / place::STRIDE) as usize;
    let Some(counts) = ALL.0.get(number) else { return Err(Status::Invalid) };
    let control = |count, sleeps| Control { count: word(device.rings + count), sleeps: word(device.rings + sleeps) };
    let submitted = counts.submitted.get();
    let data = Segment { start, len: len as u64 };
    let segments = u16::from(op != Op::Flush);
    let request =
        Request { op: op as u16, segments, id: submitted, block, data: [data, Segment::default(), Segment::default()] };
    // SAFETY: the place is one of the ring, and the monitor has taken what was there: there is one request at a time.
    unsafe { ((device.rings + request_at(submitted)) as *mut Request).write_volatile(request) };
    let next = submitted.wrapping_add(1);
    counts.submitted.set(next);
    if control(place::SUBMITTED, place::MONITOR_SLEEPS).publish(next) {
        super::ring_doorbell(device);
    }
    let seen = counts.seen.get();
    wait(device, control(place::COMPLETED, place::GUEST_SLEEPS), seen);
    counts.seen.set(seen.wrapping_add(1));
    // SAFETY: the monitor has put it there before it counted up.
    let completion = unsafe { ((device.rings + completion_at(seen)) as *const Completion).read_volatile() };
    match Status::of(completion.status) {
        Status::Ok if completion.id == submitted => Ok(()),
        Status::Ok => Err(Status::Io),
        why => Err(why),
    }
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
