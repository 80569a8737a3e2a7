//! The types of the statics that `kernel!` makes.

pub use crate::base::ready::sub_priorities;
pub use crate::objects::data_queue::Word;
pub use crate::objects::memory_pool::{Entry as PoolEntry, Memory as PoolMemory};
pub use crate::objects::message_buffer::Memory as MessageMemory;
pub use crate::objects::priority_data_queue::Entry as PriorityWord;
pub use crate::state::storage::Slot;
