%% Calls: finding the process that an address names, the request, and its outcome, which is one of
%%
%%   {Tag, Reply}       the answer as it came
%%   {down, Reason}     the end of whoever was asked
%%   timeout            nothing, as long as the call had time
-module('MODULE_call').

-export([whom/1, here/1, watch/2, ask/2, call/3, call_watched/5, late/2]).
%% An alias is asked for by a pair that is no list.
-dialyzer({no_improper_lists, [ask/2, call/3, call_watched/5]}).

%% A process that stands for what is called: calls and monitors know no global names.
whom({global, Name}) -> found(global:whereis_name(Name));
whom({via, Module, Name}) -> found(try Module:whereis_name(Name) catch _:_ -> undefined end);
whom(To) -> To.

%% A name that nobody can bear, so that nobody is found.
found(undefined) -> '';
found(Process) -> Process.

%% An address may come from anybody, so what stands in it for a node, say, may be none. Nobody is there then.
watch(Process, Options) ->
    try erlang:monitor(process, Process, Options)
    catch error:badarg -> erlang:monitor(process, '', Options)
    end.

%% Asks as gen_server:call does: whatever comes after the wait is over goes to an alias that is gone.
ask(To, Request) ->
    case whom(To) of
        Own when Own =:= self() ->
            {down, calling_self};
        Process ->
            case is_atom(Process) andalso whereis(Process) =:= self() of
                true -> {down, calling_self};
                false ->
                    Ref = watch(Process, [{alias, reply_demonitor}]),
                    try erlang:send(Process, {'$gen_call', {self(), [alias | Ref]}, Request}, [noconnect])
                    catch error:badarg -> nobody
                    end,
                    Ref
            end
    end.

call(To, Request, infinity) when is_pid(To), To =/= self(), node(To) =:= node() ->
    %% Nothing comes after the wait is over: it ends with the answer or with the process.
    Ref = erlang:monitor(process, To),
    To ! {'$gen_call', {self(), Ref}, Request},
    receive
        {Ref, _} = Answer ->
            erlang:demonitor(Ref, [flush]),
            Answer;
        {'DOWN', Ref, _, _, Reason} ->
            {down, Reason}
    end;
call(To, Request, Time) when is_pid(To), To =/= self() ->
    Ref = erlang:monitor(process, To, [{alias, reply_demonitor}]),
    erlang:send(To, {'$gen_call', {self(), [alias | Ref]}, Request}, [noconnect]),
    receive
        {[alias | Ref], _} = Answer -> Answer;
        {'DOWN', Ref, _, _, Reason} -> {down, Reason}
    after Time ->
        late(Ref, [alias | Ref])
    end;
call(To, Request, Time) ->
    Nobody = is_atom(To) andalso whereis(To) =:= undefined,
    case Nobody orelse ask(To, Request) of
        true -> {down, noproc};
        {down, _} = Down -> Down;
        Ref ->
            receive
                {[alias | Ref], _} = Answer -> Answer;
                {'DOWN', Ref, _, _, Reason} -> {down, Reason}
            after Time ->
                late(Ref, [alias | Ref])
            end
    end.

%% Asks a process of this node that Ref watches, and whose answer may come to it as an alias. A limit needs that: what comes after it
%% must go nowhere. {over, Event} when it is watched no longer.
call_watched(Process, Ref, _Number, Request, infinity) ->
    Tag = make_ref(),
    Process ! {'$gen_call', {self(), Tag}, Request},
    receive
        {Tag, _} = Answer -> Answer;
        {'DOWN', Ref, _, _, Reason} -> {over, {down, Reason}}
    end;
call_watched(Process, Ref, Number, Request, Time) ->
    Tag = [[alias | Ref] | Number],
    Process ! {'$gen_call', {self(), Tag}, Request},
    receive
        {[[alias | Ref] | Number], _} = Answer -> Answer;
        {'DOWN', Ref, _, _, Reason} -> {over, {down, Reason}}
    after Time ->
        {over, late(Ref, Tag)}
    end.

%% The process that bears a name on this node; whatever else it is, itself.
here(Name) when is_atom(Name) ->
    case whereis(Name) of
        Process when is_pid(Process), Process =/= self() -> Process;
        _ -> Name
    end;
here(To) ->
    To.

%% The time is over, but the answer may have come while that was found out.
late(Ref, Tag) ->
    erlang:demonitor(Ref, [flush]),
    receive
        {Tag, _} = Answer -> Answer
    after 0 ->
        timeout
    end.
