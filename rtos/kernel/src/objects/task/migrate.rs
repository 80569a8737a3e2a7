//! Migration of tasks between processors. Under `Uni` there is only processor 0.

use crate::base::cell::Held;
use crate::base::context::{Anywhere, Context, Domain, Placed};
use crate::base::error::Error;
use crate::base::model::{Model, Only};
use crate::base::port::Stacks;
use crate::objects::task::Task;
use crate::objects::task::priority::{Place, change_priority};
use crate::service::accounting;
use crate::service::frame::Service;
use crate::state::config::StacksOf;
use crate::state::processor::{Event, Processor};
use crate::state::storage::Storage;
use crate::state::tcb::State;

impl<K: Storage, D: Domain> Task<K, D> {
    /// The processor of that number, counted from 0, or the task's first one. E_ID if there is none; E_PAR if the class
    /// of the task does not allow it.
    fn destination(self, processor: Option<usize>) -> Result<usize, Error> {
        let number = processor.unwrap_or(self.tcb.class.initial());
        if number >= K::Model::PROCESSORS {
            return Err(Error::ID);
        }
        if self.tcb.class.allows(number) { Ok(number) } else { Err(Error::PAR) }
    }

    /// mact_tsk: as act_tsk, on that processor, counted from 0, or the task's first one if none is given. E_ID if there
    /// is no such processor, E_PAR if the class of the task does not allow it.
    pub fn mact<C: Context>(self, processor: Option<usize>, cx: C) -> Result<(), Error> {
        let service = Service::<K, D, C>::enter(self.domain, cx)?;
        let number = match self.destination(processor) {
            Ok(number) => number,
            Err(error) => return service.leave(Err(error)),
        };
        let held = service.held();
        if self.tcb.state.get(held) == State::Dormant {
            if let Some(home) = self.tcb.home.get() {
                home.processor.set(Processor::<K>::of(number), held);
            }
            self.tcb.state.set(State::Ready, held);
            service.make_ready(self.tcb);
            return service.finish(Ok(()));
        }
        if self.tcb.queued.get(held) || !self.tcb.queues {
            return service.leave(Err(Error::QOVR));
        }
        self.tcb.queued.set(true, held);
        if let Some(home) = self.tcb.home.get() {
            home.next.set(Some(number as u8), held);
        }
        service.leave(Ok(()))
    }

    /// mig_tsk: moves a task of this processor to another, or to its first one if none is given. There it is the last
    /// of its priority, also if it was there before. E_ID if there is no such processor, E_PAR if the class of the task
    /// does not allow it, E_OBJ if it is on another processor, E_CTX if it is the caller and may not give way.
    pub fn mig<C: Context>(self, processor: Option<usize>, cx: C) -> Result<(), Error> {
        let service = self.enter_in_task(cx)?;
        let number = match self.destination(processor) {
            Ok(number) => number,
            Err(error) => return service.leave(Err(error)),
        };
        let held = service.held();
        let (here, there) = (service.here, Processor::<K>::of(number));
        if !core::ptr::eq(service.home(self.tcb), here) {
            return service.leave(Err(Error::OBJ));
        }
        let myself = core::ptr::eq(service.running(), self.tcb);
        if myself && !here.dispatching.get(held) {
            return service.leave(Err(Error::CTX));
        }
        let Some(home) = self.tcb.home.get().filter(|_| !core::ptr::eq(here, there)) else {
            // It stays, as the last of its priority.
            if self.tcb.state.get(held) == State::Ready {
                change_priority(&service, self.tcb, self.tcb.priority.get(), Place::Last);
            }
            return service.finish(Ok(()));
        };
        if myself {
            return self.move_myself(service, number);
        }
        let ready = self.tcb.state.get(held) == State::Ready;
        let deadline = self.tcb.deadline.is_set(held).then(|| self.tcb.deadline.at.get(held));
        if ready {
            service.make_unready(self.tcb);
        }
        service.clear_deadline(here, Event::Task(self.tcb));
        home.processor.set(there, held);
        if let Some(at) = deadline {
            service.set_deadline_at(there, Event::Task(self.tcb), at, K::common().clock.now());
        }
        if ready {
            service.make_ready(self.tcb);
        }
        service.finish(Ok(()))
    }

    /// Leaves the stack first: the other processor may go on with the task as soon as the giant lock is released.
    fn move_myself<C: Context>(self, service: Service<K, D, C>, number: usize) -> Result<(), Error> {
        let here = service.here;
        service.stop_running(self.tcb);
        if let Some(home) = self.tcb.home.get() {
            home.processor.set(Processor::<K>::of(number), service.held());
        }
        // SAFETY: the processor is locked, this is the running task, and its processor's idle task is saved or prepared.
        // The giant lock stays taken until the task's stack is no longer in use.
        unsafe {
            StacksOf::<K>::leave(
                Some(&self.tcb.saved),
                &here.idle().saved,
                moved::<K>,
                core::ptr::from_ref(here).cast(),
            )
        };
        service.unlock(Ok(()))
    }
}

/// Hands over the task that has just left its stack, and runs what should run now.
unsafe extern "C-unwind" fn moved<K: Storage>(here: *const ()) -> ! {
    // SAFETY: `move_myself` has given the processor.
    let here = unsafe { &*here.cast::<Processor<K>>() };
    // SAFETY: `move_myself` has locked the processor and taken the giant lock, and left them so.
    let service = unsafe { Service::<K, Placed, Anywhere>::taken(Placed(None), here) };
    let me = here.running.get();
    accounting::leave_held(me, service.held());
    // Or it was suspended, and is that there too.
    if me.state.get(service.held()) == State::Ready {
        service.make_ready(me);
    }
    let next = here.choose();
    service.release();
    // SAFETY: the processor is locked.
    here.running.set(next, unsafe { Held::assume() });
    accounting::go_on(here, next);
    // SAFETY: the processor is locked and `next` is ready or the idle task, so it was prepared or saved.
    unsafe { StacksOf::<K>::resume(&next.saved) }
}
