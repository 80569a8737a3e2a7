//! The timer interrupt: what is due, and the next deadline.
//!
//! There is no periodic tick. Each processor sets its timer to the earliest deadline of its two agendas.

use core::sync::atomic::Ordering::Relaxed;

use crate::base::context::{Context, Domain, InHandler, Known, Placed, Shared};
use crate::base::error::Error;
use crate::base::heap::is_due;
use crate::base::model::{Model, Only};
use crate::base::port::Port;
use crate::kernel::Kernel;
use crate::objects::task::terminate::abandon_wait;
use crate::service::accounting;
use crate::service::dispatch::here;
use crate::service::frame::Service;
use crate::state::clock::LOOK;
use crate::state::processor::{Event, Processor};
use crate::system::overrun;

/// Does what is due on this processor and sets its timer anew. In handler context, the processor unlocked. It stays out
/// of the port's entry, in which other interrupts would pay for the registers that it takes.
#[inline(never)]
pub(crate) fn tick<K: Kernel>() {
    let number = here_number::<K>();
    loop {
        let mut more = due::<K, _>(Placed(Some(number)));
        if !is_alone(Processor::<K>::of(usize::from(number))) {
            more |= due::<K, _>(Placed(None));
        }
        more |= overrun::due(Processor::<K>::of(usize::from(number)));
        if !more && rearm::<K>() {
            return;
        }
    }
}

/// The number of the processor that the handler runs on.
fn here_number<K: Kernel>() -> u8 {
    let mask = K::Port::lock();
    let here = here::<K>(Known::Later);
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
        let now = K::common().clock.now();
        let heap = &service.agenda(service.here).heap;
        let Some((event, at)) = heap.first(held).filter(|&(_, at)| is_due(at, now)) else {
            return service.leave(any);
        };
        any = true;
        heap.remove(event, now, held);
        match event {
            Event::Task(task) => {
                let result = if task.is_delayed(held) { Ok(0) } else { Err(Error::TMOUT) };
                abandon_wait(&service, task);
                service.wake(task, result);
                service.finish(());
            }
            Event::Timer(timer) => timer.due(at, service),
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

/// The same without the giant lock, if this processor is alone, the time of the task that runs is not counted, and the
/// clock was looked at not long ago. Whoever changes the first two on another processor interrupts this one afterwards.
fn rearm_alone<K: Kernel>() -> Option<bool> {
    // SAFETY: it is used for this processor only.
    let cx = unsafe { InHandler::<Placed>::assume() };
    if K::Model::PROCESSORS == 1 {
        return None;
    }
    let Ok(service) = Service::<K, Placed, _>::enter_own(cx) else { return Some(true) };
    let (here, clock) = (service.here, &K::common().clock);
    let now = clock.now();
    let left = LOOK
        .checked_sub(now.wrapping_sub(clock.latest.load(Relaxed)))
        .filter(|_| is_alone(here) && !accounting::is_wanted(here));
    let Some(left) = left else { return service.leave(None) };
    let after = ahead(here.own.heap.first(service.held()), now).min(left);
    Some(set_timer(service, now, after))
}

fn rearm_with_others<K: Kernel>() -> bool {
    // SAFETY: it is used for this processor only.
    let cx = unsafe { InHandler::<Placed>::assume() };
    let Ok(service) = Service::<K, Shared, _>::enter(Shared, cx) else { return true };
    let held = service.held();
    let (_, now) = K::common().clock.look(held);
    let own = ahead(service.here.own.heap.first(held), now);
    let shared = ahead(service.here.shared.get().and_then(|agenda| agenda.heap.first(held)), now);
    accounting::catch_up(service.here, service.here.running.get(), held);
    let overrun = accounting::ahead(service.here, held).unwrap_or(LOOK);
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
