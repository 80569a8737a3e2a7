//! Interrupt lines: enabling, disabling, raising, clearing, probing.

use crate::base::context::Context;
use crate::base::error::Error;
use crate::base::port::{Lines, Port};
use crate::kernel::Kernel;
use crate::service::dispatch::here;
use crate::state::processor::Processor;

/// The interrupt services of a kernel for its lines. From any context, with a locked processor too.
///
/// Where each processor has an interrupt controller of its own, all of them give E_PAR for another processor's line.
pub struct Line<K: Kernel> {
    line: u32,
    processor: usize,
    kernel: core::marker::PhantomData<K>,
}

impl<K: Kernel> Line<K> {
    /// The line of that number. E_PAR if there is none; E_OBJ if the kernel was not told of it.
    pub fn new(line: u32) -> Result<Self, Error> {
        if !<K::Port as Port>::Lines::exists(line) {
            return Err(Error::PAR);
        }
        let told = K::interrupts().iter().find(|interrupt| interrupt.line == line).ok_or(Error::OBJ)?;
        Ok(Line { line, processor: told.processor, kernel: core::marker::PhantomData })
    }

    /// dis_int: holds the line back.
    pub fn disable<C: Context>(&self, _: C) -> Result<(), Error> {
        self.locked::<C, _>(<K::Port as Port>::Lines::disable)
    }

    /// ena_int: lets the line through.
    pub fn enable<C: Context>(&self, _: C) -> Result<(), Error> {
        self.locked::<C, _>(<K::Port as Port>::Lines::enable)
    }

    /// ras_int: makes it pending. E_OBJ if software cannot.
    pub fn raise<C: Context>(&self, _: C) -> Result<(), Error> {
        if self.locked::<C, _>(<K::Port as Port>::Lines::raise)? { Ok(()) } else { Err(Error::OBJ) }
    }

    /// clr_int: makes it not pending. E_OBJ if software cannot.
    pub fn clear<C: Context>(&self, _: C) -> Result<(), Error> {
        if self.locked::<C, _>(<K::Port as Port>::Lines::clear)? { Ok(()) } else { Err(Error::OBJ) }
    }

    /// prb_int: whether it is pending.
    pub fn pending<C: Context>(&self, _: C) -> Result<bool, Error> {
        self.locked::<C, _>(<K::Port as Port>::Lines::pending)
    }

    fn locked<C: Context, T>(&self, work: impl FnOnce(u32) -> T) -> Result<T, Error> {
        let mask = K::Port::lock();
        let own = core::ptr::eq(here::<K>(C::PLACE), Processor::of(self.processor));
        let result = if own || !<K::Port as Port>::Lines::EACH { Ok(work(self.line)) } else { Err(Error::PAR) };
        // SAFETY: nothing follows.
        unsafe { K::Port::unlock(mask) };
        result
    }
}
