//! Model checking of the kernel: small programs on two processors, whose steps are tried in every order.
//!
//! The kernel is the real one; only the port is made up. Each stack is a thread of shuttle, of which one runs at a time,
//! and a processor is whose turn it is among those stacks: a switch gives the turn to another, a migration takes a stack
//! along to the other processor. Wherever a processor does something that another one can see (it tries for a lock, gives
//! it back, interrupts another, unlocks itself, switches, looks at the clock) shuttle is asked which processor goes on.
//! Time is a third that can go on: it passes from one deadline to the next, at any such moment.
//!
//! - [`machine`]: processors, and who can go on
//! - [`interrupts`], [`stack`] and [`journal`]: what the name says
//! - [`step`]: what can go on, and what it touches when it does
//! - [`port`]: what the kernel asks of a machine
//! - [`schedule`]: which of those that can go on does, in the end by one of shuttle's schedulers
//! - [`world`]: the kernel's objects, made anew for each run
//! - [`program`]: what a test says, how it is run, and what is looked at after every run
//!
//! What is looked at: after every release of the giant lock the oracle, [`rtos::audit`]; that no stack is used by two
//! processors and no lock given back by who does not hold it; and when nothing goes on any more, that the processors are
//! unlocked, no lock is taken, each processor runs the first task of the highest priority that can run there, and the
//! oracle again. What the services answered makes the outcome of a run, and a test says which outcomes there are.
//!
//! [`program::Program::in_every_order`] leaves out orders that differ from one that is tried only in steps that touch
//! nothing in common; `tests/programs/search.rs` sees to it that this makes no difference. What is too large for that is
//! tried with a few preemptions, and with the environment variable [`program::EVERY_ORDER`] set in every order too.
//!
//! What is not covered: two processors meet only where the port is called, so the few loads that the kernel makes without
//! the giant lock happen at once with what follows them; and memory is sequentially consistent. `tests/lock.rs` looks at
//! the orderings of the lock.

pub mod interrupts;
pub mod journal;
pub mod machine;
pub mod port;
pub mod program;
pub mod schedule;
pub mod stack;
pub mod step;
pub mod world;
