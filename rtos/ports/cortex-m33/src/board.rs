//! The trait [`Board`]: timers, a mailbox between processors, and the interrupt lines of both.

/// What a board has around its processors.
pub trait Board: 'static {
    /// How many processors it has.
    const PROCESSORS: usize;
    /// The lines that the port uses itself.
    const OWN_LINES: &'static [u32];
    /// See [`rtos::port::Port::processor`].
    fn processor() -> usize;
    /// See [`rtos::port::Port::start_processor`].
    fn start_processor(processor: usize);
    /// See [`rtos::port::Port::interrupt`].
    fn interrupt(processor: usize);
    /// See [`rtos::port::Port::now`].
    fn now() -> u32;
    /// See [`rtos::port::Port::alarm`].
    fn alarm(after: u32);
    /// Sets up timers and mailboxes, on each processor.
    fn initialise(processor: usize);
    /// Whether the line is that of this processor's timer.
    fn is_timer(line: u32) -> bool;
    /// The timer has rung: it is not to ring again.
    fn quiet_timer();
    /// Whether the line is that by which processors interrupt each other.
    fn is_mailbox(line: u32) -> bool;
    /// The mailbox has been seen.
    fn quiet_mailbox();
}
