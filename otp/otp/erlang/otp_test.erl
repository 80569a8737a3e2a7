%% Running the tests of a library in the VM, several at a time, and reporting them as cargo does.
-module('MODULE_test').

-export([main/1, evaluate/1, begun/1, start_node/2, evaluate_on/3]).

%% After as many seconds it is said that a test still runs.
-define(LONG, 60).

%% What was asked for on the command line: parts of names, --exact, --ignored, --include-ignored, --list,
%% --test-threads=N. Ends the VM: 0 when all passed, 101 when one failed, as cargo's tests do.
main(Arguments) ->
    {Options, Words} = lists:partition(fun(Word) -> lists:prefix("--", Word) end, Arguments),
    Tests = chosen(Words, Options),
    case lists:member("--list", Options) of
        true -> [io:format("~ts: test~n", [Name]) || {_, Name, _, _} <- Tests], halt(0);
        false -> 'MODULE_observe':start(), halt(run(Tests, Options))
    end.

chosen(Words, Options) ->
    All = 'MODULE':tests(all),
    Numbered = lists:zipwith(fun(Number, {Name, Ignored, Panics}) -> {Number, Name, Ignored, Panics} end,
                             lists:seq(0, length(All) - 1), All),
    Exact = lists:member("--exact", Options),
    Parts = [unicode:characters_to_binary(Word) || Word <- Words],
    [Test || Test = {_, Name, _, _} <- Numbered,
             Parts =:= [] orelse lists:any(fun(Part) when Exact -> Name =:= Part;
                                              (Part) -> string:find(Name, Part) =/= nomatch end, Parts)].

run(Tests, Options) ->
    io:format("~nrunning ~b test~ts~n", [length(Tests), plural(length(Tests))]),
    'MODULE_held':watch_instead('MODULE_observe'),
    Began = erlang:monotonic_time(millisecond),
    {Run, Ignored} = lists:partition(fun({_, _, Ignore, _}) -> wanted(Ignore, Options) end, Tests),
    [io:format("test ~ts ... ~ts~n", [Name, coloured(yellow, "ignored")]) || {_, Name, _, _} <- Ignored],
    Failed = several(Run, [], threads(Options), []),
    Took = erlang:monotonic_time(millisecond) - Began,
    Failed =:= [] orelse io:format("~nfailures:~n"),
    [io:format("~n---- ~ts ----~n~ts~n", [Name, Why]) || {Name, Why} <- Failed],
    Failed =:= [] orelse io:format("~nfailures:~n~ts", [[["    ", Name, $\n] || {Name, _} <- Failed]]),
    Result = case Failed of [] -> coloured(green, "ok"); _ -> coloured(red, "FAILED") end,
    io:format("~ntest result: ~ts. ~b passed; ~b failed; ~b ignored; finished in ~.2fs~n~n",
              [Result, length(Run) - length(Failed), length(Failed), length(Ignored), Took / 1000]),
    case Failed of [] -> 0; _ -> 101 end.

wanted(Ignored, Options) ->
    case {lists:member("--include-ignored", Options), lists:member("--ignored", Options)} of
        {true, _} -> true;
        {false, Only} -> Ignored =:= Only
    end.

threads(Options) ->
    case [list_to_integer(Number) || "--test-threads=" ++ Number <- Options] of
        [Number | _] when Number > 0 -> Number;
        _ -> erlang:system_info(schedulers_online)
    end.

%% Running: #{Monitor => Test}.
several([], Running, _Most, Failed) when Running =:= [] ->
    held_by_the_last(),
    lists:sort(Failed);
several([Test | Tests], Running, Most, Failed) when length(Running) < Most ->
    {Number, Name, _, _} = Test,
    Slot = 'MODULE':test(Number),
    {Pid, Ref} = spawn_monitor(?MODULE, begun, [Slot]),
    put({test, Pid}, Name),
    erlang:send_after(?LONG * 1000, self(), {long, Ref}),
    several(Tests, [{Ref, Pid, Test} | Running], Most, Failed);
several(Tests, Running, Most, Failed) ->
    receive
        {monitor, Pid, long_schedule, Info} ->
            held(Pid, Info),
            several(Tests, Running, Most, Failed);
        {long, Ref} ->
            [io:format("test ~ts has been running for over ~b seconds~n", [Name, ?LONG])
             || {One, _, {_, Name, _, _}} <- Running, One =:= Ref],
            several(Tests, Running, Most, Failed);
        {'DOWN', Ref, process, _, Reason} ->
            {value, {Ref, _, {_, Name, _, Panics}}, Rest} = lists:keytake(Ref, 1, Running),
            case verdict(Reason, Panics) of
                ok ->
                    io:format("test ~ts ... ~ts~n", [Name, coloured(green, "ok")]),
                    several(Tests, Rest, Most, Failed);
                Why ->
                    io:format("test ~ts ... ~ts~n", [Name, coloured(red, "FAILED")]),
                    several(Tests, Rest, Most, [{Name, Why} | Failed])
            end
    end.

%% The VM tells it when a process has given its scheduler back, which a test may do by its end.
held(Pid, Info) ->
    Known = case get({test, Pid}) of undefined -> nobody; Name -> ["the test ", Name] end,
    case 'MODULE_held':text(Pid, Info, Known) of
        none -> ok;
        Text -> io:format("warning: ~ts~n", [Text])
    end.

held_by_the_last() ->
    receive
        {monitor, Pid, long_schedule, Info} -> held(Pid, Info), held_by_the_last()
    after 20 ->
        ok
    end.

-spec begun(reference()) -> no_return().
begun(Slot) ->
    try 'MODULE_wait':work(Slot) of
        ok -> exit(normal)
    catch
        error:Reason:Stack -> exit({failed, Reason, Stack})
    end.

verdict(normal, undefined) -> ok;
verdict(normal, _) -> "it did not panic, as it should have";
verdict({failed, {panic, Message, _, _}, _} = Reason, Panics) -> panicked(Message, Reason, Panics);
verdict({failed, {panic, Message, _, _, _}, _} = Reason, Panics) -> panicked(Message, Reason, Panics);
verdict(Reason, _) -> told(Reason).

panicked(_, Reason, undefined) ->
    told(Reason);
panicked(Message, Reason, Expected) ->
    case string:find(Message, Expected) of
        nomatch -> [told(Reason), io_lib:format("~nit should have said: ~ts", [Expected])];
        _ -> ok
    end.

told({failed, {panic, Message, File, Line}, _}) -> io_lib:format("panicked at ~ts:~b:~n~ts", [File, Line, Message]);
told({failed, {panic, Message, File, Line, Trace}, _}) -> [told({failed, {panic, Message, File, Line}, []}), $\n, Trace];
told({failed, Reason, Stack}) ->
    io_lib:format("error: ~tp~n~tp", ['MODULE_bounded':term(Reason), 'MODULE_bounded':stack(Stack)]);
told(Reason) ->
    io_lib:format("its process was ended: ~tp", ['MODULE_bounded':term(Reason)]).

plural(1) -> "";
plural(_) -> "s".

coloured(Colour, Text) ->
    case os:getenv("OTP_TEST_COLOUR") of
        "always" -> ["\e[", case Colour of red -> "31"; green -> "32"; yellow -> "33" end, $m, Text, "\e[0m"];
        _ -> Text
    end.

%% The value of an expression, given as text.
evaluate(Text) ->
    {ok, Tokens, _} = erl_scan:string(Text ++ "."),
    {ok, Expressions} = erl_parse:parse_exprs(Tokens),
    {value, Value, _} = erl_eval:exprs(Expressions, []),
    Value.

%% ---------------------------------------------------------------- other nodes

%% Another node on this machine, with the code of this one and no connection to it: it is spoken to through its standard input
%% and output, whatever becomes of its connections. It ends with the process that starts it.
start_node(Name, Flags) ->
    is_alive() orelse erlang:error(this_node_has_no_name),
    [_, Host] = string:split(atom_to_list(node()), "@"),
    Own = [unicode:characters_to_list(Flag) || Flag <- Flags],
    Common = ["-setcookie", atom_to_list(erlang:get_cookie()) | passed_on(Own) ++ Own],
    {ok, Peer, Node} = peer:start_link(#{name => unicode:characters_to_list(Name), host => Host, args => Common,
                                         longnames => net_kernel:longnames(), connection => standard_io,
                                         wait_boot => 120000}),
    {Peer, Node, list_to_integer(peer:call(Peer, os, getpid, []))}.

%% What this node was started with and another one needs as well, if it says nothing else: where the code is, and how nodes
%% talk to each other.
passed_on(Flags) ->
    Own = [["-pa", filename:absname(Path)] || Path <- code:get_path(), not lists:prefix(code:lib_dir(), Path), Path =/= ""],
    Wire = [["-" ++ atom_to_list(Flag) | Values]
            || {Flag, Values} <- init:get_arguments(), lists:member(Flag, [proto_dist, ssl_dist_optfile, kernel]),
               Flag =:= kernel orelse not lists:member("-" ++ atom_to_list(Flag), Flags)],
    lists:append(Own ++ Wire).

evaluate_on(Peer, Text, Time) ->
    peer:call(Peer, ?MODULE, evaluate, [Text], Time).
