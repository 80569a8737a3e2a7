%% Moving the processes of an application to this build: all that can go over together, or none. See MODULE_upgrade.
-module('MODULE_move').

-export([processes_of/1, round/4, stragglers/5, handlers/1, behaviour/1, family/1, text_of/1]).
-export([fail/2, alike/1, name/1, names/1, now_ms/0, reason/1, text/2]).

%% An alias is asked for by a pair that is no list; an application may have no behaviour of one of the kinds, and none that stays.
-dialyzer([{no_improper_lists, ask/2}, {no_match, [jobs/1, round/4]}, {no_unused, [rests/1, build_of/1]}]).

%% How long it is waited for a process that is suspended, and only has its own work to do.
-define(OWN_WORK, 60000).
%% How long it is waited for one that is not, to say what it is.
-define(STATUS, 1000).
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

%% A number for the text of a behaviour's callbacks in this build.
text_of(Module) -> proplists:get_value(Module, texts()).

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

%% moved: #{Pid => What} of those that go on in this build; stays: {{Pid, About}, Half, Why} of those that do not, each with the module of its
%% build that it is in, where Why is restart of those that are to be started anew; failed: a word on those that should have; suspended: for
%% how many nanoseconds at most; ready: what Ready gave, which is done when all are suspended. Switch is done when nothing else can fail
%% any more. Where the mode is strict none may stay.
round(All, Deadline, Mode, {Ready, Switch}) ->
    {Left, Those} = lists:partition(fun is_left/1, [One || One = {Kind, _, _} <- All, lists:member(Kind, [server, statem, pool, manager])]),
    Resting = [Stay || One <- Left, Stay <- rests(One)],
    Mode =/= strict orelse Resting =:= [] orelse throw({failed, cannot([{Job, Why} || {Job, _, Why} <- Resting])}),
    Since = suspend([Pid || {_, Pid, _} <- Those], Deadline),
    try
        Jobs = [Job || One = {_, Pid, _} <- Those, is_map_key(Pid, Since), Job <- jobs(One)],
        {Told, Stays} = try
            Before = Ready(),
            {Stay, Wrong} = outcomes(each(Jobs, fun prepare/1), Mode),
            Wrong =:= [] orelse throw({failed, cannot(Wrong) ++ advice(Wrong)}),
            Switch(),
            {Before, Stay}
        catch
            Class:Reason:Stack ->
                _ = each(Jobs, fun({Module, _, _, _}) -> {change_code, Module, undefined, otp_back} end),
                erlang:raise(Class, Reason, Stack)
        end,
        {Told, Stays, each(Jobs -- [Job || {Job, _, _} <- Stays], fun commit/1)}
    of
        {First, Staying, Done} ->
            Now = now_ns(),
            #{ready => First,
              moved => maps:from_list([{Pid, What} || {{Pid, {_, _, _, What}}, ok} <- Done]),
              stays => Resting ++ Staying,
              failed => [{"warning", Text} || {_, Text} <- cannot([{Job, Why} || {Job, {error, Why}} <- Done])],
              suspended => lists:max([0 | [Now - Then || Then <- maps:values(Since)]])}
    after
        resume(maps:keys(Since))
    end.

%% Whether its behaviour says that its processes stay. They are not suspended: what they do may take as long as it likes.
is_left({Kind, _, Module}) when Kind =:= server; Kind =:= statem ->
    {_, _, Options} = behaviour(Module),
    lists:member({on_upgrade, stay}, Options);
is_left(_) ->
    false.

%% Nothing of one that began in this build.
rests({_, Pid, Module}) ->
    case build_of(Pid) of
        'MODULE' -> [];
        Build ->
            {_, Number, Options} = behaviour(Module),
            [{{Pid, {Module, Number, Options, atom_to_list(Module)}}, Build, <<"its behaviour says so (on_upgrade = stay)">>}]
    end.

%% The native module of the build that a process is in, as what it does shows it, or as it says itself; unknown where neither does.
build_of(Pid) ->
    case shown(Pid) of
        none ->
            try {sys:get_status(Pid, ?STATUS), state(Pid)} of
                {{status, Pid, {module, gen_statem}, _}, {_State, {Half, _Slot}}} -> family(Half);
                {{status, Pid, {module, Native}, _}, _} when Native =/= gen_statem -> family(Native);
                _ -> unknown
            catch
                exit:_ -> unknown
            end;
        Build ->
            Build
    end.

%% The same, as what it does shows it; none where that is nothing of ours.
shown(Pid) ->
    case process_info(Pid, current_stacktrace) of
        {_, Places} -> hd([Build || {Module, _, _, _} <- Places, Build <- [family(Module)], Build =/= none] ++ [none]);
        undefined -> none
    end.

%% What came of the first step: who stays, and what is wrong.
outcomes(Answers, Mode) ->
    lists:foldr(fun
        ({Job, {error, Why}}, {Stay, Wrong}) ->
            case stays(Why) of
                {Half, Reason} when Mode =/= strict; Reason =:= restart -> {[{Job, Half, Reason} | Stay], Wrong};
                _ -> {Stay, [{Job, Why} | Wrong]}
            end;
        (_, All) ->
            All
    end, {[], []}, Answers).

%% {Half, Why} of one that may stay in its build, however sys(3) wraps that.
stays({stays, Half, Why}) -> {Half, Why};
stays({error, Why}) -> stays(Why);
stays({'EXIT', {{badmatch, {error, Why}}, _}}) -> stays(Why);
stays(_) -> no.

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

prepare({Module, Number, Options, _}) ->
    How = proplists:get_value(on_upgrade, Options, Number),
    {change_code, Module, undefined, {otp_prepare, 'MODULE', How}}.

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

%% Processes that began in the build before while the others went over: what round/4 says of them, but for the time.
stragglers(_Known, Done, _Time, _Mode, 0) ->
    Done;
stragglers(Known, #{moved := Moved, stays := Stays, failed := Failed} = Done, Time, Mode, Rounds) ->
    Seen = maps:merge(Moved, maps:from_list([{Pid, stays} || {{Pid, _}, _, _} <- Stays])),
    Others = [One || One = {_, Pid, _} <- processes_of(Known), not is_map_key(Pid, Seen), not is_here(One)],
    try Others =/= [] andalso round(Others, now_ms() + Time, Mode, {fun() -> [] end, fun() -> ok end}) of
        false ->
            Done;
        #{moved := Late, stays := Stay, failed := Stuck} ->
            Now = Done#{moved := maps:merge(Moved, Late), stays := Stays ++ Stay, failed := Failed ++ Stuck},
            case map_size(Late) of
                0 -> Now;
                _ -> stragglers(Known, Now, Time, Mode, Rounds - 1)
            end
    catch
        throw:{failed, Lines} ->
            Done#{failed := Failed ++ [{"warning", "begun meanwhile, and left in the build before: " ++ Text} || {_, Text} <- Lines]}
    end.

%% Whether it is known to be in this build: what it does shows it, unless it is in a loop of OTP's, or in none.
is_here({Kind, Pid, _}) when Kind =:= server; Kind =:= pool -> shown(Pid) =:= 'MODULE';
is_here({Kind, _, _}) -> not lists:member(Kind, [statem, manager]).

%% ---------------------------------------------------------------- words

-spec fail(string(), [term()]) -> no_return().
fail(Format, Values) -> throw({failed, [{"error", text(Format, Values)}]}).

%% Why processes cannot go over, once for those of a kind that say the same.
cannot(Wrong) ->
    [{"error", text("~ts (~ts) cannot go over: ~ts", [What, names(Names), Why])}
     || {{What, Why}, Names} <- alike([{{What, reason(Why)}, name(Pid)} || {{Pid, {_, _, _, What}}, Why} <- Wrong])].

%% The second of the pairs that have the same first, in the order of the firsts.
alike(Pairs) ->
    Add = fun({First, Second}, All) -> maps:update_with(First, fun(Seconds) -> [Second | Seconds] end, [Second], All) end,
    lists:sort(maps:to_list(lists:foldl(Add, #{}, Pairs))).

%% What to do about states of another form.
advice(Wrong) ->
    [{"note", "a state of another form goes over by an #[upgrade] of its behaviour, which takes the old one: "
              "`#[upgrade] fn from_old(old: Old) -> Self`, where Old derives otp::Data"}
     || lists:any(fun({_, Why}) -> lists:prefix("expected ", reason(Why)) end, Wrong)].

%% The first, and how many more there are.
names(Names) ->
    case lists:reverse(Names) of
        [One] -> One;
        [One | More] -> text("~ts and ~b more", [One, length(More)])
    end.

reason({'EXIT', {{badmatch, {error, Why}}, _}}) -> reason(Why);
reason({'EXIT', {Why, _Stack}}) -> reason(Why);
reason({error, Why}) -> reason(Why);
reason({stays, _Half, Why}) -> reason(Why);
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

