//! The door in a real Erlang VM, as Erlang code sees it.

use std::process::Command;

use in_a_vm::{compiled, run};

// Its behaviours are linked into this program, so that what they say of themselves can be asked for.
use door as _;

/// Has a VM run these expressions, of which none may raise anything. What it wrote is given back.
fn check(expressions: &str) -> String {
    let checks = format!(
        "-module(checks).\n-export([main/0]).\nmain() ->\n    process_flag(trap_exit, true),\n    {expressions},\n    \
         init:stop().\n"
    );
    let folder = compiled("door", &[("checks", &checks)]);
    run(folder.path(), Command::new("erl").args(["-noshell", "-pa", ".", "-s", "checks", "main"]))
}

#[test]
fn the_right_code_opens_and_time_locks() {
    check(
        "{error, <<\"a code is made of digits\">>} = door:start_link(<<\"abc\">>),
         {ok, D} = door:start_link(<<\"12\">>),
         2 = door:code_length(D),
         {error, <<\"the door is not open\">>} = door:change_code(D, <<\"3\">>),
         Self = self(), spawn(fun() -> ok = door:wait_until_open(D), Self ! opened end), timer:sleep(20),
         door:button(D, 1), door:button(D, 2),
         receive opened -> ok after 2000 -> error(locked) end,
         ok = door:change_code(D, <<\"34\">>),
         door:button(D, 3), door:button(D, 4),
         {open, _} = sys:get_state(D),
         timer:sleep(300), ok = door:wait_until_open(D)",
    );
}

#[test]
fn wrong_codes_block_it_and_are_noted() {
    check(
        "ok = application:start(door),
         [door:button(front_door, 9) || _ <- lists:seq(1, 12)],
         {blocked, _} = sys:get_state(front_door),
         [{wrong_code, #{times := 3}}] = door_alarm_log:alarms(alarms),
         gen_event:notify(alarms, smoke), [_, smoke] = door_alarm_log:alarms(alarms),
         exit(whereis(alarms), kill), timer:sleep(500), [] = door_alarm_log:alarms(alarms)",
    );
}

#[test]
fn the_modules_are_made_to_be_read() {
    let sources = otp::generate::sources("door_native").expect("the Erlang half");
    for (file, text) in
        [("door.erl", include_str!("door.erl")), ("door_alarm_log.erl", include_str!("door_alarm_log.erl"))]
    {
        let source = sources.iter().find(|source| source.file == file).expect("its module");
        assert_eq!(source.text, text);
    }
}
