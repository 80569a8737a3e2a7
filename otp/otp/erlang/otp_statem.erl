%% The common part of the callback modules of gen_statems.
%%
%% The process is gen_statem's; its data is {?MODULE, Slot}: this module, of the build that the process belongs to, and the
%% reference to the data itself. An event goes into handle/2 as {Type, Content, State}, and what comes out is what gen_statem's
%% callbacks return, without the data: {next_state, NextState, Actions} gets it here. Beside that:
%%
%%   {orders, Orders, Result}, wait, …  the callback has orders, or waits (MODULE_wait)
%%   {answer, Result, ok}               a callback that waited has come to its result
%%   {unknown, Why}                     nobody is there for this event
%%   dirty_cpu, dirty_io                ask again on a scheduler that may be held up
-module('MODULE_statem').

-export([init/3, enter_pool/6, event/4, terminate/3, code_change/4, format_status/1, shown/1, carried/1]).

init(Number, Arguments, Options) ->
    lists:member(trap_exit, Options) andalso process_flag(trap_exit, true),
    try
        case 'MODULE':init(Number, Arguments) of
            {Slot, _Place, Result} when is_reference(Slot) -> first('MODULE_wait':settle(Result, Slot), Slot, Options);
            Else -> Else
        end
    catch
        Class:Error:Stack -> 'MODULE_wait':raise(Class, Error, Stack)
    end.

first({first, State, Actions}, Slot, Options) ->
    case lists:member(started, Options) of
        true -> {ok, State, {?MODULE, Slot}, [{next_event, internal, '$started'} | Actions]};
        false -> {ok, State, {?MODULE, Slot}, Actions}
    end;
first(Else, _Slot, _Options) ->
    Else.

%% A child of a pool: it answers whoever asked for it. See enter_pool/6 in MODULE, whose words these are.
enter_pool({_, From} = Start, Pool, Module, Number, Argument, Options) ->
    put('$initial_call', {Module, init, 1}),
    try init(Number, Argument, Options) of
        {ok, State, Data, Actions} ->
            'MODULE_pool':answer(From, Pool, {ok, self()}),
            gen_statem:enter_loop(Module, [], State, Data, self(), Actions);
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

no_start({again, _From}, _Pool, _Reason, Why) ->
    exit(Why);
no_start({first, From}, Pool, Reason, _Why) ->
    'MODULE_pool':answer(From, Pool, {error, Reason}),
    exit({shutdown, {'$otp_no_start', Reason}}).

event(Type, Content, State, {_, Slot} = Data) ->
    Event = {Type, Content, State},
    try settled('MODULE':handle(Slot, Event), Event, Slot) of
        Result -> result(Result, Event, Data)
    catch
        Class:Error:Stack -> 'MODULE_wait':raise(Class, Error, Stack)
    end.

settled(dirty_cpu, Event, Slot) -> settled('MODULE':handle_dirty_cpu(Slot, Event), Event, Slot);
settled(dirty_io, Event, Slot) -> settled('MODULE':handle_dirty_io(Slot, Event), Event, Slot);
settled(Result, _Event, Slot) -> 'MODULE_wait':settle(Result, Slot).

result({next_state, State, Actions}, _Event, Data) -> {next_state, State, Data, Actions};
result({answer, Result, ok}, Event, Data) -> result(Result, Event, Data);
result({unknown, Why}, Event, _Data) -> unknown(Event, Why);
result(Result, _Event, _Data) -> Result.

unknown({info, {'EXIT', _Process, normal}, _State}, _Why) ->
    keep_state_and_data;
unknown({info, {'EXIT', _Process, Reason}, _State}, _Why) ->
    %% Who traps exits to do its work before its end, and is not told of those of others, ends as if it trapped none.
    {stop, Reason};
unknown({{call, From}, Request, State}, Why) ->
    warn(call, Request, State, Why),
    {keep_state_and_data, {reply, From, {'$refused', Why}}};
unknown({Type, Content, State}, Why) ->
    warn(Type, Content, State, Why),
    keep_state_and_data.

warn(Type, Content, State, Why) ->
    {Module, _, _} = proc_lib:translate_initial_call(self()),
    logger:warning(#{label => {otp, unknown_event}, module => Module, name => self(), type => Type,
                     event => 'MODULE_bounded':term(Content), state => 'MODULE_bounded':term(State), reason => Why},
                   #{domain => [otp], report_cb => fun report/1}).

report(#{module := Module, name := Name, type := Type, event := Event, state := State, reason := Why}) ->
    {"~tp (~tp), in the state ~0tp, has nobody for the ~0tp ~0tp: ~ts", [Module, Name, State, Type, Event, Why]}.

terminate(Reason, State, {_, Slot}) ->
    'MODULE_wait':settle('MODULE':on(Slot, {terminate, Reason, State}), Slot).

%% To another build, in two steps: see system_code_change/4 in MODULE, whose words these are. The first is done by the module of
%% the build before, the second by that of the new one. Without these words it is done in one step, to this build.
code_change(_Own, State, Data = {Old, Slot}, {otp_prepare, Native, Number}) ->
    case Native:successor(Number, {State, Old:carried(Slot)}) of
        {ok, Next} ->
            put({'$otp_next', Slot}, Next),
            {ok, State, Data};
        {error, Why} ->
            {error, 'MODULE':stays(Why, Old)}
    end;
code_change(_Number, State, Data = {_, Slot}, otp_back) ->
    erase({'$otp_next', Slot}),
    {ok, State, Data};
code_change(_Number, State, Data = {?MODULE, _}, _Extra) ->
    {ok, State, Data};
code_change(_Number, _State, {_Old, Slot}, {otp_commit, _Native, _, Options}) ->
    Next = {_, _} = erase({'$otp_next', Slot}),
    process_flag(trap_exit, lists:member(trap_exit, Options)),
    adopted(Next);
code_change(Number, State, {Old, Slot}, _Extra) ->
    case 'MODULE':successor(Number, {State, Old:carried(Slot)}) of
        {ok, Next} -> adopted(Next);
        {error, {no_form, Why}} -> Why;
        {error, Why} -> Why
    end.

adopted({Slot, Orders}) ->
    State = 'MODULE':on(Slot, restored),
    ok = 'MODULE_wait':settle({orders, Orders, ok}, Slot),
    {ok, State, {?MODULE, Slot}}.

format_status(Status) ->
    maps:map(fun(data, {_, Slot}) -> 'MODULE':shown(Slot); (_, Value) -> 'MODULE_bounded':term(Value) end, Status).

%% All of it, for another build.
shown(Slot) ->
    try 'MODULE':on(Slot, state)
    catch _:_ -> '(a callback has it)'
    end.

%% The data for another build; where there is none to give, an error.
carried(Slot) -> 'MODULE':on(Slot, carry).
