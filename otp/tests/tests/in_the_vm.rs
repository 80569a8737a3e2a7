//! Values of every kind, sent to a server and back, in a real Erlang VM.

use std::process::Command;

use in_a_vm::{compiled, run};
// Its behaviours are linked into this program, so that what they say of themselves can be asked for.
use otp_tests as _;

/// Does `expressions` with an echo `E`.
fn check(flags: &[&str], expressions: &str) -> String {
    let checks = format!(
        "-module(checks).\n-compile([export_all, nowarn_export_all]).\n\
         main() ->\n    logger:set_primary_config(level, none), process_flag(trap_exit, true),\n    \
         {{ok, E}} = echo:start_link(),\n    {expressions},\n    true = is_process_alive(E),\n    \
         io:format(\"all is well~n\"), init:stop().\n\
         refused(Ask) -> try Ask() of Answer -> error({{taken, Answer}}) catch error:{{refused, Why}} -> Why end.\n\
         same(Name, E, Terms) -> [Term = echo:Name(E, Term, infinity) || Term <- Terms].\n\
         nest(How, Levels) -> lists:foldl(fun(_, Term) -> How(Term) end, leaf, lists:seq(1, Levels)).\n"
    );
    let folder = compiled("otp_tests", &[("checks", &checks)]);
    let said = run(
        folder.path(),
        Command::new("erl").args(["-noshell", "-pa", "."]).args(flags).args(["-s", "checks", "main"]),
    );
    assert!(said.ends_with("all is well\n"), "{said}");
    said
}

#[test]
fn each_type_has_the_form_that_its_documentation_says() {
    check(
        &[],
        "same(int8, E, [-128, 127]), same(nat64, E, [0, 18446744073709551615]), same(int64, E, [-(1 bsl 63)]),
         same(float, E, [1.5, infinity, neg_infinity, nan]), 0.5 = echo:near_float32(E, 0.5),
         same(letter, E, [$x, 16#10FFFF]), same(text, E, [<<>>, <<\"Ω\"/utf8>>]), same(bytes, E, [<<>>, <<255>>]),
         same(name, E, ['', ok, 'ÿ', 'Ωμέγα', list_to_atom(lists:duplicate(255, 16#3A9))]), same(time, E, [0, 5000]),
         undefined = echo:near_maybe(E, nil), undefined = echo:near_maybe(E, undefined), 5 = echo:near_maybe(E, 5),
         same(done, E, [ok, {error, {any, <<\"term\">>}}]), same(result, E, [{ok, <<>>}, {error, enoent}]),
         same(address, E, [{127, 0, 0, 1}]), same(no_element, E, [{}]),
         same(rare_hundred, E, [list_to_tuple(lists:seq(1, 100))]),
         same(map, E, [#{}, #{1 => <<\"a\">>}, maps:from_list([{N, <<N>>} || N <- lists:seq(1, 100)])]),
         [1, 2, 3] = lists:sort(echo:near_set(E, [3, 1, 2])), [<<\"a\">>, <<\"b\">>] = echo:near_sorted_set(E, [<<\"b\">>, <<\"a\">>]),
         same(record, E, [{point, 1.0, nan}]), same(newtype, E, [20.5]), same(generic, E, [{pair, {pair, true, false}, {pair, true, true}}]),
         same(unit, E, [ready]),
         same(command, E, [stop, 'πίσω', {'it\\'s', 1}, {'receive', 1, self()}, {take3, 1, 2, ready}, {move_by, #{by => {1, -1}, fast => true}}]),
         same(closed, E, [#{kind => a, type => {pair, 1, 2}}]), same(queue, E, [[], [true, false]])",
    );
}

#[test]
fn integers_of_128_bits_are_integers() {
    check(
        &[],
        "Ends = [(1 bsl 127) - 1, -(1 bsl 127)],
         same(int128, E, Ends ++ [0, -1, 1 bsl 59, -(1 bsl 60), 1 bsl 63, -(1 bsl 63), -(1 bsl 63) - 1, 1 bsl 64, -(1 bsl 64)]),
         same(nat128, E, [0, 1 bsl 60, 1 bsl 63, (1 bsl 64) - 1, 1 bsl 64, (1 bsl 128) - 1]),
         <<\"expected an integer from -170141183460469231731687303715884105728 to 170141183460469231731687303715884105727 at \",
           _/binary>> = refused(fun() -> echo:int128(E, 1 bsl 127) end),
         [<<\"expected an integer from\", _/binary>> = refused(fun() -> echo:int128(E, Wrong) end)
          || Wrong <- [-(1 bsl 127) - 1, 1 bsl 128, 1 bsl 4000000, 1.0, one]],
         [<<\"expected an integer from 0 to 340282366920938463463374607431768211455 at \", _/binary>> =
              refused(fun() -> echo:nat128(E, Wrong) end) || Wrong <- [-1, -(1 bsl 64), 1 bsl 128, 5.0]]",
    );
}

#[test]
fn addresses_and_times_are_those_of_erlangs_own_libraries() {
    check(
        &[],
        "{ok, V4} = inet:parse_address(\"192.168.0.1\"), {ok, V6} = inet:parse_address(\"fe80::1\"),
         same(ip4, E, [V4]), same(ip6, E, [V6]), same(ip, E, [V4, V6]),
         {ok, Listening} = gen_tcp:listen(0, [{ip, {127, 0, 0, 1}}]), {ok, Name} = inet:sockname(Listening),
         same(socket, E, [Name, {V6, 65535}]),
         <<\"expected an address of IP: a tuple of 4 or of 8 at ip, element 2\">> = refused(fun() -> echo:ip(E, {1, 2, 3}) end),
         <<\"expected an integer from 0 to 255 at ip, element 2, element 4\">> = refused(fun() -> echo:ip(E, {1, 2, 3, 256}) end),
         <<\"expected an integer from 0 to 65535 at socket, element 2, element 2\">> =
             refused(fun() -> echo:socket(E, {V4, 65536}) end),
         same(moment, E, [os:system_time(nanosecond), 0, -1, -1500000000]),
         <<\"expected a time in nanoseconds since 1970 at moment, element 2\">> = refused(fun() -> echo:moment(E, 1 bsl 120) end)",
    );
}

#[test]
fn a_struct_of_elixirs_is_one() {
    check(
        &[],
        "User = #{'__struct__' => 'Elixir.Shop.User', name => <<\"Ada\">>, email => nil},
         User = echo:near_user(E, User), User = echo:near_user(E, User#{email => undefined}),
         Mailed = User#{email := <<\"a@b\">>}, Mailed = echo:near_user(E, Mailed),
         [<<\"expected a struct %Shop.User{} at near_user, element 2\">> = refused(fun() -> echo:near_user(E, Wrong) end)
          || Wrong <- [#{name => <<>>, email => nil}, User#{'__struct__' := 'Elixir.Other'}]],
         <<\"expected no other keys than '__struct__', name, email, not age at near_user, element 2\">> =
             refused(fun() -> echo:near_user(E, User#{age => 5}) end)",
    );
}

#[test]
fn what_is_absent_is_the_default_and_what_is_unknown_is_refused_where_it_is_not_open() {
    check(
        &[],
        "#{start := 1, name := undefined, retries := 0, maxTime := 5000} = echo:near_options(E, #{start => 1}),
         #{start := 1, name := n, retries := 2, maxTime := 3} =
             echo:near_options(E, #{start => 1, name => n, retries => 2, maxTime => 3}),
         <<\"expected a map with the key start at near_options, element 2\">> = refused(fun() -> echo:near_options(E, #{}) end),
         <<\"expected no other keys than start, name, retries, maxTime, not retrys at near_options, element 2\">> =
             refused(fun() -> echo:near_options(E, #{start => 1, retrys => 1}) end),
         <<\"expected an integer from 0 to 255 at near_options, element 2, field \\\"retries\\\"\">> =
             refused(fun() -> echo:near_options(E, #{start => 1, retries => -1}) end),
         #{kind := a} = Opened = echo:near_opened(E, #{kind => a, more => 1, {other} => 2}), 1 = map_size(Opened)",
    );
}

#[test]
fn what_is_wrong_is_said_with_its_place() {
    check(
        &[],
        "<<\"expected true or false at pair, element 2, element 2\">> = refused(fun() -> echo:pair(E, {1, 2}) end),
         <<\"expected stop, πίσω, {it's, _}, {receive, _, _}, {take3, _, _, _} or {move_by, #{…}} at command, element 2\"/utf8>> =
             refused(fun() -> echo:command(E, {take3, 1, 2}) end),
         <<\"expected an integer from 0 to 255 at command, element 2, receive, element 2\">> =
             refused(fun() -> echo:command(E, {'receive', 256, x}) end),
         <<\"expected a tuple of 2 at command, element 2, move_by, field \\\"by\\\"\">> =
             refused(fun() -> echo:command(E, {move_by, #{by => {1}, fast => true}}) end),
         <<\"expected {point, _, _} at record, element 2\">> = refused(fun() -> echo:record(E, {point, 1.0}) end),
         <<\"expected an integer from \", _/binary>> = Key = refused(fun() -> echo:map(E, #{a => <<>>}) end),
         {_, _} = binary:match(Key, <<\" at map, element 2, the key a\">>),
         <<\"expected an element that is not there before at near_set, element 2, element 2\">> =
             refused(fun() -> echo:near_set(E, [1, 1]) end),
         <<\"expected a list at list, element 2\">> = refused(fun() -> echo:list(E, [1 | 2]) end),
         <<\"expected a float from -3.4\", _/binary>> = refused(fun() -> echo:near_float32(E, 1.0e39) end),
         <<\"expected the number of a character\", _/binary>> = refused(fun() -> echo:letter(E, 16#D800) end)",
    );
}

/// What no stack has room for is refused, and what does not need to be looked into goes through; in stacks of the smallest size
/// that the VM gives as well.
#[test]
fn a_million_levels_or_elements_are_no_danger() {
    let smallest = ["+sss", "20", "+sssdcpu", "20", "+sssdio", "20"];
    for flags in [&[] as &[&str], &smallest] {
        check(
            flags,
            "Million = 1000000,
             Deep = [nest(How, Million) || How <- [fun(T) -> [T] end, fun(T) -> {T} end, fun(T) -> {node, leaf, 0, T} end,
                                                   fun(T) -> #{a => T} end, fun(T) -> {nodes, [T]} end, fun(T) -> [leaf | T] end]],
             Long = [lists:seq(1, Million), list_to_tuple(lists:seq(1, Million)), maps:from_keys(lists:seq(1, Million), 0),
                     lists:seq(1, Million) ++ improper],
             same(any, E, Deep), same(any, E, Long), same(list, E, [lists:seq(1, Million)]),
             [refused(fun() -> echo:Name(E, Term) end) || Name <- [tree, lists, list_of_lists, any_map], Term <- Deep,
                                                      {Name, is_map(Term)} =/= {any_map, true}],
             [refused(fun() -> echo:lists(E, Term) end) || Term <- Long],
             same(any, E, [nest(fun(T) -> {T, []} end, Million)]), same(near_reason, E, [nest(fun(T) -> {T, []} end, Million)]),
             <<\"expected at most 128 levels\", _/binary>> = refused(fun() -> echo:tree(E, lists:nth(3, Deep)) end),
             same(tree, E, [nest(fun(T) -> {node, leaf, 0, T} end, 10), nest(fun(T) -> {named, #{a => T}} end, 5)])",
        );
    }
}

#[test]
fn as_many_levels_as_are_promised_are_read() {
    check(
        &[],
        "same(tree, E, [nest(fun(T) -> {node, T, 0, leaf} end, 128)]),
         refused(fun() -> echo:tree(E, nest(fun(T) -> {node, T, 0, leaf} end, 129)) end)",
    );
}

#[test]
fn any_term_is_kept_and_looked_at_from_everywhere() {
    check(
        &[],
        "<<_:3, Unaligned:10/binary, _/bitstring>> = rand:bytes(20),
         Terms = [self(), make_ref(), fun(X) -> {X, E} end, fun lists:map/2, <<1:3>>, Unaligned, [a | b], 1 bsl 200, #{E => 1.5}],
         [begin {ok, K} = keeper:start_link(Term), garbage_collect(K), Term = keeper:kept(K), true = keeper:is(K, Term) end
          || Term <- Terms],
         {ok, K} = keeper:start_link({'it\\'s', <<\"text\">>, [1, 2.5]}),
         <<\"{'it\\\\'s',<<\\\"text\\\">>,[1,2.500000e+00]}\">> = keeper:shown(K),
         false = keeper:is(K, {}),
         {ok, Numbers} = keeper:start_link(lists:seq(1, 1000)),
         {ok, 500500} = keeper:sum_in_threads(Numbers, 8),
         {ok, TooLarge} = keeper:start_link([1 bsl 63 - 1, 1]),
         {error, <<\"the sum does not fit an i64\">>} = keeper:sum_in_threads(TooLarge, 8),
         {ok, Large} = keeper:start_link([nest(fun(T) -> {T} end, 1000000), rand:bytes(10000000)]),
         true = byte_size(keeper:shown(Large)) < 2000",
    );
}

#[test]
fn a_call_is_named_in_erlang_without_what_rust_writes_before_its_keywords() {
    check(&[], "{ok, K} = keeper:start_link(none), 5 = keeper:type(K, 5), 6 = gen_server:call(K, {type, 6})");
}

#[test]
fn what_cannot_be_sent_ends_its_process_with_a_reason() {
    check(
        &[],
        "Of = fun(Why) -> {_, _} = binary:match(element(2, Why), <<\"a value is to be sent that is deeper than 128 levels\">>) end,
         {ok, K} = keeper:start_link(none),
         {node, _, 0, leaf} = keeper:tree_of(K, 128),
         [infinity, neg_infinity, nan, 1.0] = keeper:no_numbers(K),
         {Why, _} = try keeper:tree_of(K, 129) catch exit:{{W, _}, _} -> {W, none} end, Of(Why),
         {ok, L} = keeper:start_link(none),
         {panic, <<\"two keys of a map are one in Erlang\">>, _, _} =
             try keeper:rare_ambiguous(L) catch exit:{{{panic, T, F, N, _}, _}, _} -> {panic, T, F, N};
                                              exit:{{{panic, T, F, N}, _}, _} -> {panic, T, F, N} end",
    );
}

/// However many servers hand an error on that they were given.
#[test]
fn an_error_that_is_handed_on_says_the_same() {
    check(
        &[],
        "{ok, Station} = station:start_link(#{limit => 1}),
         Fake = spawn_link(fun F() -> receive {'$gen_call', From, _} -> gen:reply(From, #{items => none}), F() end end),
         {error, Wrong} = station:of_other(Station, Fake),
         {malformed, <<\"expected a list at field \\\"items\\\"\">>} = Wrong,
         Far = {down, {nodedown, 'a@b'}},
         Errors = [Wrong, {malformed, <<\"of somebody else's\">>}, {timeout, 1 bsl 40}, {refused, <<\"no\">>}, Far, {down, normal},
                   {down, {panic, <<\"no\">>, <<\"a.rs\">>, 1}}],
         same(near_call_error, E, Errors),
         same(near_start_error, E, [ignore, {already_started, self()}, noproc, {panic, <<\"no\">>, <<\"a.rs\">>, 1}])",
    );
}

/// Whoever writes an integer takes the square of the time that it is long, and nobody can interrupt it.
#[test]
fn a_term_is_written_in_a_moment_whatever_is_in_it() {
    check(
        &[],
        "Huge = 1 bsl 4000000,
         Key = refused(fun() -> echo:map(E, #{Huge => <<>>}) end),
         {_, _} = binary:match(Key, <<\"at map, element 2, the key #Integer<500001 bytes>\">>),
         Shown = fun(Term) -> {ok, K} = keeper:start_link(Term), Text = keeper:shown(K), true = byte_size(Text) < 2100, Text end,
         <<\"[#Integer<500001 bytes>,{#Integer<500001 bytes>,a}]\">> = Shown([Huge, {-Huge, a}]),
         <<\"1606938044258990275541962092341162602522202993782792835301376\">> = Shown(1 bsl 200),
         <<\"-18446744073709551616\">> = Shown(-(1 bsl 64)), <<\"18446744073709551615\">> = Shown((1 bsl 64) - 1),
         <<\"{a,[b,1|c],#{},[],{},\\\"say \\\\\\\"x\\\\\\\"\\\",[1,300]}\">> = Shown({a, [b, 1 | c], #{}, [], {}, \"say \\\"x\\\"\", [1, 300]}),
         <<\"#{a => #{b => <<1:3>>}}\">> = Shown(#{a => #{b => <<1:3>>}}),
         [begin Text = Shown(Large), {_, _} = binary:match(Text, <<\"...\">>) end
          || Large <- [lists:seq(1, 1000000), nest(fun(T) -> {T} end, 1000000), nest(fun(T) -> [T] end, 1000000),
                       list_to_tuple(lists:seq(1, 1000000)), maps:from_keys(lists:seq(1, 1000), 0), nest(fun(T) -> {T, T} end, 16),
                       binary:copy(<<\"x\">>, 10000000), binary:copy(<<255>>, 10000000), <<1:1, (binary:copy(<<255>>, 1000000))/binary>>]]",
    );
}
