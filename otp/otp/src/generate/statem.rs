//! The module of a gen_statem: a callback module of OTP's.

use super::{Description, ask, comment, names, quoted, typed};

pub(super) fn statem(name: &str, description: &Description, number: usize, native: &str, state: &str) -> String {
    let (module, machine) = (quoted(name), quoted(&format!("{native}_statem")));
    let pool = quoted(&format!("{native}_pool"));
    let (starts, options) = (description.start.len(), description.options);
    let (calls, casts) = (&description.calls, &description.casts);
    let messages = || calls.iter().chain(casts);
    let mut exported = vec![format!("start_link/{starts}"), format!("start_link_as/{}", starts + 1)];
    exported.extend(messages().map(|message| format!("{}/{}", quoted(message.name), message.arguments.len() + 1)));
    let has = |word: &str| options.trim_matches(['[', ']']).split(", ").any(|option| option == word);
    let mut text = String::new();
    let mut line = |line: String| {
        text += &line;
        text.push('\n');
    };
    line(format!("%% {}: a gen_statem in Rust. Generated: change it there.", description.rust));
    comment(&mut line, description.about);
    line(format!("-module({module})."));
    line("-behaviour(gen_statem).".into());
    line(format!("-export([{}]).", exported.join(", ")));
    let terminate = if has("terminate") { ", terminate/3" } else { "" };
    line(format!("-export([init/1, callback_mode/0, handle_event/4{terminate}, code_change/4, format_status/1])."));
    line("-export(['$otp'/0, start_pool/2]).".into());
    line("-export_type([state/0]).\n".into());
    line(format!("-type state() :: {state}."));
    line("-type data() :: {module(), reference()}.\n".into());
    let (typed, names) = (typed(&description.start), names(&description.start));
    let spawned = if options.contains("off_heap") { "[{spawn_opt, [{message_queue_data, off_heap}]}]" } else { "[]" };
    let comma = if starts == 0 { "" } else { ", " };
    line(format!("-spec start_link({typed}) -> gen_statem:start_ret()."));
    line(format!("start_link({names}) ->\n    gen_statem:start_link(?MODULE, {{{names}}}, {spawned}).\n"));
    line("%% The same with a name on this node, or among all connected ones.".into());
    line(format!("-spec start_link_as(Name :: atom() | {{global, term()}}{comma}{typed}) -> gen_statem:start_ret()."));
    let start = |pattern: &str, name: &str| {
        format!(
            "start_link_as({pattern}{comma}{names}) ->\n    gen_statem:start_link({name}, ?MODULE, {{{names}}}, {spawned})"
        )
    };
    line(start("{global, _} = Name", "Name") + ";");
    line(start("Name", "{local, Name}") + ".");
    for message in messages() {
        line(String::new());
        comment(&mut line, message.about);
        line(ask(message, "gen_statem:server_ref()", "gen_statem:cast"));
    }
    line("\n%% A supervisor of any number of these.".into());
    line(format!("start_pool(Name, Config) ->\n    {pool}:start_link(?MODULE, Name, Config).\n"));
    line("%% Where processes of this kind begin, for who supervises them.".into());
    line(format!("'$otp'() ->\n    {{{machine}, {number}, {options}}}."));
    if !calls.is_empty() {
        line(String::new());
        line("%% A request that is not of its type is an error of the caller's.".into());
        line("call(Server, Request) ->\n    case gen_statem:call(Server, Request) of".into());
        line("        {'$refused', Why} -> erlang:error({refused, Why});\n        Reply -> Reply\n    end.".into());
    }
    let states = if has("enter") { "[handle_event_function, state_enter]" } else { "handle_event_function" };
    line("\n%% ---------------------------------------------------------------- what gen_statem calls\n".into());
    line(format!("init(Arguments) ->\n    {machine}:init({number}, Arguments, {options}).\n"));
    line(format!("callback_mode() ->\n    {states}.\n"));
    line("%% A process goes on in the build that it began in, until its code is changed.".into());
    line(format!("-spec handle_event({}, term(), state(), data()) ->", event_types(has("enter"))));
    line(format!("          {}.", results(has("enter"))));
    line("handle_event(Type, Content, State, {Machine, _} = Data) ->".into());
    line("    Machine:event(Type, Content, State, Data).\n".into());
    if has("terminate") {
        line("terminate(Reason, State, {Machine, _} = Data) ->\n    Machine:terminate(Reason, State, Data).\n".into());
    }
    line(format!(
        "code_change(_OldVsn, State, Data, Extra) ->\n    {machine}:code_change({number}, State, Data, Extra).\n"
    ));
    line(format!("format_status(Status) ->\n    {machine}:format_status(Status)."));
    text
}

fn event_types(enters: bool) -> &'static str {
    if enters { "gen_statem:event_type() | enter" } else { "gen_statem:event_type()" }
}

fn results(enters: bool) -> &'static str {
    if enters {
        "gen_statem:event_handler_result(state()) | gen_statem:state_enter_result(state())"
    } else {
        "gen_statem:event_handler_result(state())"
    }
}
