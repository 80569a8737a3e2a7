//! OTP applications in Rust: real processes of the Erlang VM, with its supervision, distribution and code replacement.

// The macros name this crate as its users do.
extern crate self as otp;

pub mod data;
pub mod generate;
pub mod process;
pub mod server;
pub mod vm;

pub use data::{Data, Malformed};
pub use kizami_otp_macros::gen_server;
pub use server::{GenServer, Init, Server};

/// What the macros use; not for others.
#[doc(hidden)]
pub mod private {
    pub use inventory;
}

/// Makes the library one that an Erlang VM loads. Stands once in a crate.
#[macro_export]
macro_rules! application {
    () => {
        /// What the VM looks up when it loads the library.
        // SAFETY: the name is the one that the VM expects, and a library has one.
        #[unsafe(no_mangle)]
        pub extern "C" fn nif_init() -> *const $crate::vm::abi::Entry {
            $crate::vm::entry()
        }
    };
}
