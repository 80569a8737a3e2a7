%% The native module of an application, and the loop of its gen_servers.
%%
%% Each build of an application has a module like this one of its own, named as its library (MODULE below is replaced by
%% that name), so the running build stays where it is when the next one is loaded.
%%
%% A process holds a reference to its state, its slot, and the number of the place that the state lies in. It gives every message to
%% handle/2 by the slot, or to message/2 by that number, which say what is to be done:
%%
%%   ok                           nothing
%%   {reply, Tag, To, Reply}      send that reply (To is a process or the alias of one)
%%   hibernate, {timeout, Ms}     what gen_server's callbacks return
%%   {stop, Reason}               the same
%%   {then, Reply, Next}          send a reply as above, then do as gen_server's return says
%%   {orders, Orders, Result}     do that first (MODULE_wait)
%%   {call, Number, …}            the order of a call and nothing else, which is waited for (MODULE_wait)
%%   {apply, Number, …}           the same of a function of Erlang's
%%   wait, listen, yield          the callback waits: go on with it when something came (MODULE_wait)
%%   {answer, Reply, Next}        a callback that waited has come to its reply
%%   {unknown, Why}               nobody is there for this message; with a third, the reply that is to be sent first
%%   dirty_cpu, dirty_io          ask again on a scheduler that may be held up
%%   system                       this is a message of sys(3)
%%   exit                         this is the end of a linked process
%%
%% A panic comes out of them as an error and ends the process, as a wrong match would.
-module('MODULE').

-export([start/5, start_link/5, enter/6, enter_pool/6, woken/1, shown/1, successor/2, adopt/3, leave/4, stays/2]).
-export([system_continue/3, system_terminate/4, system_code_change/4, system_get_state/1, system_replace_state/2,
         format_status/2]).
-export([init/2, restore/2, place/1, on/2, state/1, resume/2, work_cpu/2, work_io/2, tests/1, test/1, realtime/0, observe/2]).
-export([handle/2, handle_dirty_cpu/2, handle_dirty_io/2, let_go/1, watch/3, kept/2]).
-on_load(load/0).

-nifs([init/2, restore/2, place/1, message/2, handle/2, handle_dirty_cpu/2, handle_dirty_io/2, on/2, state/1, resume/2, work_cpu/2,
       work_io/2, let_go/1, watch/3, kept/2, tests/1, test/1, realtime/1, observe/2]).

-record(self, {parent :: pid(), name :: term(), module :: module(), number :: non_neg_integer(),
               options :: [option()], slot :: reference(), place :: non_neg_integer(), debug = [] :: [sys:debug_option()],
               time = infinity :: timeout()}).

%% What a behaviour is beside its callbacks: whether it has work after its start or before its end, traps exits, how its
%% process is spawned, and what becomes of it at an upgrade, if not that its state goes over.
-type option() :: started | terminate | trap_exit | {spawn, [term()]} | {on_upgrade, stay | restart}.

load() ->
    case erlang:load_nif(filename:rootname(code:which(?MODULE)), 0) of
        ok ->
            %% Where modules are loaded in an order of the node's own these or logger may not be there yet: the start of the
            %% application sees to it.
            try 'MODULE_bounded':watch() catch _:_ -> ok end,
            try 'MODULE_observe':start_later() catch error:undef -> ok end;
        {error, {Why, Text}} ->
            logger:error("the library of ~p cannot be loaded: ~p: ~ts", [?MODULE, Why, Text]),
            {error, Why}
    end.

%% Starts the behaviour that has this number in the library; Module is its own module.
start_link(Module, Number, Name, Argument, Options) ->
    case bearer(Name) of
        undefined ->
            proc_lib:start_link(?MODULE, enter, [self(), Module, Number, Name, Argument, Options], infinity, spawned(Options));
        Pid ->
            {error, {already_started, Pid}}
    end.

start(Module, Number, Name, Argument, Options) ->
    case bearer(Name) of
        undefined ->
            proc_lib:start(?MODULE, enter, [self(), Module, Number, Name, Argument, Options], infinity, spawned(Options));
        Pid ->
            {error, {already_started, Pid}}
    end.

%% Who has the name already. As in gen_server, no process is made then, whose end the starter would be told.
bearer(undefined) -> undefined;
bearer({local, Name}) -> whereis(Name);
bearer({global, Name}) -> global:whereis_name(Name).

spawned([]) -> [];
spawned(Options) -> proplists:get_value(spawn, Options, []).

enter(Starter, Module, Number, Name, Argument, Options) ->
    put('$initial_call', {Module, init, 1}),
    case register_name(Name) of
        true ->
            has(trap_exit, Options) andalso process_flag(trap_exit, true),
            try initial(init(Number, Argument)) of
                {ok, Slot, Place} ->
                    proc_lib:init_ack(Starter, {ok, self()}),
                    begin_with(self({Starter, name(Name), Module, Number, Options, infinity}, Slot, Place, []));
                ignore ->
                    unregister_name(Name),
                    init_fail(Starter, ignore, {exit, normal});
                {stop, Reason} ->
                    unregister_name(Name),
                    init_fail(Starter, {error, Reason}, {exit, Reason})
            catch
                error:Error:Stack ->
                    {Reason, Bare} = 'MODULE_wait':plain(Error, Stack),
                    unregister_name(Name),
                    init_fail(Starter, {error, Reason}, {error, Reason, Bare})
            end;
        {false, Pid} ->
            init_fail(Starter, {error, {already_started, Pid}}, {exit, normal})
    end.

%% The end of a process that does not come to be, as gen_server has it: since OTP 26 the starter's call returns when the process has ended,
%% and takes its exit signal with it; before, that is a message of the starter's if it traps exits.
-spec init_fail(pid(), term(), {exit, term()} | {error, term(), erlang:stacktrace()}) -> no_return().
init_fail(Starter, Return, Exception) ->
    case erlang:function_exported(proc_lib, init_fail, 3) of
        true ->
            apply(proc_lib, init_fail, [Starter, Return, Exception]);
        false ->
            proc_lib:init_ack(Starter, Return),
            case Exception of
                {exit, Reason} -> exit(Reason);
                {error, Reason, Stack} -> erlang:raise(error, Reason, Stack)
            end
    end.

%% A child of a pool: it answers whoever asked for it. One that is started anew may find nobody waiting any more.
enter_pool({_, From} = Start, Pool, Module, Number, Argument, Options) ->
    put('$initial_call', {Module, init, 1}),
    has(trap_exit, Options) andalso process_flag(trap_exit, true),
    try initial(init(Number, Argument)) of
        {ok, Slot, Place} ->
            'MODULE_pool':answer(From, Pool, {ok, self()}),
            begin_with(self({Pool, self(), Module, Number, Options, infinity}, Slot, Place, []));
        ignore ->
            'MODULE_pool':answer(From, Pool, ignore),
            exit({shutdown, {'$otp_no_start', ignore}});
        {stop, Reason} ->
            no_start(Start, Pool, Reason, Reason)
    catch
        error:Error:Stack ->
            Why = {Reason, _} = 'MODULE_wait':plain(Error, Stack),
            no_start(Start, Pool, Reason, Why)
    end.

begin_with(Self = #self{options = Options}) ->
    case has(started, Options) of
        true -> ask(started, Self);
        false -> next(Self)
    end.

%% What never ran is not started anew; what ran once is, until it is too often.
no_start({again, _From}, _Pool, _Reason, Why) ->
    exit(Why);
no_start({first, From}, Pool, Reason, _Why) ->
    'MODULE_pool':answer(From, Pool, {error, Reason}),
    exit({shutdown, {'$otp_no_start', Reason}}).

initial({Slot, Place, ok}) ->
    {ok, Slot, Place};
initial({Slot, Place, Result}) when is_reference(Slot) ->
    case 'MODULE_wait':settle(Result, Slot) of
        ok -> {ok, Slot, Place};
        Else -> Else
    end;
initial(Else) ->
    Else.

has(_What, []) -> false;
has(What, Options) -> lists:member(What, Options).

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

unregister_name(Name) ->
    try unregistered(Name)
    catch _:_ -> ok
    end.

unregistered({local, Name}) -> unregister(Name);
unregistered({global, Name}) -> global:unregister_name(Name);
unregistered(undefined) -> ok.

name(undefined) -> self();
name({local, Name}) -> Name;
name(Name) -> Name.

%% The next message, of whatever process.
next(Self = #self{debug = [], place = Place}) ->
    try loop(Place) of
        {Result, Message} -> other(Result, Message, Self)
    catch
        Class:Reason:Stack -> failed(Class, Reason, Stack, handled(Stack), Self)
    end;
next(Self) ->
    receive
        Message = {system, _, _} -> take(Message, Self);
        Message -> take(Message, traced({in, Message}, Self))
    end.

%% The loop of a process that nobody traces. What most messages come to is done right here. It is as short as it is because it is all
%% that runs beside the native function.
%%
%% The native function takes it for granted that the slot of the place is still referred to, as it is by the caller of the loop; so it is
%% not exported.
loop(Place) ->
    receive
        Message ->
            case message(Place, Message) of
                ok ->
                    loop(Place);
                {reply, Tag, To, Reply} ->
                    To ! {Tag, Reply},
                    loop(Place);
                Other ->
                    {Other, Message}
            end
    end.

%% The message that came to an error.
handled([{?MODULE, message, [_Place, Message], _Where} | _]) -> Message;
handled(_) -> undefined.

take(Message, Self = #self{slot = Slot}) ->
    try handle(Slot, Message) of
        Result -> done(Result, Message, Self)
    catch
        Class:Reason:Stack -> failed(Class, Reason, Stack, Message, Self)
    end.

%% Has the state do something that is no message.
ask(What, Self = #self{slot = Slot}) ->
    try on(Slot, What) of
        Result -> done(Result, What, Self)
    catch
        Class:Reason:Stack -> failed(Class, Reason, Stack, What, Self)
    end.

done(ok, _Message, Self) ->
    next(Self);
done({reply, _, _, _} = Reply, _Message, Self) ->
    next(replied(Reply, Self));
done(Other, Message, Self) ->
    other(Other, Message, Self).

replied({reply, Tag, To, Reply}, Self) ->
    Message = {Tag, Reply},
    To ! Message,
    traced({out, Message, To}, Self).

other({orders, _, _} = Result, Message, Self) ->
    settled(Result, Message, Self);
other({What, _, _, _, _} = Result, Message, Self) when What =:= call; What =:= apply ->
    settled(Result, Message, Self);
other(Result, Message, Self) when Result =:= wait; Result =:= listen; Result =:= yield ->
    settled(Result, Message, Self);
other({then, Reply, Next}, Message, Self) ->
    done(Next, Message, replied(Reply, Self));
other({answer, Reply, Next}, Message = {'$gen_call', From, _}, Self) ->
    gen:reply(From, Reply),
    done(Next, Message, Self);
other(hibernate, _Message, Self) ->
    proc_lib:hibernate(?MODULE, woken, [Self]);
other({timeout, Time}, _Message, Self) ->
    receive
        {system, From, Request} ->
            %% The time begins anew afterwards, as gen_server's does.
            sys:handle_system_msg(Request, From, Self#self.parent, ?MODULE, Self#self.debug, Self#self{time = Time});
        Message -> take(Message, traced({in, Message}, Self))
    after Time ->
        ask(timeout, Self)
    end;
other({stop, Reason}, Message, Self) ->
    stop(Reason, Message, Self);
other(dirty_cpu, Message, Self) ->
    held_up(fun handle_dirty_cpu/2, Message, Self);
other(dirty_io, Message, Self) ->
    held_up(fun handle_dirty_io/2, Message, Self);
other(system, {system, From, Request}, Self) ->
    sys:handle_system_msg(Request, From, Self#self.parent, ?MODULE, Self#self.debug, Self);
other(exit, Message = {'EXIT', Parent, Reason}, #self{parent = Parent} = Self) ->
    stop(Reason, Message, Self);
other(exit, Message, Self) ->
    ask({exit, Message}, Self);
other(unknown, {exit, {'EXIT', Process, Reason} = Message}, Self) ->
    %% Who traps exits to do its work before its end, and is not told of those of others, ends as if it trapped none.
    case has(trap_exit, Self#self.options) of
        true when Reason =:= normal -> next(Self);
        true -> stop(Reason, Message, Self);
        false -> other({unknown, <<"nobody is told of the end of linked processes">>}, {'EXIT', Process, Reason}, Self)
    end;
other({unknown, Why, Reply}, Message, Self) ->
    other({unknown, Why}, Message, replied(Reply, Self));
other({unknown, Why}, Message, Self) ->
    logger:warning(#{label => {otp, unknown_message}, module => Self#self.module, name => Self#self.name,
                     message => 'MODULE_bounded':term(Message), reason => Why},
                   #{domain => [otp], report_cb => fun report/1}),
    next(Self).

settled(Result, Message, Self = #self{slot = Slot}) ->
    try 'MODULE_wait':settle(Result, Slot) of
        Final -> done(Final, Message, Self)
    catch
        Class:Reason:Stack -> failed(Class, Reason, Stack, Message, Self)
    end.

held_up(Handle, Message, Self = #self{slot = Slot}) ->
    try Handle(Slot, Message) of
        Result -> done(Result, Message, Self)
    catch
        Class:Reason:Stack -> failed(Class, Reason, Stack, Message, Self)
    end.

woken(Self) ->
    next(Self).

traced(_Event, Self = #self{debug = []}) ->
    Self;
traced(Event, Self = #self{debug = Debug, name = Name}) ->
    Self#self{debug = sys:handle_debug(Debug, fun print/3, Name, Event)}.

print(Device, {in, Message}, Name) ->
    io:format(Device, "*DBG* ~tp got ~0tp~n", [Name, 'MODULE_bounded':term(Message)]);
print(Device, {out, Message, To}, Name) ->
    io:format(Device, "*DBG* ~tp sent ~0tp to ~tp~n", [Name, 'MODULE_bounded':term(Message), To]).

report(#{module := Module, name := Name, message := Message, reason := Why}) ->
    {"~tp (~tp) has nobody for the message ~0tp: ~ts", [Module, Name, Message, Why]}.

%% ---------------------------------------------------------------- the end

-spec stop(term(), term(), #self{}) -> no_return().
stop(Reason, Message, Self = #self{options = Options, slot = Slot}) ->
    try has(terminate, Options) andalso 'MODULE_wait':settle(on(Slot, {terminate, Reason}), Slot) of
        _ when Reason =:= normal; Reason =:= shutdown -> exit(Reason);
        _ when element(1, Reason) =:= shutdown -> exit(Reason);
        _ ->
            log_end(Reason, Message, Self),
            exit(Reason)
    catch
        Class:Why:Stack -> failed(Class, Why, Stack, Message, Self)
    end.

-spec failed(_, _, _, _, _) -> no_return().
failed(Class, Error, Stack, Message, Self) ->
    {Reason, Bare} = 'MODULE_wait':plain(Error, Stack),
    log_end({Reason, Bare}, Message, Self),
    erlang:raise(Class, Reason, Bare).

%% As gen_server tells it, so that whatever reads such reports reads this one. Where none is wanted, none is made.
log_end(Reason, Message, #self{slot = Slot, name = Name, debug = Debug}) ->
    _ = logger:allow(error, ?MODULE) andalso
        logger:error(#{label => {gen_server, terminate}, name => Name, last_message => 'MODULE_bounded':term(Message),
                       state => shown(Slot), log => logged(Debug), reason => bounded(Reason), client_info => undefined,
                       process_label => undefined},
                     #{domain => [otp], report_cb => fun gen_server:format_log/2,
                       error_logger => #{tag => error, report_cb => fun gen_server:format_log/1}}).

%% The reason of a failure comes with its stack, which is read as one.
bounded({Reason, Stack = [_ | _]}) -> {'MODULE_bounded':term(Reason), 'MODULE_bounded':stack(Stack)};
bounded(Reason) -> 'MODULE_bounded':term(Reason).

%% What sys(3) was told to note, which is a list.
logged(Debug) ->
    'MODULE_bounded':term(sys:get_log(Debug)).

%% For people: of a large state, the beginning. To have all of it as a term may take long.
shown(Slot) ->
    try 'MODULE_bounded':term(state(Slot))
    catch _:_ -> '(a callback has it)'
    end.

%% ---------------------------------------------------------------- sys(3)

system_continue(_Parent, Debug, Self = #self{}) ->
    go_on(Self#self{debug = Debug});
system_continue(Parent, Debug, {Native, Next, Module, Number, Name, Options, Time}) ->
    Native:adopt(Next, {Parent, Name, Module, Number, Options, Time}, Debug).

%% Waits for a message, for as long as it would have if nobody had come between.
go_on(Self = #self{time = infinity}) -> next(Self);
go_on(Self = #self{time = Time}) -> other({timeout, Time}, continue, Self#self{time = infinity}).

-spec system_terminate(term(), pid(), [sys:debug_option()], term()) -> no_return().
system_terminate(Reason, _Parent, Debug, Self = #self{}) ->
    stop(Reason, terminate, Self#self{debug = Debug});
system_terminate(Reason, Parent, Debug, {Native, Next, Module, Number, Name, Options, Time}) ->
    Native:leave(Reason, Next, {Parent, Name, Module, Number, Options, Time}, Debug).

%% To another build (MODULE_upgrade): the native module of it, and the number and options that the behaviour has there. First
%% the state is made of which it is to go on there, and nothing else is changed; then it goes over, or does not.
system_code_change(Misc, _Module, _OldVsn, {otp_prepare, ?MODULE, _Number}) ->
    {ok, Misc};
system_code_change(Self = #self{slot = Slot}, _Module, _OldVsn, {otp_prepare, Native, Number}) ->
    case Native:successor(Number, on(Slot, carry)) of
        {ok, Next} ->
            put({'$otp_next', Slot}, Next),
            {ok, Self};
        {error, Why} ->
            {error, stays(Why, ?MODULE)}
    end;
system_code_change(Misc, _Module, _OldVsn, {otp_commit, ?MODULE, _Number, _Options}) ->
    {ok, Misc};
system_code_change(Self = #self{}, _Module, _OldVsn, {otp_commit, Native, Number, Options}) ->
    Next = {_, _} = erase({'$otp_next', Self#self.slot}),
    {ok, {Native, Next, Self#self.module, Number, Self#self.name, Options, Self#self.time}};
system_code_change(Self = #self{}, _Module, _OldVsn, otp_back) ->
    erase({'$otp_next', Self#self.slot}),
    {ok, Self};
system_code_change(Misc, _Module, _OldVsn, _Extra) ->
    {ok, Misc}.

%% What stays is in this module of this build.
stays({no_form, Why}, Module) -> {stays, Module, Why};
stays(Why, _Module) -> Why.

%% {Slot, Orders} of a process that goes on from the state that one of another build has; the orders are those of what made it. {no_form, Why}
%% is the error of one that may stay in its build: its state has no form, or its behaviour asks for a restart.
successor(restart, _State) ->
    {error, {no_form, restart}};
successor(Number, State) ->
    case restore(Number, State) of
        {ok, Slot} -> {ok, {Slot, []}};
        {orders, Orders, {ok, Slot}} -> {ok, {Slot, Orders}};
        {error, Why} -> {error, Why}
    end.

%% Goes on with a process of the build before.
adopt(Next, About = {_, _, _, _, Options, _}, Debug) ->
    process_flag(trap_exit, has(trap_exit, Options)),
    Slot = adopted(Next),
    go_on(self(About, Slot, place(Slot), Debug)).

%% The end of one that was to go on here.
-spec leave(term(), {reference(), list()}, tuple(), [sys:debug_option()]) -> no_return().
leave(Reason, Next, About, Debug) ->
    Slot = adopted(Next),
    stop(Reason, terminate, self(About, Slot, place(Slot), Debug)).

adopted({Slot, []}) ->
    Slot;
adopted({Slot, Orders}) ->
    'MODULE_wait':settle({orders, Orders, ok}, Slot),
    Slot.

self({Parent, Name, Module, Number, Options, Time}, Slot, Place, Debug) ->
    #self{parent = Parent, name = Name, module = Module, number = Number, options = Options, slot = Slot,
          place = Place, debug = Debug, time = Time}.

system_get_state(#self{slot = Slot}) ->
    {ok, on(Slot, state)};
system_get_state({Native, {Slot, _Orders}, _Module, _Number, _Name, _Options, _Time}) ->
    {ok, Native:on(Slot, state)}.

system_replace_state(Replace, Self = #self{slot = Slot}) ->
    New = Replace(on(Slot, state)),
    case on(Slot, {replace, New}) of
        ok -> {ok, New, Self};
        {error, Why} -> erlang:error(Why)
    end.

format_status(_Opt, [_Dictionary, SysState, Parent, Debug, #self{slot = Slot, name = Name, module = Module}]) ->
    [{header, gen:format_status_header("Status for generic server", Name)},
     {data, [{"Status", SysState}, {"Parent", Parent}, {"Logged events", logged(Debug)}, {"Module", Module}]},
     {data, [{"State", shown(Slot)}]}].

%% ---------------------------------------------------------------- real-time mode

%% Puts what was asked for in force: what became of each thing, with the level at which it is to be logged.
%%
%% Two schedulers of one priority on one processor take no turns under the policy fifo: one that computes keeps the other, and the
%% processes that are there, from running for ever. So there are no more of them than processors, as in a VM that is started there.
realtime() ->
    Online = erlang:system_info(schedulers_online),
    Told =
        case realtime(schedulers) of
            Few when Few < Online ->
                erlang:system_flag(schedulers_online, Few),
                Schedulers = case Few of 1 -> "scheduler"; _ -> "schedulers" end,
                [{notice, io_lib:format("real-time: ~b ~s of ~b, one for each processor", [Few, Schedulers, Online])}];
            _ ->
                []
        end,
    Told ++ realtime(threads).

%% ---------------------------------------------------------------- native

init(_Number, _Argument) -> erlang:nif_error(not_loaded).
restore(_Number, _State) -> erlang:nif_error(not_loaded).
place(_Slot) -> erlang:nif_error(not_loaded).
message(_Place, _Message) -> erlang:nif_error(not_loaded).
handle(_Slot, _Message) -> erlang:nif_error(not_loaded).
handle_dirty_cpu(_Slot, _Message) -> erlang:nif_error(not_loaded).
handle_dirty_io(_Slot, _Message) -> erlang:nif_error(not_loaded).
on(_Slot, _Event) -> erlang:nif_error(not_loaded).
state(_Slot) -> erlang:nif_error(not_loaded).
resume(_Slot, _Events) -> erlang:nif_error(not_loaded).
work_cpu(_Slot, _Number) -> erlang:nif_error(not_loaded).
work_io(_Slot, _Number) -> erlang:nif_error(not_loaded).
let_go(_Descriptor) -> erlang:nif_error(not_loaded).
watch(_Descriptor, _What, _Message) -> erlang:nif_error(not_loaded).
kept(_What, _Given) -> erlang:nif_error(not_loaded).
tests(_What) -> erlang:nif_error(not_loaded).
test(_Number) -> erlang:nif_error(not_loaded).
realtime(_What) -> erlang:nif_error(not_loaded).
observe(_What, _Content) -> erlang:nif_error(not_loaded).
