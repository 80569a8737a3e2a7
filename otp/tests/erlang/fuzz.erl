%% A fuzzer: tries a library of kizami-otp with terms that nobody would send.
%%
%%   erl -noshell -pa . -pa WHERE_FUZZ_IS -run fuzz main SECONDS SEED
%%
%% runs in a folder with the modules of an application, compiled with +debug_info, and its library, such as the ebin that cargo
%% otp build makes. The fuzzer starts every gen_server, gen_statem and event handler of the application and sends it every request
%% that the -specs of its module promise: with arguments of the type, with arguments of the type in which something was changed,
%% and with any terms. The fuzzer also calls all native functions of the module directly: in the order and with the arguments that
%% only the Erlang half gives them; with arguments that the Erlang half would never give (states of other processes, of other
%% behaviours, of processes that are gone, orders that nobody gave, answers to none of them); and with any terms. Several
%% processes do this at once, and share the terms that they find. What must hold:
%%
%% - the VM lives,
%% - an answer is of the type that the -spec says; a wrong argument is refused with a text,
%% - every function takes some of the arguments that its -spec allows, unless its name begins with rare_,
%% - every native function comes to a result other than badarg for each kind of behaviour that has it,
%% - a module `echo` gives back what it got: the same term, or, if the name of the function begins with near_, a term that stays
%%   the same when it is sent again,
%% - no argument ends a process, unless one of its functions has a name that begins with rare_.
%%
%% With KIZAMI_FUZZ_TRACE set, each worker writes its next call to a file before the call is made, so a call that ends the VM can
%% be found there.
-module(fuzz).

-export([main/1]).
-import(fuzz_terms, [generate/3, of_type/3, any/1, any_list/1, integer/0, large_terms/0, pool/0, pick/1, damaged/1]).

-record(spec, {module, name, arguments, result}).
%% A behaviour: its number in the library, the spec of its start, those of its calls, its types, and whether it may end.
-record(asked, {module, kind, number, start, specs, types, may_end}).

-define(WORKERS, 4).

main([Seconds, Seed]) ->
    logger:set_primary_config(level, none),
    process_flag(trap_exit, true),
    ets:new(shared, [named_table, public]),
    Modules = [{list_to_atom(filename:rootname(Beam)), forms(Beam)} || Beam <- filelib:wildcard("*.beam")],
    [Module] = [open(Module, Forms) || {Module, Forms} <- Modules, lists:keymember(on_load, 3, Forms)],
    io:format("fuzz of ~s for ~s s, seed ~s~n", [Module, Seconds, Seed]),
    Nifs = Module:module_info(nifs),
    Servers = lists:append([describe(Name, Forms, Module) || {Name, Forms} <- Modules]),
    [io:format("~s, a ~s: ~b functions~n", [Name, Kind, length(Specs)])
     || #asked{module = Name, kind = Kind, specs = Specs} <- Servers],
    io:format("native: ~s~n", [lists:join(" ", [io_lib:format("~s/~b", [N, A]) || {N, A} <- lists:sort(Nifs)])]),
    Workers = [spawn_link(fun() -> worker(Number, list_to_integer(Seed), list_to_integer(Seconds), Module, Nifs, Servers) end)
               || Number <- lists:seq(1, ?WORKERS)],
    Counts = [receive {'EXIT', Worker, {done, Count}} -> Count;
                      {'EXIT', Worker, Why} -> io:format("FAILED: ~tP~n", [Why, 60]), halt(1)
              end || Worker <- Workers],
    Sums = lists:foldl(fun(Count, Sum) -> maps:merge_with(fun(_, A, B) -> A + B end, Count, Sum) end, #{}, Counts),
    io:format("~b calls of native functions, of which ~b took what they got; ~b of servers: ~b answered, ~b refused, ~b ended "
              "their server~n", [maps:get(What, Sums, 0) || What <- [native, taken, asked, answered, refused, ended]]),
    Taken = [{What, N} || {{taken, _, _} = What, N} <- lists:sort(maps:to_list(Sums))],
    [io:format("  ~s of a ~s: ~b~n", [Name, Kind, N]) || {{_, Name, Kind}, N} <- Taken],
    Never = [{Server, Spec#spec.name} || #asked{module = Server, specs = Specs} <- Servers, Spec <- Specs,
                                         not is_map_key({answered, Server, Spec#spec.name}, Sums), not is_rare(Spec)],
    Untried = [{Name, Kind} || Kind <- lists:usort([Kind || #asked{kind = Kind} <- Servers]),
                               Name <- [init, restore, place, handle, handle_dirty_cpu, handle_dirty_io, on, state, resume],
                               not is_map_key({taken, Name, Kind}, Sums)],
    Many = maps:get(asked, Sums, 0) > 500 * length(lists:append([Specs || #asked{specs = Specs} <- Servers])),
    if
        Many, Never =/= [] -> io:format("FAILED: what the -spec allows is never taken by ~p~n", [Never]), halt(1);
        Many, Untried =/= [] -> io:format("FAILED: nothing is ever taken by ~p~n", [Untried]), halt(1);
        true -> io:format("passed~n"), halt(0)
    end.

is_rare(#spec{name = Name}) -> lists:prefix("rare_", atom_to_list(Name)).

forms(Beam) ->
    case beam_lib:chunks(Beam, [abstract_code]) of
        {ok, {_, [{abstract_code, {raw_abstract_v1, Forms}}]}} -> Forms;
        _ -> []
    end.

%% Loads the native module with all its functions exported.
open(Module, Forms) ->
    {ok, Module, Code} = compile:forms(Forms, [export_all, nowarn_export_all]),
    {module, Module} = code:load_binary(Module, filename:absname(atom_to_list(Module) ++ ".beam"), Code),
    Module.

%% What is known of a module, if it is one of a behaviour that can be asked.
describe(Module, Forms, Native) ->
    Types = maps:from_list([{Name, Type} || {attribute, _, type, {Name, Type, _}} <- Forms]),
    Specs = [#spec{module = Module, name = Name, arguments = Arguments, result = Result}
             || {attribute, _, spec, {{Name, _}, [{type, _, 'fun', [{type, _, product, Arguments}, Result]}]}} <- Forms],
    case [Kind || {attribute, _, behaviour, Kind} <- Forms] of
        [gen_statem] -> described(Module, statem, start_link, Specs, Types, Native);
        [gen_event] -> described(Module, event, add_handler, Specs, Types, Native);
        [] when is_map_key(server, Types) -> described(Module, server, start_link, Specs, Types, Native);
        _ -> []
    end.

described(Module, Kind, Starts, Specs, Types, Native) ->
    {Kind, Number, _} = (list_to_atom(atom_to_list(Native) ++ "_move")):behaviour(Module),
    Start = lists:keyfind(Starts, #spec.name, Specs),
    Calls = [Spec#spec{arguments = Arguments} || #spec{name = Name, arguments = [Type | Arguments]} = Spec <- Specs,
             is_address(Type), not lists:member(Name, [add_handler, add_sup_handler, delete_handler]), not takes_timeout(Arguments)],
    Arguments = case Kind of event -> tl(Start#spec.arguments); _ -> Start#spec.arguments end,
    [#asked{module = Module, kind = Kind, number = Number, start = Start#spec{arguments = Arguments}, specs = Calls,
            types = Types, may_end = lists:any(fun is_rare/1, Calls)}].

%% The same call stands there without one, and has more time.
takes_timeout([]) -> false;
takes_timeout(Arguments) -> element(3, lists:last(Arguments)) =:= timeout.

is_address({user_type, _, Name, []}) -> Name =:= server orelse Name =:= manager;
is_address({remote_type, _, [{atom, _, gen_statem}, {atom, _, server_ref}, []]}) -> true;
is_address(_) -> false.

worker(Number, Seed, Seconds, Module, Nifs, Servers) ->
    process_flag(trap_exit, true),
    rand:seed(exsss, {Seed, Number, 0}),
    put(trace, os:getenv("KIZAMI_FUZZ_TRACE") =/= false andalso "fuzz_last_" ++ integer_to_list(Number)),
    put(pool, pool()),
    put(slots, []),
    put(orders, [1]),
    put(count, #{}),
    [deep(Term, Module, Nifs, Servers) || {Other, Term} <- large_terms(), Other rem ?WORKERS =:= Number - 1],
    garbage_collect(),
    work(erlang:monotonic_time(millisecond) + Seconds * 1000, Module, Nifs, Servers).

work(Until, Module, Nifs, Servers) ->
    case erlang:monotonic_time(millisecond) < Until of
        false ->
            exit({done, get(count)});
        true ->
            case rand:uniform(4) of
                1 -> any_native(Module, Nifs, Servers);
                2 -> meant_native(Module, Nifs, Servers);
                _ -> ask(pick(Servers))
            end,
            flush(Module),
            work(Until, Module, Nifs, Servers)
    end.

%% A message may be the tick of a timer that is kept in a slot of this process: it is for that, or for any other.
flush(Module) ->
    receive
        {'$otp_tick', _} = Tick ->
            keep(Tick),
            share(Tick),
            [native(Module, handle, [Slot, Tick], server) || {Slot, #asked{kind = server}} <- some_of(get(slots))],
            flush(Module);
        Message ->
            remember(Message),
            flush(Module)
    after 0 -> ok
    end.

some_of([]) -> [];
some_of(List) -> [pick(List)].

count(What) ->
    put(count, maps:update_with(What, fun(N) -> N + 1 end, 1, get(count))).

%% ---------------------------------------------------------------- servers

ask(#asked{module = Module, kind = Kind, specs = Specs, types = Types, may_end = MayEnd} = Asked) when Specs =/= [] ->
    Server = server(Asked),
    Spec = pick(Specs),
    Arguments = [argument(Type, Types) || Type <- Spec#spec.arguments],
    put(asked, {Module, Spec#spec.name}),
    Kind =:= event andalso rand:uniform(3) =:= 1
        andalso gen_event:notify(Server, argument({user_type, 0, event, []}, Types)),
    case ask(Server, Spec, Arguments) of
        {answer, Answer} ->
            count(answered),
            count({answered, Module, Spec#spec.name}),
            remember(Answer),
            of_type(Spec#spec.result, Answer, Types) orelse exit({answer_of_another_type, Spec, Arguments, Answer}),
            Module =:= echo andalso same(Server, Spec, Arguments, Answer);
        refused ->
            count(refused);
        {ended, Why} ->
            MayEnd orelse exit({ended, Spec, Arguments, Why}),
            count(ended)
    end;
ask(_) ->
    ok.

ask(Server, #spec{module = Module, name = Name}, Arguments) ->
    count(asked),
    trace({Module, Name, Arguments}),
    try {answer, apply(Module, Name, [Server | Arguments])}
    catch
        error:{refused, Why} when is_binary(Why) -> refused;
        error:{refused, no_handler} -> put({server, Module}, undefined), {ended, no_handler};
        exit:Why -> {ended, Why}
    end.

same(Server, #spec{name = Name} = Spec, [Argument], Answer) ->
    case atom_to_list(Name) of
        "near_" ++ _ ->
            {answer, Again} = ask(Server, Spec, [Answer]),
            sorted(Again) =:= sorted(Answer) orelse exit({not_the_same_again, Name, Argument, Answer, Again});
        _ ->
            Answer =:= Argument orelse exit({not_the_same, Name, Argument, Answer})
    end.

sorted(List) when length(List) >= 0 -> lists:sort(List);
sorted(Other) -> Other.

%% This worker's own server of the kind, or its manager with the handler.
server(#asked{module = Module, kind = Kind, start = Start, types = Types} = Asked) ->
    case get({server, Module}) of
        Pid when is_pid(Pid) ->
            case is_process_alive(Pid) of
                true -> Pid;
                false -> put({server, Module}, undefined), server(Asked)
            end;
        undefined ->
            case started(Kind, Module, [generate(Type, Types, 4) || Type <- Start#spec.arguments]) of
                {ok, Pid} -> put({server, Module}, Pid), Pid;
                _ -> server(Asked)
            end
    end.

started(event, Module, Arguments) ->
    {ok, Manager} = gen_event:start_link(),
    case apply(Module, add_handler, [Manager | Arguments]) of
        ok -> {ok, Manager};
        {error, _} = Error -> gen_event:stop(Manager), Error
    end;
started(_, Module, Arguments) ->
    try apply(Module, start_link, Arguments)
    catch Class:Reason -> {Class, Reason}
    end.

argument(Type, Types) ->
    case rand:uniform(10) of
        N when N =< 6 -> generate(Type, Types, 4);
        N when N =< 8 -> damaged(generate(Type, Types, 4));
        _ -> any(4)
    end.

%% ---------------------------------------------------------------- native functions

any_native(Module, Nifs, Servers) ->
    {Name, Arity} = pick(Nifs),
    native(Module, Name, [native_argument(Servers) || _ <- lists:seq(1, Arity)], any).

%% A call as the Erlang half makes it, nearly.
meant_native(Module, Nifs, Servers) ->
    {Name, Arity} = pick([Nif || {_, 2} = Nif <- Nifs] ++ [{place, 1}, {state, 1}, {test, 1}]),
    case {Name, Arity, get(slots)} of
        {init, 2, _} -> begin_one(Module, pick(Servers));
        {restore, 2, _} -> restored(Module, pick(Servers));
        {test, 1, _} -> begin_test(Module);
        {_, 1, [_ | _] = Slots} ->
            {Slot, #asked{kind = Kind}} = pick(Slots),
            native(Module, Name, [any_slot(Slot)], Kind);
        {_, 1, []} -> begin_one(Module, pick(Servers));
        {_, 2, []} -> begin_one(Module, pick(Servers));
        {_, 2, Slots} ->
            {Slot, #asked{kind = Kind} = Asked} = pick(Slots),
            Result = native(Module, Name, [any_slot(Slot), second(Name, Asked, Servers)], Kind),
            go_on(Module, Slot, Asked, Result)
    end.

%% A callback that waits is mostly given something, whether or not it is what it waits for; else it waits while others are asked for.
go_on(Module, Slot, #asked{kind = Kind} = Asked, {orders, Orders, _}) when is_list(Orders) ->
    case rand:uniform(4) of
        1 -> ok;
        _ ->
            %% A job is done first, as it is in order.
            [native(Module, pick([work_cpu, work_io]), [Slot, Number], Kind)
             || {Job, Number} <- Orders, Job =:= cpu orelse Job =:= io, rand:uniform(4) > 1],
            go_on(Module, Slot, Asked, native(Module, resume, [Slot, second(resume, Asked, [Asked])], Kind))
    end;
go_on(Module, Slot, Asked, {What, _, _, _, _} = Order) when What =:= call; What =:= apply ->
    go_on(Module, Slot, Asked, {orders, [Order], wait});
go_on(_, _, _, _) ->
    ok.

%% Mostly the one; else one of another worker, which may be gone, or whatever.
any_slot(Slot) ->
    case rand:uniform(20) of
        1 -> pick(get(pool));
        2 -> shared(Slot);
        3 -> rand:uniform(1 bsl 16) - 1;
        _ -> Slot
    end.

begin_one(Module, #asked{number = Number, start = Start, types = Types, kind = Kind} = Asked) ->
    Arguments = list_to_tuple([argument(Type, Types) || Type <- Start#spec.arguments]),
    Argument = case Kind of
        event -> pick([{'$start', Arguments}, {'$start', Arguments}, {{'$swap', Arguments}, any(2)}]);
        _ -> Arguments
    end,
    case native(Module, init, [Number, Argument], Kind) of
        {Slot, _Place, _} when is_reference(Slot) -> own_slot(Slot, Asked);
        _ -> ok
    end.

%% One of #[otp::test].
begin_test(Module) ->
    case native(Module, test, [rand:uniform(3) - 1], task) of
        Slot when is_reference(Slot) ->
            Task = #asked{module = test, kind = task, specs = [], types = #{}},
            own_slot(Slot, Task),
            go_on(Module, Slot, Task, native(Module, on, [Slot, started], task));
        _ -> ok
    end.

restored(Module, #asked{number = Number, kind = Kind, types = Types} = Asked) ->
    Shown = case [Slot || {Slot, #asked{number = N}} <- get(slots), N =:= Number] of
        [] -> any(3);
        Slots -> native(Module, on, [pick(Slots), state], Kind)
    end,
    Changed = case rand:uniform(3) of 1 -> damaged(Shown); _ -> Shown end,
    State = case Kind of
        statem -> {argument({user_type, 0, state, []}, Types), Changed};
        _ -> Changed
    end,
    case native(Module, restore, [Number, State], Kind) of
        {ok, Slot} when is_reference(Slot) -> own_slot(Slot, Asked);
        _ -> ok
    end.

%% The others see it too, and still do when it is forgotten here.
own_slot(Slot, Asked) ->
    put(slots, lists:sublist([{Slot, Asked} | get(slots)], 8)),
    share(Slot).

share(Term) ->
    ets:insert(shared, {rand:uniform(32), Term}).

shared(Else) ->
    case ets:lookup(shared, rand:uniform(32)) of
        [{_, Term}] -> Term;
        [] -> Else
    end.

%% What goes into a native function beside the slot.
second(resume, _, _) ->
    Events = [{pick(get(orders)), came()} || _ <- lists:seq(1, rand:uniform(3))],
    case rand:uniform(7) of 1 -> damaged(Events); 2 -> [pick(get(orders)) | came()]; _ -> Events end;
second(Work, _, _) when Work =:= work_cpu; Work =:= work_io ->
    pick(get(orders));
second(on, #asked{kind = Kind, types = Types}, _) ->
    case rand:uniform(7) of
        1 -> pick([started, timeout, restored]);
        2 -> {exit, {'EXIT', self(), any(2)}};
        3 when Kind =:= statem -> {terminate, any(2), argument({user_type, 0, state, []}, Types)};
        3 -> {terminate, pick([stop, remove_handler, {stop, any(1)}, {error, {'EXIT', any(1)}}, any(2)])};
        4 -> {replace, any(3)};
        _ -> state
    end;
second(_, Asked, Servers) ->
    case rand:uniform(10) of
        1 -> message(pick(Servers));
        _ -> message(Asked)
    end.

%% What an order may come to.
came() ->
    pick([timeout, {reply, any(3)}, {down, any(2)}, {ok, self()}, {ok, any(2)}, {raised, error, any(2)}, {started, any_list(2)}, ok,
          any(2)]).

native(Module, Name, Arguments, Kind) ->
    count(native),
    trace({Module, Name, Arguments}),
    try apply(Module, Name, Arguments) of
        Result ->
            count(taken),
            count({taken, Name, Kind}),
            ordered(Result),
            remember(Result),
            Result
    catch
        _:_ -> badarg
    end.

%% The numbers that orders were given.
ordered({orders, Orders, _}) when is_list(Orders) ->
    Numbers = [element(2, Order) || Order <- Orders, is_tuple(Order), tuple_size(Order) > 1, is_integer(element(2, Order))],
    put(orders, lists:sublist(Numbers ++ get(orders), 20));
ordered({What, _, _, _, _} = Order) when What =:= call; What =:= apply ->
    ordered({orders, [Order], wait});
ordered({Slot, _Place, Result}) when is_reference(Slot) ->
    ordered(Result);
ordered(_) ->
    ok.

native_argument(Servers) ->
    case rand:uniform(9) of
        1 -> pick(numbers(Servers));
        2 -> {any(3)};
        3 -> message(pick(Servers));
        4 -> message(pick(Servers));
        5 -> any(4);
        6 -> case get(slots) of [] -> any(1); Slots -> element(1, pick(Slots)) end;
        7 -> shared(any(1));
        _ -> pick(get(pool))
    end.

message(#asked{module = Module, kind = Kind, specs = Specs, types = Types}) ->
    Request = case Specs of
        [] -> any(3);
        _ ->
            case pick(Specs) of
                #spec{name = Name, arguments = []} -> Name;
                #spec{name = Name, arguments = Arguments} -> list_to_tuple([Name | [argument(Type, Types) || Type <- Arguments]])
            end
    end,
    Message = message(Kind, Request, Types),
    put(asked, Module),
    case rand:uniform(5) of 1 -> damaged(Message); _ -> Message end.

message(server, Request, _) ->
    case rand:uniform(8) of
        1 -> {'$gen_cast', Request};
        2 -> {system, {self(), make_ref()}, any(2)};
        3 -> {'EXIT', self(), any(2)};
        4 -> {'$gen_call', {self(), [alias | make_ref()]}, Request};
        5 -> foreign();
        _ -> {'$gen_call', {self(), make_ref()}, Request}
    end;
message(statem, Request, Types) ->
    Type = pick([cast, info, internal, enter, timeout, state_timeout, {timeout, any(1)}, {call, {self(), make_ref()}},
                 {call, {self(), [alias | make_ref()]}}, any(1)]),
    State = argument({user_type, 0, state, []}, Types),
    Content = case Type of
        enter -> argument({user_type, 0, state, []}, Types);
        info -> foreign();
        internal -> pick(['$started', Request, any(2)]);
        _ -> Request
    end,
    {Type, Content, State};
message(task, _, _) ->
    foreign();
message(event, Request, Types) ->
    case rand:uniform(4) of
        1 -> {call, Request};
        2 -> {info, foreign()};
        _ -> {event, argument({user_type, 0, event, []}, Types)}
    end.

%% What is sent to processes by the VM, by timers and by sockets, true or not.
foreign() ->
    pick(['$otp_wake', {'$otp_timer', any(0), any(2)}, {'$otp_tick', pick(get(pool))}, {'$otp_tick', shared(any(1))},
          {'$otp_readable', integer()}, {'$otp_writable', integer()}, {{'DOWN', any(0)}, make_ref(), process, self(), any(1)},
          {'DOWN', make_ref(), process, self(), any(1)}, {[alias | make_ref()], any(1)}, {timeout, make_ref(), limit}, any(3)]).

%% Some of what came back is passed on later: references to states above all.
remember(Result) ->
    case Result of
        {ok, Slot} when is_reference(Slot) -> keep(Slot), share(Slot);
        {Slot, _Place, _} when is_reference(Slot) -> keep(Slot);
        _ -> rand:uniform(50) =:= 1 andalso erts_debug:flat_size(Result) < 1000 andalso keep(Result)
    end.

keep(Term) ->
    put(pool, lists:sublist([Term | get(pool)], 40)).

%% Gives it to every native function, alone, as a request, and as the argument of every request.
deep(Term, Module, Nifs, Servers) ->
    [native(Module, Name, arguments(Arity, Slot, Message), any)
     || #asked{kind = Kind, specs = Specs, types = Types} = Asked <- Servers,
        Slot <- [Term | slot(Module, Asked)],
        Message <- [Term, {Term}, [{1, Term}], [1 | Term], {terminate, Term}, {replace, Term}, {'$otp_tick', Term}
                    | lists:append([wrapped(Kind, Request, Types) || Request <- [Term | [{Name, Term} || #spec{name = Name} <- Specs]]])],
        {Name, Arity} <- Nifs],
    [native(Module, Name, [Number, Argument], any)
     || #asked{number = Number} <- Servers, Argument <- [Term, {Term}, {'$start', {Term}}, {{'$swap', {Term}}, Term}, {Term, Term}],
        Name <- [init, restore]].

wrapped(server, Request, _) ->
    [{'$gen_call', {self(), make_ref()}, Request}];
wrapped(statem, Request, Types) ->
    State = generate({user_type, 0, state, []}, Types, 4),
    [{{call, {self(), make_ref()}}, Request, State}, {info, Request, State}, {cast, State, Request}];
wrapped(event, Request, _) ->
    [{call, Request}, {event, Request}].

%% Those of the behaviours, of which some are none that can be asked; and one too many.
numbers(Servers) ->
    lists:seq(0, length(Servers) + 3).

slot(Module, #asked{number = Number, kind = Kind, start = Start, types = Types}) ->
    Arguments = list_to_tuple([generate(Type, Types, 4) || Type <- Start#spec.arguments]),
    try Module:init(Number, case Kind of event -> {'$start', Arguments}; _ -> Arguments end) of
        {Slot, _Place, _} when is_reference(Slot) -> [Slot];
        _ -> []
    catch
        _:_ -> []
    end.

arguments(0, _, _) -> [];
arguments(1, _, Message) -> [Message];
arguments(Arity, Slot, Message) -> [Slot | lists:duplicate(Arity - 1, Message)].

trace(Call) ->
    case get(trace) of
        false -> ok;
        File -> file:write_file(File, io_lib:format("~tP~n", [Call, 1000]))
    end.
