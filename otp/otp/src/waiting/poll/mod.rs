//! The VM's poll set: file descriptors and kernel timers that send a message when they are ready, without a thread that waits.

pub(crate) mod descriptor;
pub(crate) mod overdue;
pub(crate) mod timer_fd;
