//! The Erlang half of a library: the source of its native module and of a module for each behaviour.
//!
//! Pure: from what the behaviours say of themselves to texts. Whoever builds the application compiles them; they are made
//! to be read, and carry the types that Erlang and Elixir callers (and dialyzer) go by.

mod asked;
mod event;
mod server;
mod statem;
mod supervisor;
mod types;
mod write;

use std::fmt;

use types::Types;
use write::{quoted, text};

use crate::process::behaviours;

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

impl Message {
    /// Its function, as a module exports it: `name/2`.
    fn exported(&self) -> String {
        format!("{}/{}", quoted(self.name), self.arguments.len() + 1)
    }
}

#[derive(Clone, Debug)]
pub struct Argument {
    pub name: &'static str,
    /// In Erlang's notation.
    pub ty: String,
}

/// One file of the Erlang half: a module, or what an application says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    pub file: String,
    pub text: String,
}

/// Two behaviours of a library have one name. One would take the other's module, and its processes would be of the wrong kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clash {
    name: &'static str,
    /// Where they stand.
    at: [&'static str; 2],
}

impl fmt::Display for Clash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, at: [one, other] } = self;
        write!(
            f,
            "two behaviours are called `{name}`, at {one} and at {other}: each is a module in Erlang, and needs a name of its own"
        )
    }
}

impl std::error::Error for Clash {}

/// All files of this library, if its own is to be called `native`.
///
/// # Errors
/// When two behaviours have one name.
pub fn sources(native: &str) -> Result<Vec<Source>, Clash> {
    // They are sorted by name.
    if let Some(pair) = behaviours().windows(2).find(|pair| pair[0].name == pair[1].name) {
        return Err(Clash { name: pair[0].name, at: [pair[0].at, pair[1].at] });
    }
    let module = |name: &str, text| Source { file: format!("{name}.erl"), text };
    // In the templates the name stands as an atom in quotes, alone or as the beginning of one.
    let own = |template: &str| template.replace("'MODULE", &format!("'{native}"));
    let mut sources = vec![
        module(native, own(include_str!("../erlang/otp_native.erl"))),
        module(&format!("{native}_call"), own(include_str!("../erlang/otp_call.erl"))),
        module(&format!("{native}_wait"), own(include_str!("../erlang/otp_wait.erl"))),
        module(&format!("{native}_observe"), own(include_str!("../erlang/otp_observe.erl"))),
        module(&format!("{native}_event"), own(include_str!("../erlang/otp_event.erl"))),
        module(&format!("{native}_statem"), own(include_str!("../erlang/otp_statem.erl"))),
        module(&format!("{native}_pool"), own(include_str!("../erlang/otp_pool.erl"))),
        module(&format!("{native}_test"), own(include_str!("../erlang/otp_test.erl"))),
        module(&format!("{native}_move"), own(include_str!("../erlang/otp_move.erl")) + &table()),
        module(&format!("{native}_upgrade"), own(include_str!("../erlang/otp_upgrade.erl"))),
    ];
    sources.extend(behaviours().iter().enumerate().map(|(number, behaviour)| {
        let (description, types) = Types::of(behaviour.describe);
        let write = match description.kind {
            Kind::Server => server::server,
            Kind::Event(_) => event::event,
            Kind::Statem(_) => statem::statem,
            Kind::Supervisor => supervisor::supervisor,
        };
        let text = write(behaviour.name, &description, &types, number, native);
        module(behaviour.name, text)
    }));
    for application in inventory::iter::<Application>() {
        let callback = format!("{}_app", application.name);
        sources.push(module(&callback, application.callback(&callback, native)));
        let telemetry = format!("{}_telemetry", application.name);
        sources.push(module(&telemetry, application.telemetry(&telemetry, native)));
        let modules: Vec<_> =
            sources.iter().filter_map(|source| source.file.strip_suffix(".erl")).map(quoted).collect();
        let resource =
            Source { file: format!("{}.app", application.name), text: application.resource(&callback, &modules) };
        sources.push(resource);
    }
    Ok(sources)
}

/// What an upgrade knows of the behaviours of the build that it goes to.
fn table() -> String {
    let rows = behaviours().iter().enumerate().map(|(number, behaviour)| {
        let description = (behaviour.describe)();
        let kind = match description.kind {
            Kind::Server => "server",
            Kind::Event(_) => "event",
            Kind::Statem(_) => "statem",
            Kind::Supervisor => "supervisor",
        };
        format!("{{{}, {kind}, {number}, {}}}", quoted(behaviour.name), description.options)
    });
    format!("behaviours() ->\n    [{}].\n", rows.collect::<Vec<_>>().join(",\n     "))
}

/// The application that a crate is.
#[derive(Debug)]
pub struct Application {
    pub name: &'static str,
    pub version: &'static str,
    pub about: &'static str,
    /// The supervisor of all.
    pub root: &'static str,
    /// Whether the root takes the arguments of the command line.
    pub takes_arguments: bool,
}

inventory::collect!(Application);

impl Application {
    /// The module that OTP starts and stops it by.
    fn callback(&self, callback: &str, native: &str) -> String {
        let (module, root, observe) = (quoted(callback), quoted(self.root), quoted(&format!("{native}_observe")));
        let native = quoted(native);
        let start = if self.takes_arguments {
            format!("    {root}:start_link([unicode:characters_to_binary(A) || A <- init:get_plain_arguments()]).")
        } else {
            format!("    {root}:start_link().")
        };
        format!(
            "%% The application {}: generated.\n-module({module}).\n-behaviour(application).\n-export([start/2, stop/1]).\n\n\
             start(_Type, _Arguments) ->\n    {observe}:start(),\n    %% What the machine was asked for, and what of it took effect.\n    \
             [logger:log(Level, \"~ts\", [Text]) || {{Level, Text}} <- {native}:realtime()],\n{start}\n\nstop(_State) ->\n    ok.\n",
            self.name
        )
    }

    /// The module by which Erlang and Elixir handle its events.
    fn telemetry(&self, module: &str, native: &str) -> String {
        let (module, observe) = (quoted(module), quoted(&format!("{native}_observe")));
        format!(
            "%% Who handles the events of {}, as in the library telemetry: generated.\n-module({module}).\n\
             -export([attach/4, attach_many/4, detach/1, list_handlers/1]).\n-export_type([name/0, handler/0]).\n\n\
             -type name() :: [atom()].\n\
             -type handler() :: fun((name(), Measurements :: map(), Metadata :: map(), Config :: term()) -> term()).\n\n\
             -spec attach(Id :: term(), name(), handler(), Config :: term()) -> ok | {{error, already_exists}}.\n\
             attach(Id, Name, Function, Config) ->\n    {observe}:attach(Id, [Name], Function, Config).\n\n\
             -spec attach_many(Id :: term(), [name()], handler(), Config :: term()) -> ok | {{error, already_exists}}.\n\
             attach_many(Id, Names, Function, Config) ->\n    {observe}:attach(Id, Names, Function, Config).\n\n\
             -spec detach(Id :: term()) -> ok | {{error, not_found}}.\n\
             detach(Id) ->\n    {observe}:detach(Id).\n\n\
             %% Of the events whose names begin so.\n\
             -spec list_handlers(name()) -> [#{{id := term(), event_name := name(), function := handler(), config := term()}}].\n\
             list_handlers(Prefix) ->\n    {observe}:list_handlers(Prefix).\n",
            self.name
        )
    }

    /// What OTP reads of it before it starts.
    fn resource(&self, callback: &str, modules: &[String]) -> String {
        format!(
            "{{application, {}, [\n    {{description, {}}},\n    {{vsn, {}}},\n    {{modules, [{}]}},\n    {{registered, [{}]}},\n    \
             {{applications, [kernel, stdlib]}},\n    {{mod, {{{}, []}}}}\n]}}.\n",
            quoted(self.name),
            text(self.about),
            text(self.version),
            modules.join(", "),
            quoted(self.root),
            quoted(callback)
        )
    }
}
