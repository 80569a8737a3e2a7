//! A real-time kernel of the ITRON family, generation 3: one source for one processor and for many.
//!
//! The kernel is generic over a [`Kernel`], a type that the [`kernel!`] macro makes: it names the port, the model (one
//! processor, [`Uni`], or several, [`Multi`]) and every object. What only several processors need is there only under
//! `Multi`; nothing of it is left under `Uni`.
//!
//! A service is a method of the object's handle and is named with the verb of its ITRON name: act_tsk is
//! [`Task::act`]. It is given the context that it is called from, which the calling task or handler has been given.
#![no_std]
// What cells begin with; each is used once, as the value of a static.
#![allow(clippy::declare_interior_mutable_const)]

#[cfg(test)]
extern crate std;

mod audit;
mod base;
mod config;
mod kernel;
mod objects;
mod service;
mod state;
#[doc(hidden)]
pub mod storage;
mod system;
#[cfg(test)]
mod testing;

pub use audit::{Finding, audit, heard};
pub use base::class::Class;
pub use base::context::{Anywhere, Context, Domain, InHandler, InTask, Kind, Known, Needs, Pinned, Placed, Shared};
pub use base::error::{Error, code};
pub use base::handler::Handler;
pub use base::heap::LONGEST;
pub use base::model::{Model, Multi, Presence, Uni, With, Without};
pub use base::port;
pub use base::port::Port;
pub use base::stack::Stack;
pub use base::timeout::Timeout;
pub use kernel::Kernel;
pub use objects::alarm::{Alarm, AlarmBlock};
pub use objects::cyclic::{Cyclic, CyclicBlock};
pub use objects::data_queue::{DataQueue, DataQueueBlock, DataQueueSetup};
pub use objects::event_flag::{EventFlag, EventFlagBlock};
pub use objects::exception::{Exception, Raised};
pub use objects::interrupt::Interrupt;
pub use objects::memory_pool::{Block, MemoryPool, MemoryPoolBlock, MemoryPoolSetup};
pub use objects::message_buffer::{MessageBuffer, MessageBufferBlock, MessageBufferSetup};
pub use objects::mutex::{Mutex, MutexBlock};
pub use objects::overrun::OverrunHandler;
pub use objects::priority_data_queue::{PriorityDataQueue, PriorityDataQueueBlock, PriorityDataQueueSetup};
pub use objects::semaphore::{Semaphore, SemaphoreBlock};
pub use objects::spin_lock::SpinLock;
pub use objects::task::Task;
pub use objects::task::activate::TaskState;
pub use objects::task::current::Current;
pub use objects::task::setup::TaskSetup;
pub use service::refusal::refused;
pub use state::config::Config;
pub use state::processor::Processor;
pub use state::spin::SpinLockBlock;
pub use state::storage::{Common, Numbered, Storage};
pub use state::tcb::Tcb;
pub use state::waiting::Mode;
pub use system::entry;
pub use system::line::Line;
pub use system::refer::{TaskReference, WaitsFor};
pub use system::services::System;
pub use system::time::Time;
