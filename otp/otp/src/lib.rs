//! OTP applications in Rust: real processes of the Erlang VM, with its supervision, distribution and code replacement.

// The macros name this crate as its users do.
extern crate self as otp;

pub mod ask;
pub mod data;
pub mod generate;
pub mod process;
pub mod server;
pub mod supervisor;
pub mod vm;

pub use data::{Any, Bytes, Data, Malformed, Name};
pub use kizami_otp_macros::{Data, gen_server, supervisor};
pub use server::{GenServer, Init, Server};
pub use supervisor::{Args, Child, Tree, one_for_all, one_for_one, rest_for_one, supervisor, worker};

/// What the macros use; not for others.
#[doc(hidden)]
pub mod private {
    pub use inventory;
}

/// Makes a crate an application that an Erlang VM loads: `otp::application!(root);`, where `root` is the function of the
/// supervisor of all. It takes nothing, or [`Args`]. Stands once in a crate.
#[macro_export]
macro_rules! application {
    ($root:ident) => {
        $crate::private::inventory::submit! {
            $crate::generate::Application {
                name: env!("CARGO_PKG_NAME"),
                version: env!("CARGO_PKG_VERSION"),
                about: env!("CARGO_PKG_DESCRIPTION"),
                root: <$root as $crate::supervisor::Supervisor>::NAME,
                takes_arguments: $crate::supervisor::takes_arguments::<$root>(),
            }
        }

        /// What the VM looks up when it loads the library.
        // SAFETY: the name is the one that the VM expects, and a library has one.
        #[unsafe(no_mangle)]
        pub extern "C" fn nif_init() -> *const $crate::vm::abi::Entry {
            $crate::vm::entry()
        }

        /// What `cargo otp` looks up to ask for the Erlang half.
        ///
        /// # Safety
        /// See `otp::ask::answer`.
        // SAFETY: no other library that cargo otp loads has the name.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn otp_sources(request: *mut $crate::ask::Request) {
            // SAFETY: whoever calls it does so by the rules of `ask`.
            unsafe { $crate::ask::answer(request) }
        }
    };
}
