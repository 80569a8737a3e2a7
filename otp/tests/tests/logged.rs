//! What is logged is bounded, whatever is in it: nobody who can send a message fills a log or holds a scheduler by it.
//!
//! - a message that nobody is there for, and a refused call, of gen_servers, gen_statems, event handlers and pools
//! - the reports of OTP on a process that crashed or did not start, with what was in its queue and what it was started with
//! - the state that reports and tools show, and what is traced
//! - a panic with a long text, a text of the log that is long
//!
//! Each is told, in a few kilobytes, and takes a bounded number of reductions.

use std::process::Command;

use in_a_vm::{compiled, run};
// Its behaviours are linked into this program, so that what they say of themselves can be asked for.
use otp_tests as _;

/// The most bytes that one event may add to the log: a crash is told three times, by the process, by proc_lib and by the supervisor.
const MOST: usize = 40_000;

/// What the checks use: `told(Name, Do)` does something, waits until it is logged, and looks at what that took.
const HELP: &str = r#"-module(help).
-compile([export_all, nowarn_export_all]).

%% Terms that are written in hours, or in megabytes.
large() ->
    Million = 1000000,
    [{list, lists:duplicate(Million, an_atom)}, {deep_tuple, nest(fun(T) -> {T} end)}, {deep_list, nest(fun(T) -> [T] end)},
     {deep_map, nest(fun(T) -> #{a => T} end)}, {deep_tail, nest(fun(T) -> [leaf | T] end)}, {deep_pairs, nest(fun(T) -> {T, []} end)},
     {tuple, list_to_tuple(lists:duplicate(Million, 0))}, {map, maps:from_keys(lists:seq(1, Million), 0)},
     {string, lists:duplicate(Million, $x)}, {binary, binary:copy(<<"x">>, 10 * Million)}, {bytes, binary:copy(<<255>>, 10 * Million)},
     {bits, <<0:1, (binary:copy(<<255>>, Million))/binary>>}, {integer, 1 bsl (4 * Million)},
     {atoms, [list_to_atom(lists:duplicate(255, C)) || C <- lists:seq($a, 50000)]}].
nest(How) -> lists:foldl(fun(_, Term) -> How(Term) end, leaf, lists:seq(1, 1000000)).

start(File) ->
    process_flag(trap_exit, true),
    logger:remove_handler(default),
    logger:set_primary_config(level, info),
    ok = logger:add_handler(file, logger_std_h, #{config => #{file => File, burst_limit_enable => false}}),
    put(file, File).

size() ->
    _ = logger_std_h:filesync(file),
    filelib:file_size(get(file)).

%% Does it, with the reductions that Pid takes, and gives what was logged.
told(Name, Pid, Do) ->
    Before = size(),
    Worked = reductions(Pid),
    Do(),
    More = case reductions(Pid) of gone -> 0; Now -> Now - Worked end,
    Size = size() - Before,
    {ok, All} = file:read_file(get(file)),
    Said = binary:part(All, Before, Size),
    io:format("~0tp: ~b bytes, ~b reductions~n", [Name, Size, More]),
    {Name, true} = {Name, Size > 0},
    {Name, Size, true} = {Name, Size, Size < MOST},
    {Name, More, true} = {Name, More, More < 1000000},
    Said.

reductions(Pid) ->
    case process_info(Pid, reductions) of {_, Count} -> Count; undefined -> gone end.

none() -> list_to_pid("<0.0.0>").

%% Asks until no more than so many are left: who has much to end with takes as long as the machine has other work.
left(Count, Ask) ->
    case length(Ask()) =< Count of
        true -> ok;
        false -> timer:sleep(20), left(Count, Ask)
    end.

flush() -> receive {'EXIT', _, _} -> flush() after 100 -> ok end.

contains(Said, Text) -> {_, {_, _}} = {{Said, Text}, binary:match(Said, Text)}.

%% Once the process has taken its messages.
done(Pid) -> _ = sys:get_status(Pid), ok.

ended(Pid) -> Ref = monitor(process, Pid), receive {'DOWN', Ref, _, _, _} -> ok end, receive {'EXIT', Pid, _} -> ok after 1000 -> ok end.
"#;

/// Does `expressions` in a VM with one scheduler, on which whatever holds it holds everything.
fn check(expressions: &str) {
    check_after("ok", expressions);
}

/// The same after what is done before the library is loaded.
fn check_after(before: &str, expressions: &str) {
    let checks = format!(
        "-module(checks).\n-compile([export_all, nowarn_export_all]).\n-import(help, [told/3, contains/2, done/1, ended/1, large/0, none/0, left/2, flush/0]).\n\
         main() ->\n    help:start(\"log\"), {before}, {{ok, E}} = echo:start_link(),\n    {expressions},\n    true = is_process_alive(E),\n    \
         io:format(\"all is well~n\"), init:stop().\n"
    );
    let folder = compiled("otp_tests", &[("checks", &checks), ("help", &HELP.replace("MOST", &MOST.to_string()))]);
    let said =
        run(folder.path(), Command::new("erl").args(["-noshell", "-pa", ".", "+S", "1:1", "-s", "checks", "main"]));
    println!("{said}");
    assert!(said.ends_with("all is well\n"), "{said}");
}

#[test]
fn messages_and_calls_that_nobody_takes() {
    check(
        "[begin
              contains(told({message, Name}, E, fun() -> E ! Term, done(E) end), <<\"nobody for the message\">>),
              contains(told({cast, Name}, E, fun() -> gen_server:cast(E, {what, Term}), done(E) end), <<\"nobody for the message\">>),
              contains(told({call, Name}, E, fun() ->
                  {refused, _} = try echo:int8(E, Term) catch error:Why -> Why end, done(E) end), <<\"int8\">>)
          end || {Name, Term} <- large()]",
    );
}

#[test]
fn events_that_no_statem_and_no_handler_takes() {
    check(
        "{ok, V} = valve:start_link(closed),
         {ok, M} = gen_event:start_link(),
         ok = alarms:add_handler(M, #{limit => 1}),
         {ok, P} = hoarder:start_pool(undefined, #{restart => temporary, intensity => 1, period => 5000, shutdown => 1000,
                                                   most => infinity}),
         [begin
              contains(told({info, Name}, V, fun() -> V ! Term, done(V) end), <<\"nobody for the info\">>),
              contains(told({cast, Name}, V, fun() -> gen_statem:cast(V, {what, Term}), done(V) end), <<\"nobody for the cast\">>),
              contains(told({call, Name}, V, fun() -> {'$refused', _} = gen_statem:call(V, {open, Term}), done(V) end),
                       <<\"nobody for the call\">>),
              contains(told({event, Name}, M, fun() -> gen_event:notify(M, Term), done(M) end), <<\"nobody for the event\">>),
              contains(told({handled_call, Name}, M, fun() ->
                  {'$refused', _} = gen_event:call(M, alarms, {limits, Term}), done(M) end), <<\"nobody for the call\">>),
              contains(told({pool, Name}, P, fun() -> P ! Term, done(P) end), <<\"no use for\">>)
          end || {Name, Term} <- large()]",
    );
}

#[test]
fn the_end_of_a_process_with_much_in_its_state_in_its_queue_or_in_its_reason() {
    check(
        "[begin
              {ok, H} = hoarder:start_link(Term, false),
              contains(told({state, Name}, none(), fun() -> try hoarder:rare_panic(H, 0) catch exit:_ -> ended end, ended(H) end), <<\"panic\">>),
              {ok, I} = hoarder:start_link(Term, false), true = Term =:= hoarder:kept(I),
              contains(told({queue, Name}, none(), fun() ->
                  sys:suspend(I), gen_server:cast(I, {rare_stop, crash}), [I ! Term || _ <- lists:seq(1, 50)],
                  sys:resume(I), ended(I) end), <<\"crash\">>),
              {ok, J} = hoarder:start_link(none, false),
              contains(told({reason, Name}, none(), fun() -> hoarder:rare_end(J, Term), ended(J) end), <<\"crasher\">>)
          end || {Name, Term} <- large()],
         {ok, K} = hoarder:start_link(none, false),
         contains(told(text, none(), fun() -> try hoarder:rare_panic(K, 60000) catch exit:_ -> ended end, ended(K) end), <<\"xxx...\">>)",
    );
}

/// Whoever loads the library without its application, at a shell or in a test of their own, starts processes at once.
#[test]
fn the_end_of_a_process_right_after_the_library_is_loaded() {
    check_after(
        "Term = lists:duplicate(1000000, an_atom),
         {module, _} = code:ensure_loaded(otp_tests_native),
         #{filters := [{otp_tests_native_bounded, _} | _]} = logger:get_primary_config()",
        "{ok, H} = hoarder:start_link(none, false),
         contains(told(at_once, none(), fun() -> hoarder:rare_end(H, Term), ended(H) end), <<\"crasher\">>)",
    );
}

#[test]
fn what_supervisors_tell_of_children() {
    check(
        "[begin
              Tree = told({tree, Name}, none(), fun() -> {ok, T} = hoard:start_link(Term), put(tree, T) end), contains(Tree, <<\"hoarder\">>),
              contains(told({ends, Name}, none(), fun() -> gen_server:cast(hoarder, {rare_stop, Term}), done(get(tree)),
                  left(1, fun() -> supervisor:which_children(get(tree)) end) end), <<\"child_terminated\">>),
              [{_, Pool, _, _}] = supervisor:which_children(get(tree)),
              contains(told({pooled, Name}, none(), fun() ->
                  {ok, C} = supervisor:start_child(Pool, [{Term, false}]), gen_server:cast(C, {rare_stop, Term}),
                  left(0, fun() -> supervisor:which_children(Pool) end) end), <<\"child_terminated\">>),
              told({refuses, Name}, none(), fun() -> {error, _} = hoarder:start_link(Term, true), flush() end),
              told({pooled_refuses, Name}, none(), fun() -> gen_server:cast(Pool, {start_child, {Term, true}}), done(Pool),
                  left(0, fun() -> supervisor:which_children(Pool) end) end),
              exit(get(tree), shutdown), ended(get(tree))
          end || {Name, Term} <- large()]",
    );
}

#[test]
fn what_tools_show_is_the_beginning_and_get_state_has_all() {
    check(
        "Shown = fun(Pid) -> {status, _, _, All} = sys:get_status(Pid), lists:last(All) end,
         Size = fun(Term) -> {N, true} = {erts_debug:flat_size(Term), erts_debug:flat_size(Term) < 10000}, N end,
         [begin
              {ok, H} = hoarder:start_link(Term, false),
              Size(Shown(H)), #{kept := Term} = sys:get_state(H),
              {ok, V} = valve:start_link({open, #{litres => 1}}), sys:replace_state(V, fun({_, Data}) -> {{open, Term}, Data} end),
              Size(Shown(V)), {{open, Term}, _} = sys:get_state(V),
              {ok, File} = file:open(\"traced\", [write]), group_leader(File, H), sys:trace(H, true), sys:log(H, true),
              H ! Term, done(H), Size(Shown(H)), ok = file:close(File),
              {Name, true} = {Name, filelib:file_size(\"traced\") < 8000}, true = filelib:file_size(\"traced\") > 0,
              unlink(H), exit(H, kill), unlink(V), exit(V, kill)
          end || {Name, Term} <- large()]",
    );
}
