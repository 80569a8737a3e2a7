//! Time: how long a service waits, what the clock shows, and what happens when the timer rings.
//!
//! There is no tick. Each processor sets its timer to the earliest deadline of its two agendas. Deadlines are moments of
//! the *event time*, which is the port's microseconds plus what adj_tim has added so far. The *system time* is what
//! get_tim shows: it never goes back when adj_tim does, but waits until event time has passed it again.

use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

use crate::cell::{Cell, Held};
use crate::context::{Context, Domain, InHandler, Placed, Shared};
use crate::error::Error;
use crate::heap::{Event, LONGEST, after, is_due};
use crate::kernel::Kernel;
use crate::model::{Model, Only};
use crate::port::Port;
use crate::processor::Processor;
use crate::service::Service;

/// How long a service may wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Timeout(u32);

impl Timeout {
    /// Until it is woken: TMO_FEVR.
    pub const FOREVER: Timeout = Timeout(u32::MAX);
    /// Not at all: TMO_POL.
    pub const POLL: Timeout = Timeout(0);

    /// That many microseconds; E_PAR above [`LONGEST`].
    pub const fn micros(micros: u32) -> Result<Timeout, Error> {
        if micros <= LONGEST { Ok(Timeout(micros)) } else { Err(Error::PAR) }
    }

    /// That many milliseconds. Does not compile as a constant above an hour and six minutes.
    pub const fn millis(millis: u32) -> Timeout {
        assert!(millis <= LONGEST / 1000, "longer than a service can wait");
        Timeout(millis * 1000)
    }

    /// A C value of type TMO; E_PAR if it is neither a time nor TMO_FEVR nor TMO_POL.
    pub const fn from_tmo(tmo: u32) -> Result<Timeout, Error> {
        if tmo == u32::MAX { Ok(Timeout::FOREVER) } else { Timeout::micros(tmo) }
    }

    #[inline(always)]
    pub(crate) const fn is_poll(self) -> bool {
        self.0 == 0
    }

    /// After how many microseconds the wait ends, if it does.
    #[inline(always)]
    pub(crate) const fn deadline(self) -> Option<u32> {
        if self.0 == u32::MAX { None } else { Some(self.0) }
    }
}

/// The clock. Its cells belong to the shared domain.
pub(crate) struct Clock {
    /// What adj_tim has added so far, modulo 2³². Every processor reads it without a lock.
    adjusted: AtomicU32,
    /// The latest event time that was looked at. Written under the lock.
    latest: AtomicU32,
    /// The system time then.
    system: Cell<u64>,
}

/// The clock is looked at at least this often, so that it notices when the port's microseconds wrap.
const LOOK: u32 = 1 << 30;

impl Clock {
    pub(crate) const fn new() -> Self {
        Clock { adjusted: AtomicU32::new(0), latest: AtomicU32::new(0), system: Cell::new(0) }
    }

    /// The event time.
    #[inline(always)]
    pub(crate) fn now<K: Kernel>(&self) -> u32 {
        K::Port::now().wrapping_add(self.adjusted.load(Relaxed))
    }

    pub(crate) fn start<K: Kernel>(&self) {
        self.latest.store(self.now::<K>(), Relaxed);
    }

    /// Brings the system time up to date. Gives it and the event time.
    fn look<K: Kernel>(&self, held: Held<'_>) -> (u64, u32) {
        let now = self.now::<K>();
        let passed = now.wrapping_sub(self.latest.load(Relaxed));
        // More than half the range means that adj_tim has set it back, and it has not caught up yet.
        if passed < 1 << 31 {
            self.latest.store(now, Relaxed);
            self.system.set(self.system.get(held) + u64::from(passed), held);
        }
        (self.system.get(held), now)
    }
}

/// The time services of a kernel.
pub struct Time<K: Kernel>(core::marker::PhantomData<K>);

impl<K: Kernel> Time<K> {
    /// get_tim: the system time, in microseconds.
    pub fn get<C: Context>(cx: C) -> Result<u64, Error> {
        let service = Service::<K, _, _>::enter(Shared, cx)?;
        if !service.in_task() {
            return service.leave(Err(Error::CTX));
        }
        let (system, _) = K::common().clock.look::<K>(service.held());
        service.leave(Ok(system))
    }

    /// set_tim: sets the system time. No deadline moves.
    pub fn set<C: Context>(micros: u64, cx: C) -> Result<(), Error> {
        let service = Service::<K, _, _>::enter(Shared, cx)?;
        if !service.in_task() {
            return service.leave(Err(Error::CTX));
        }
        let clock = &K::common().clock;
        clock.look::<K>(service.held());
        clock.system.set(micros, service.held());
        service.leave(Ok(()))
    }

    /// adj_tim: moves the time, and with it every deadline, by up to a second.
    ///
    /// E_PAR beyond a second; E_OBJ if what is due, or the system time, is more than a second behind already.
    pub fn adjust<C: Context>(micros: i32, cx: C) -> Result<(), Error> {
        const SECOND: u32 = 1_000_000;
        let service = Service::<K, _, _>::enter(Shared, cx)?;
        if micros.unsigned_abs() > SECOND {
            return service.leave(Err(Error::PAR));
        }
        let held = service.held();
        let clock = &K::common().clock;
        let (_, now) = clock.look::<K>(held);
        let behind = match service.here.shared().heap.first(held) {
            Some((_, at)) if micros > 0 && is_due(at, now) => now.wrapping_sub(at),
            _ if micros < 0 => clock.latest.load(Relaxed).wrapping_sub(now),
            _ => 0,
        };
        if behind >= SECOND {
            return service.leave(Err(Error::OBJ));
        }
        clock.adjusted.store(clock.adjusted.load(Relaxed).wrapping_add(micros.cast_unsigned()), Relaxed);
        // Every processor's next deadline is now at another time of its timer.
        for number in 0..K::Model::PROCESSORS {
            let processor = Processor::<K>::of(number);
            if core::ptr::eq(processor, service.here) {
                K::Port::alarm(0);
            } else {
                service.notify(processor);
            }
        }
        service.finish(Ok(()))
    }

    /// fch_hrt: the microseconds of the port, from any context and with a locked processor too.
    pub fn precise() -> u32 {
        K::Port::now()
    }
}

/// Sets the timer of this processor, if the deadline comes before what it is set to.
#[inline(always)]
pub(crate) fn arm<K: Kernel>(here: &'static Processor<K>, at: u32, now: u32, held: Held<'_>) {
    let sooner = match here.armed.get(held) {
        None => true,
        Some(armed) => after(at, now) < after(armed, now),
    };
    if sooner {
        here.armed.set(Some(at), held);
        K::Port::alarm(if is_due(at, now) { 0 } else { at.wrapping_sub(now).min(LOOK) });
    }
}

/// Does what is due on this processor and sets its timer anew. In handler context, the processor unlocked.
pub(crate) fn tick<K: Kernel>() {
    let number = here_number::<K>();
    loop {
        let mut more = due::<K, _>(Placed(Some(number)));
        if !is_alone(Processor::<K>::of(usize::from(number))) {
            more |= due::<K, _>(Placed(None));
        }
        more |= crate::overrun::due(Processor::<K>::of(usize::from(number)));
        if !more && rearm::<K>() {
            return;
        }
    }
}

/// The number of the processor that the handler runs on.
fn here_number<K: Kernel>() -> u8 {
    let mask = K::Port::lock();
    let here = crate::service::here::<K>(crate::context::Known::Later);
    let number = (0..K::Model::PROCESSORS).find(|&number| core::ptr::eq(Processor::<K>::of(number), here)).unwrap_or(0);
    // SAFETY: nothing that the lock guards was read; a handler does not move to another processor.
    unsafe { K::Port::unlock(mask) };
    number as u8
}

/// Does what is due in one of the agendas. True if there was something.
fn due<K: Kernel, D: Domain>(domain: D) -> bool {
    let mut any = false;
    loop {
        // SAFETY: it is used for this processor only.
        let cx = unsafe { InHandler::<Placed>::assume() };
        let Ok(service) = Service::<K, D, _>::enter(domain, cx) else { return any };
        let held = service.held();
        let now = K::common().clock.now::<K>();
        let heap = &service.agenda(service.here).heap;
        let Some((event, at)) = heap.first(held).filter(|&(_, at)| is_due(at, now)) else {
            return service.leave(any);
        };
        any = true;
        heap.remove(event, now, held);
        match event {
            Event::Task(task) => {
                let result = if task.is_delayed(held) { Ok(0) } else { Err(Error::TMOUT) };
                crate::task::term::abandon_wait(&service, task);
                service.wake(task, result);
                service.finish(());
            }
            Event::Cyclic(cyclic) => crate::cyclic::due(cyclic, at, service),
            Event::Alarm(alarm) => crate::alarm::due(alarm, service),
        }
    }
}

/// Whether a processor has only deadlines of its own, so that its timer needs no lock but its own.
fn is_alone<K: Kernel>(here: &Processor<K>) -> bool {
    here.shared.get().is_none_or(|agenda| agenda.heap.seems_empty())
}

/// Sets the timer to the earliest deadline. False if that has come already.
fn rearm<K: Kernel>() -> bool {
    rearm_alone::<K>().unwrap_or_else(rearm_with_others::<K>)
}

/// The same without the giant lock, if this processor is alone, the time of the task that runs is not counted, and the clock
/// was looked at not long ago. Whoever changes the first two on another processor interrupts this one afterwards.
fn rearm_alone<K: Kernel>() -> Option<bool> {
    // SAFETY: it is used for this processor only.
    let cx = unsafe { InHandler::<Placed>::assume() };
    if K::Model::PROCESSORS == 1 {
        return None;
    }
    let Ok(service) = Service::<K, Placed, _>::enter_own(cx) else { return Some(true) };
    let (here, clock) = (service.here, &K::common().clock);
    let now = clock.now::<K>();
    let left = LOOK
        .checked_sub(now.wrapping_sub(clock.latest.load(Relaxed)))
        .filter(|_| is_alone(here) && !crate::overrun::is_wanted(here));
    let Some(left) = left else { return service.leave(None) };
    let after = ahead(here.own.heap.first(service.held()), now).min(left);
    Some(set_timer(service, now, after))
}

fn rearm_with_others<K: Kernel>() -> bool {
    // SAFETY: it is used for this processor only.
    let cx = unsafe { InHandler::<Placed>::assume() };
    let Ok(service) = Service::<K, Shared, _>::enter(Shared, cx) else { return true };
    let held = service.held();
    let (_, now) = K::common().clock.look::<K>(held);
    let own = ahead(service.here.own.heap.first(held), now);
    let shared = ahead(service.here.shared.get().and_then(|agenda| agenda.heap.first(held)), now);
    crate::overrun::catch_up(service.here, service.here.running.get(), held);
    let overrun = crate::overrun::ahead(service.here, held).unwrap_or(LOOK);
    set_timer(service, now, own.min(shared).min(overrun))
}

/// In how many microseconds the timer is to ring for the first deadline of a heap.
fn ahead<K: Kernel>(first: Option<(Event<K>, u32)>, now: u32) -> u32 {
    match first {
        Some((_, at)) if is_due(at, now) => 0,
        Some((_, at)) => at.wrapping_sub(now).min(LOOK),
        None => LOOK,
    }
}

/// Sets the timer and ends the service; false, and nothing is set, if that would be now.
fn set_timer<K: Kernel, D: Domain, C: Context>(service: Service<K, D, C>, now: u32, after: u32) -> bool {
    if after == 0 {
        return service.leave(false);
    }
    service.here.armed.set(Some(now.wrapping_add(after)), service.held());
    K::Port::alarm(after);
    service.leave(true)
}

/// What another processor wants of this one: look at the agenda again. In handler context, the processor unlocked.
pub(crate) fn interrupted<K: Kernel>() {
    // What the other processor has set may be due already.
    if !rearm::<K>() {
        tick::<K>();
    }
    // SAFETY: it is used for this processor only.
    let cx = unsafe { InHandler::<Placed>::assume() };
    if let Ok(service) = Service::<K, Shared, _>::enter(Shared, cx) {
        service.finish(());
    }
}
