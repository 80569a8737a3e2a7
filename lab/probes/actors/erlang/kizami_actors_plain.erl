%% The programs as processes that receive and send, without OTP: the performance of the VM itself.
%%
%% Every process is linked to the one that made it, as Erlang programs do. There is no supervisor; `recover` has a
%% supervising process written by hand, which traps exits and starts a replacement.
-module(kizami_actors_plain).

-behaviour(kizami_actors).

-export([run/2]).

-import(kizami_actors, [check/3]).

run(pingpong, #{n := N}) ->
    Main = self(),
    Begun = erlang:monotonic_time(),
    Ping = spawn_link(fun() -> receive {meet, Other} -> player(Main, Other, 0) end end),
    Pong = spawn_link(fun() -> player(Main, Ping, 0) end),
    Ping ! {meet, Pong},
    Ping ! {ball, N},
    receive {received, Received} -> ok end,
    Outcome = kizami_actors:whole(Begun),
    check("what the last one received", Received, N div 2 + 1),
    Outcome;
run('thread-ring', #{p := P, n := N}) ->
    Main = self(),
    Begun = erlang:monotonic_time(),
    spawn_link(fun() -> ring_parent(Main, P, N) end),
    receive {last, Last} -> ok end,
    Outcome = kizami_actors:whole(Begun),
    check("who had the last message", Last, N rem P),
    Outcome;
run('fork-join', #{p := P, n := N}) ->
    Main = self(),
    Begun = erlang:monotonic_time(),
    spawn_link(fun() -> join_parent(Main, P, N) end),
    receive {counts, Counts} -> ok end,
    Outcome = kizami_actors:whole(Begun),
    check("what the workers counted", lists:usort(Counts), [N]),
    check("how many reported", length(Counts), P),
    Outcome;
run('fork-join-create', #{p := P}) ->
    Main = self(),
    Create = fun() ->
        spawn_link(fun() -> create_parent(Main, P) end),
        receive {started, Started} -> Started end
    end,
    {Outcome, Started} = kizami_actors:creation(P, Create),
    check("how many have started", length(lists:usort(Started)), P),
    Outcome;
run(big, #{p := P}) ->
    Main = self(),
    Begun = erlang:monotonic_time(),
    spawn_link(fun() -> big_parent(Main, P) end),
    receive {reports, Reports} -> ok end,
    Outcome = kizami_actors:whole(Begun),
    check("how many reported", length(Reports), P),
    [check("the sum of the senders", Senders, P * (P - 1) div 2 - Index) || {Index, Senders} <- Reports],
    Outcome;
run(ask, #{asks := Asks, others := Others}) ->
    Server = spawn_link(fun server/0),
    [spawn_link(fun() -> ask_on(Server) end) || _ <- lists:seq(1, Others)],
    Samples = kizami_actors:timed(Asks, fun(Request) -> check("the reply", call(Server, Request), Request + 1) end),
    kizami_actors:samples(Samples);
run(recover, #{crashes := Crashes}) ->
    Keeper = spawn_link(fun() -> process_flag(trap_exit, true), keeper(1, mortal(0)) end),
    Main = self(),
    Keeper ! {ready, Main},
    receive ready -> ok end,
    check("the first incarnation", call(mortal, who), 0),
    Recover = fun(Wanted) ->
        mortal ! die,
        check("the incarnation that answers", incarnation(Wanted), Wanted)
    end,
    kizami_actors:samples(kizami_actors:timed(Crashes, Recover)).

player(Main, Other, Received) ->
    receive
        {ball, 0} ->
            Main ! {received, Received + 1};
        {ball, Count} ->
            Other ! {ball, Count - 1},
            player(Main, Other, Received + 1)
    end.

%% From the last to the first, so that each but the last knows the next when it begins.
ring_parent(Main, P, N) ->
    Parent = self(),
    Last = spawn_link(fun() -> receive {next, Next} -> member(Parent, P - 1, Next) end end),
    Make = fun(Index, Next) -> spawn_link(fun() -> member(Parent, Index, Next) end) end,
    First = lists:foldl(Make, Last, lists:seq(P - 2, 0, -1)),
    Last ! {next, First},
    spawn_link(fun() -> First ! {token, N} end),
    receive {last, _} = Report -> Main ! Report end.

member(Parent, Index, Next) ->
    receive
        {token, 0} -> Parent ! {last, Index};
        {token, Count} -> Next ! {token, Count - 1}
    end,
    member(Parent, Index, Next).

join_parent(Main, P, N) ->
    Parent = self(),
    Workers = [spawn_link(fun() -> counter(Parent, N, 0) end) || _ <- lists:seq(1, P)],
    give(Workers, N),
    Main ! {counts, [receive {counted, Count} -> Count end || _ <- Workers]}.

give(_, 0) ->
    ok;
give(Workers, N) ->
    lists:foreach(fun(Worker) -> Worker ! work end, Workers),
    give(Workers, N - 1).

counter(Parent, N, N) ->
    Parent ! {counted, N};
counter(Parent, N, Count) ->
    receive work -> counter(Parent, N, Count + 1) end.

create_parent(Main, P) ->
    Parent = self(),
    Child = fun() ->
        Parent ! {started, self()},
        receive stop -> ok end
    end,
    Children = [spawn_link(Child) || _ <- lists:seq(1, P)],
    Main ! {started, [receive {started, Pid} -> Pid end || _ <- Children]},
    receive stop -> ok end.

big_parent(Main, P) ->
    Parent = self(),
    Workers = [spawn_link(fun() -> receive {everybody, All} -> big_worker(Parent, Index, P, All) end end)
               || Index <- lists:seq(0, P - 1)],
    lists:foreach(fun(Worker) -> Worker ! {everybody, Workers} end, Workers),
    Main ! {reports, [receive {had, Index, Senders} -> {Index, Senders} end || _ <- Workers]}.

big_worker(Parent, Index, P, All) ->
    Me = self(),
    lists:foreach(fun(Worker) -> Worker =/= Me andalso (Worker ! {from, Index}) end, All),
    Parent ! {had, Index, had(P - 1, 0)}.

had(0, Senders) ->
    Senders;
had(More, Senders) ->
    receive {from, Sender} -> had(More - 1, Senders + Sender) end.

server() ->
    receive {Reference, Client, Request} -> Client ! {Reference, Request + 1} end,
    server().

%% As the manuals have it: a reference made before the message is sent, so that the receive looks at nothing older, and a
%% monitor, or a server that is gone would be waited for.
call(Server, Request) ->
    Reference = monitor(process, Server),
    Server ! {Reference, self(), Request},
    receive
        {Reference, Reply} ->
            demonitor(Reference, [flush]),
            Reply;
        {'DOWN', Reference, process, _, _} ->
            gone
    end.

ask_on(Server) ->
    _ = call(Server, 1),
    ask_on(Server).

%% Starts another when one has died.
keeper(Next, Pid) ->
    receive
        {ready, Main} ->
            Main ! ready,
            keeper(Next, Pid);
        {'EXIT', Pid, _} ->
            keeper(Next + 1, mortal(Next))
    end.

mortal(Incarnation) ->
    Pid = spawn_link(fun() -> mortal_loop(Incarnation) end),
    true = register(mortal, Pid),
    Pid.

mortal_loop(Incarnation) ->
    receive
        die -> error(told_to);
        {Reference, Client, who} -> Client ! {Reference, Incarnation}
    end,
    mortal_loop(Incarnation).

%% Asks until somebody answers who is not the one that was killed.
incarnation(Wanted) ->
    Old = Wanted - 1,
    try call(mortal, who) of
        gone -> erlang:yield(), incarnation(Wanted);
        Old -> incarnation(Wanted);
        Answer -> Answer
    catch
        %% Nobody has the name yet.
        error:badarg -> erlang:yield(), incarnation(Wanted)
    end.
