//! The counter in a real Erlang VM, as Erlang code sees it.

use std::process::Command;

use in_a_vm::{compiled, run};

// Its behaviours are linked into this program, so that what they say of themselves can be asked for.
use counter as _;

fn check(expressions: &str) -> String {
    let checks = format!(
        "-module(checks).\n-export([main/0, start/1]).\nmain() ->\n    {expressions},\n    init:stop().\n\
         start(Argument) -> process_flag(trap_exit, true), counter:start_link(Argument).\n"
    );
    let folder = compiled("counter", &[("checks", &checks)]);
    run(folder.path(), Command::new("erl").args(["-noshell", "-pa", ".", "-s", "checks", "main"]))
}

#[test]
fn calls_are_answered_and_casts_are_taken() {
    check(
        "{ok, C} = start(5),
         7 = gen_server:call(C, {add, 2}),
         ok = counter:reset(C),
         40 = counter:add(C, 40), 41 = counter:add(C, 1, infinity),
         ok = sys:suspend(C), late = try counter:add(C, 1, 10) catch exit:{timeout, _} -> late end, ok = sys:resume(C),
         {ok, D} = counter:start_link_as(the_counter, 1),
         {error, {already_started, D}} = counter:start_link_as(the_counter, 2),
         2 = counter:add(the_counter, 1),
         3 = counter:add({the_counter, node()}, 1),
         {ok, E} = counter:start_link_as({global, the_counter}, 1),
         {error, {already_started, E}} = counter:start_link_as({global, the_counter}, 2),
         2 = counter:add({global, the_counter}, 1)",
    );
}

#[test]
fn an_argument_that_is_wrong_or_unwelcome_is_an_error_of_the_start() {
    check(
        "{error, Wrong} = start(abc),
         <<\"the argument of counter is wrong: expected an integer from\", _/binary>> = Wrong,
         {error, <<\"a count begins at 0 or above\">>} = start(-1)",
    );
}

/// Since OTP 26 a start that fails takes the exit signal of its process with it.
#[test]
fn a_start_that_fails_leaves_the_messages_that_gen_server_leaves() {
    let own = "-module(own).\n-behaviour(gen_server).\n-export([init/1, handle_call/3, handle_cast/2]).\n\
               init(stop) -> {stop, unwelcome};\ninit(run) -> {ok, run}.\n\
               handle_call(_, _, S) -> {reply, ok, S}.\nhandle_cast(_, S) -> {noreply, S}.\n";
    let checks = "-module(checks).\n-export([main/0]).\nmain() -> process_flag(trap_exit, true),\n\
         {ok, C} = counter:start_link_as(taken, 1),\n\
         Ours = {kinds(fun() -> {error, <<\"a count begins\", _/binary>>} = counter:start_link(-1) end),\n\
                 kinds(fun() -> {error, {already_started, C}} = counter:start_link_as(taken, 2) end)},\n\
         Theirs = {kinds(fun() -> {error, unwelcome} = gen_server:start_link(own, stop, []) end),\n\
                   kinds(fun() -> {error, {already_started, C}} = gen_server:start_link({local, taken}, own, run, []) end)},\n\
         io:format(\"~p~n\", [{Ours, Theirs}]), Ours = Theirs, init:stop().\n\
         kinds(Start) -> Start(), timer:sleep(500), all().\n\
         all() -> receive M -> [element(1, M) | all()] after 0 -> [] end.\n";
    let folder = compiled("counter", &[("own", own), ("checks", checks)]);
    run(folder.path(), Command::new("erl").args(["-noshell", "-pa", ".", "-s", "checks", "main"]));
}

#[test]
fn a_panic_ends_its_process_only_and_says_where_it_was() {
    let said = check(
        "{ok, C} = start(5), {ok, D} = start(6),
         {{{panic, <<\"attempt to divide by zero\">>, File, Line, _}, _}, _} =
             try gen_server:call(C, {divided_by, 0}) catch exit:Reason -> case Reason of
                 {{{panic, M, F, L}, S}, W} -> {{{panic, M, F, L, none}, S}, W};
                 Other -> Other end end,
         true = string:find(File, <<\"counter/src/lib.rs\">>) =/= nomatch, true = Line > 0,
         false = is_process_alive(C),
         3 = gen_server:call(D, {divided_by, 2})",
    );
    assert!(said.contains("CRASH REPORT") && said.contains("initial call: counter:init/1"), "{said}");
}

#[test]
fn messages_that_nobody_is_there_for_are_told_and_lost() {
    let said = check(
        "{ok, C} = start(5),
         C ! hello, C ! {'$gen_cast', {reset, now}}, C ! {'$gen_cast', [improper | list]}, C ! {'$gen_call', nobody, {add, 1}},
         C ! {'$gen_call', {no_name, tag}, {add, 1}}, C ! {'$gen_call', {self(), [alias | no_alias]}, {add, 0}},
         {'$refused', <<\"expected a call: {add, _} or {divided_by, _}\">>} = gen_server:call(C, {add}),
         {refused, Why} = try counter:add(C, one) catch error:Refused -> Refused end,
         <<\"expected an integer from \", _/binary>> = Why, {_, _} = binary:match(Why, <<\" at add, element 2\">>),
         6 = gen_server:call(C, {add, 1})",
    );
    assert_eq!(said.matches("has nobody for the message").count(), 7, "{said}");
}

#[test]
fn a_process_can_be_looked_at_held_and_stopped_as_any_other() {
    check(
        "{ok, C} = start(5),
         <<\"Counter { value: 5 }\">> = sys:get_state(C),
         ok = sys:suspend(C),
         timeout = try gen_server:call(C, {add, 1}, 100) catch exit:{timeout, _} -> timeout end,
         ok = sys:resume(C),
         7 = gen_server:call(C, {add, 1}),
         {counter, init, 1} = proc_lib:translate_initial_call(C),
         ok = proc_lib:stop(C),
         false = is_process_alive(C)",
    );
}

#[test]
fn the_module_of_a_server_is_made_to_be_read() {
    let sources = otp::generate::sources("counter_native").expect("the Erlang half");
    let counter = sources.iter().find(|source| source.file == "counter.erl").expect("its module");
    assert_eq!(counter.text, include_str!("counter.erl"));
}

#[test]
fn a_supervisor_starts_its_children_and_starts_one_anew_that_panicked() {
    check(
        "process_flag(trap_exit, true),
         {ok, Root} = counter_root:start_link([<<\"5\">>]),
         7 = counter:add(first, 2), 106 = counter:add(second, 1),
         Before = whereis(first),
         ended = try counter:divided_by(first, 0) catch exit:_ -> ended end,
         timer:sleep(100),
         true = whereis(first) =/= Before,
         6 = counter:add(first, 1), 107 = counter:add(second, 1),
         [{second, _, worker, [counter]}, {first, _, worker, [counter]}] = supervisor:which_children(Root),
         {ok, #{restart := permanent, shutdown := 5000}} = supervisor:get_childspec(Root, first),
         Break = fun Break() ->
             _ = try counter:divided_by(first, 0) catch exit:_ -> ended end,
             receive {'EXIT', Root, shutdown} -> ok after 0 -> Break() end
         end,
         ok = Break(),
         undefined = whereis(second),
         {error, {bad_return, {counter_root, init, {stop, <<\"the argument of counter_root is wrong: \", _/binary>>}}}} = counter_root:start_link(5)",
    );
}

#[test]
fn the_application_is_started_and_stopped_as_any_other() {
    check(
        "ok = application:start(counter),
         [{counter, \"The smallest OTP application in Rust\" ++ _, \"0.1.0\"}] =
             [A || {counter, _, _} = A <- application:which_applications()],
         2 = counter:add(first, 2), 101 = counter:add(second, 1),
         ok = application:stop(counter), undefined = whereis(first)",
    );
}
