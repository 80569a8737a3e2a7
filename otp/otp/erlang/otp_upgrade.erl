%% Upgrading a running application to this build, with its processes and their states.
%%
%% In this order, so that all that can fail does so before anything is changed:
%%
%%   1. this build's library and modules are loaded beside the running ones, which bear other names;
%%   2. its trees are made, to see that they can be, and how they differ from the running ones;
%%   3. all processes of the application are suspended, each after the callback that is under way;
%%   4. the statics that are kept get the values that they have in the running build;
%%   5. each process makes its state of this build from the one it has, and keeps both;
%%   6. the modules of the behaviours take the place of the running ones, all in one step;
%%   7. each process goes over to this build, and on;
%%   8. the supervisors get the new trees; what is new in them is started, and what is not in them any more is ended;
%%   9. what is to be started anew is ended, after the messages that it has, and started by its supervisor;
%%  10. the builds before, which no process is in any more, are unloaded.
%%
%% A process whose state has no form to go over in stays in its build, and so does one whose behaviour says so: that is told.
%%
%% Until the sixth step whatever goes wrong is told, and all goes on in the build before. A process is told by change_code of
%% sys(3) what to do: {otp_prepare, Native, Number} is step 5, {otp_commit, Native, Number, Options} step 7, otp_back forgets
%% step 5. The state of this build lies in the dictionary of its process meanwhile, so that sys(3) sees the one that counts.
-module('MODULE_upgrade').

-export([main/1]).

-import('MODULE_move', [processes_of/1, round/4, stragglers/5, handlers/1, behaviour/1, family/1, alike/1, fail/2, name/1, names/1,
                        now_ms/0, reason/1, text/2]).

%% How often it is looked whether code from before is still in use.
-define(LOOK, 20).
%% How long it is waited at least for processes that were told to go on.
-define(GO_ON, 5000).

-type lines() :: [{Word :: string(), Text :: string()}].

%% Upgrades the application of this name with what lies in the folder, and says in words what was done.
-spec main(#{application := atom(), ebin := string(), timeout := non_neg_integer(), mode => strict | lenient}) -> {ok | failed, lines()}.
main(Options) ->
    %% In a process of its own: what it has begun must come to an end, even if whoever asked is gone.
    {Pid, Ref} = spawn_monitor(fun() -> exit({done, alone(Options)}) end),
    receive
        {'DOWN', Ref, process, Pid, {done, Result}} -> Result;
        {'DOWN', Ref, process, Pid, Why} -> {failed, [{"error", text("the upgrade itself failed: ~tp", [Why])}]}
    end.

alone(Options) ->
    try
        try register(otp_upgrade, self())
        catch error:badarg -> fail("another upgrade of this node is under way", [])
        end,
        upgrade(Options)
    catch
        throw:{failed, Lines} -> {failed, Lines}
    end.

upgrade(#{application := Application, ebin := Ebin, timeout := Time} = Options) ->
    lists:keymember(Application, 1, application:which_applications())
        orelse fail("~ts does not run in ~ts", [Application, node()]),
    {ok, Before} = application:get_key(Application, modules),
    Resource = resource(filename:join(Ebin, text("~ts.app", [Application]))),
    {modules, Modules} = lists:keyfind(modules, 1, element(3, Resource)),
    {Own, Generated} = lists:partition(fun(Module) -> family(Module) =:= 'MODULE' end, Modules),
    %% Others than the native one may be loaded already, because this one calls them. This one is unloaded by who loaded it.
    New = [Module || Module <- Own, Module =/= ?MODULE, not erlang:module_loaded('MODULE')],
    try
        [load(Module, Ebin) || Module <- New, not erlang:module_loaded(Module)],
        'MODULE_observe':start(),
        Files = [{Module, File, read(File)}
                 || Module <- Generated, File <- [filename:join(Ebin, text("~ts.beam", [Module]))]],
        case [Module || {Module, _, Code} <- Files, not is_loaded(Module, Code)] of
            [] -> {ok, [{"Unchanged", text("~ts runs this build already", [Application])}]};
            _ ->
                Mode = maps:get(mode, Options, lenient),
                change(Application, Resource, lists:usort(Before ++ Generated), prepared(Files), Time, Mode)
        end
    catch
        throw:{failed, Lines} ->
            %% Nobody is in it.
            New =:= [] orelse 'MODULE_observe':stop('MODULE_observe'),
            unload(New),
            throw({failed, Lines})
    end.

resource(File) ->
    case file:consult(File) of
        {ok, [{application, _, _} = Resource]} -> Resource;
        {error, Why} -> fail("~ts cannot be read: ~ts", [File, file:format_error(Why)])
    end.

load(Module, Ebin) ->
    case code:load_abs(filename:join(Ebin, atom_to_list(Module))) of
        {module, Module} -> ok;
        {error, Why} -> fail("the new build cannot be loaded: ~ts: ~tp", [Module, Why])
    end.

read(File) ->
    case file:read_file(File) of
        {ok, Code} -> Code;
        {error, Why} -> fail("~ts cannot be read: ~ts", [File, file:format_error(Why)])
    end.

is_loaded(Module, Code) ->
    {ok, {Module, Sum}} = beam_lib:md5(Code),
    erlang:module_loaded(Module) andalso Module:module_info(md5) =:= Sum.

prepared(Files) ->
    case code:prepare_loading(Files) of
        {ok, Prepared} -> {Prepared, [Module || {Module, _, _} <- Files]};
        {error, Whys} -> fail("the modules cannot be loaded: ~tp", [Whys])
    end.

change(Application, Resource, Known, {Prepared, Generated}, Time, Mode) ->
    Began = erlang:monotonic_time(nanosecond),
    Deadline = now_ms() + Time,
    unused(Generated, Deadline),
    All = processes_of(Known),
    Trees = [tree(Pid, Module, Time) || {supervisor, Pid, Module} <- All],
    Switch = fun() ->
        case code:finish_loading(Prepared) of
            ok -> ok;
            {error, Whys} -> fail("the modules cannot be loaded: ~tp", [Whys])
        end
    end,
    #{ready := Kept} = Round = round(All, Deadline, Mode, {fun() -> kept(Known) end, Switch}),
    application_controller:change_application_data([Resource], []),
    Grown = [Line || Tree <- Trees, Line <- grow(Tree)],
    #{moved := Those, stays := Stays, failed := Stuck, suspended := Suspended} = stragglers(Known, Round, Time, Mode, 3),
    Failed = Stuck ++ gone_on(maps:keys(Those), now_ms() + max(Time, ?GO_ON)),
    %% The state of the build before is dropped with the last reference to it.
    [erlang:garbage_collect(Pid) || Pid <- maps:keys(Those)],
    {Anew, Staying} = anew(Stays),
    Left = Staying ++ [Less || One <- processes_of(Known), Less <- left(One, Stays)],
    Took = erlang:monotonic_time(nanosecond) - Began,
    'MODULE_wait':settle('MODULE':observe(upgraded, {Took, Suspended, map_size(Those)}), none),
    {ok, [{"Upgraded", text("~ts: ~ts", [Application, counted(maps:values(Those))])},
          {"Suspended", text("for ~.1f ms at most", [Suspended / 1000000])}]
         ++ Kept ++ Grown ++ Anew ++ Failed ++ told_left(Left) ++ purge(Left, Failed)}.

%% Has the statics of this build take the values of those of the running one; what there is to be said of it.
kept(Known) ->
    Given = [One || Native <- Known, Native =/= 'MODULE', family(Native) =:= Native, erlang:module_loaded(Native),
                    One <- try Native:kept(give, []) catch error:undef -> [] end],
    case 'MODULE':kept(take, Given) of
        {ok, Taken, Names} ->
            [{"Kept", text("the values of statics: ~b", [Taken])} || Taken > 0] ++
            [{"warning", text("the static ~ts is not in the new build, so its value ends with the build before", [Name])} || Name <- Names];
        {error, Why} ->
            fail("~ts", [Why])
    end.

%% Code that a module had before the one that it has now must be gone: the VM keeps two at most.
unused(Modules, Deadline) ->
    case [Module || Module <- Modules, not code:soft_purge(Module)] of
        [] ->
            ok;
        Used ->
            now_ms() < Deadline orelse fail("code from before the last upgrade is still in use, of ~tp", [Used]),
            timer:sleep(?LOOK),
            unused(Used, Deadline)
    end.

%% ---------------------------------------------------------------- trees

%% What a supervisor is to supervise in this build.
tree(Pid, Module, Time) ->
    State = try sys:get_state(Pid, max(Time, 1))
            catch exit:_ -> fail("~ts has not come to an end of starting or ending a child in time", [name(Pid)])
            end,
    %% The arguments of its init/1 are what supervisor(3) has last in its state.
    {_, Number, _} = behaviour(Module),
    try 'MODULE':init(Number, element(tuple_size(State), State)) of
        {ok, {_Flags, Specs}} ->
            case supervisor:check_childspecs(Specs) of
                ok -> {Pid, Module, [{Id, Modules} || #{id := Id, modules := Modules} <- Specs]};
                {error, Why} -> fail("the tree of ~ts is wrong: ~tp", [Module, Why])
            end;
        {stop, Why} -> fail("the tree of ~ts cannot be made: ~ts", [Module, reason(Why)])
    catch
        error:Why -> fail("the tree of ~ts cannot be made: ~ts", [Module, reason(Why)])
    end.

%% supervisor(3) takes the new specifications, and leaves it to others to start what is new and to end what is not in them.
grow({Pid, Module, New}) ->
    try
        Before = supervisor:which_children(Pid),
        sys:suspend(Pid),
        Changed = sys:change_code(Pid, supervisor, undefined, []),
        sys:resume(Pid),
        Changed =:= ok orelse fail("the tree of ~ts stays as it was: ~tp", [Module, Changed]),
        Gone = [Id || {Id, _, _, _} <- Before, not lists:keymember(Id, 1, New)],
        Other = [Id || {Id, _, _, Modules} <- Before, {_, Newer} <- [lists:keyfind(Id, 1, New)], Newer =/= Modules],
        _ = [supervisor:terminate_child(Pid, Id) || Id <- Gone ++ Other],
        _ = [supervisor:delete_child(Pid, Id) || Id <- Gone],
        Added = [Id || {Id, _} <- New, lists:member(Id, Other) orelse not lists:keymember(Id, 1, Before)],
        [{"Ended", text("~tp, which the tree of ~ts does not have any more", [Id, Module])} || Id <- Gone]
            ++ [begun(Id, Module, supervisor:restart_child(Pid, Id)) || Id <- Added]
    catch
        throw:{failed, Lines} -> [{"warning", Text} || {_, Text} <- Lines];
        %% It went with a tree that it was in.
        exit:_ -> []
    end.

begun(Id, Module, {error, Why}) when Why =/= running ->
    {"warning", text("~tp, which is new in the tree of ~ts, does not start: ~ts", [Id, Module, reason(Why)])};
begun(Id, Module, _) ->
    {"Started", text("~tp, which is new in the tree of ~ts", [Id, Module])}.

%% Waits until all have left the build before: one that was told to go on does so when a scheduler runs it, and until then needs its modules.
gone_on(Pids, Deadline) ->
    case [Pid || Pid <- Pids, is_before(process_info(Pid, current_function))] of
        [] ->
            [];
        Late ->
            case now_ms() < Deadline of
                true -> timer:sleep(1), gone_on(Late, Deadline);
                false -> [{"warning", text("~ts has not gone on yet, so the build before stays loaded",
                                           [names([name(Pid) || Pid <- Late])])}]
            end
    end.

is_before({_, {sys, _, _}}) -> true;
is_before({_, {Module, _, _}}) -> not lists:member(family(Module), [none, 'MODULE']);
is_before(undefined) -> false.

%% ---------------------------------------------------------------- started anew

%% A line for each kind of what was started anew, and what stays in its build after all: {stays, Pid, Half, What, Why}.
anew(Stays) ->
    Tried = [{What, Pid, name(Pid), Half, restarted(Pid, supervisor_of(Pid))} || {{Pid, {_, _, _, What}}, Half, restart} <- Stays],
    Lines = [{"Restarted", text("~ts (~ts), which its behaviour asks for", [What, names(Names)])}
             || {What, Names} <- alike([{What, Name} || {What, _, Name, _, ok} <- Tried])],
    Warnings = [{"warning", text("~ts (~ts) has ended and does not start anew: ~ts", [What, names(Names), Why])}
                || {{What, Why}, Names} <- alike([{{What, Why}, Name} || {What, _, Name, _, {ended, Why}} <- Tried])],
    {Lines ++ Warnings,
     [{stays, Pid, Half, What, text("~ts; ~ts", [reason(Why), compared(Module, family(Half))])}
      || {{Pid, {Module, _, _, What}}, Half, Why} <- Stays, Why =/= restart]
         ++ [{stays, Pid, Half, What, Why} || {What, Pid, _, Half, {stays, Why}} <- Tried]}.

%% What is known of whether it matters that a process stays in its build.
compared(_Module, none) -> "nobody knows which that is";
compared(Module, Native) ->
    Before = try (list_to_atom(atom_to_list(Native) ++ "_move")):text_of(Module) catch error:undef -> unknown end,
    case 'MODULE_move':text_of(Module) of
        Before -> "its callbacks read the same in this build, though what they call may have changed";
        _ -> "its callbacks have changed since"
    end.

supervisor_of(Pid) ->
    case process_info(Pid, dictionary) of
        {dictionary, Dictionary} ->
            case lists:keyfind('$ancestors', 1, Dictionary) of
                {_, [Parent | _]} -> supervises(Parent);
                _ -> none
            end;
        undefined -> none
    end.

supervises(Name) when is_atom(Name) -> supervises(whereis(Name));
supervises(Pid) when is_pid(Pid) ->
    case process_info(Pid, dictionary) of
        {dictionary, Dictionary} ->
            case lists:keyfind('$initial_call', 1, Dictionary) of
                {_, {supervisor, Module, 1}} ->
                    case behaviour(Module) of
                        {Kind, _, _} when Kind =:= server; Kind =:= statem -> {pool, Pid};
                        _ -> {supervisor, Pid}
                    end;
                _ -> none
            end;
        undefined -> none
    end;
supervises(_) -> none.

%% Ended by its supervisor once it has done what it was asked for before, and started anew: ok, {ended, Why} of what does not start, and
%% {stays, Why} of what cannot be ended so.
restarted(_Pid, none) ->
    {stays, "its behaviour asks for a restart, but no supervisor started it"};
restarted(Pid, {Kind, Supervisor}) ->
    try
        Children = supervisor:which_children(Supervisor),
        _ = try sys:get_status(Pid) catch exit:_ -> gone end,
        case lists:keyfind(Pid, 2, Children) of
            _ when Kind =:= pool ->
                started(gen_server:call(Supervisor, {otp_restart, Pid}, infinity));
            {undefined, _, _, _} ->
                {stays, "its behaviour asks for a restart, which a simple_one_for_one supervisor has no way for"};
            {Id, _, _, _} ->
                ok = supervisor:terminate_child(Supervisor, Id),
                started(supervisor:restart_child(Supervisor, Id));
            %% It has ended by itself.
            false -> ok
        end
    catch
        exit:Why -> {ended, reason(Why)}
    end.

started({ok, _}) -> ok;
started({ok, _, _}) -> ok;
%% Its supervisor was faster.
started({error, running}) -> ok;
started({error, restarting}) -> ok;
started({error, not_found}) -> {ended, "it is temporary, so its supervisor does not know how it was started"};
started({error, Why}) -> {ended, reason(Why)}.

%% ---------------------------------------------------------------- the builds before

%% What is in one of them still, beside those that are known to stay.
left({gone, Pid, Module}, _) -> [{gone, Pid, Module}];
left({manager, Pid, _}, Stays) ->
    Known = [Module || {{One, {Module, _, _, _}}, _, _} <- Stays, One =:= Pid],
    [{handler, Pid, Handler} || Handler = {Module, _} <- handlers(Pid), not lists:member(Module, Known)];
left({Kind, Pid, Module}, _) when Kind =:= task; Kind =:= starting -> [{Kind, Pid, Module} || family(Module) =/= 'MODULE'];
left(_, _) -> [].

told_left(Left) ->
    Tasks = length([task || {task, _, _} <- Left]),
    [{"warning", text("tasks that go on in the build that they began in, as work under way has no form: ~b", [Tasks])} || Tasks > 0] ++
    [{"warning", text("~ts (~ts) goes on in the build that it began in, until it is started anew: ~ts", [What, names(Names), Why])}
     || {{What, Why}, Names} <- alike([{{What, Why}, name(Pid)} || {stays, Pid, _, What, Why} <- Left])] ++
    [{"warning", text("~ts goes on in the build before: the new one has no behaviour ~ts", [name(Pid), Module])}
     || {gone, Pid, Module} <- Left] ++
    [{"warning", text("the handler ~ts of ~ts goes on in the build before: the new one has no such handler", [Module, name(Pid)])}
     || {handler, Pid, {Module, _}} <- Left].

%% Unloads what nobody is in any more.
purge(Left, Failed) ->
    Loaded = [{Module, family(Module)} || {Module, _} <- code:all_loaded()],
    Builds = lists:usort([Build || {_, Build} <- Loaded, Build =/= none, Build =/= 'MODULE']),
    Used = case Failed =/= [] orelse lists:keymember(gone, 1, Left) orelse lists:any(fun(One) -> half(One) =:= unknown end, Left) of
        true -> Builds;
        false -> [family(half(One)) || One <- Left]
    end,
    Unused = Builds -- Used,
    Modules = [Module || {Module, Build} <- Loaded, lists:member(Build, Unused)],
    _ = [Module:stop(Module) || Module <- Modules, lists:suffix("_observe", atom_to_list(Module))],
    unload(Modules),
    [{"Unloaded", text("~ts", [lists:join(", ", [atom_to_list(Build) || Build <- Unused])])} || Unused =/= []].

%% What a process is in at just this moment, such as a filter of logger's, is unloaded when it has left; what it does not leave for a
%% second, by the next upgrade.
unload(Modules) -> unload(Modules, 50).

unload(Modules, Times) ->
    case [Module || Module <- Modules, not unloaded(Module)] of
        [_ | _] = Left when Times > 0 -> timer:sleep(20), unload(Left, Times - 1);
        _ -> ok
    end.

%% Current code becomes old code and is then purged. There may be old code already: when two processes were the first to need
%% the module at one time, it was loaded twice.
unloaded(Module) ->
    code:soft_purge(Module) andalso
        (not erlang:module_loaded(Module) orelse code:delete(Module) andalso code:soft_purge(Module)).

%% The module of its build that something is in.
half({stays, _, Half, _, _}) -> Half;
half({handler, _, {_, Half}}) -> Half;
half({_, _, Module}) -> Module.

%% "1000 counter, 1 pool of counter".
counted([]) ->
    "no processes";
counted(What) ->
    Counts = lists:foldl(fun(One, All) -> maps:update_with(One, fun(N) -> N + 1 end, 1, All) end, #{}, What),
    lists:flatten(lists:join(", ", [text("~b ~ts", [Count, One]) || {One, Count} <- lists:sort(maps:to_list(Counts))])).
