//! The Erlang half of a library: the source of its native module and of a module for each behaviour.
//!
//! Pure: from what the behaviours say of themselves to texts. Whoever builds the application compiles them; they are made
//! to be read, and carry the types that Erlang and Elixir callers (and dialyzer) go by.

mod event;
mod statem;

use std::fmt::Write;

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
    Event,
    /// With the type of its states, in Erlang's notation.
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

/// One file of the Erlang half: a module, or what an application says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    pub file: String,
    pub text: String,
}

/// All files of this library, if its own is to be called `native`.
pub fn sources(native: &str) -> Vec<Source> {
    let module = |name: &str, text| Source { file: format!("{name}.erl"), text };
    // In the templates the name stands as an atom in quotes, alone or as the beginning of one.
    let own = |template: &str| template.replace("'MODULE", &format!("'{native}"));
    let mut sources = vec![
        module(native, own(include_str!("../erlang/otp_native.erl"))),
        module(&format!("{native}_wait"), own(include_str!("../erlang/otp_wait.erl"))),
        module(&format!("{native}_observe"), own(include_str!("../erlang/otp_observe.erl"))),
        module(&format!("{native}_event"), own(include_str!("../erlang/otp_event.erl"))),
        module(&format!("{native}_statem"), own(include_str!("../erlang/otp_statem.erl"))),
        module(&format!("{native}_pool"), own(include_str!("../erlang/otp_pool.erl"))),
        module(&format!("{native}_test"), own(include_str!("../erlang/otp_test.erl"))),
        module(&format!("{native}_move"), own(include_str!("../erlang/otp_move.erl")) + &table()),
        module(&format!("{native}_upgrade"), own(include_str!("../erlang/otp_upgrade.erl"))),
    ];
    for pair in behaviours().windows(2) {
        // They are sorted by name. One would take the other's module, and its processes would be of the wrong kind.
        assert!(pair[0].name != pair[1].name, "two behaviours of this library have the name {}", pair[0].name);
    }
    sources.extend(behaviours().iter().enumerate().map(|(number, behaviour)| {
        let description = (behaviour.describe)();
        let text = match description.kind {
            Kind::Server => server(behaviour.name, &description, number, native),
            Kind::Event => event::event(behaviour.name, &description, number, native),
            Kind::Statem(state) => statem::statem(behaviour.name, &description, number, native, &state()),
            Kind::Supervisor => supervisor(behaviour.name, &description, number, native),
        };
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
    sources
}

/// What an upgrade knows of the behaviours of the build that it goes to.
fn table() -> String {
    let rows = behaviours().iter().enumerate().map(|(number, behaviour)| {
        let description = (behaviour.describe)();
        let kind = match description.kind {
            Kind::Server => "server",
            Kind::Event => "event",
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

/// The module of a gen_server.
fn server(name: &str, description: &Description, number: usize, native: &str) -> String {
    let (module, pool, native) = (quoted(name), quoted(&format!("{native}_pool")), quoted(native));
    let (calls, casts) = (&description.calls, &description.casts);
    let (starts, options) = (description.start.len(), description.options);
    let mut exported = vec![format!("start_link/{starts}"), format!("start_link_as/{}", starts + 1)];
    let messages = || calls.iter().chain(casts);
    let hidden = ["'$otp'/0".to_owned(), "start_pool/2".to_owned()];
    exported.extend(messages().map(|message| format!("{}/{}", quoted(message.name), message.arguments.len() + 1)));
    let mut text = String::new();
    let mut line = |line: String| {
        text.push_str(&line);
        text.push('\n');
    };
    line(format!("%% {}: a gen_server in Rust. Generated: change it there.", description.rust));
    comment(&mut line, description.about);
    line(format!("-module({module})."));
    line(format!("-export([{}]).", exported.join(", ")));
    line(format!("-export([{}]).", hidden.join(", ")));
    line("-export_type([server/0]).\n".into());
    line("%% A process, its name on this node, its name on another, or among all.".into());
    line("-type server() :: pid() | atom() | {atom(), node()} | {global, term()}.".into());
    line("-type started() :: {ok, pid()} | ignore | {error, term()}.\n".into());
    let (typed, names) = (typed(&description.start), names(&description.start));
    line(format!("-spec start_link({typed}) -> started()."));
    line(format!(
        "start_link({names}) ->\n    {native}:start_link(?MODULE, {number}, undefined, {{{names}}}, {options}).\n"
    ));
    let comma = if starts == 0 { "" } else { ", " };
    line("%% The same with a name on this node, or among all connected ones.".into());
    line(format!("-spec start_link_as(Name :: atom() | {{global, term()}}{comma}{typed}) -> started()."));
    let start = |pattern: &str, name: &str| {
        format!(
            "start_link_as({pattern}{comma}{names}) ->\n    {native}:start_link(?MODULE, {number}, {name}, {{{names}}}, {options})"
        )
    };
    line(start("{global, _} = Name", "Name") + ";");
    line(start("Name", "{local, Name}") + ".");
    for message in messages() {
        line(String::new());
        comment(&mut line, message.about);
        line(ask(message, "server()", "gen_server:cast"));
    }
    line(String::new());
    line("%% A supervisor of any number of these.".into());
    line(format!("start_pool(Name, Config) ->\n    {pool}:start_link(?MODULE, Name, Config).\n"));
    line("%% Where processes of this kind begin, for who supervises them.".into());
    line(format!("'$otp'() ->\n    {{{native}, {number}, {options}}}."));
    if !calls.is_empty() {
        line(String::new());
        line("%% A request that is not of its type is an error of the caller's.".into());
        line("call(Server, Request) ->\n    case gen_server:call(Server, Request) of".into());
        line("        {'$refused', Why} -> erlang:error({refused, Why});\n        Reply -> Reply\n    end.".into());
    }
    text
}

/// The module of a supervisor.
fn supervisor(name: &str, description: &Description, number: usize, native: &str) -> String {
    let (module, native, rust) = (quoted(name), quoted(native), description.rust);
    let (typed, names, arity) = (typed(&description.start), names(&description.start), description.start.len());
    let mut text = format!("%% {rust}: a supervisor in Rust. Generated: change it there.\n");
    comment(&mut |line| text += &(line + "\n"), description.about);
    let comma = if arity == 0 { "" } else { ", " };
    let _ = write!(
        text,
        "-module({module}).\n-behaviour(supervisor).\n-export([start_link/{arity}, start_link_as/{}, init/1]).\n\n\
         -spec start_link({typed}) -> supervisor:startlink_ret().\n\
         start_link({names}) ->\n    start_link_as(?MODULE{comma}{names}).\n\n\
         %% The same with another name on this node, or with one among all connected ones.\n\
         -spec start_link_as(Name :: atom() | {{global, term()}}{comma}{typed}) -> supervisor:startlink_ret().\n\
         start_link_as({{global, _}} = Name{comma}{names}) ->\n    supervisor:start_link(Name, ?MODULE, {{{names}}});\n\
         start_link_as(Name{comma}{names}) ->\n    supervisor:start_link({{local, Name}}, ?MODULE, {{{names}}}).\n\n\
         init(Arguments) ->\n    {native}:init({number}, Arguments).\n",
        arity + 1
    );
    text
}

/// The function that asks for `message` whom the type `server` says.
fn ask(message: &Message, server: &str, cast: &str) -> String {
    let (how, reply) = if message.reply.is_empty() { (cast, "ok") } else { ("call", message.reply.as_str()) };
    let (name, typed, names) = (quoted(message.name), typed(&message.arguments), names(&message.arguments));
    let comma = if message.arguments.is_empty() { "" } else { ", " };
    let request = if message.arguments.is_empty() { name.clone() } else { format!("{{{name}, {names}}}") };
    let mut text = String::new();
    let _ = writeln!(text, "-spec {name}({server}{comma}{typed}) -> {reply}.");
    let _ = write!(text, "{name}(Server{comma}{names}) ->\n    {how}(Server, {request}).");
    text
}

fn comment(line: &mut impl FnMut(String), about: &str) {
    about.trim().lines().for_each(|text| line(format!("%% {}", text.trim())));
}

fn typed(arguments: &[Argument]) -> String {
    let typed: Vec<_> =
        arguments.iter().map(|argument| format!("{} :: {}", variable(argument.name), argument.ty)).collect();
    typed.join(", ")
}

fn names(arguments: &[Argument]) -> String {
    let names: Vec<_> = arguments.iter().map(|argument| variable(argument.name)).collect();
    names.join(", ")
}

/// `retry_after` as Erlang names a variable: `RetryAfter`. Never `Server` or `Name`, which the functions have themselves.
fn variable(name: &str) -> String {
    let words = name.split('_').filter(|word| !word.is_empty());
    let name: String = words.map(|word| word[..1].to_uppercase() + &word[1..]).collect();
    if name == "Server" || name == "Name" { format!("The{name}") } else { name }
}

/// A string as Erlang writes it. Its escapes are not Rust's: a character by its number is `\x{…}`, and no other form is the same.
fn text(text: &str) -> String {
    let mut written = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' | '\\' => written.extend(['\\', letter]),
            letter if letter.is_control() => {
                let _ = write!(written, "\\x{{{:x}}}", u32::from(letter));
            }
            letter => written.push(letter),
        }
    }
    written + "\""
}

/// An atom as it is written: in quotes unless it is plain and no reserved word.
fn quoted(name: &str) -> String {
    const RESERVED: [&str; 28] = [
        "after", "and", "andalso", "band", "begin", "bnot", "bor", "bsl", "bsr", "bxor", "case", "catch", "cond",
        "div", "end", "fun", "if", "let", "maybe", "not", "of", "or", "orelse", "receive", "rem", "try", "when", "xor",
    ];
    let plain = name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_' || letter == '@');
    if plain && !RESERVED.contains(&name) { name.to_owned() } else { format!("'{}'", name.replace('\'', "\\'")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_written_as_erlang_has_them() {
        assert_eq!(
            ["plain", "a \"b\" \\", "a\nb\u{7f}\0c", "é 刻"].map(text),
            ["\"plain\"", "\"a \\\"b\\\" \\\\\"", "\"a\\x{a}b\\x{7f}\\x{0}c\"", "\"é 刻\""]
        );
    }

    #[test]
    fn names_are_written_as_erlang_has_them() {
        assert_eq!(
            ["plain_1", "receive", "Upper", "it's", "a@b"].map(quoted),
            ["plain_1", "'receive'", "'Upper'", "'it\\'s'", "a@b"]
        );
        assert_eq!(["n", "retry_after", "_unused", "server"].map(variable), ["N", "RetryAfter", "Unused", "TheServer"]);
    }
}
