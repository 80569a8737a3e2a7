//! OTP applications in Rust: real processes of the Erlang VM, with its supervision, distribution and code replacement.

#![deny(unsafe_code)]

// The macros name this crate as its users do.
extern crate self as otp;

mod address;
#[expect(unsafe_code, reason = "what `cargo otp` asks a library crosses a boundary of C")]
pub mod ask;
mod call;
pub mod cluster;
pub mod data;
pub mod erlang;
pub mod event;
pub mod generate;
pub mod host;
mod links;
#[cfg(feature = "tracing")]
pub mod log;
mod mailbox;
pub mod net;
mod next;
mod observe;
mod pace;
pub mod pool;
#[expect(unsafe_code, reason = "who may use the state of a process is argued there")]
pub mod process;
mod realtime;
mod reason;
pub mod server;
mod show;
pub mod start;
pub mod statem;
pub mod supervisor;
mod task;
pub mod telemetry;
pub mod testing;
pub mod time;
#[expect(unsafe_code, reason = "the VM's interface is C")]
pub mod vm;
mod wait;
mod waiting;
mod work;

pub use address::Pid;
pub use call::Call;
pub use cluster::Group;
pub use data::{Any, Bytes, Data, Malformed, Name};
pub use event::{EventManager, GenEvent, Handled, events};
pub use host::{Init, NoStart};
pub use kizami_otp_macros::{Data, gen_event, gen_server, gen_statem, supervisor, test};
pub use links::{Down, Exit, Monitor, exit, kill, link, register, unlink};
pub use mailbox::{Address, Mailbox};
pub use next::{Caller, IntoReply, Next, Reply};
pub use pool::{Pool, pool};
pub use reason::{CallError, Reason};
pub use server::{GenServer, Server};
pub use start::{Start, StartError, Startable};
pub use statem::{Entered, First, GenStatem, Step};
pub use supervisor::{Args, Child, Tree, one_for_all, one_for_one, rest_for_one, supervisor, worker};
pub use task::Task;
pub use work::{Dirty, Slice, consume, on_dirty_cpu, on_dirty_io, yield_now};

/// What the macros use; not for others.
#[doc(hidden)]
pub mod private {
    pub use inventory;

    pub use crate::host::answer;
    pub use crate::observe::begin;
    pub use crate::show::{ByData, ByDebug, ByName, Shown};
}

/// Makes a crate an application that an Erlang VM loads: `otp::application!(root);`, where `root` is the function of the
/// supervisor of all. It takes nothing, or [`Args`]. Stands once in a crate.
///
/// What the application tells by `tracing` and `log` goes to Erlang's logger (`otp::log`). Where it is to go elsewhere, a
/// function says so: `otp::application!(root, subscriber = mine);`, where `mine()` makes a subscriber of `tracing`.
#[macro_export]
macro_rules! application {
    ($root:ident) => {
        $crate::application!(@ $root, $crate::private::begin());
    };
    ($root:ident, subscriber = $make:path) => {
        $crate::application!(@ $root, $crate::log::begin_with($make));
    };
    (@ $root:ident, $begin:expr) => {
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
            let entry = $crate::vm::entry();
            $begin;
            entry
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
