//! OTP applications in Rust: real processes of the Erlang VM, with its supervision, distribution and code replacement.

#![deny(unsafe_code)]

#[cfg(not(panic = "unwind"))]
compile_error!(
    "kizami-otp needs panic = \"unwind\": with panic = \"abort\" the first panic of any process would end the whole Erlang VM. Take \
     `panic = \"abort\"` out of the profile in the Cargo.toml of the workspace, or build the application with a profile of its own: \
     `[profile.vm]`, `inherits = \"release\"`, `panic = \"unwind\"`, and `cargo otp build --profile vm`"
);

// The macros name this crate as its users do.
extern crate self as otp;

mod behaviours;
pub mod cluster;
pub mod data;
mod library;
pub mod net;
#[expect(unsafe_code, reason = "the VM's interface is C")]
mod nif;
mod observing;
pub mod pool;
#[expect(unsafe_code, reason = "who may use the state of a process is argued there")]
pub mod process;
mod realtime;
pub mod testing;
pub mod upgrade;
pub mod vm;
mod waiting;

pub use behaviours::{event, host, server, start, statem, supervisor};
pub use library::generate;
pub use library::sources as ask;
#[cfg(feature = "tracing")]
pub use observing::log;
pub use observing::telemetry;
pub use waiting::{erlang, time};

pub use behaviours::child::Child;
pub use behaviours::event::{EventManager, GenEvent, Handled, events};
pub use behaviours::host::{Init, NoStart};
pub use behaviours::returns::{Caller, IntoReply, Next, Reply};
pub use behaviours::server::{GenServer, Server};
pub use behaviours::start::{Start, StartError, Startable};
pub use behaviours::statem::{Entered, First, GenStatem, Step};
pub use behaviours::supervisor::{Args, Tree, one_for_all, one_for_one, rest_for_one, supervisor, worker};
pub use cluster::Group;
pub use data::{Any, Bytes, Carry, Data, Malformed, Name};
pub use kizami_otp_macros::{Carry, Data, gen_event, gen_server, gen_statem, supervisor, test};
pub use pool::{Pool, PoolStart, pool};
pub use process::address::Pid;
pub use process::links::{Down, Exit, Monitor, exit, kill, link, register, unlink};
pub use process::reason::{CallError, Reason};
pub use waiting::call::Call;
pub use waiting::mailbox::{Address, Mailbox};
pub use waiting::scheduling::{Dirty, Slice, consume, on_dirty_cpu, on_dirty_io, yield_now};
pub use waiting::task::Task;

/// What the macros use; not for others.
#[doc(hidden)]
pub mod private {
    pub use inventory;

    pub use crate::behaviours::carried_state::{ByCarry, ByItsData, ByNothing, Carried};
    pub use crate::behaviours::host::answer;
    pub use crate::behaviours::shown_state::{ByData, ByDebug, ByName, Shown};
    pub use crate::observing::begin;
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
                root: <$root as $crate::supervisor::Supervisor>::module,
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

/// Makes a static whose value goes from build to build: `otp::kept! { pub static NAME: Type = value; }`. The type is [`Data`] and `Send`; the
/// value is made when it is first used, unless the build before has one. See [`upgrade`](crate::upgrade).
#[macro_export]
macro_rules! kept {
    ($($(#[$about:meta])* $visibility:vis static $name:ident: $type:ty = $init:expr;)+) => {$(
        $(#[$about])*
        $visibility static $name: $crate::upgrade::Kept<$type> =
            $crate::upgrade::Kept::new(concat!(module_path!(), "::", stringify!($name)), || $init);

        $crate::private::inventory::submit! { $crate::upgrade::Entry::new(&$name) }
    )+};
}
