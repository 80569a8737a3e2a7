//! The module of an event handler: a callback module of OTP's gen_event.

use super::Types;
use super::write::{ask, comment, listed, names, quoted, spec, typed};
use crate::process::description::{Description, Message};

pub(super) fn event(name: &str, description: &Description, types: &Types, number: usize, native: &str) -> String {
    let (module, half) = (quoted(name), quoted(&format!("{native}_event")));
    let starts = description.start.len() + 1;
    let terminates = description.options.contains("terminate");
    let mut exported =
        vec![format!("add_handler/{starts}"), format!("add_sup_handler/{starts}"), "delete_handler/1".to_owned()];
    let calls = &description.calls;
    exported.extend(calls.iter().flat_map(Message::exported));
    let mut text = String::new();
    let line = &mut |line: String| text += &(line + "\n");
    line(format!("%% {}: a handler of events in Rust. Generated: change it there.", description.rust));
    comment(line, description.about);
    line(format!("-module({module})."));
    line("-behaviour(gen_event).".into());
    line(listed("export", &exported));
    let terminate = if terminates { "terminate/2, " } else { "" };
    line(format!(
        "-export([init/1, handle_event/2, handle_call/2, handle_info/2, {terminate}code_change/3, format_status/1])."
    ));
    line(types.written());
    let names = names(&description.start);
    let typed: Vec<_> = std::iter::once("manager()".to_owned()).chain(typed(&description.start)).collect();
    let comma = if starts == 1 { "" } else { ", " };
    line(spec("add_handler", &typed, "ok | {'EXIT', term()} | term()"));
    line(format!(
        "add_handler(Server{comma}{names}) ->\n    gen_event:add_handler(Server, ?MODULE, {{'$start', {{{names}}}}}).\n"
    ));
    line("%% The same for the process that calls this: it is told when the handler goes, which goes with it.".into());
    line(spec("add_sup_handler", &typed, "ok | {'EXIT', term()} | term()"));
    line(format!(
        "add_sup_handler(Server{comma}{names}) ->\n    gen_event:add_sup_handler(Server, ?MODULE, {{'$start', {{{names}}}}}).\n"
    ));
    line("-spec delete_handler(manager()) -> term() | {error, module_not_found} | {'EXIT', term()}.".into());
    line("delete_handler(Server) ->\n    gen_event:delete_handler(Server, ?MODULE, delete).".into());
    for call in calls {
        line(String::new());
        comment(line, call.about);
        line(ask(call, "manager()", "", "5000"));
    }
    if !calls.is_empty() {
        line(String::new());
        line("%% A request that is not of its type, or to nobody, is an error of the caller's.".into());
        line("call(Server, Request, Timeout) ->\n    case gen_event:call(Server, ?MODULE, Request, Timeout) of".into());
        line("        {'$refused', Why} -> erlang:error({refused, Why});".into());
        line("        {error, bad_module} -> erlang:error({refused, no_handler});".into());
        line("        {error, {'EXIT', Why}} -> erlang:error(Why);\n        Reply -> Reply\n    end.".into());
    }
    line("\n%% ---------------------------------------------------------------- what gen_event calls\n".into());
    line("-spec init(term()) -> {ok, state()} | {error, term()}.".into());
    line(format!("init(Arguments) ->\n    {half}:init({number}, Arguments).\n"));
    line("%% A handler goes on in the build that it began in, until its code is changed.".into());
    line("handle_event(Event, {Half, _} = State) ->\n    Half:event(?MODULE, Event, State).\n".into());
    line("handle_call(Request, {Half, _} = State) ->\n    Half:call(?MODULE, Request, State).\n".into());
    line("handle_info(Message, {Half, _} = State) ->\n    Half:info(Message, State).\n".into());
    if terminates {
        line("terminate(Why, {Half, _} = State) ->\n    Half:terminate(Why, State).\n".into());
    }
    line(format!("code_change(_OldVsn, State, Extra) ->\n    {half}:code_change({number}, State, Extra).\n"));
    line(format!("format_status(Status) ->\n    {half}:format_status(Status)."));
    text
}
