%% Orders of a callback: doing them, and waiting for the answers that the callback awaits.
%%
%% A callback orders what native code cannot do, each order with a number: its answer comes back as {Number, Event}. While the
%% callback waits, only what it waits for is received; every other message stays in the queue, in its order.
-module('MODULE_wait').

-export([settle/2, task/1, work/1, plain/2, raise/3]).
%% An alias is asked for by a pair that is no list, and what came of a call is such a pair too.
-import('MODULE_courier', [send/2]).
-import('MODULE_call', [whom/1, here/1, watch/2, ask/2, call/3, call_watched/5, late/2]).
-dialyzer({no_improper_lists, [settle/2, watching/5, order/3, await/2, forget/2]}).

%% A queue of fewer messages may be looked through for an answer, and how long it is is asked once in so many calls: while a callback
%% runs it only grows, so it happens once at most that it has become long in between.
-define(SHORT, 16).
-define(CALLS, 32).

%% What the native half says until the callback has come to its end; that result is returned. In between, Waits holds what is
%% waited for under its reference, and that reference under its number.
settle({call, Number, To, Request, Time}, Slot) ->
    %% One call and nothing else, as nearly always: received without a look at the rest of the queue.
    Process = here(To),
    again('MODULE':resume(Slot, [Number | call(Process, Request, Time)]), Process, Slot);
settle({apply, Number, Module, Function, Arguments}, Slot) ->
    settle('MODULE':resume(Slot, [Number | applied(Module, Function, Arguments)]), Slot);
settle({orders, Orders, Result}, Slot) ->
    go(Result, Slot, [], #{}, Orders);
settle(Result, Slot) when Result =:= wait; Result =:= listen; Result =:= yield ->
    go(Result, Slot, [], #{}, []);
settle(Final, _Slot) ->
    Final.

go(Result, Slot, Came, Waits, [Order | Orders]) ->
    case order(Order, Slot, Waits) of
        {came, Event} -> go(Result, Slot, [Event | Came], Waits, Orders);
        Waits1 -> go(Result, Slot, Came, Waits1, Orders)
    end;
go(yield, Slot, Came, Waits, []) ->
    erlang:yield(),
    {Events, Waits1} = await(Waits, 0),
    resume(Slot, lists:reverse(Came, Events), Waits1);
go(Result, Slot, Came, Waits, []) when Result =:= wait; Result =:= listen ->
    {Events, Waits1} =
        case Came of
            [] -> await(Waits, infinity);
            _ when map_size(Waits) =:= 0 -> {[], Waits};
            _ -> await(Waits, 0)
        end,
    resume(Slot, lists:reverse(Came, Events), Waits1);
go(Final, _Slot, _Came, Waits, []) ->
    _ = [forget(Ref, Waits) || Ref <- maps:keys(Waits), is_reference(Ref)],
    Final.

%% Who waits for nothing any more begins as at the start: the next order may be one call and nothing else.
resume(Slot, Events, Waits) when map_size(Waits) =:= 0 ->
    settle('MODULE':resume(Slot, Events), Slot);
resume(Slot, Events, Waits) ->
    case 'MODULE':resume(Slot, Events) of
        {orders, Orders, Result} -> go(Result, Slot, [], Waits, Orders);
        {What, _, _, _, _} = Order when What =:= call; What =:= apply -> go(wait, Slot, [], Waits, [Order]);
        Result -> go(Result, Slot, [], Waits, [])
    end.

%% Whoever is asked a second time is watched from then on, until the callback asks somebody else, waits for something else or has come
%% to its end: to begin and to end that at each call is a fourth of what the call takes.
again({call, _, To, _, _} = Call, Process, Slot) when is_pid(Process), node(Process) =:= node(), Process =/= self() ->
    %% An answer is looked for in the whole queue then, which must not be long.
    case here(To) =:= Process andalso process_info(self(), message_queue_len) of
        {_, Length} when Length < ?SHORT ->
            watching(Call, Process, erlang:monitor(process, Process, [{alias, demonitor}]), ?CALLS, Slot);
        _ ->
            settle(Call, Slot)
    end;
again(Result, _Process, Slot) ->
    settle(Result, Slot).

watching({call, Number, To, Request, Time} = Call, Process, Ref, Calls, Slot) when Calls > 0 ->
    case here(To) of
        Process ->
            case call_watched(Process, Ref, Number, Request, Time) of
                {over, Event} -> settle('MODULE':resume(Slot, [Number | Event]), Slot);
                Answer -> watching('MODULE':resume(Slot, [Number | Answer]), Process, Ref, Calls - 1, Slot)
            end;
        _ ->
            erlang:demonitor(Ref, [flush]),
            settle(Call, Slot)
    end;
watching(Result, Process, Ref, _Calls, Slot) ->
    erlang:demonitor(Ref, [flush]),
    again(Result, Process, Slot).

%% ---------------------------------------------------------------- orders

order({send, To, Message}, _Slot, Waits) ->
    send(To, Message),
    Waits;
order({call, Number, To, Request, Time}, _Slot, Waits) ->
    case ask(To, Request) of
        {down, _} = Down ->
            {came, {Number, Down}};
        Ref when Time =:= infinity ->
            Waits#{Ref => {call, Number}, Number => Ref};
        Ref ->
            Limit = erlang:start_timer(Time, self(), limit),
            Waits#{Ref => {call, Number, Limit}, Limit => {limit, Ref}, Number => Ref}
    end;
order({timer, Number, Time}, _Slot, Waits) ->
    Ref = erlang:start_timer(Time, self(), timer),
    Waits#{Ref => {timer, Number}, Number => Ref};
order({mailbox, Number, Ref}, _Slot, Waits) ->
    Waits#{Ref => {mailbox, Number}, Number => Ref};
order({close, Ref}, _Slot, Waits) ->
    erlang:unalias(Ref),
    flush(Ref),
    Waits;
order({spawn, Number, Worker, Linked}, _Slot, Waits) ->
    Spawn = case Linked of true -> fun proc_lib:spawn_link/3; false -> fun proc_lib:spawn/3 end,
    put({'$otp', Number}, Spawn(?MODULE, task, [Worker])),
    Waits;
order({start_all, Number, _Pool, []}, _Slot, _Waits) ->
    {came, {Number, {started, []}}};
order({start_all, Number, Pool, Arguments}, _Slot, Waits) ->
    Ref = watch(whom(Pool), [{alias, demonitor}]),
    send(Pool, {'$gen_call', {self(), [alias | Ref]}, {start_children, Arguments}}),
    Waits#{Ref => {many, Number, length(Arguments), #{}}, Number => Ref};
order({join, Number, Task}, _Slot, Waits) ->
    case get({'$otp', Task}) of
        undefined ->
            {came, {Number, {down, noproc}}};
        Pid ->
            Ref = erlang:monitor(process, Pid),
            Waits#{Ref => {task, Number}, Number => Ref}
    end;
order({cancel, Number}, _Slot, Waits) ->
    case Waits of
        #{Number := Ref} -> maps:remove(Number, forget(Ref, Waits));
        _ -> Waits
    end;
order({apply, Number, Module, Function, Arguments}, _Slot, _Waits) ->
    {came, {Number, applied(Module, Function, Arguments)}};
order({log, Level, Report, Metadata}, _Slot, Waits) ->
    'MODULE_observe':log(Level, Report, Metadata),
    Waits;
order({telemetry, Name, Measurements, Metadata}, _Slot, Waits) ->
    'MODULE_observe':execute(Name, Measurements, Metadata),
    Waits;
order({cpu, Number}, Slot, _Waits) ->
    {came, {Number, 'MODULE':work_cpu(Slot, Number)}};
order({io, Number}, Slot, _Waits) ->
    {came, {Number, 'MODULE':work_io(Slot, Number)}};
order({do, Function, Arguments}, _Slot, Waits) ->
    apply(erlang, Function, Arguments),
    Waits;
order({monitor, Number, Process}, _Slot, Waits) ->
    put({'$otp', Number}, watch(whom(Process), [{tag, {'DOWN', Number}}])),
    Waits;
order({demonitor, Number}, _Slot, Waits) ->
    case erase({'$otp', Number}) of
        undefined -> ok;
        Ref -> erlang:demonitor(Ref, [flush])
    end,
    Waits;
order({send_after, Number, Time, To, Message}, _Slot, Waits) when To =:= self() ->
    put({'$otp', Number}, erlang:send_after(Time, To, {'$otp_timer', Number, Message})),
    Waits;
order({send_after, _Number, Time, To, Message}, _Slot, Waits) when node(To) =:= node() ->
    erlang:send_after(Time, To, Message),
    Waits;
order({send_after, _Number, Time, To, Message}, _Slot, Waits) ->
    %% The VM has no timers for processes of other nodes.
    spawn_link(fun() -> receive after Time -> send(To, Message) end end),
    Waits;
order({cancel_timer, Number}, _Slot, Waits) ->
    case erase({'$otp', Number}) of
        undefined ->
            ok;
        Timer ->
            _ = erlang:cancel_timer(Timer),
            receive {'$otp_timer', Number, _} -> ok after 0 -> ok end
    end,
    Waits;
order({forget, Number}, _Slot, Waits) ->
    erase({'$otp', Number}),
    Waits;
order({take_over, Native, Old, New, What, Read, Write}, _Slot, Waits) ->
    take_over(What, Native:let_go(Old), Old, New, Read, Write),
    Waits;
order({nursery, Words}, _Slot, Waits) ->
    Before = process_flag(min_heap_size, Words),
    _ = Before > Words andalso process_flag(min_heap_size, Before),
    Waits.

%% A descriptor has come over from another build: what its owner had asked the poll set for there, and was sent no message of, is asked for
%% here. A tick that lies in the queue names the old one; the timer itself knows what is not counted yet, and is ready again at once.
take_over(as_before, {WasRead, WasWrite}, _Old, New, Read, Write) ->
    _ = WasRead andalso watch(New, read, Read),
    _ = WasWrite andalso watch(New, write, Write);
take_over(tick, _, Old, New, _, _) ->
    receive {'$otp_tick', Old} -> ok after 0 -> ok end,
    watch(New, read, {'$otp_tick', New});
take_over(never, _, _, _, _, _) ->
    ok.

%% Where the poll set does not take it, its owner is told that it is ready, and meets the error itself.
watch(Descriptor, What, Message) ->
    'MODULE':watch(Descriptor, What, Message) orelse (self() ! Message).

applied(Module, Function, Arguments) ->
    try apply(Module, Function, Arguments) of
        Value -> {ok, Value}
    catch
        Class:Reason -> {raised, Class, Reason}
    end.

%% The process of a task.
task(Worker) ->
    try work(Worker)
    catch
        Class:Error:Stack -> raise(Class, Error, Stack)
    end.

work(Worker) ->
    settle('MODULE':on(Worker, started), Worker),
    ok.

%% What an error is to its process and to all who hear of its end: without what belongs to the log alone, of a text its beginning, and
%% in its stack no arguments. Those of a native function are the slot of the process and what it was given: who is told why the process ended (its
%% supervisor, a log) would hold its state, and with it its sockets, for as long as it holds the reason.
plain({panic, Message, File, Line, Backtrace}, Stack) ->
    logger:error(#{label => {otp, backtrace}, file => File, line => Line, backtrace => Backtrace},
                 #{domain => [otp], report_cb => fun report/1}),
    plain({panic, Message, File, Line}, Stack);
plain({panic, Message, File, Line}, Stack) when is_binary(Message) ->
    {{panic, 'MODULE_bounded':text(Message), File, Line}, 'MODULE_bounded':stack(Stack)};
plain(Reason, Stack) ->
    {Reason, 'MODULE_bounded':stack(Stack)}.

-spec raise(error | exit | throw, term(), list()) -> no_return().
raise(Class, Error, Stack) ->
    {Reason, Bare} = plain(Error, Stack),
    erlang:raise(Class, Reason, Bare).

report(#{file := File, line := Line, backtrace := Backtrace}) ->
    {"the panic at ~ts:~b came about in~n~ts", [File, Line, Backtrace]}.

flush(Ref) ->
    receive
        {Ref, _} -> flush(Ref)
    after 0 ->
        ok
    end.

%% ---------------------------------------------------------------- waiting

%% What came of that which is waited for; nothing when the callback is woken, or the time is over.
await(Waits, Time) ->
    receive
        {[alias | Ref], Reply} when is_map_key(Ref, Waits) ->
            came(Ref, {reply, Reply}, Waits);
        {'DOWN', Ref, _, _, Reason} when is_map_key(Ref, Waits) ->
            came(Ref, {down, Reason}, Waits);
        {[[alias | Ref] | {ended, Index}], Reply} when is_map_key(Ref, Waits) ->
            %% A child has ended; this counts only if it had not answered before.
            #{Ref := {many, _, _, Replies}} = Waits,
            is_map_key(Index, Replies) orelse (self() ! {[[alias | Ref] | Index], Reply}),
            await(Waits, Time);
        {[[alias | Ref] | Index], Reply} when is_map_key(Ref, Waits) ->
            case Waits of
                #{Ref := {many, _, _, #{Index := _}}} ->
                    %% It was started anew since: the first answer tells how its start went.
                    await(Waits, Time);
                #{Ref := {many, Number, Count, Replies}} when map_size(Replies) + 1 =:= Count ->
                    Started = maps:to_list(Replies#{Index => Reply}),
                    {[{Number, {started, Started}}], maps:remove(Number, forget(Ref, Waits))};
                #{Ref := {many, Number, Count, Replies}} ->
                    await(Waits#{Ref := {many, Number, Count, Replies#{Index => Reply}}}, Time)
            end;
        {timeout, Ref, limit} when is_map_key(Ref, Waits) ->
            #{Ref := {limit, Call}} = Waits,
            came(Call, late(Call, [alias | Call]), Waits);
        {timeout, Ref, timer} when is_map_key(Ref, Waits) ->
            came(Ref, timeout, Waits);
        {Ref, Message} when is_reference(Ref), is_map_key(Ref, Waits) ->
            came(Ref, {message, Message}, Waits);
        '$otp_wake' ->
            {[], Waits}
    after Time ->
        {[], Waits}
    end.

came(Ref, Event, Waits) ->
    #{Ref := What} = Waits,
    Number = element(2, What),
    {[{Number, Event}], maps:remove(Number, forget(Ref, Waits))}.

%% Waits no longer for what this reference stands for.
forget(Ref, Waits) ->
    case Waits of
        #{Ref := {call, _Number, Limit}} ->
            _ = erlang:cancel_timer(Limit),
            receive {timeout, Limit, _} -> ok after 0 -> ok end,
            _ = late(Ref, [alias | Ref]),
            maps:without([Ref, Limit], Waits);
        #{Ref := {call, _Number}} ->
            _ = late(Ref, [alias | Ref]),
            maps:remove(Ref, Waits);
        #{Ref := {timer, _Number}} ->
            _ = erlang:cancel_timer(Ref),
            receive {timeout, Ref, _} -> ok after 0 -> ok end,
            maps:remove(Ref, Waits);
        #{Ref := {many, _Number, _Count, _Replies}} ->
            erlang:demonitor(Ref, [flush]),
            others(Ref),
            maps:remove(Ref, Waits);
        #{Ref := {task, _Number}} ->
            erlang:demonitor(Ref, [flush]),
            maps:remove(Ref, Waits);
        #{Ref := {mailbox, _Number}} ->
            maps:remove(Ref, Waits);
        _ ->
            Waits
    end.

%% The answers of children that nobody waits for any more.
others(Ref) ->
    receive
        {[[alias | Ref] | _], _} -> others(Ref)
    after 0 ->
        ok
    end.
