//! Memory for stacks.

use core::cell::UnsafeCell;

/// Memory for the stack of a task.
#[repr(C, align(16))]
pub struct Stack<const BYTES: usize>(pub(crate) UnsafeCell<[u8; BYTES]>);

// SAFETY: only the task whose stack it is uses it.
unsafe impl<const BYTES: usize> Sync for Stack<BYTES> {}

impl<const BYTES: usize> Stack<BYTES> {
    /// Memory for a stack.
    pub const NEW: Self = Stack(UnsafeCell::new([0; BYTES]));
}
