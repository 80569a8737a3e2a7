//! The functions that modules of gen_servers and gen_statems have in common: start, calls and casts.

use super::write::{ask, comment, names, quoted, spec, typed};
use crate::process::description::{Description, Message};

/// What others call: `start_link/1`, …
pub(super) fn exported(description: &Description) -> Vec<String> {
    let starts = description.start.len();
    let mut exported = vec![format!("start_link/{starts}"), format!("start_link_as/{}", starts + 1)];
    exported.extend(messages(description).flat_map(Message::exported));
    exported
}

fn messages(description: &Description) -> impl Iterator<Item = &Message> {
    description.calls.iter().chain(&description.casts)
}

/// The functions that start one; `start` gives what they do, of the name, if it has one, and the arguments.
pub(super) fn starts(
    line: &mut impl FnMut(String),
    description: &Description,
    result: &str,
    start: impl Fn(Option<&str>, &str) -> String,
) {
    let names = names(&description.start);
    let mut typed: Vec<_> = typed(&description.start).collect();
    line(spec("start_link", &typed, result));
    line(format!("start_link({names}) ->\n    {}.\n", start(None, &names)));
    line("%% The same with a name on this node, or among all connected ones.".into());
    typed.insert(0, "Name :: atom() | {global, term()}".into());
    line(spec("start_link_as", &typed, result));
    let comma = if names.is_empty() { "" } else { ", " };
    line(format!("start_link_as({{global, _}} = Name{comma}{names}) ->\n    {};", start(Some("Name"), &names)));
    line(format!("start_link_as(Name{comma}{names}) ->\n    {}.", start(Some("{local, Name}"), &names)));
}

/// A function for each call and cast of the behaviour of OTP, whose processes `server` is the type of.
pub(super) fn asks(line: &mut impl FnMut(String), description: &Description, behaviour: &str, server: &str) {
    // What a call has unless it says otherwise, in OTP's own behaviours.
    let time = if behaviour == "gen_statem" { "infinity" } else { "5000" };
    for message in messages(description) {
        line(String::new());
        comment(line, message.about);
        line(ask(message, server, &format!("{behaviour}:cast"), time));
    }
}

/// What supervisors ask of it, of which the part `half` of the Erlang half begins its processes.
pub(super) fn supervised(line: &mut impl FnMut(String), options: &str, half: &str, number: usize, native: &str) {
    line("\n%% A supervisor of any number of these.".into());
    let pool = quoted(&format!("{native}_pool"));
    line(format!("start_pool(Name, Config) ->\n    {pool}:start_link(?MODULE, Name, Config).\n"));
    line("%% Where processes of this kind begin, for who supervises them.".into());
    line(format!("'$otp'() ->\n    {{{half}, {number}, {options}}}."));
}

/// The function that the calls go through, if there is one.
pub(super) fn call(line: &mut impl FnMut(String), description: &Description, behaviour: &str) {
    if description.calls.is_empty() {
        return;
    }
    line("\n%% A request that is not of its type is an error of the caller's.".into());
    line(format!("call(Server, Request, Timeout) ->\n    case {behaviour}:call(Server, Request, Timeout) of"));
    line("        {'$refused', Why} -> erlang:error({refused, Why});\n        Reply -> Reply\n    end.".into());
}
