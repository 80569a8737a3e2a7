//! Interrupts: which lines are used, and what is called.

use crate::context::Context;
use crate::error::Error;
use crate::kernel::Kernel;
use crate::notify::Handler;
use crate::port::{Lines, Port};

/// An interrupt line and the service that is called for it: CFG_INT and CRE_ISR.
#[derive(Clone, Copy)]
pub struct Interrupt {
    pub(crate) line: u32,
    pub(crate) priority: i32,
    pub(crate) handler: Handler,
    pub(crate) enabled: bool,
    pub(crate) processor: usize,
}

impl Interrupt {
    /// Describes an interrupt service for that line, of the lowest priority.
    pub const fn create(line: u32, handler: Handler) -> Self {
        Interrupt { line, priority: -1, handler, enabled: false, processor: 0 }
    }

    /// Its priority: from -1, the lowest, downwards.
    pub const fn priority(mut self, priority: i32) -> Self {
        assert!(priority < 0, "the priority of an interrupt is below zero");
        self.priority = priority;
        self
    }

    /// The line is let through from the kernel's start: TA_ENAINT.
    pub const fn enabled(mut self) -> Self {
        self.enabled = true;
        self
    }

    /// The processor that serves it, counted from 0.
    pub const fn on(mut self, processor: usize) -> Self {
        self.processor = processor;
        self
    }

    /// These, if their handlers were written for the processors that serve them, of which there are so many.
    #[doc(hidden)]
    pub const fn checked(all: &'static [Self], processors: usize) -> &'static [Self] {
        let mut number = 0;
        while number < all.len() {
            let Interrupt { processor, handler, .. } = &all[number];
            assert!(*processor < processors, "an interrupt is served by a processor that there is not");
            assert!(handler.fits(*processor), "an interrupt's handler was written for another processor");
            number += 1;
        }
        all
    }

    /// Which line it is.
    pub fn line(&self) -> u32 {
        self.line
    }

    /// Which priority it has.
    pub fn level(&self) -> i32 {
        self.priority
    }

    /// Whether it is let through from the start.
    pub fn starts_enabled(&self) -> bool {
        self.enabled
    }

    /// Which processor serves it.
    pub fn processor(&self) -> usize {
        self.processor
    }
}

/// The interrupt services of a kernel for its lines.
pub struct Line<K: Kernel>(u32, core::marker::PhantomData<K>);

impl<K: Kernel> Line<K> {
    /// The line of that number. E_PAR if there is none; E_OBJ if the kernel was not told of it.
    pub fn new(line: u32) -> Result<Self, Error> {
        if !<K::Port as Port>::Lines::exists(line) {
            return Err(Error::PAR);
        }
        let known = K::interrupts().iter().any(|interrupt| interrupt.line == line);
        if known { Ok(Line(line, core::marker::PhantomData)) } else { Err(Error::OBJ) }
    }

    /// dis_int: holds the line back. As all of these, from any context, with a locked processor too.
    pub fn disable<C: Context>(&self, _: C) -> Result<(), Error> {
        self.locked(|| <K::Port as Port>::Lines::disable(self.0));
        Ok(())
    }

    /// ena_int: lets the line through.
    pub fn enable<C: Context>(&self, _: C) -> Result<(), Error> {
        self.locked(|| <K::Port as Port>::Lines::enable(self.0));
        Ok(())
    }

    /// ras_int: makes it pending. E_OBJ if software cannot.
    pub fn raise<C: Context>(&self, _: C) -> Result<(), Error> {
        if self.locked(|| <K::Port as Port>::Lines::raise(self.0)) { Ok(()) } else { Err(Error::OBJ) }
    }

    /// clr_int: makes it not pending. E_OBJ if software cannot.
    pub fn clear<C: Context>(&self, _: C) -> Result<(), Error> {
        if self.locked(|| <K::Port as Port>::Lines::clear(self.0)) { Ok(()) } else { Err(Error::OBJ) }
    }

    /// prb_int: whether it is pending.
    pub fn pending<C: Context>(&self, _: C) -> Result<bool, Error> {
        Ok(<K::Port as Port>::Lines::pending(self.0))
    }

    fn locked<T>(&self, work: impl FnOnce() -> T) -> T {
        let mask = K::Port::lock();
        let result = work();
        // SAFETY: nothing follows.
        unsafe { K::Port::unlock(mask) };
        result
    }
}
