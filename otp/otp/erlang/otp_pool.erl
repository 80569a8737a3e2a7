%% The supervisor of a pool: any number of processes of one kind, started and ended as the program runs.
%%
%% It answers what supervisor:start_child/2, terminate_child/2, which_children/1 and count_children/1 ask of a
%% simple_one_for_one supervisor. It differs in one thing: it does not wait for the init of a child. It starts the process and
%% takes the next message; the child itself answers whoever asked for it. So a slow init holds up nobody else, and a start
%% costs one message to the pool and one from the child.
-module('MODULE_pool').

-export([start_link/3, init/3, adopt/3, answer/3]).
-export([system_continue/3, system_terminate/4, system_code_change/4, system_get_state/1, system_replace_state/2,
         format_status/2]).

%% The tags of answers are such lists, as OTP has them.
-dialyzer({no_improper_lists, [reply/2, tell/3]}).

%% restart: permanent, transient or temporary; intensity, period (ms): how many restarts within what time are too many;
%% shutdown: how long children have to end; most: how many there may be.
-type config() :: #{restart := atom(), intensity := non_neg_integer(), period := non_neg_integer(),
                    shutdown := timeout(), most := infinity | non_neg_integer()}.

%% children: a table of {Pid, From, Argument}: who asked for the process (see answer/3), and its argument for a restart, or [] where
%% there is none. Who asked may still wait when a process ends: then it is told so, or answered by the next one. Whoever was answered
%% must hear nothing of it: either the alias that answers go to is gone, or From is nobody, as the child has told the pool of its answer.
%% A table and not a map, which garbage collections would copy again and again as it grows.
%% new: those that do not stand in the table yet. They are entered when nobody asks for anything, and before anything but a start
%% is done, so that those who want a start need not wait for it.
-record(pool, {parent :: pid(), name :: term(), module :: module(), config :: config(), debug = [],
               known_as :: pid() | atom(), ancestors :: [pid() | atom()], children :: ets:tid(),
               new = [] :: [pid() | {pid(), term(), term()}], count = 0 :: non_neg_integer(), restarts = [] :: [integer()]}).

-spec start_link(module(), undefined | {local, atom()} | {global, term()}, config()) -> {ok, pid()} | {error, term()}.
start_link(Module, Name, Config) ->
    proc_lib:start_link(?MODULE, init, [{self(), Name}, Module, Config]).

init({Parent, Name}, Module, Config) ->
    put('$initial_call', {supervisor, Module, 1}),
    process_flag(trap_exit, true),
    case register_name(Name) of
        true ->
            proc_lib:init_ack(Parent, {ok, self()}),
            Children = ets:new(?MODULE, [private]),
            loop(#pool{parent = Parent, name = Name, module = Module, config = Config, known_as = known_as(Name),
                       ancestors = get('$ancestors'), children = Children});
        {false, Pid} ->
            proc_lib:init_ack(Parent, {error, {already_started, Pid}})
    end.

%% What the reports of its children call it.
known_as({local, Name}) -> Name;
known_as(_) -> self().

register_name(undefined) ->
    true;
register_name({local, Name}) ->
    try register(Name, self())
    catch error:badarg -> {false, whereis(Name)}
    end;
register_name({global, Name}) ->
    case global:register_name(Name, self()) of
        yes -> true;
        no -> {false, global:whereis_name(Name)}
    end.

loop(Pool = #pool{new = New}) ->
    receive
        Message -> loop(take(Message, Pool))
    after case New of [] -> infinity; _ -> 0 end ->
        loop(entered(100, Pool))
    end.

take({'$gen_call', From, {start_child, [Argument]}}, Pool) ->
    start(From, [Argument], Pool);
take({'$gen_cast', {start_child, Argument}}, Pool) ->
    start(nobody, [Argument], Pool);
take({'$gen_cast', {start_children, Arguments}}, Pool) ->
    start(nobody, Arguments, Pool);
take({'$gen_call', {Client, Tag}, {start_children, Arguments}}, Pool) ->
    start({one_of_many, Client, Tag, 0}, Arguments, Pool);
take(Message, Pool) ->
    other(Message, entered(all, Pool)).

other({'EXIT', Parent, Reason}, Pool = #pool{parent = Parent}) ->
    stop(Reason, Pool);
other({'EXIT', Pid, Reason}, Pool) ->
    ended(Pid, Reason, Pool);
other({'$gen_call', From, Request}, Pool) ->
    {Reply, Next} = answer(Request, Pool),
    gen:reply(From, Reply),
    Next;
other({system, From, Request}, Pool) ->
    sys:handle_system_msg(Request, From, Pool#pool.parent, ?MODULE, Pool#pool.debug, Pool);
other({'$otp_answered', Pid}, Pool = #pool{children = Children}) ->
    ets:update_element(Children, Pid, {2, nobody}),
    Pool;
other(Message, Pool) ->
    logger:warning("the pool of ~tp got what it has no use for: ~0tp",
                   [Pool#pool.module, 'MODULE_bounded':term(Message)]),
    Pool.

%% Enters so many of the new ones in the table.
entered(0, Pool) ->
    Pool;
entered(_, Pool = #pool{new = []}) ->
    Pool;
entered(all, Pool = #pool{new = New, children = Children}) ->
    ets:insert(Children, [entry(Child) || Child <- New]),
    Pool#pool{new = []};
entered(Many, Pool = #pool{new = [Child | New], children = Children}) ->
    ets:insert(Children, entry(Child)),
    entered(Many - 1, Pool#pool{new = New}).

entry(Pid) when is_pid(Pid) -> {Pid, nobody, []};
entry(Child) -> Child.

%% Starts one for each argument. Of many that were asked for in one call, each answers with its place among them.
start(From, Arguments, Pool = #pool{new = New, count = Count}) ->
    start(From, Arguments, begins(Pool), New, Count, Pool).

start(_From, [], _Begins, New, Count, Pool) ->
    Pool#pool{new = New, count = Count};
start(From, [_ | Arguments], Begins, New, Count, Pool = #pool{config = #{most := Most}}) when Count >= Most ->
    tell(From, {error, max_children}, Pool),
    start(next(From), Arguments, Begins, New, Count, Pool);
start(From, [Argument | Arguments], Begins, New, Count, Pool = #pool{config = #{restart := Restart}}) ->
    Pid = spawned({first, From}, Argument, Begins, Pool),
    Child = case Restart of
        temporary when From =:= nobody -> Pid;
        temporary -> {Pid, From, []};
        _ -> {Pid, From, Argument}
    end,
    start(next(From), Arguments, Begins, [Child | New], Count + 1, Pool).

next({one_of_many, Client, Tag, Index}) -> {one_of_many, Client, Tag, Index + 1};
next(From) -> From.

%% Where processes of this kind begin: the newest build of their module says it.
begins(#pool{module = Module}) ->
    Module:'$otp'().

spawned(From, Argument, {Native, Number, Options}, Pool = #pool{module = Module}) ->
    Spawn = case Options of [] -> []; _ -> proplists:get_value(spawn, Options, []) end,
    %% As proc_lib:spawn_opt does it, which would ask for the name and the ancestors of this process each time.
    Enter = [Pool#pool.known_as, Pool#pool.ancestors, Native, enter_pool, [From, self(), Module, Number, Argument, Options]],
    erlang:spawn_opt(proc_lib, init_p, Enter, [link | Spawn]).

answer({terminate_child, Pid}, Pool = #pool{children = Children, count = Count, config = #{shutdown := Time}}) ->
    case ets:member(Children, Pid) of
        true ->
            end_all([Pid], Time),
            ets:delete(Children, Pid),
            {ok, Pool#pool{count = Count - 1}};
        false ->
            {{error, not_found}, Pool}
    end;
%% An upgrade asks for this: a child is ended, and started with the argument that it had.
answer({otp_restart, Pid}, Pool = #pool{children = Children, config = #{shutdown := Time, restart := Restart}}) ->
    case ets:lookup(Children, Pid) of
        [{_, _, Argument}] when Restart =/= temporary ->
            end_all([Pid], Time),
            ets:delete(Children, Pid),
            New = spawned({again, nobody}, Argument, begins(Pool), Pool),
            ets:insert(Children, {New, nobody, Argument}),
            {{ok, New}, Pool};
        [_] ->
            %% Its argument is not known any more.
            {_, Less} = answer({terminate_child, Pid}, Pool),
            {{error, not_found}, Less};
        [] ->
            %% It has ended by itself.
            {{ok, undefined}, Pool}
    end;
answer(which_children, Pool = #pool{module = Module}) ->
    {[{undefined, Pid, worker, [Module]} || Pid <- pids(Pool)], Pool};
answer(count_children, Pool = #pool{count = Count}) ->
    {[{specs, 1}, {active, Count}, {supervisors, 0}, {workers, Count}], Pool};
answer({get_childspec, _Id}, Pool = #pool{module = Module, config = #{restart := Restart, shutdown := Shutdown}}) ->
    {{ok, #{id => Module, start => {Module, start_link, []}, restart => Restart, shutdown => Shutdown, type => worker,
            modules => [Module]}}, Pool};
answer({Request, _}, Pool) when Request =:= restart_child; Request =:= delete_child ->
    {{error, simple_one_for_one}, Pool};
answer(Request, Pool) ->
    {{error, {unknown, Request}}, Pool}.

%% ---------------------------------------------------------------- the end of a child

ended(Pid, Reason, Pool = #pool{children = Children, count = Count, config = #{restart := Restart}}) ->
    case ets:take(Children, Pid) of
        [{_, From, Argument}] ->
            Left = Pool#pool{count = Count - 1},
            case again(Restart, Reason) of
                true ->
                    report(child_terminated, Reason, Pid, Pool),
                    restart(From, Argument, Left);
                false ->
                    tell(From, {error, Reason}, Pool),
                    is_orderly(Reason) orelse report(child_terminated, Reason, Pid, Pool),
                    Left
            end;
        [] ->
            %% A link of somebody's own.
            Pool
    end.

%% ---------------------------------------------------------------- answers

%% The answer of a child of Pool to whoever asked for it: nobody, {Client, Tag} as gen_server has it, or one that asked for many.
%%
%% An answer to an alias that ends with the first one, or when all of many have come, is lost in the VM when it is the second. Any other
%% tag stays a way into the client's queue: so the pool has to know that it is answered, to not answer again when the child ends.
-spec answer(nobody | {pid(), term()} | {one_of_many, pid(), term(), non_neg_integer()}, pid(), term()) -> ok.
answer(nobody, _Pool, _Answer) ->
    ok;
answer(From, Pool, Answer) ->
    reply(From, Answer),
    case From of
        {_Client, [alias | _]} -> ok;
        {one_of_many, _Client, [alias | _], _Index} -> ok;
        _ -> Pool ! {'$otp_answered', self()}, ok
    end.

reply({one_of_many, Client, Tag, Index}, Answer) -> gen:reply({Client, [Tag | Index]}, Answer);
reply(From, Answer) -> gen:reply(From, Answer).

%% Whoever asked, if somebody waits for an answer; else whoever reads the reports.
tell(nobody, {error, {shutdown, {'$otp_no_start', ignore}}}, _Pool) -> ok;
tell(nobody, {error, {shutdown, {'$otp_no_start', Reason}}}, Pool) -> report(start_error, Reason, undefined, Pool);
tell(nobody, {error, max_children}, Pool) -> report(start_error, max_children, undefined, Pool);
tell(nobody, _Answer, _Pool) -> ok;
tell(_From, {error, {shutdown, {'$otp_no_start', _}}}, _Pool) -> ok; % it told that itself
tell({one_of_many, Client, Tag, Index}, Answer, _Pool) -> gen:reply({Client, [Tag | {ended, Index}]}, Answer);
tell(From, Answer, _Pool) -> reply(From, Answer).

pids(#pool{children = Children}) ->
    ets:select(Children, [{{'$1', '_', '_'}, [], ['$1']}]).

%% A child that never came out of its init has told whoever asked for it why.
again(_Restart, {shutdown, {'$otp_no_start', _}}) -> false;
again(permanent, _Reason) -> true;
again(transient, Reason) -> not is_orderly(Reason);
again(temporary, _Reason) -> false.

is_orderly(normal) -> true;
is_orderly(shutdown) -> true;
is_orderly({shutdown, _}) -> true;
is_orderly(_) -> false.

restart(From, Argument, Pool = #pool{restarts = Restarts, config = #{intensity := Intensity, period := Period}}) ->
    Now = erlang:monotonic_time(millisecond),
    Recent = [Now | [Time || Time <- lists:sublist(Restarts, Intensity), Now - Time =< Period]],
    case length(Recent) > Intensity of
        true ->
            report(shutdown, reached_max_restart_intensity, undefined, Pool),
            stop(shutdown, Pool);
        false ->
            Pid = spawned({again, From}, Argument, begins(Pool), Pool),
            ets:insert(Pool#pool.children, {Pid, From, Argument}),
            Pool#pool{count = Pool#pool.count + 1, restarts = Recent}
    end.

-spec stop(term(), #pool{}) -> no_return().
stop(Reason, Pool = #pool{config = #{shutdown := Time}}) ->
    end_all(pids(Pool), Time),
    exit(Reason).

%% Tells all to end, and waits; those that take longer are killed.
end_all(Children, Time) ->
    Watched = maps:from_list([{erlang:monitor(process, Pid), Pid} || Pid <- Children]),
    maps:foreach(fun(_, Pid) -> exit(Pid, shutdown) end, Watched),
    Timer = case Time of infinity -> none; _ -> erlang:start_timer(Time, self(), kill) end,
    wait(Watched, Timer),
    Timer =:= none orelse erlang:cancel_timer(Timer),
    receive {timeout, Timer, kill} -> ok after 0 -> ok end.

wait(Watched, _Timer) when map_size(Watched) =:= 0 ->
    ok;
wait(Watched, Timer) ->
    receive
        {'DOWN', Ref, process, Pid, _} when is_map_key(Ref, Watched) ->
            receive {'EXIT', Pid, _} -> ok after 0 -> ok end,
            wait(maps:remove(Ref, Watched), Timer);
        {timeout, Timer, kill} ->
            maps:foreach(fun(_, Pid) -> exit(Pid, kill) end, Watched),
            wait(Watched, Timer)
    end.

report(Error, Reason, Pid, #pool{name = Name, module = Module, config = #{restart := Restart, shutdown := Shutdown}}) ->
    Offender = [{pid, Pid}, {id, Module}, {mfargs, {Module, start_link, undefined}}, {restart_type, Restart},
                {significant, false}, {shutdown, Shutdown}, {child_type, worker}],
    Supervisor = case Name of {local, Local} -> {local, Local}; _ -> {self(), Module} end,
    logger:error(#{label => {supervisor, Error},
                   report => [{supervisor, Supervisor}, {errorContext, Error}, {reason, Reason}, {offender, Offender}]},
                 #{domain => [otp, sasl], report_cb => fun supervisor:format_log/2, logger_formatter => #{title => "SUPERVISOR REPORT"},
                   error_logger => #{tag => error_report, type => supervisor_report, report_cb => fun supervisor:format_log/1}}).

%% ---------------------------------------------------------------- sys(3)

system_continue(_Parent, Debug, Pool = #pool{}) -> loop(Pool#pool{debug = Debug});
system_continue(_Parent, Debug, {Half, Pool}) -> Half:adopt(continue, map(Pool), Debug).

-spec system_terminate(term(), pid(), [sys:debug_option()], term()) -> no_return().
system_terminate(Reason, _Parent, _Debug, Pool = #pool{}) -> stop(Reason, Pool);
system_terminate(Reason, _Parent, Debug, {Half, Pool}) -> Half:adopt({stop, Reason}, map(Pool), Debug).

%% To another build (MODULE_upgrade), whose pools may have another record: what this one knows goes over as a map.
system_code_change(Pool = #pool{}, _Module, _OldVsn, {otp_commit, Native, _, _}) when Native =/= 'MODULE' ->
    {ok, {list_to_atom(atom_to_list(Native) ++ "_pool"), Pool}};
system_code_change(Pool, _Module, _OldVsn, _Extra) ->
    {ok, Pool}.

map(#pool{parent = Parent, name = Name, module = Module, config = Config, children = Children, count = Count,
          restarts = Restarts}) ->
    #{parent => Parent, name => Name, module => Module, config => Config, children => Children, count => Count,
      restarts => Restarts}.

%% Goes on with a pool of the build before.
adopt(How, #{parent := Parent, name := Name, module := Module, config := Config, children := Children, count := Count,
             restarts := Restarts}, Debug) ->
    Pool = #pool{parent = Parent, name = Name, module = Module, config = Config, known_as = known_as(Name),
                 ancestors = get('$ancestors'), debug = Debug, children = Children, count = Count, restarts = Restarts},
    case How of
        continue -> loop(Pool);
        {stop, Reason} -> stop(Reason, Pool)
    end.

system_get_state({_Half, Pool}) -> {ok, seen(Pool)};
system_get_state(Pool) -> {ok, seen(Pool)}.
system_replace_state(_Replace, _Pool) -> erlang:error(not_supported).

format_status(_Opt, [_Dictionary, SysState, Parent, _Debug, Pool]) ->
    [{header, gen:format_status_header("Status for pool", Pool#pool.module)},
     {data, [{"Status", SysState}, {"Parent", Parent}]}, {data, [{"State", seen(Pool)}]}].

seen(#pool{module = Module, config = Config, count = Count, restarts = Restarts}) ->
    Config#{module => Module, children => Count, recent_restarts => length(Restarts)}.
