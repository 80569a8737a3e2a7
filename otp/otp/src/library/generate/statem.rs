//! The module of a gen_statem: a callback module of OTP's gen_statem.

use super::write::{comment, listed, quoted};
use super::{Types, calls};
use crate::process::description::Description;

pub(super) fn statem(name: &str, description: &Description, types: &Types, number: usize, native: &str) -> String {
    let (module, half, options) = (quoted(name), quoted(&format!("{native}_statem")), description.options);
    let has = |word: &str| options.trim_matches(['[', ']']).split(", ").any(|option| option == word);
    let mut text = String::new();
    let line = &mut |line: String| text += &(line + "\n");
    line(format!("%% {}: a gen_statem in Rust. Generated: change it there.", description.rust));
    comment(line, description.about);
    line(format!("-module({module})."));
    line("-behaviour(gen_statem).".into());
    line(listed("export", &calls::exported(description)));
    let terminate = if has("terminate") { ", terminate/3" } else { "" };
    line(format!("-export([init/1, callback_mode/0, handle_event/4{terminate}, code_change/4, format_status/1])."));
    line("-export(['$otp'/0, start_pool/2]).".into());
    line(types.written());
    let spawned = if options.contains("off_heap") { "[{spawn_opt, [{message_queue_data, off_heap}]}]" } else { "[]" };
    calls::starts(line, description, "gen_statem:start_ret()", |name, names| {
        let name = name.map_or_else(String::new, |name| format!("{name}, "));
        format!("gen_statem:start_link({name}?MODULE, {{{names}}}, {spawned})")
    });
    calls::asks(line, description, "gen_statem", "gen_statem:server_ref()");
    calls::supervised(line, options, &half, number, native);
    calls::call(line, description, "gen_statem");
    let states = if has("enter") { "[handle_event_function, state_enter]" } else { "handle_event_function" };
    line("\n%% ---------------------------------------------------------------- what gen_statem calls\n".into());
    line(format!("init(Arguments) ->\n    {half}:init({number}, Arguments, {options}).\n"));
    line(format!("callback_mode() ->\n    {states}.\n"));
    line("%% A process goes on in the build that it began in, until its code is changed.".into());
    let (event, result) = if has("enter") {
        (
            "gen_statem:event_type() | enter",
            "gen_statem:event_handler_result(state()) | gen_statem:state_enter_result(state())",
        )
    } else {
        ("gen_statem:event_type()", "gen_statem:event_handler_result(state())")
    };
    line(format!("-spec handle_event({event}, term(), state(), data()) ->\n          {result}."));
    line("handle_event(Type, Content, State, {Machine, _} = Data) ->".into());
    line("    Machine:event(Type, Content, State, Data).\n".into());
    if has("terminate") {
        line("terminate(Reason, State, {Machine, _} = Data) ->\n    Machine:terminate(Reason, State, Data).\n".into());
    }
    line(format!(
        "code_change(_OldVsn, State, Data, Extra) ->\n    {half}:code_change({number}, State, Data, Extra).\n"
    ));
    line(format!("format_status(Status) ->\n    {half}:format_status(Status)."));
    text
}
