//! Model checking of the kernel: small programs on two processors, whose steps are tried in every order.
//!
//! The kernel is the real one; only the port is made up. Each stack is a thread of shuttle, and one thread runs at a
//! time. A processor is the turn that passes among those threads: a switch gives the turn to another stack, and a
//! migration takes a stack along to the other processor. Before every action of a processor that the other one can see
//! (it tries for a lock, gives a lock back, interrupts the other, unlocks itself, switches, looks at the clock) shuttle
//! chooses which processor goes on. Time is a third choice: it passes from one deadline to the next, at any such
//! moment.
//!
//! - [`processor`] and [`lock`]: a processor, and a lock between the two
//! - [`step`]: the steps of threads, and what each touches
//! - [`machine`]: whose turn it is on each processor, and which threads can go on
//! - [`threads`], [`interrupts`], [`stack`] and [`journal`]: what the name says
//! - [`schedule`]: the choice of the thread that goes on, in the end by one of shuttle's schedulers
//! - [`port`]: the kernel's port to this machine
//! - [`bodies`] and [`outcome`]: the code of tasks in a run, and the results that they report
//! - [`world`]: the kernel's objects, made anew for each run
//! - [`program`]: the program of a test, how it is run, and the checks after every run
//!
//! Checked are: after every release of the giant lock, the oracle, [`rtos::audit`]; that no stack is used by two
//! processors, and no lock is given back by a processor that does not hold it; and when nothing goes on any more, that
//! the processors are unlocked, no lock is taken, each processor runs the first task of the highest priority that can
//! run there, and the oracle again. The results of the services make up the outcome of a run, and a test lists the
//! outcomes that there are.
//!
//! [`program::Program::in_every_order`] leaves out orders that differ from a tried one only in steps that touch nothing
//! in common; `tests/programs/search.rs` checks that this makes no difference. A program with too many orders is tried
//! with a few preemptions, and in every order too if the environment variable [`program::EVERY_ORDER`] is set.
//!
//! Not covered: two processors meet only where the port is called, so the few loads that the kernel makes without the
//! giant lock happen at once with the code that follows them; and memory is sequentially consistent. `tests/lock.rs`
//! checks the memory orderings of the lock.

pub mod bodies;
pub mod interrupts;
pub mod journal;
pub mod lock;
pub mod machine;
pub mod outcome;
pub mod port;
pub mod processor;
pub mod program;
pub mod schedule;
pub mod stack;
pub mod step;
pub mod threads;
pub mod world;
