%% The processes of an application, and how they go over to this build: all together, or none. See MODULE_upgrade.
-module('MODULE_move').

-export([processes_of/1, round/3, stragglers/4, handlers/1, behaviour/1, family/1]).
-export([fail/2, name/1, now_ms/0, reason/1, text/2]).

%% An alias is asked for by a pair that is no list; an application may have no behaviour of one of the kinds.
-dialyzer([{no_improper_lists, ask/2}, {no_match, jobs/1}]).

%% How long it is waited for a process that is suspended, and only has its own work to do.
-define(OWN_WORK, 60000).
%% How often it is looked whether suspended processes keep others from coming to an end.
-define(LOOK, 20).

%% ---------------------------------------------------------------- which processes there are

%% {Kind, Pid, Module} of each that the application has, whoever supervises it.
processes_of(Known) ->
    [One || Pid <- processes(), Pid =/= self(), One <- kind(Pid, Known)].

kind(Pid, Known) ->
    case process_info(Pid, dictionary) of
        {dictionary, Dictionary} ->
            case lists:keyfind('$initial_call', 1, Dictionary) of
                {_, {gen_event, init_it, 6}} -> [{manager, Pid, gen_event}];
                {_, {supervisor, Module, 1}} -> [{supervises(kind_of(Module)), Pid, Module} || lists:member(Module, Known)];
                {_, {Module, Function, _}} ->
                    case lists:member(Module, Known) of
                        true when Function =:= init -> [{kind_of(Module), Pid, Module}];
                        _ -> [{under_way(Function), Pid, Module} || family(Module) =/= none]
                    end;
                false -> []
            end;
        undefined -> []
    end.

supervises(supervisor) -> supervisor;
supervises(gone) -> gone;
supervises(_) -> pool.

under_way(task) -> task;
under_way(_) -> starting.

kind_of(Module) -> element(1, behaviour(Module)).

%% {Kind, Number, Options} of a module in this build.
behaviour(Module) ->
    case lists:keyfind(Module, 1, behaviours()) of
        {_, Kind, Number, Options} -> {Kind, Number, Options};
        false -> {gone, none, []}
    end.

%% The native module of the build of this application that a module belongs to, or none.
family(Module) ->
    case split(Module) of
        {Name, Sum} ->
            case split('MODULE') of
                {Name, _} -> list_to_atom(Name ++ "_" ++ Sum);
                _ -> none
            end;
        none -> none
    end.

split(Module) ->
    Form = "^(.+)_([0-9a-f]{8})(_[a-z]+)?$",
    case re:run(atom_to_list(Module), Form, [{capture, [1, 2], list}]) of
        {match, [Name, Sum]} -> {Name, Sum};
        nomatch -> none
    end.

%% ---------------------------------------------------------------- one round: suspend, prepare, go over, go on

%% #{Pid => What} of those that were moved, a word on those that were not, and how long in nanoseconds; Switch is done when
%% nothing else can fail any more.
round(All, Deadline, Switch) ->
    Those = [One || One = {Kind, _, _} <- All, lists:member(Kind, [server, statem, pool, manager])],
    Since = suspend([Pid || {_, Pid, _} <- Those], Deadline),
    try
        Jobs = [Job || One = {_, Pid, _} <- Those, is_map_key(Pid, Since), Job <- jobs(One)],
        try
            case [{Job, Why} || {Job, {error, Why}} <- each(Jobs, fun prepare/1)] of
                [] -> Switch();
                Wrong -> throw({failed, cannot(Wrong) ++ advice(Wrong)})
            end
        catch
            Class:Reason:Stack ->
                _ = each(Jobs, fun({Module, _, _, _}) -> {change_code, Module, undefined, otp_back} end),
                erlang:raise(Class, Reason, Stack)
        end,
        each(Jobs, fun commit/1)
    of
        Done ->
            Now = now_ns(),
            {maps:from_list([{Pid, What} || {{Pid, {_, _, _, What}}, ok} <- Done]),
             [{"warning", Text} || {_, Text} <- cannot([{Job, Why} || {Job, {error, Why}} <- Done])],
             lists:max([0 | [Now - Then || Then <- maps:values(Since)]])}
    after
        resume(maps:keys(Since))
    end.

%% {Pid, {Module, Number, Options, What}}: what is to go over in a suspended process.
jobs({pool, Pid, Module}) ->
    [{Pid, {Module, none, [], "pool of " ++ atom_to_list(Module)}}];
jobs({statem, Pid, Module}) ->
    {_, Number, Options} = behaviour(Module),
    case state(Pid) of
        {_State, {'MODULE_statem', _Slot}} -> [];
        _ -> [{Pid, {Module, Number, Options, atom_to_list(Module)}}]
    end;
jobs({server, Pid, Module}) ->
    {_, Number, Options} = behaviour(Module),
    [{Pid, {Module, Number, Options, atom_to_list(Module)}}];
jobs({manager, Pid, _}) ->
    [{Pid, {Module, Number, [], "handler " ++ atom_to_list(Module)}}
     || Module <- lists:usort([Module || {Module, _} <- handlers(Pid)]), {event, Number, _} <- [behaviour(Module)]].

%% {Module, Half} of the handlers of a manager that are in other builds of the application.
handlers(Pid) ->
    case state(Pid) of
        States when is_list(States) ->
            [{Module, Half} || {Module, _Id, {Half, _Slot}} <- States, is_atom(Half), Half =/= 'MODULE_event',
                               family(Half) =/= none];
        _ -> []
    end.

%% The state as sys(3) has it, of which only what no form of the user's is looked at.
state(Pid) ->
    case answer(ask(Pid, get_state)) of
        {ok, State} -> State;
        State -> State
    end.

prepare({Module, Number, _, _}) -> {change_code, Module, undefined, {otp_prepare, 'MODULE', Number}}.

commit({Module, Number, Options, _}) -> {change_code, Module, undefined, {otp_commit, 'MODULE', Number, Options}}.

%% All are asked, then all answers awaited.
each(Jobs, Request) ->
    Asked = [{Job, ask(Pid, Request(About))} || Job = {Pid, About} <- Jobs],
    [{Job, answer(Ref)} || {Job, Ref} <- Asked].

%% A request of sys(3).
ask(Pid, Request) ->
    Ref = erlang:monitor(process, Pid, [{alias, reply_demonitor}]),
    Pid ! {system, {self(), [alias | Ref]}, Request},
    Ref.

answer(Ref) ->
    receive
        {[alias | Ref], Reply} -> Reply;
        {'DOWN', Ref, process, _, _} -> gone
    after ?OWN_WORK ->
        {error, <<"it does not answer">>}
    end.

%% Suspends all, and says since when each is. A process may be in a callback that waits for another one that is suspended
%% already: that one is let go on once more, through what lies in its queue, and is suspended again.
suspend(Pids, Deadline) ->
    suspend(maps:from_list([{ask(Pid, suspend), Pid} || Pid <- Pids]), #{}, Deadline).

suspend(Asked, Since, _Deadline) when map_size(Asked) =:= 0 ->
    Since;
suspend(Asked, Since, Deadline) ->
    receive
        {[alias | Ref], _} when is_map_key(Ref, Asked) ->
            {Pid, Rest} = maps:take(Ref, Asked),
            suspend(Rest, maps:merge(#{Pid => now_ns()}, Since), Deadline);
        {'DOWN', Ref, process, _, _} when is_map_key(Ref, Asked) ->
            {Pid, Rest} = maps:take(Ref, Asked),
            suspend(Rest, maps:remove(Pid, Since), Deadline)
    after ?LOOK ->
        Late = maps:values(Asked),
        case now_ms() < Deadline of
            true ->
                For = lists:usort([Pid || One <- Late, Pid <- waits_for(One)]),
                Again = [Pid || Pid <- For, is_map_key(Pid, Since), not lists:member(Pid, Late)],
                resume(Again),
                suspend(maps:merge(Asked, maps:from_list([{ask(Pid, suspend), Pid} || Pid <- Again])), Since, Deadline);
            false ->
                Doing = [{"error", text("~ts has not come to the end of a callback in time; it is in ~ts", [name(Pid), doing(Pid)])}
                         || Pid <- lists:sublist(Late, 10)],
                %% Those that will be suspended yet find this after it.
                resume(maps:keys(Since) ++ Late),
                throw({failed, Doing})
        end
    end.

resume(Pids) ->
    lists:foreach(fun(Pid) -> Pid ! {system, {self(), make_ref()}, resume} end, Pids).

waits_for(Pid) ->
    case process_info(Pid, monitors) of
        {monitors, Monitors} -> [Other || {process, Process} <- Monitors, Other <- local(Process)];
        undefined -> []
    end.

local(Pid) when is_pid(Pid) -> [Pid];
local({Name, Node}) when Node =:= node() -> [Pid || Pid <- [whereis(Name)], is_pid(Pid)];
local(_) -> [].

doing(Pid) ->
    case process_info(Pid, current_function) of
        {_, {Module, Function, Arity}} -> text("~ts:~ts/~b", [Module, Function, Arity]);
        undefined -> "nothing any more"
    end.

%% Processes that began in the build before while the others went over.
stragglers(_Known, _Done, _Time, 0) ->
    {#{}, []};
stragglers(Known, Done, Time, Rounds) ->
    case [One || One = {_, Pid, _} <- processes_of(Known), not is_map_key(Pid, Done), not is_here(One)] of
        [] ->
            {#{}, []};
        Others ->
            try round(Others, now_ms() + Time, fun() -> ok end) of
                {Moved, Stuck, _} when map_size(Moved) =:= 0 ->
                    {#{}, Stuck};
                {Moved, Stuck, _} ->
                    {Late, Failed} = stragglers(Known, maps:merge(Done, Moved), Time, Rounds - 1),
                    {maps:merge(Moved, Late), Stuck ++ Failed}
            catch
                throw:{failed, Lines} ->
                    {#{}, [{"warning", "begun meanwhile, and left in the build before: " ++ Text} || {_, Text} <- Lines]}
            end
    end.

%% Whether it is known to be in this build.
is_here({server, Pid, _}) -> process_info(Pid, current_function) =:= {current_function, {'MODULE', loop, 2}};
is_here({pool, Pid, _}) -> process_info(Pid, current_function) =:= {current_function, {'MODULE_pool', loop, 1}};
is_here({Kind, _, _}) -> not lists:member(Kind, [statem, manager]).

%% ---------------------------------------------------------------- words

-spec fail(string(), [term()]) -> no_return().
fail(Format, Values) -> throw({failed, [{"error", text(Format, Values)}]}).

%% Why processes cannot go over, once for those of a kind that say the same.
cannot(Wrong) ->
    Told = lists:foldl(fun({{Pid, {_, _, _, What}}, Why}, All) ->
        maps:update_with({What, reason(Why)}, fun(Pids) -> [Pid | Pids] end, [Pid], All)
    end, #{}, Wrong),
    [{"error", text("~ts (~ts~ts) cannot go over: ~ts", [What, name(lists:last(Pids)), more(length(Pids) - 1), Why])}
     || {{What, Why}, Pids} <- lists:sort(maps:to_list(Told))].

%% What to do about states of another form.
advice(Wrong) ->
    [{"note", "a state of another form goes over by an #[upgrade] of its behaviour, which takes the old one: "
              "`#[upgrade] fn from_old(old: Old) -> Self`, where Old derives otp::Data"}
     || lists:any(fun({_, Why}) -> lists:prefix("expected ", reason(Why)) end, Wrong)].

more(0) -> "";
more(Number) -> text(" and ~b more", [Number]).

reason({'EXIT', {{badmatch, {error, Why}}, _}}) -> reason(Why);
reason({'EXIT', {Why, _Stack}}) -> reason(Why);
reason({error, Why}) -> reason(Why);
reason({panic, Message, File, Line}) -> text("it panicked at ~ts:~b: ~ts", [File, Line, Message]);
reason({panic, Message, File, Line, _Trace}) -> reason({panic, Message, File, Line});
reason(Why) when is_binary(Why) -> text("~ts", [Why]);
reason(Why) -> text("~tp", [Why]).

name(Pid) ->
    case process_info(Pid, registered_name) of
        {registered_name, Name} -> atom_to_list(Name);
        _ -> pid_to_list(Pid)
    end.

text(Format, Values) -> lists:flatten(io_lib:format(Format, Values)).

now_ms() -> erlang:monotonic_time(millisecond).

now_ns() -> erlang:monotonic_time(nanosecond).

%% ---------------------------------------------------------------- what this build has

