//! The Erlang half of a library: the source of its native module, and of a module for each behaviour.
//!
//! The generator is pure: it turns the descriptions of the behaviours into texts, and `cargo otp` compiles these. The texts are made to
//! be read, and carry the types that callers in Erlang and Elixir, and dialyzer, rely on.

mod calls;
mod event;
mod server;
mod statem;
mod supervisor;
mod types;
mod write;

use std::fmt;

use types::Types;
use write::{quoted, text};

pub use crate::process::description::{Application, Argument, Description, Kind, Message};
pub use crate::process::in_application;

use crate::process::behaviours;

impl Message {
    /// Its functions, as a module exports them: `name/2`, and `name/3` of a call, which takes a timeout.
    fn exported(&self) -> impl Iterator<Item = String> {
        let arity = self.arguments.len() + 1;
        let last = if self.reply.is_empty() { arity } else { arity + 1 };
        (arity..=last).map(|arity| format!("{}/{arity}", quoted(self.name)))
    }
}

/// One file of the Erlang half: a module, or what an application says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    pub file: String,
    pub text: String,
}

/// A behaviour has the name of another module of its library. One would take the other's place, and its processes would be of the
/// wrong kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clash {
    name: &'static str,
    /// Where the behaviour stands.
    at: &'static str,
    /// Where the other one does, if it is no module that each application has.
    other: Option<&'static str>,
}

impl fmt::Display for Clash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, at, other } = self;
        write!(f, "the module of the behaviour at {at} is called `{name}` in Erlang, ")?;
        match other {
            Some(other) => write!(f, "and so is that of the one at {other}")?,
            None => f.write_str("as is one that each application has")?,
        }
        f.write_str(": give it another name, as in `#[gen_server(module = \"another_name\")]`")
    }
}

impl std::error::Error for Clash {}

/// All files of this library, if its own is to be called `native`.
///
/// # Errors
/// When two modules have one name.
pub fn sources(native: &str) -> Result<Vec<Source>, Clash> {
    // They are sorted by name.
    if let Some(pair) = behaviours().windows(2).find(|pair| pair[0].name() == pair[1].name()) {
        return Err(Clash { name: pair[0].name(), at: pair[0].at, other: Some(pair[1].at) });
    }
    let module = |name: &str, text| Source { file: format!("{name}.erl"), text };
    // In the templates the name stands as an atom in quotes, alone or as the beginning of one.
    let own = |template: &str| template.replace("'MODULE", &format!("'{native}"));
    let mut sources = vec![
        module(native, own(include_str!("../../../erlang/otp_native.erl"))),
        module(&format!("{native}_call"), own(include_str!("../../../erlang/otp_call.erl"))),
        module(&format!("{native}_wait"), own(include_str!("../../../erlang/otp_wait.erl"))),
        module(&format!("{native}_bounded"), own(include_str!("../../../erlang/otp_bounded.erl"))),
        module(&format!("{native}_courier"), own(include_str!("../../../erlang/otp_courier.erl"))),
        module(&format!("{native}_held"), own(include_str!("../../../erlang/otp_held.erl"))),
        module(&format!("{native}_observe"), own(include_str!("../../../erlang/otp_observe.erl"))),
        module(&format!("{native}_event"), own(include_str!("../../../erlang/otp_event.erl"))),
        module(&format!("{native}_statem"), own(include_str!("../../../erlang/otp_statem.erl"))),
        module(&format!("{native}_pool"), own(include_str!("../../../erlang/otp_pool.erl"))),
        module(&format!("{native}_test"), own(include_str!("../../../erlang/otp_test.erl"))),
        module(&format!("{native}_move"), own(include_str!("../../../erlang/otp_move.erl")) + &table()),
        module(&format!("{native}_upgrade"), own(include_str!("../../../erlang/otp_upgrade.erl"))),
    ];
    sources.extend(behaviours().iter().enumerate().map(|(number, behaviour)| {
        let (description, types) = Types::of(behaviour.describe);
        let write = match description.kind {
            Kind::Server => server::server,
            Kind::Event(_) => event::event,
            Kind::Statem(_) => statem::statem,
            Kind::Supervisor => supervisor::supervisor,
        };
        let text = write(behaviour.name(), &description, &types, number, native);
        module(behaviour.name(), text)
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
    let count = |name: &str| sources.iter().filter(|one| one.file.strip_suffix(".erl") == Some(name)).count();
    match behaviours().iter().find(|behaviour| count(behaviour.name()) > 1) {
        Some(behaviour) => Err(Clash { name: behaviour.name(), at: behaviour.at, other: None }),
        None => Ok(sources),
    }
}

/// What an upgrade knows of the behaviours of the build that it goes to.
fn table() -> String {
    let described = || behaviours().iter().map(|behaviour| (behaviour, (behaviour.describe)()));
    let rows = described().enumerate().map(|(number, (behaviour, description))| {
        let kind = match description.kind {
            Kind::Server => "server",
            Kind::Event(_) => "event",
            Kind::Statem(_) => "statem",
            Kind::Supervisor => "supervisor",
        };
        format!("{{{}, {kind}, {number}, {}}}", quoted(behaviour.name()), description.options)
    });
    let texts =
        described().map(|(behaviour, description)| format!("{{{}, {}}}", quoted(behaviour.name()), description.text));
    let listed = |name: &str, rows: Vec<String>| format!("{name}() ->\n    [{}].\n", rows.join(",\n     "));
    listed("behaviours", rows.collect()) + "\n" + &listed("texts", texts.collect())
}

impl Application {
    /// The module that OTP starts and stops it by.
    fn callback(&self, callback: &str, native: &str) -> String {
        let (module, root, observe) =
            (quoted(callback), quoted((self.root)().name()), quoted(&format!("{native}_observe")));
        let native = quoted(native);
        let (start, arguments) = if self.takes_arguments {
            (format!("    {root}:start_link(arguments())."), self.arguments())
        } else {
            (format!("    {root}:start_link()."), String::new())
        };
        format!(
            "%% The application {}: generated.\n-module({module}).\n-behaviour(application).\n-export([start/2, stop/1]).\n\n\
             start(_Type, _Arguments) ->\n    {observe}:start(),\n    %% What the machine was asked for, and what of it took effect.\n    \
             [logger:log(Level, \"~ts\", [Text]) || {{Level, Text}} <- {native}:realtime()],\n{start}\n\nstop(_State) ->\n    ok.\n{arguments}",
            self.name
        )
    }

    /// The function that gives the arguments of its root. Those of the command line are its own only where it says so: the VM may be
    /// another program's, which has arguments of its own.
    fn arguments(&self) -> String {
        let name = quoted(self.name);
        format!(
            "\n%% The parameter `arguments`, or what stands after -- on a command line that starts this application.\n\
             arguments() ->\n    Given = case {{application:get_env({name}, arguments), init:get_argument(otp_application)}} of\n        \
             {{{{ok, Own}}, _}} -> Own;\n        {{undefined, {{ok, [[{}]]}}}} -> init:get_plain_arguments();\n        _ -> []\n    end,\n    \
             [unicode:characters_to_binary(One) || One <- Given].\n",
            text(self.name)
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
            quoted((self.root)().name()),
            quoted(callback)
        )
    }
}
