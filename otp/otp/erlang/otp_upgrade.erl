%% Takes a running application to this build, with its processes and their states.
%%
%% In this order, so that all that can fail does so before anything is changed:
%%
%%   1. this build's library and modules are loaded beside the running ones, which bear other names;
%%   2. its trees are made, to see that they can be, and how they differ from the running ones;
%%   3. all processes of the application are suspended, each after the callback that is under way;
%%   4. each makes its state of this build from the one it has, and keeps both;
%%   5. the modules of the behaviours take the place of the running ones, all in one step;
%%   6. each process goes over to this build, and on;
%%   7. the supervisors get the new trees; what is new in them is started, and what is not in them any more is ended;
%%   8. the builds before, which no process is in any more, are unloaded.
%%
%% Until the fifth step whatever goes wrong is told, and all goes on in the build before. A process is told by change_code of
%% sys(3) what to do: {otp_prepare, Native, Number} is step 4, {otp_commit, Native, Number, Options} step 6, otp_back forgets
%% step 4. The state of this build lies in the dictionary of its process meanwhile, so that sys(3) sees the one that counts.
-module('MODULE_upgrade').

-export([main/1]).

-import('MODULE_move', [processes_of/1, round/3, stragglers/4, handlers/1, behaviour/1, family/1, fail/2, name/1, now_ms/0, reason/1,
                        text/2]).

%% How often it is looked whether code from before is still in use.
-define(LOOK, 20).

-type lines() :: [{Word :: string(), Text :: string()}].

%% Upgrades the application of this name with what lies in the folder, and says in words what was done.
-spec main(#{application := atom(), ebin := string(), timeout := non_neg_integer()}) -> {ok | failed, lines()}.
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

upgrade(#{application := Application, ebin := Ebin, timeout := Time}) ->
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
            _ -> change(Application, Resource, lists:usort(Before ++ Generated), prepared(Files), Time)
        end
    catch
        throw:{failed, Lines} ->
            %% Nobody is in it.
            New =:= [] orelse 'MODULE_observe':stop('MODULE_observe'),
            [begin code:delete(Module), code:soft_purge(Module) end || Module <- New],
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

change(Application, Resource, Known, {Prepared, Generated}, Time) ->
    Began = erlang:monotonic_time(nanosecond),
    Deadline = now_ms() + Time,
    unused(Generated, Deadline),
    All = processes_of(Known),
    Trees = [tree(Pid, Module, Time) || {supervisor, Pid, Module} <- All],
    {Moved, Stuck, Suspended} = round(All, Deadline, fun() ->
        case code:finish_loading(Prepared) of
            ok -> ok;
            {error, Whys} -> fail("the modules cannot be loaded: ~tp", [Whys])
        end
    end),
    application_controller:change_application_data([Resource], []),
    Grown = [Line || Tree <- Trees, Line <- grow(Tree)],
    {Late, Stragglers} = stragglers(Known, Moved, Time, 3),
    Failed = Stuck ++ Stragglers,
    Those = maps:merge(Late, Moved),
    %% The state of the build before is dropped with the last reference to it.
    [erlang:garbage_collect(Pid) || Pid <- maps:keys(Those)],
    Left = [Less || One <- processes_of(Known), Less <- left(One)],
    Took = erlang:monotonic_time(nanosecond) - Began,
    'MODULE_wait':settle('MODULE':observe(upgraded, {Took, Suspended, map_size(Those)}), none),
    {ok, [{"Upgraded", text("~ts: ~ts", [Application, counted(maps:values(Those))])},
          {"Suspended", text("for ~.1f ms at most", [Suspended / 1000000])}]
         ++ Grown ++ Failed ++ told_left(Left) ++ purge(Left, Failed)}.

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

%% ---------------------------------------------------------------- the builds before

%% What is in one of them still.
left({gone, Pid, Module}) -> [{gone, Pid, Module}];
left({manager, Pid, _}) -> [{handler, Pid, Handler} || Handler <- handlers(Pid)];
left({Kind, Pid, Module}) when Kind =:= task; Kind =:= starting -> [{Kind, Pid, Module} || family(Module) =/= 'MODULE'];
left(_) -> [].

told_left(Left) ->
    Tasks = length([task || {task, _, _} <- Left]),
    [{"warning", text("tasks that go on in the build that they began in, as work under way has no form: ~b", [Tasks])} || Tasks > 0] ++
    [{"warning", text("~ts goes on in the build before: the new one has no behaviour ~ts", [name(Pid), Module])}
     || {gone, Pid, Module} <- Left] ++
    [{"warning", text("the handler ~ts of ~ts goes on in the build before: the new one has no such handler", [Module, name(Pid)])}
     || {handler, Pid, {Module, _}} <- Left].

%% Unloads what nobody is in any more.
purge(Left, Failed) ->
    Loaded = [{Module, family(Module)} || {Module, _} <- code:all_loaded()],
    Builds = lists:usort([Build || {_, Build} <- Loaded, Build =/= none, Build =/= 'MODULE']),
    Used = case Failed =/= [] orelse lists:keymember(gone, 1, Left) of
        true -> Builds;
        false -> [family(case Module of {_, Half} -> Half; _ -> Module end) || {_, _, Module} <- Left]
    end,
    Unused = Builds -- Used,
    Modules = [Module || {Module, Build} <- Loaded, lists:member(Build, Unused)],
    _ = [Module:stop(Module) || Module <- Modules, lists:suffix("_observe", atom_to_list(Module))],
    [code:delete(Module) || Module <- Modules],
    [code:soft_purge(Module) || Module <- Modules],
    [{"Unloaded", text("~ts", [lists:join(", ", [atom_to_list(Build) || Build <- Unused])])} || Unused =/= []].

%% "1000 counter, 1 pool of counter".
counted([]) ->
    "no processes";
counted(What) ->
    Counts = lists:foldl(fun(One, All) -> maps:update_with(One, fun(N) -> N + 1 end, 1, All) end, #{}, What),
    lists:flatten(lists:join(", ", [text("~b ~ts", [Count, One]) || {One, Count} <- lists:sort(maps:to_list(Counts))])).
