//! Descriptions of behaviours and of the application, from which the Erlang half is generated.

use crate::nif::Atom;

/// What the generator knows of a behaviour.
#[derive(Clone, Debug)]
pub struct Description {
    pub kind: Kind,
    /// What the user's documentation says first.
    pub about: &'static str,
    /// The name of the type in Rust.
    pub rust: &'static str,
    /// The arguments of its start.
    pub start: Vec<Argument>,
    pub calls: Vec<Message>,
    pub casts: Vec<Message>,
    /// What its process is beside its callbacks, in Erlang's notation: see `otp_native.erl`.
    pub options: &'static str,
    /// A number that is another where its callbacks read otherwise, and says nothing of what they call.
    pub text: u64,
}

/// Which behaviour of OTP it is.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    Server,
    /// With the type of its events, in Erlang's notation.
    Event(fn() -> String),
    /// With that of its states.
    Statem(fn() -> String),
    Supervisor,
}

/// Something that a server can be asked.
#[derive(Clone, Debug)]
pub struct Message {
    pub name: &'static str,
    pub about: &'static str,
    pub arguments: Vec<Argument>,
    /// The type of the reply; empty for a cast.
    pub reply: String,
}

#[derive(Clone, Debug)]
pub struct Argument {
    pub name: &'static str,
    /// In Erlang's notation.
    pub ty: String,
}

/// The application that a crate is.
#[derive(Debug)]
pub struct Application {
    pub name: &'static str,
    pub version: &'static str,
    pub about: &'static str,
    /// The module of the supervisor of all.
    pub root: fn() -> &'static Atom,
    /// Whether the root takes the arguments of the command line.
    pub takes_arguments: bool,
}

inventory::collect!(Application);
