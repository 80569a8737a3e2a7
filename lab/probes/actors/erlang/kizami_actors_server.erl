%% The programs as gen_servers: messages are casts, requests are calls, and a server that may die has a supervisor of
%% OTP.
%%
%% The parameter `queue` says where the message queue of every server is: on the heap of its process or off it.
-module(kizami_actors_server).

-behaviour(kizami_actors).
-behaviour(gen_server).

-export([run/2]).
-export([start_mortal/2]). % for kizami_actors_supervisor
-export([init/1, handle_continue/2, handle_call/3, handle_cast/2]).

-import(kizami_actors, [check/3]).

run(pingpong, #{n := N} = Params) ->
    Begun = erlang:monotonic_time(),
    Ping = start({player, self(), none, 0}, Params),
    Pong = start({player, self(), Ping, 0}, Params),
    gen_server:cast(Ping, {meet, Pong}),
    gen_server:cast(Ping, {ball, N}),
    receive {received, Received} -> ok end,
    Outcome = kizami_actors:whole(Begun),
    check("what the last one received", Received, N div 2 + 1),
    Outcome;
run('thread-ring', #{p := P, n := N} = Params) ->
    Begun = erlang:monotonic_time(),
    start({ring_parent, self(), P, N, Params}, Params),
    receive {last, Last} -> ok end,
    Outcome = kizami_actors:whole(Begun),
    check("who had the last message", Last, N rem P),
    Outcome;
run('fork-join', #{p := P, n := N} = Params) ->
    Begun = erlang:monotonic_time(),
    start({join_parent, self(), P, N, Params}, Params),
    receive {counts, Counts} -> ok end,
    Outcome = kizami_actors:whole(Begun),
    check("what the workers counted", lists:usort(Counts), [N]),
    check("how many reported", length(Counts), P),
    Outcome;
run('fork-join-create', #{p := P} = Params) ->
    Create = fun() ->
        Collector = start({collector, self(), P, []}, Params),
        start({maker, Collector, P, Params}, Params),
        receive {started, Started} -> Started end
    end,
    {Outcome, Started} = kizami_actors:creation(P, Create),
    check("how many have started", length(lists:usort(Started)), P),
    Outcome;
run(big, #{p := P} = Params) ->
    Begun = erlang:monotonic_time(),
    start({big_parent, self(), P, Params}, Params),
    receive {reports, Reports} -> ok end,
    Outcome = kizami_actors:whole(Begun),
    check("how many reported", length(Reports), P),
    [check("the sum of the senders", Senders, P * (P - 1) div 2 - Index) || {Index, Senders} <- Reports],
    Outcome;
run(ask, #{asks := Asks, others := Others} = Params) ->
    Server = start(server, Params),
    [spawn_link(fun() -> ask_on(Server) end) || _ <- lists:seq(1, Others)],
    Ask = fun(Request) -> check("the reply", gen_server:call(Server, {successor, Request}, infinity), Request + 1) end,
    kizami_actors:samples(kizami_actors:timed(Asks, Ask));
run(recover, #{crashes := Crashes} = Params) ->
    {ok, _} = kizami_actors_supervisor:start_link(Crashes, {?MODULE, start_mortal, [counters:new(1, []), Params]}),
    check("the first incarnation", gen_server:call(mortal, who), 0),
    Recover = fun(Wanted) ->
        gen_server:cast(mortal, die),
        check("the incarnation that answers", incarnation(Wanted), Wanted)
    end,
    kizami_actors:samples(kizami_actors:timed(Crashes, Recover)).

start(State, Params) ->
    {ok, Pid} = gen_server:start_link(?MODULE, State, options(Params)),
    Pid.

options(Params) ->
    [{spawn_opt, [{message_queue_data, kizami_actors:queue(Params)}]}].

ask_on(Server) ->
    _ = gen_server:call(Server, {successor, 1}, infinity),
    ask_on(Server).

%% Asks until somebody answers who is not the one that was killed.
incarnation(Wanted) ->
    Old = Wanted - 1,
    try gen_server:call(mortal, who, infinity) of
        Old -> incarnation(Wanted);
        Answer -> Answer
    catch
        exit:_ -> erlang:yield(), incarnation(Wanted)
    end.

start_mortal(Births, Params) ->
    gen_server:start_link({local, mortal}, ?MODULE, {mortal, Births}, options(Params)).

%%% the servers; what they are is the first element of their state

%% What makes others does so when it runs itself, or who started it would wait for all of that.
init({mortal, Births}) ->
    Incarnation = counters:get(Births, 1),
    ok = counters:add(Births, 1, 1),
    {ok, {mortal, Incarnation}};
init(State) when element(1, State) =:= child ->
    {child, Parent} = State,
    gen_server:cast(Parent, {started, self()}),
    {ok, State};
init(State) when is_tuple(State) ->
    {ok, State, {continue, make}};
init(State) ->
    {ok, State}.

handle_continue(make, {ring_parent, Main, P, N, Params}) ->
    Last = start({member, self(), P - 1, none}, Params),
    Make = fun(Index, Next) -> start({member, self(), Index, Next}, Params) end,
    First = lists:foldl(Make, Last, lists:seq(P - 2, 0, -1)),
    gen_server:cast(Last, {next, First}),
    Starter = start({starter, First}, Params),
    gen_server:cast(Starter, {start, N}),
    {noreply, {ring_parent, Main}};
handle_continue(make, {join_parent, Main, P, N, Params}) ->
    Workers = [start({counter, self(), N, 0}, Params) || _ <- lists:seq(1, P)],
    give(Workers, N),
    {noreply, {join_parent, Main, P, []}};
%% The children tell somebody else: each start_link waits for its own child's word among all that wait in the mailbox.
handle_continue(make, {maker, Collector, P, Params} = State) ->
    [start({child, Collector}, Params) || _ <- lists:seq(1, P)],
    {noreply, State};
handle_continue(make, {big_parent, Main, P, Params}) ->
    Workers = [start({big_worker, self(), Index, P - 1, 0}, Params) || Index <- lists:seq(0, P - 1)],
    lists:foreach(fun(Worker) -> gen_server:cast(Worker, {everybody, Workers}) end, Workers),
    {noreply, {big_parent, Main, P, []}};
handle_continue(make, State) ->
    {noreply, State}.

give(_, 0) ->
    ok;
give(Workers, N) ->
    lists:foreach(fun(Worker) -> gen_server:cast(Worker, work) end, Workers),
    give(Workers, N - 1).

handle_call({successor, Request}, _, server) ->
    {reply, Request + 1, server};
handle_call(who, _, {mortal, Incarnation} = State) ->
    {reply, Incarnation, State}.

handle_cast({ball, 0}, {player, Main, Other, Received}) ->
    Main ! {received, Received + 1},
    {noreply, {player, Main, Other, Received + 1}};
handle_cast({ball, Count}, {player, Main, Other, Received}) ->
    gen_server:cast(Other, {ball, Count - 1}),
    {noreply, {player, Main, Other, Received + 1}};
handle_cast({meet, Other}, {player, Main, _, Received}) ->
    {noreply, {player, Main, Other, Received}};
handle_cast({token, 0}, {member, Parent, Index, _} = State) ->
    gen_server:cast(Parent, {last, Index}),
    {noreply, State};
handle_cast({token, Count}, {member, _, _, Next} = State) ->
    gen_server:cast(Next, {token, Count - 1}),
    {noreply, State};
handle_cast({next, Next}, {member, Parent, Index, _}) ->
    {noreply, {member, Parent, Index, Next}};
handle_cast({start, N}, {starter, First} = State) ->
    gen_server:cast(First, {token, N}),
    {noreply, State};
handle_cast({last, _} = Report, {ring_parent, Main} = State) ->
    Main ! Report,
    {noreply, State};
handle_cast(work, {counter, Parent, N, Count}) ->
    Count + 1 =:= N andalso gen_server:cast(Parent, {counted, N}),
    {noreply, {counter, Parent, N, Count + 1}};
handle_cast({counted, Count}, {join_parent, Main, 1, Counts}) ->
    Main ! {counts, [Count | Counts]},
    {noreply, {join_parent, Main, 0, []}};
handle_cast({counted, Count}, {join_parent, Main, More, Counts}) ->
    {noreply, {join_parent, Main, More - 1, [Count | Counts]}};
handle_cast({started, Pid}, {collector, Main, 1, Pids}) ->
    Main ! {started, [Pid | Pids]},
    {noreply, {collector, Main, 0, []}};
handle_cast({started, Pid}, {collector, Main, More, Pids}) ->
    {noreply, {collector, Main, More - 1, [Pid | Pids]}};
handle_cast({everybody, All}, {big_worker, _, Index, _, _} = State) ->
    Me = self(),
    lists:foreach(fun(Worker) -> Worker =/= Me andalso gen_server:cast(Worker, {from, Index}) end, All),
    {noreply, had(State, sent)};
handle_cast({from, Sender}, State) ->
    {noreply, had(State, Sender)};
handle_cast({had, Index, Senders}, {big_parent, Main, 1, Reports}) ->
    Main ! {reports, [{Index, Senders} | Reports]},
    {noreply, {big_parent, Main, 0, []}};
handle_cast({had, Index, Senders}, {big_parent, Main, More, Reports}) ->
    {noreply, {big_parent, Main, More - 1, [{Index, Senders} | Reports]}};
handle_cast(die, {mortal, _}) ->
    error(told_to).

%% A worker of Big waits for its own round of sending and for the messages of all others.
had({big_worker, Parent, Index, More, Senders}, sent) ->
    reported({big_worker_sent, Parent, Index, More, Senders});
had({big_worker, Parent, Index, More, Senders}, Sender) ->
    {big_worker, Parent, Index, More - 1, Senders + Sender};
had({big_worker_sent, Parent, Index, More, Senders}, Sender) ->
    reported({big_worker_sent, Parent, Index, More - 1, Senders + Sender}).

reported({big_worker_sent, Parent, Index, 0, Senders} = State) ->
    gen_server:cast(Parent, {had, Index, Senders}),
    State;
reported(State) ->
    State.
