//! The trait [`Config`]: the types that are chosen when a kernel is built.
//!
//! What a kernel keeps is generic over a `Config`. A task refers to its processor, and a processor to its tasks. So
//! that one file need not know the other, the type of the processor is a member of `Config`.

use crate::base::model::{Model, Presence};
use crate::base::port::Port;

/// The types that a kernel is built of.
pub trait Config: Sized + 'static {
    /// The processor and board.
    type Port: Port;
    /// One processor or several.
    type Model: Model;
    /// Whether there is an overrun handler.
    type Overrun: Presence;
    /// Whether there are restricted tasks: TA_RSTR.
    type Restricted: Presence;
    /// Whether tasks have sub-priorities: ENA_SPR, chg_spr.
    type SubPriorities: Presence;
    /// The priorities within which ready tasks are in the order of their sub-priorities, as
    /// [`sub_priorities`](crate::storage::sub_priorities) makes it.
    const BY_SUB_PRIORITY: u32;
    /// [`Processor`](crate::Processor) of this kernel.
    type Processor: 'static;
}

/// What only several processors need.
pub(crate) type IfMulti<K, T> = <<K as Config>::Model as Model>::Only<T>;

/// The stacks of a kernel.
pub(crate) type StacksOf<K> = <<K as Config>::Port as Port>::Stacks;
