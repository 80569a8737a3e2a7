%% Events of the native half: log events for logger, and measured events as the library telemetry has them.
%%
%% A process whose callback told something runs log/3 and execute/3 itself, as an order (MODULE_wait). What threads and dirty
%% schedulers tell comes to the process of this module, one for each build, which does so for them. It also looks once a second
%% which level logger has and what telemetry's handlers handle, as neither of them says when that changes, and tells the native
%% half if it has: so nothing is asked, and nothing made, for an event that nobody wants.
%%
%% Handlers that are attached here and not with telemetry stand in a persistent term of the application, so the next build has them
%% too.
-module('MODULE_observe').

-export([start/0, start_later/0, stop/1]).
-export([log/3, text/1, execute/3, attach/4, detach/1, list_handlers/1]).

%% How often logger and telemetry are looked at.
-define(LOOK, 1000).

%% ---------------------------------------------------------------- the process

%% Starts it, if it does not run yet, and waits until the levels are in force.
start() ->
    {module, _} = code:ensure_loaded('MODULE'),
    ok = ask(look).

%% For who cannot wait: while the library is being loaded.
start_later() ->
    spawn(fun begin_/0),
    ok.

begin_() ->
    %% It belongs to no application: the end of one ends all processes of its group.
    group_leader(whereis(init), self()),
    try register(?MODULE, self()) of
        true ->
            loaded(1000),
            'MODULE':observe(teller, self()),
            'MODULE_bounded':watch(),
            'MODULE_held':watch(),
            loop(look({unknown, unknown, unknown}))
    catch
        error:badarg -> ok
    end.

%% The native half is there only when its module is loaded to the end.
loaded(0) -> exit(normal);
loaded(Tries) -> erlang:module_loaded('MODULE') orelse begin timer:sleep(5), loaded(Tries - 1) end.

%% Ends that of a build, after what it still has to tell.
stop(Module) ->
    case whereis(Module) of
        undefined ->
            ok;
        Pid ->
            Ref = erlang:monitor(process, Pid),
            Pid ! stop,
            receive {'DOWN', Ref, _, _, _} -> ok
            after 1000 -> exit(Pid, kill), receive {'DOWN', Ref, _, _, _} -> ok end
            end
    end.

loop(Seen) ->
    receive
        {log, Level, Report, Metadata} ->
            log(Level, Report, Metadata),
            told(1),
            loop(Seen);
        {telemetry, Name, Measurements, Metadata} ->
            execute(Name, Measurements, Metadata),
            told(1),
            loop(Seen);
        {ask, From, Ref, What} ->
            {Answer, Seen1} = asked(What, Seen),
            From ! {Ref, Answer},
            loop(Seen1);
        {detach, Id} ->
            {_, Seen1} = asked({detach, Id}, Seen),
            loop(Seen1);
        {monitor, Pid, long_schedule, Info} ->
            put(held, 'MODULE_held':tell(Pid, Info, case get(held) of undefined -> never; Before -> Before end)),
            loop(Seen);
        look ->
            told(0),
            'MODULE_held':watch(),
            loop(look(Seen));
        stop ->
            'MODULE_bounded':unwatch(),
            'MODULE':observe(teller, undefined);
        _ ->
            loop(Seen)
    end.

told(Count) ->
    case 'MODULE':observe(told, Count) of
        0 -> ok;
        Lost ->
            %% At whatever level the node is: somebody wanted them.
            logger:macro_log(#{}, warning, #{label => {otp, lost_events}, count => Lost},
                             #{domain => [otp], report_cb => fun report/1})
    end.

%% Asks it for something that must be in force afterwards.
ask(What) ->
    case whereis(?MODULE) of
        undefined ->
            start_later(),
            timer:sleep(1),
            ask(What);
        Self when Self =:= self() ->
            %% A handler that it runs.
            {Answer, _} = asked(What, {unknown, unknown, unknown}),
            Answer;
        Pid ->
            Ref = erlang:monitor(process, Pid),
            Pid ! {ask, self(), Ref, What},
            receive
                {Ref, Answer} -> erlang:demonitor(Ref, [flush]), Answer;
                {'DOWN', Ref, _, _, _} -> erlang:error(not_running)
            end
    end.

asked(look, Seen) ->
    {ok, look_now(Seen)};
asked({attach, Handler = {Id, _, _, _}}, Seen) ->
    Handlers = handlers(),
    case lists:keymember(Id, 1, Handlers) of
        true ->
            {{error, already_exists}, Seen};
        false ->
            persistent_term:put(key(), Handlers ++ [Handler]),
            {ok, look_now(Seen)}
    end;
asked({detach, Id}, Seen) ->
    Handlers = handlers(),
    case lists:keytake(Id, 1, Handlers) of
        {value, _, Rest} ->
            persistent_term:put(key(), Rest),
            {ok, look_now(Seen)};
        false ->
            {{error, not_found}, Seen}
    end.

look(Seen) ->
    erlang:send_after(?LOOK, self(), look),
    look_now(Seen).

look_now({Level, Names, Courier}) ->
    {seen(level, level(), Level), seen(observed, observed(), Names), seen(courier, 'MODULE_courier':find(), Courier)}.

seen(_What, Now, Now) -> Now;
seen(What, Now, _Before) -> 'MODULE':observe(What, Now), Now.

%% ---------------------------------------------------------------- logger

%% The level in force for this application: of the native module, as logger:set_application_level/2 sets it, or the primary one.
level() ->
    Levels = [debug, info, notice, warning, error, critical, alert, emergency],
    case lists:dropwhile(fun(Level) -> not logger:allow(Level, 'MODULE') end, Levels) of
        [] -> none;
        [debug | _] -> most();
        [Level | _] -> Level
    end.

most() ->
    case logger:get_module_level('MODULE') of
        [{_, Level}] -> Level;
        [] -> #{level := Level} = logger:get_primary_config(), Level
    end.

%% The level was looked at by whoever told it, so this is what logger's macros come to once they have looked; nobody knows the
%% function that it came from, which its type wants.
-dialyzer({nowarn_function, [log/3, told/1]}).
log(Level, Report, Metadata) ->
    logger:macro_log(#{}, Level, Report, Metadata#{report_cb => fun ?MODULE:text/1}).

%% "connection{port=7070}: it said hello device=boiler".
text(Report) ->
    Span = case Report of #{span := Path} -> [Path, ": "]; _ -> "" end,
    Message = case Report of #{message := Said} -> [value(Said, message)]; _ -> [] end,
    Fields = [io_lib:format("~ts=~ts", [Key, value(Value, field)])
              || {Key, Value} <- lists:sort(maps:to_list(maps:without([span, message], Report)))],
    {"~ts", [[Span, lists:join(" ", Message ++ Fields)]]}.

value(Text, message) when is_binary(Text) ->
    Text;
value(Text, field) when is_binary(Text) ->
    case Text =:= <<>> orelse re:run(Text, "[\\s\"=]", [{capture, none}]) =:= match of
        true -> io_lib:format("~tp", [unicode:characters_to_list(Text)]);
        false -> Text
    end;
value(Value, _) ->
    io_lib:format("~tp", [Value]).

%% ---------------------------------------------------------------- telemetry

%% What Erlang handles an event.
execute(Name, Measurements, Metadata) ->
    _ = [run(Handler, Name, Measurements, Metadata) || Handler = {_, Names, _, _} <- handlers(), lists:member(Name, Names)],
    _ = erlang:function_exported(telemetry, execute, 3) andalso telemetry:execute(Name, Measurements, Metadata),
    ok.

run({Id, _, Function, Config}, Name, Measurements, Metadata) ->
    try Function(Name, Measurements, Metadata, Config)
    catch
        Class:Reason:Stack ->
            %% Nobody waits for that: the process may be what this handler would call.
            _ = try ?MODULE ! {detach, Id} catch error:badarg -> nobody end,
            logger:error(#{label => {otp, handler_failed}, handler => 'MODULE_bounded':term(Id), event => Name, class => Class,
                           reason => 'MODULE_bounded':term(Reason), stacktrace => 'MODULE_bounded':stack(Stack)},
                         #{domain => [otp], report_cb => fun report/1})
    end.

report(#{label := {otp, lost_events}, count := Count}) ->
    {"~b events of threads and dirty schedulers were lost, as too many were told at once", [Count]};
report(#{handler := Id, event := Name, class := Class, reason := Reason, stacktrace := Stack}) ->
    {"the handler ~tp failed on the event ~tp, and is detached: ~tp:~tp~n~tp", [Id, Name, Class, Reason, Stack]}.

%% As those of telemetry; Function takes the name, what was measured, what about, and Config.
attach(Id, Names, Function, Config) when is_function(Function, 4) ->
    lists:all(fun is_name/1, Names) orelse erlang:error(badarg, [Id, Names, Function, Config]),
    ask({attach, {Id, Names, Function, Config}}).

is_name(Name) ->
    try Name =/= [] andalso lists:all(fun is_atom/1, Name)
    catch error:_ -> false
    end.

detach(Id) ->
    ask({detach, Id}).

%% The handlers of the events whose names begin so.
list_handlers(Prefix) ->
    [#{id => Id, event_name => Name, function => Function, config => Config}
     || {Id, Names, Function, Config} <- handlers(), Name <- Names, lists:prefix(Prefix, Name)].

handlers() ->
    persistent_term:get(key(), []).

key() ->
    {otp_telemetry, 'MODULE':observe(application, name)}.

%% The names of all events that somebody handles.
observed() ->
    Others = case erlang:function_exported(telemetry, list_handlers, 1) of
        true ->
            %% It may be loaded and not be started.
            try [Name || #{event_name := Name} <- telemetry:list_handlers([]), is_name(Name)]
            catch _:_ -> []
            end;
        false ->
            []
    end,
    lists:usort(Others ++ [Name || {_, Names, _, _} <- handlers(), Name <- Names]).
