//! Errors of the kernel, in words.

use core::fmt;

use linux_raw_sys::errno as numbers;

/// The number of an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Errno(pub u32);

pub type Result<T> = core::result::Result<T, Errno>;

/// Names the errors, and says what each means where programs of this crate meet it.
macro_rules! errors {
    ($($name:ident $words:literal,)*) => {
        impl Errno {
            $(pub const $name: Self = Self(numbers::$name);)*

            /// What it means; nothing for one that has no words here.
            fn words(self) -> Option<&'static str> {
                match self {
                    $(Self::$name => Some($words),)*
                    _ => None,
                }
            }
        }
    };
}

errors! {
    EPERM "not permitted",
    ENOENT "there is no such file",
    ESRCH "there is no such process or entry",
    EINTR "interrupted",
    EIO "the device failed",
    E2BIG "too many words",
    ENOEXEC "it is no program that this kernel runs (without an MMU: a position-independent ELF, linked statically)",
    EBADF "it is not open for that",
    ECHILD "there is no child",
    EAGAIN "nothing there yet, or no room for it now",
    ENOMEM "not enough memory in one piece",
    EACCES "not allowed",
    EFAULT "a bad address",
    EBUSY "it is in use",
    EEXIST "it is there already",
    ENODEV "there is no such device",
    ENOTDIR "it is no folder",
    EISDIR "it is a folder",
    EINVAL "the kernel does not take that",
    ENFILE "too many open files in all",
    EMFILE "too many open files",
    ENOTTY "it is no terminal",
    ENOSPC "no space left",
    EPIPE "nobody reads",
    ENOSYS "this kernel does not have that call",
    ENOTEMPTY "the folder is not empty",
    EMSGSIZE "it is too long for one message",
    EPROTONOSUPPORT "this kernel does not have that protocol",
    EOPNOTSUPP "this kernel does not support that",
    EAFNOSUPPORT "this kernel does not have that kind of address",
    EADDRINUSE "that address is in use",
    EADDRNOTAVAIL "this machine does not have that address",
    ENETDOWN "the network is down",
    ENETUNREACH "no route leads there",
    ENOBUFS "no buffer for it",
    ENOTCONN "it is not connected",
    ETIMEDOUT "nothing answered in time",
    ECONNREFUSED "nobody listens there",
    ECONNRESET "the other side ended it",
    EHOSTUNREACH "the machine there does not answer",
    EPROTO "the protocol was not kept",
}

impl fmt::Display for Errno {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.words() {
            Some(words) => f.write_str(words),
            None => write!(f, "error {} of the kernel", self.0),
        }
    }
}

impl core::error::Error for Errno {}
