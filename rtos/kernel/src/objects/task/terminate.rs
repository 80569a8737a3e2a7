//! The end of a task: its own, on request, and by force.

use super::{State, Task, Tcb, Waiting};
use crate::cell::Held;
use crate::context::{Anywhere, Context, Domain, InTask, Placed, Shared};
use crate::error::Error;
use crate::heap::Event;
use crate::kernel::Kernel;
use crate::model::Only;
use crate::port::{Next, Port, Stacks, StacksOf};
use crate::processor::Processor;
use crate::service::{Service, here};
use crate::system::System;

/// ext_tsk: ends the calling task, whatever it holds. It begins anew at once if an activation is queued.
pub fn exit<K: Kernel, D: Domain>() -> ! {
    exit_from::<K, D>(D::SELF)
}

/// ext_tsk for a task of that domain.
pub(crate) fn exit_from<K: Kernel, D: Domain>(domain: D) -> ! {
    K::Port::lock();
    // Before the giant lock is waited for, since interrupts come in meanwhile.
    crate::spin_lock::let_go(here::<K>(D::KNOWN));
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
unsafe extern "C-unwind" fn ended<K: Kernel, D: Domain>(here: *const ()) -> ! {
    // SAFETY: `exit_from` has given the processor.
    let here = unsafe { &*here.cast::<Processor<K>>() };
    let me = here.running.get();
    let domain =
        Placed(if D::KNOWN == crate::context::Known::Shared { None } else { me.class.pinned().map(|p| p as u8) });
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
    crate::overrun::go_on(here, next);
    // SAFETY: the processor is locked and `next` is ready or the idle task, so it was prepared or saved.
    unsafe { StacksOf::<K>::resume(&next.saved) }
}

/// Makes a task dormant, which is in no queue and has no deadline any more, and begins it anew if that is queued.
fn bury_one<K: Kernel, D: Domain, C: Context>(service: &Service<K, D, C>, tcb: &'static Tcb<K>) {
    let held = service.held();
    crate::mutex::release_all(service, tcb);
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
pub(crate) fn abandon_wait<K: Kernel, D: Domain, C: Context>(service: &Service<K, D, C>, tcb: &'static Tcb<K>) {
    let held = service.held();
    let waiting = tcb.waiting.get(held);
    tcb.stop_waiting(held);
    service.clear_deadline(service.home(tcb), Event::Task(tcb));
    tcb.waiting.set(Waiting::Nothing, held);
    match waiting {
        Waiting::SendMessage(buffer, ..) => crate::message_buffer::serve_senders(service, buffer),
        Waiting::Mutex(mutex) => crate::mutex::settle_owner(service, mutex),
        _ => {}
    }
}

/// Ends a task that does not run.
fn end<K: Kernel, D: Domain, C: Context>(service: &Service<K, D, C>, tcb: &'static Tcb<K>) {
    let held = service.held();
    if tcb.is_waiting(held) {
        abandon_wait(service, tcb);
    } else if tcb.state.get(held) == State::Ready {
        service.make_unready(tcb);
    }
    bury_one(service, tcb);
}

impl<K: Kernel, D: Domain> Task<K, D> {
    /// ter_tsk: ends another task of the same processor by force. E_ILUSE if it is the caller, E_OBJ if it is dormant or
    /// runs elsewhere.
    pub fn ter<C: Context>(self, cx: C) -> Result<(), Error> {
        let service = self.enter_to_end(cx)?;
        end(&service, self.tcb);
        service.finish(Ok(()))
    }

    /// ras_ter: asks another task of the same processor to end. If it lets itself be ended it is; if not, its wait and its
    /// suspension end, and every further wait fails with E_RASTER until it ends itself or allows it. E_ILUSE if it is the
    /// caller, E_OBJ if it is dormant or runs elsewhere.
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

impl<K: Kernel> super::sync::Current<K> {
    /// ext_tsk: ends the calling task. It begins anew at once if an activation is queued.
    pub fn exit<D: Domain>(_: InTask<D>) -> ! {
        exit::<K, D>()
    }

    /// ext_tsk from code that does not know its context. Returns only in a handler, with E_CTX.
    pub fn exit_anywhere() -> Error {
        if !K::Port::in_task() {
            return Error::CTX;
        }
        exit_from::<K, Placed>(Anywhere.domain::<K>())
    }

    /// dis_ter: from now on the task is not ended on request.
    pub fn disable_termination<C: Context>(cx: C) -> Result<(), Error> {
        Self::set_unending(true, cx)
    }

    /// ena_ter: lets the task be ended on request. If one came meanwhile, it ends here.
    pub fn enable_termination<C: Context>(cx: C) -> Result<(), Error> {
        Self::set_unending(false, cx)
    }

    /// sns_ter: whether the task is not ended on request now; also where there is none. From any context, with a locked
    /// processor too.
    pub fn termination_disabled() -> bool {
        System::<K>::look(|here, held| {
            let running = here.running.get();
            core::ptr::eq(running, here.idle()) || running.unending.get(held)
        })
    }

    fn set_unending<C: Context>(unending: bool, cx: C) -> Result<(), Error> {
        let service = Service::<K, C::Domain, C>::enter(cx.domain::<K>(), cx)?;
        if !service.in_task() {
            return service.leave(Err(Error::CTX));
        }
        let held = service.held();
        let me = service.running();
        // Where it may not give way it ends later, when it may again.
        if me.asked_to_end.get(held) && !unending && service.here.dispatching.get(held) {
            service.leave(());
            exit_from::<K, C::Domain>(cx.domain::<K>());
        }
        me.unending.set(unending, held);
        service.leave(Ok(()))
    }
}
