//! The end of a task: its own, on request, and by force.

use crate::base::cell::Held;
use crate::base::context::{Anywhere, Context, Domain, Known, Placed, Shared};
use crate::base::error::Error;
use crate::base::model::Only;
use crate::base::port::{Next, Port, Stacks};
use crate::objects::message_buffer::serve_senders;
use crate::objects::mutex;
use crate::objects::task::Task;
use crate::service::accounting;
use crate::service::dispatch::here;
use crate::service::frame::Service;
use crate::state::config::StacksOf;
use crate::state::processor::{Event, Processor};
use crate::state::storage::Storage;
use crate::state::tcb::{State, Tcb};
use crate::state::waiting::Waiting;

/// ext_tsk: ends the calling task, whatever it holds. It begins anew at once if an activation is queued.
pub fn exit<K: Storage, D: Domain>() -> ! {
    exit_from::<K, D>(D::SELF)
}

/// ext_tsk for a task of that domain.
pub(crate) fn exit_from<K: Storage, D: Domain>(domain: D) -> ! {
    K::Port::lock();
    // Before the giant lock is waited for, since interrupts come in meanwhile.
    here::<K>(D::KNOWN).let_go();
    let Ok(service) = Service::<K, D, Anywhere>::enter_by_force(domain) else {
        K::Port::fatal(format_args!("a task was ended on a processor that it does not belong to"))
    };
    let here = service.here;
    let idle = &here.idle().saved;
    let next: Next = if domain.place().is_none() { ended::<K, Shared> } else { ended::<K, Placed> };
    // The giant lock, if it was taken, stays taken until the task's stack is no longer in use.
    // SAFETY: the processor is locked, this is the running task, and its processor's idle task is saved or prepared.
    unsafe {
        StacksOf::<K>::leave(None, idle, next, core::ptr::from_ref(here).cast());
        core::hint::unreachable_unchecked()
    }
}

/// Buries the task that has just left its stack, and runs what should run now.
unsafe extern "C-unwind" fn ended<K: Storage, D: Domain>(here: *const ()) -> ! {
    // SAFETY: `exit_from` has given the processor.
    let here = unsafe { &*here.cast::<Processor<K>>() };
    let me = here.running.get();
    let domain = Placed(if D::KNOWN == Known::Shared { None } else { me.class.pinned().map(|p| p as u8) });
    // SAFETY: `exit_from` has locked all that the domain asks for, and left it locked.
    let service = unsafe { Service::<K, Placed, Anywhere>::taken(domain, here) };
    let held = service.held();
    here.dispatch_disabled.set(false, held);
    if here.interrupt_mask.get(held) != 0 {
        here.interrupt_mask.set(0, held);
        K::Port::mask_interrupts(0);
    }
    here.dispatching.set(true, held);
    service.stop_running(me);
    bury_one(&service, me);
    let next = service.choose();
    service.release();
    // SAFETY: the processor is locked.
    here.running.set(next, unsafe { Held::assume() });
    accounting::go_on(here, next);
    // SAFETY: the processor is locked and `next` is ready or the idle task, so it was prepared or saved.
    unsafe { StacksOf::<K>::resume(&next.saved) }
}

/// Makes a task dormant, which is in no queue and has no deadline any more, and begins it anew if that is queued.
fn bury_one<K: Storage, D: Domain, C: Context>(service: &Service<K, D, C>, tcb: &'static Tcb<K>) {
    let held = service.held();
    if tcb.mutexes.get(held).is_some() {
        mutex::release_all(service, tcb);
    }
    tcb.reset(held);
    // SAFETY: the task does not run, its processor is locked, and its stack is not in use.
    unsafe { StacksOf::<K>::prepare(&tcb.saved) };
    if tcb.queued.get(held) {
        tcb.queued.set(false, held);
        if let Some(home) = tcb.home.get()
            && let Some(next) = home.next.get(held)
        {
            home.next.set(None, held);
            home.processor.set(Processor::<K>::of(usize::from(next)), held);
        }
        tcb.state.set(State::Ready, held);
        service.make_ready(tcb);
    }
}

/// Takes a task that waits out of its queue and takes its deadline away. Who else could go on because of that, does.
pub(crate) fn abandon_wait<K: Storage, D: Domain, C: Context>(service: &Service<K, D, C>, tcb: &'static Tcb<K>) {
    let held = service.held();
    let waiting = tcb.waiting.get(held);
    tcb.stop_waiting(held);
    service.clear_deadline(service.home(tcb), Event::Task(tcb));
    tcb.waiting.set(Waiting::Nothing, held);
    match waiting {
        Waiting::SendMessage(messages, ..) => serve_senders(service, messages),
        Waiting::Mutex(mutex) => mutex::settle_owner(service, mutex),
        _ => {}
    }
}

/// Ends a task that does not run.
fn end<K: Storage, D: Domain, C: Context>(service: &Service<K, D, C>, tcb: &'static Tcb<K>) {
    let held = service.held();
    if tcb.is_waiting(held) {
        abandon_wait(service, tcb);
    } else if tcb.state.get(held) == State::Ready {
        service.make_unready(tcb);
    }
    bury_one(service, tcb);
}

impl<K: Storage, D: Domain> Task<K, D> {
    /// ter_tsk: ends another task of the same processor by force. E_ILUSE if it is the caller, E_OBJ if it is dormant
    /// or runs elsewhere.
    pub fn ter<C: Context>(self, cx: C) -> Result<(), Error> {
        let service = self.enter_to_end(cx)?;
        end(&service, self.tcb);
        service.finish(Ok(()))
    }

    /// ras_ter: asks another task of the same processor to end. If it lets itself be ended it is; if not, its wait and
    /// its suspension end, and every further wait fails with E_RASTER until it ends itself or allows it. E_ILUSE if it
    /// is the caller, E_OBJ if it is dormant or runs elsewhere.
    pub fn ras_ter<C: Context>(self, cx: C) -> Result<(), Error> {
        let service = self.enter_to_end(cx)?;
        let held = service.held();
        if !self.tcb.unending.get(held) {
            end(&service, self.tcb);
            return service.finish(Ok(()));
        }
        self.tcb.asked_to_end.set(true, held);
        if self.tcb.is_waiting(held) {
            self.tcb.state.set(State::Waiting, held);
            abandon_wait(&service, self.tcb);
            service.wake(self.tcb, Err(Error::RASTER));
        } else if self.tcb.state.get(held) == State::Suspended {
            self.tcb.state.set(State::Ready, held);
            service.make_ready(self.tcb);
        }
        service.finish(Ok(()))
    }

    /// Enters a service that ends another task of this processor.
    fn enter_to_end<C: Context>(self, cx: C) -> Result<Service<K, D, C>, Error> {
        let service = self.enter_in_task(cx)?;
        if core::ptr::eq(service.running(), self.tcb) {
            return service.leave(Err(Error::ILUSE));
        }
        let elsewhere = !core::ptr::eq(service.home(self.tcb), service.here);
        if self.tcb.state.get(service.held()) == State::Dormant || elsewhere {
            return service.leave(Err(Error::OBJ));
        }
        Ok(service)
    }
}
