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

mod alarm;
mod audit;
mod cell;
mod config;
mod context;
mod cyclic;
mod data_queue;
pub mod entry;
mod error;
mod event_flag;
mod exception;
mod heap;
mod interrupt;
mod kernel;
mod memory_pool;
mod message_buffer;
mod model;
mod mutex;
mod notify;
mod object;
mod overrun;
pub mod port;
mod priority_data_queue;
mod processor;
mod ready;
mod ring;
mod semaphore;
mod service;
mod spin_lock;
mod system;
mod task;
#[cfg(test)]
mod testing;
mod time;

pub use alarm::{Alarm, AlarmBlock};
pub use audit::{Finding, audit, heard};
pub use context::{Anywhere, Context, Domain, InHandler, InTask, Kind, Known, Pinned, Placed, Shared};
pub use cyclic::{Cyclic, CyclicBlock};
pub use data_queue::{DataQueue, DataQueueBlock, DataQueueSetup};
pub use error::{Error, code};
pub use event_flag::{EventFlag, EventFlagBlock, Mode};
pub use exception::{Exception, Raised};
pub use heap::LONGEST;
pub use interrupt::{Interrupt, Line};
pub use kernel::{Common, Kernel, Numbered};
pub use memory_pool::{Block, MemoryPool, MemoryPoolBlock, MemoryPoolSetup};
pub use message_buffer::{MessageBuffer, MessageBufferBlock, MessageBufferSetup};
pub use model::{Model, Multi, Presence, Uni, With, Without};
pub use mutex::{Mutex, MutexBlock};
pub use notify::Handler;
pub use overrun::OverrunHandler;
pub use port::Port;
pub use priority_data_queue::{PriorityDataQueue, PriorityDataQueueBlock, PriorityDataQueueSetup};
pub use processor::Processor;
pub use semaphore::{Semaphore, SemaphoreBlock};
pub use spin_lock::{SpinLock, SpinLockBlock};
pub use system::System;
pub use task::manage::TaskState;
pub use task::refer::{TaskReference, WaitsFor};
pub use task::sync::Current;
pub use task::{Class, Stack, Task, TaskSetup, Tcb};
pub use time::{Time, Timeout};

#[doc(hidden)]
pub mod storage {
    //! What `kernel!` makes memory of.
    pub use crate::data_queue::Word;
    pub use crate::heap::Slot;
    pub use crate::memory_pool::{Entry as PoolEntry, Memory as PoolMemory};
    pub use crate::message_buffer::Memory as MessageMemory;
    pub use crate::priority_data_queue::Entry as PriorityWord;
}
