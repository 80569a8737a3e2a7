//! Overrun: a handler that is called when a task has used up the processor time that it was given.
//!
//! A task's account says how much is left to it. While the task runs the account counts down from the moment when it was
//! given the processor, and the processor's timer is set to its end. The time of handlers that interrupt the task counts
//! too. The account is changed under the locks of the task's domain; whether there is anything to count is looked at
//! without them, which is all that a switch costs a task that has no account. A kernel without an overrun handler has none
//! of this: [`Kernel::Overrun`] says so.

use core::ffi::c_void;
use core::sync::atomic::{AtomicU8, Ordering::Relaxed};

use crate::cell::{Cell, Held};
use crate::context::{Context, Domain, InHandler, Placed, Shared};
use crate::error::Error;
use crate::heap::LONGEST;
use crate::kernel::Kernel;
use crate::model::{Initial, Model, Only, Presence};
use crate::port::{Lock, Port};
use crate::processor::Processor;
use crate::service::Service;
use crate::task::{State, Task, Tcb};

/// The function that is called: DEF_OVR.
pub struct OverrunHandler<K: Kernel>(Function<K>);

enum Function<K: Kernel> {
    Rust(fn(InHandler<Shared>, Task<K, Placed>)),
    C(unsafe extern "C" fn(i32, *mut c_void)),
}

impl<K: Kernel> OverrunHandler<K> {
    /// A function in Rust.
    pub const fn new(handler: fn(InHandler<Shared>, Task<K, Placed>)) -> Self {
        OverrunHandler(Function::Rust(handler))
    }

    /// A function in C, which is given the number of the task and its argument.
    ///
    /// # Safety
    /// The function can be called with these at any time.
    pub const unsafe fn foreign(function: unsafe extern "C" fn(i32, *mut c_void)) -> Self {
        OverrunHandler(Function::C(function))
    }

    fn call(&self, task: Task<K, Placed>) {
        match self.0 {
            // SAFETY: this is called in handler context.
            Function::Rust(handler) => handler(unsafe { InHandler::assume() }, task),
            Function::C(function) => {
                let number = task.tcb.number().map_or(0, |number| number as i32);
                // SAFETY: whoever made the handler says so.
                unsafe { function(number, task.tcb.saved.argument.cast()) }
            }
        }
    }
}

/// Nothing is counted.
const STOPPED: u8 = 0;
/// Time is counted when the task runs.
const STARTED: u8 = 1;
/// Time is counted now.
const COUNTING: u8 = 2;

/// The processor time of a task.
pub struct Account {
    state: AtomicU8,
    left: Cell<u32>,
    since: Cell<u32>,
}

impl Initial for Account {
    const INITIAL: Self = Account { state: AtomicU8::new(STOPPED), left: Cell::new(0), since: Cell::new(0) };
}

impl Account {
    /// How much is left, now.
    fn left<K: Kernel>(&self, held: Held<'_>) -> u32 {
        let left = self.left.get(held);
        match self.state.load(Relaxed) {
            COUNTING => left.saturating_sub(K::Port::now().wrapping_sub(self.since.get(held))),
            _ => left,
        }
    }

    fn count<K: Kernel>(&self, here: &'static Processor<K>, held: Held<'_>) {
        self.since.set(K::Port::now(), held);
        self.state.store(COUNTING, Relaxed);
        let now = K::common().clock.now::<K>();
        crate::time::arm(here, now.wrapping_add(self.left.get(held)), now, held);
    }

    fn stop_counting<K: Kernel>(&self, held: Held<'_>) {
        self.left.set(self.left::<K>(held), held);
        self.state.store(STARTED, Relaxed);
    }
}

/// Does something with the account of a task under the locks of its domain. The processor is locked already.
fn locked<K: Kernel>(task: &Tcb<K>, work: impl FnOnce(Held<'_>)) {
    let shared = task.class.pinned().is_none();
    let giant = K::common().giant.get().filter(|_| K::Model::LOCKS && shared);
    if let Some(giant) = giant {
        // Nobody who has it waits for this processor.
        while !giant.0.try_acquire() {
            K::Port::relax();
        }
    }
    // SAFETY: the processor is locked, and the giant lock is taken if the task is a shared one.
    work(unsafe { Held::assume() });
    if let Some(giant) = giant {
        giant.0.release();
    }
}

/// The processor, which is locked, leaves a task.
#[inline(always)]
pub(crate) fn leave<K: Kernel>(task: &Tcb<K>) {
    if let Some(account) = task.account.get()
        && account.state.load(Relaxed) == COUNTING
    {
        locked(task, |held| leave_held(task, held));
    }
}

/// As [`leave`], for who has the locks of the task's domain already.
#[inline(always)]
pub(crate) fn leave_held<K: Kernel>(task: &Tcb<K>, held: Held<'_>) {
    if let Some(account) = task.account.get()
        && account.state.load(Relaxed) == COUNTING
    {
        account.stop_counting::<K>(held);
    }
}

/// The processor, which is locked, goes on with a task.
#[inline(always)]
pub(crate) fn go_on<K: Kernel>(here: &'static Processor<K>, task: &Tcb<K>) {
    if let Some(account) = task.account.get()
        && account.state.load(Relaxed) == STARTED
    {
        locked(task, |held| catch_up(here, task, held));
    }
}

/// Counts from now on, if another processor has given time to the task that runs here.
#[inline(always)]
pub(crate) fn catch_up<K: Kernel>(here: &'static Processor<K>, task: &Tcb<K>, held: Held<'_>) {
    if let Some(account) = task.account.get()
        && account.state.load(Relaxed) == STARTED
    {
        account.count::<K>(here, held);
    }
}

/// The task has ended.
#[inline(always)]
pub(crate) fn end<K: Kernel>(task: &Tcb<K>) {
    if let Some(account) = task.account.get() {
        account.state.store(STOPPED, Relaxed);
    }
}

/// Whether only the task that runs here is counted here.
pub(crate) fn is_sound<K: Kernel>(here: &'static Processor<K>, task: &Tcb<K>, held: Held<'_>) -> bool {
    match task.account.get().map_or(STOPPED, |account| account.state.load(Relaxed)) {
        STOPPED => true,
        state => {
            let elsewhere = task.home.get().is_some_and(|home| !core::ptr::eq(home.processor.get(), here));
            let runs = core::ptr::eq(here.running.get(), task);
            state == STARTED || task.state.get(held) != State::Dormant && (elsewhere || runs)
        }
    }
}

/// Whether the time of the task that runs here is counted, or is to be. Without its locks: another processor may be about
/// to say so.
#[inline(always)]
pub(crate) fn is_wanted<K: Kernel>(here: &'static Processor<K>) -> bool {
    here.running.get().account.get().is_some_and(|account| account.state.load(Relaxed) != STOPPED)
}

/// In how many microseconds the task that runs here has used up its time, if that is counted.
#[inline(always)]
pub(crate) fn ahead<K: Kernel>(here: &'static Processor<K>, held: Held<'_>) -> Option<u32> {
    let account = here.running.get().account.get()?;
    (account.state.load(Relaxed) == COUNTING).then(|| account.left::<K>(held))
}

/// Calls the handler if the task that runs here has used up its time. In handler context, the processor unlocked. True if
/// it had.
#[inline(always)]
pub(crate) fn due<K: Kernel>(here: &'static Processor<K>) -> bool {
    K::Overrun::IS && look(here)
}

fn look<K: Kernel>(here: &'static Processor<K>) -> bool {
    // A handler stays on its processor, whose running task does not change meanwhile.
    let tcb = here.running.get();
    let domain = Placed::place(tcb.class.pinned());
    // SAFETY: it is used for this processor only.
    let cx = unsafe { InHandler::<Placed>::assume() };
    let (Some(account), Some(handler)) = (tcb.account.get(), K::overrun()) else { return false };
    let Ok(service) = Service::<K, Placed, _>::enter(domain, cx) else { return false };
    if ahead(here, service.held()) != Some(0) {
        return service.leave(false);
    }
    account.left.set(0, service.held());
    account.state.store(STOPPED, Relaxed);
    service.leave(());
    handler.call(Task::of(tcb, domain));
    crate::notify::left::<K>();
    true
}

impl<K: Kernel, D: Domain> Task<K, D> {
    /// sta_ovr: the overrun handler is called when the task has used up that many microseconds of processor time from now
    /// on, instead of what was asked before; if the task is dormant, from when it begins. E_PAR if it is none or above
    /// [`LONGEST`]; E_OBJ if the kernel has no overrun handler.
    pub fn sta_ovr<C: Context>(self, micros: u32, cx: C) -> Result<(), Error> {
        let service = Service::<K, D, C>::enter(self.domain, cx)?;
        let held = service.held();
        if micros == 0 || micros > LONGEST {
            return service.leave(Err(Error::PAR));
        }
        let Some(account) = self.tcb.account.get() else { return service.leave(Err(Error::OBJ)) };
        account.left.set(micros, held);
        account.since.set(K::Port::now(), held);
        let home = service.home(self.tcb);
        if core::ptr::eq(home.running.get(), self.tcb) && core::ptr::eq(home, service.here) {
            account.count::<K>(home, held);
        } else {
            if account.state.load(Relaxed) == STOPPED {
                account.state.store(STARTED, Relaxed);
            }
            // If the task runs there, that processor counts from when it hears of this.
            service.notify(home);
        }
        service.leave(Ok(()))
    }

    /// stp_ovr: the overrun handler is not called any more for the task. E_OBJ as for sta_ovr.
    pub fn stp_ovr<C: Context>(self, cx: C) -> Result<(), Error> {
        let service = Service::<K, D, C>::enter(self.domain, cx)?;
        match self.tcb.account.get() {
            Some(account) => {
                account.state.store(STOPPED, Relaxed);
                service.leave(Ok(()))
            }
            None => service.leave(Err(Error::OBJ)),
        }
    }

    /// ref_ovr: how many microseconds of processor time are left to the task; none if that is not counted. E_CTX in a
    /// handler, E_OBJ as for sta_ovr.
    pub fn ref_ovr<C: Context>(self, cx: C) -> Result<Option<u32>, Error> {
        let service = self.enter_in_task(cx)?;
        let held = service.held();
        let left = match self.tcb.account.get() {
            Some(account) => Ok((account.state.load(Relaxed) != STOPPED).then(|| account.left::<K>(held))),
            None => Err(Error::OBJ),
        };
        service.leave(left)
    }
}
