//! Interrupt services: which line, which handler, which priority, on which processor.

use crate::base::handler::Handler;
use crate::base::port::Port;

/// An interrupt line and the service that is called for it: CFG_INT and CRE_ISR.
#[derive(Clone, Copy)]
pub struct Interrupt {
    pub(crate) line: u32,
    pub(crate) priority: i32,
    pub(crate) handler: Handler,
    pub(crate) enabled: bool,
    pub(crate) edge: bool,
    pub(crate) processor: usize,
}

impl Interrupt {
    /// Describes an interrupt service for that line, of the lowest priority.
    pub const fn create(line: u32, handler: Handler) -> Self {
        Interrupt { line, priority: -1, handler, enabled: false, edge: false, processor: 0 }
    }

    /// Its priority: from -1, the lowest, down to the port's highest ([`Port::LOWEST_INTERRUPT_MASK`]).
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

    /// An edge raises it and not a level: TA_EDGE. Where the interrupt controller has to be told.
    pub const fn edge(mut self) -> Self {
        self.edge = true;
        self
    }

    /// The processor that serves it, counted from 0.
    pub const fn on(mut self, processor: usize) -> Self {
        self.processor = processor;
        self
    }

    /// These, if their handlers were written for the processors that serve them, of which there are so many, and the
    /// port has their priorities.
    #[doc(hidden)]
    pub const fn checked<P: Port>(all: &'static [Self], processors: usize) -> &'static [Self] {
        let mut number = 0;
        while number < all.len() {
            let Interrupt { processor, handler, priority, .. } = &all[number];
            assert!(*processor < processors, "an interrupt is served by a processor that there is not");
            assert!(handler.fits(*processor), "an interrupt's handler was written for another processor");
            assert!(*priority >= P::LOWEST_INTERRUPT_MASK, "the port has no interrupts of that priority");
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

    /// Whether an edge raises it.
    pub fn is_edge(&self) -> bool {
        self.edge
    }

    /// Which processor serves it.
    pub fn processor(&self) -> usize {
        self.processor
    }
}
