//! What cyclic and alarm notifications have in common: a handler, and the processor that calls it.

use core::ffi::c_void;

use crate::cell::{Held, Published};
use crate::context::{Context, Domain, InHandler, Known, Placed};
use crate::error::Error;
use crate::heap::{Deadline, is_due};
use crate::kernel::Kernel;
use crate::model::{Initial, Model, Only};
use crate::port::Port;
use crate::processor::Processor;
use crate::service::Service;
use crate::task::Class;

/// A function that runs in handler context, and what it is given.
#[derive(Clone, Copy)]
pub struct Handler {
    /// Of Rust, so that the model checker can unwind through it at the end of a run.
    function: unsafe fn(&Handler),
    /// The C function that this one calls, and what that is given.
    foreign: Option<(unsafe extern "C" fn(*mut c_void), *mut c_void)>,
    /// What it was written for.
    domain: Placed,
}

// SAFETY: the argument is a value for the function; the kernel does not use it.
unsafe impl Send for Handler {}
// SAFETY: as above.
unsafe impl Sync for Handler {}

impl Handler {
    /// A function written in Rust, which must not capture anything.
    pub const fn new<D: Domain, F: Fn(InHandler<D>) + Copy + 'static>(body: F) -> Self {
        const { assert!(size_of::<F>() == 0, "a handler captures nothing") };
        let _ = body;
        Handler { function: call::<D, F>, foreign: None, domain: Placed::of::<D>() }
    }

    /// A C function.
    ///
    /// # Safety
    /// The function can be called with that argument, at any time, on any processor that the object's class allows.
    pub const unsafe fn foreign(function: unsafe extern "C" fn(*mut c_void), argument: *mut c_void) -> Self {
        Handler { function: call_foreign, foreign: Some((function, argument)), domain: Placed(None) }
    }

    /// Whether that processor may call it.
    pub(crate) const fn fits(&self, processor: usize) -> bool {
        match self.domain.0 {
            None => true,
            Some(place) => place as usize == processor,
        }
    }

    /// Panics, at compile time, if it was written for another domain than that of the object that calls it.
    pub(crate) const fn check<D: Domain>(&self) {
        let suits = match (self.domain.0, Placed::of::<D>().0) {
            (None, _) => true,
            (Some(written), Some(called)) => written == called,
            (Some(_), None) => false,
        };
        assert!(suits, "the handler was written for another domain than that of the object that calls it");
    }

    #[inline(always)]
    pub(crate) fn call<K: Kernel>(self) {
        // SAFETY: the function was put there for such a handler.
        unsafe { (self.function)(&self) }
        left::<K>();
    }
}

unsafe fn call_foreign(handler: &Handler) {
    if let Some((function, argument)) = handler.foreign {
        // SAFETY: whoever made the handler says that the function can be called with the argument.
        unsafe { function(argument) }
    }
}

unsafe fn call<D: Domain, F: Fn(InHandler<D>) + Copy + 'static>(_: &Handler) {
    // SAFETY: `Handler::new` was given a value of this type, which has no size and is `Copy`, so this is one as good.
    let body: F = unsafe { core::mem::zeroed() };
    // SAFETY: handlers run only where their domain says.
    body(unsafe { InHandler::<D>::assume() })
}

/// The processor that calls a notification's handler, if there is a choice.
pub struct TimerHome<K: Kernel>(Published<Processor<K>>);

impl<K: Kernel> Initial for TimerHome<K> {
    const INITIAL: Self = TimerHome(Published::new());
}

type Choice<K> = <<K as Kernel>::Model as Model>::Only<TimerHome<K>>;

impl<K: Kernel> TimerHome<K> {
    pub(crate) fn start(home: &Choice<K>, class: Class, held: Held<'_>) {
        if let Some(home) = home.get() {
            home.0.set(Processor::<K>::of(class.initial()), held);
        }
    }

    /// The processor that calls it now.
    pub(crate) fn get<D: Domain, C: Context>(home: &Choice<K>, service: &Service<K, D, C>) -> &'static Processor<K> {
        home.get().map_or(service.here, |home| home.0.get())
    }

    /// The processor that calls it from now on, if one is named.
    pub(crate) fn choose<D: Domain, C: Context>(
        home: &Choice<K>,
        processor: Option<usize>,
        service: &Service<K, D, C>,
    ) -> &'static Processor<K> {
        if let (Some(home), Some(number)) = (home.get(), processor) {
            home.0.set(Processor::<K>::of(number), service.held());
        }
        Self::get(home, service)
    }
}

/// Whether the class allows that processor, counted from 0.
pub(crate) fn check_processor<K: Kernel>(class: Class, processor: Option<usize>) -> Result<(), Error> {
    match processor {
        Some(number) if number >= K::Model::PROCESSORS => Err(Error::ID),
        Some(number) if !class.allows(number) => Err(Error::PAR),
        _ => Ok(()),
    }
}

/// A handler was left: neither the processor stays locked, nor what it locked by spinning.
#[inline(always)]
pub(crate) fn left<K: Kernel>() {
    let mask = K::Port::lock();
    if K::Port::was_locked(mask) {
        let here = crate::service::here::<K>(Known::Later);
        crate::spin_lock::let_go(here);
        // SAFETY: the handler was called unlocked, and nothing follows.
        unsafe { here.unlock() };
    } else {
        // SAFETY: as above.
        unsafe { K::Port::unlock(mask) };
    }
}

/// How many microseconds are left, of which the one that has begun is not one: never more than was asked.
pub(crate) fn ahead<K: Kernel>(deadline: &Deadline, held: Held<'_>) -> Option<u32> {
    let now = K::common().clock.now::<K>().wrapping_add(1);
    let at = deadline.at.get(held);
    deadline.is_set(held).then(|| if is_due(at, now) { 0 } else { at.wrapping_sub(now) })
}
