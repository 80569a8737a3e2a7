//! The module of a supervisor: a callback module of OTP's supervisor.

use super::Types;
use super::write::{comment, names, quoted, spec, typed};
use crate::process::description::Description;

pub(super) fn supervisor(name: &str, description: &Description, types: &Types, number: usize, native: &str) -> String {
    let (module, native, rust) = (quoted(name), quoted(native), description.rust);
    let (names, arity) = (names(&description.start), description.start.len());
    let typed: Vec<_> = typed(&description.start).collect();
    let mut named = vec!["Name :: atom() | {global, term()}".to_owned()];
    named.extend(typed.iter().cloned());
    let comma = if arity == 0 { "" } else { ", " };
    let mut text = format!("%% {rust}: a supervisor in Rust. Generated: change it there.\n");
    comment(&mut |line| text += &(line + "\n"), description.about);
    text += &format!(
        "-module({module}).\n-behaviour(supervisor).\n-export([start_link/{arity}, start_link_as/{}, init/1]).\n",
        arity + 1
    );
    text += &types.written();
    text += &format!(
        "\n{}\nstart_link({names}) ->\n    start_link_as(?MODULE{comma}{names}).\n\n\
         %% The same with another name on this node, or with one among all connected ones.\n\
         {}\n\
         start_link_as({{global, _}} = Name{comma}{names}) ->\n    supervisor:start_link(Name, ?MODULE, {{{names}}});\n\
         start_link_as(Name{comma}{names}) ->\n    supervisor:start_link({{local, Name}}, ?MODULE, {{{names}}}).\n\n\
         init(Arguments) ->\n    {native}:init({number}, Arguments).\n",
        spec("start_link", &typed, "supervisor:startlink_ret()"),
        spec("start_link_as", &named, "supervisor:startlink_ret()")
    );
    text
}
