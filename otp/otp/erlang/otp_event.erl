%% The common part of the callback modules of event handlers.
%%
%% The process is gen_event's, and may have handlers of others. The state of one of ours is {?MODULE, Slot}: this module, of the
%% build that the handler belongs to, and the reference to the state itself. {event, Event}, {call, Request} or {info, Message}
%% goes into handle/2; what comes out is
%%
%%   keep, hibernate, remove            what becomes of the handler
%%   {swap, Module, Arguments}          that one comes instead
%%   {reply, Reply, What}               to who called, and one of the above
%%   {orders, Orders, Result}, wait, …  the callback has orders, or waits (MODULE_wait)
%%   {answer, Result, ok}               a callback that waited has come to its result
%%   {unknown, Why}                     nobody is there for this
%%   dirty_cpu, dirty_io                ask again on a scheduler that may be held up
-module('MODULE_event').

-export([init/2, event/3, call/3, info/2, terminate/2, code_change/3, format_status/1, shown/1, carried/1]).

init(Number, Arguments) ->
    try
        case 'MODULE':init(Number, Arguments) of
            {Slot, _Place, Result} when is_reference(Slot) -> initial('MODULE_wait':settle(Result, Slot), Slot);
            Else -> initial(Else, none)
        end
    catch
        Class:Error:Stack -> 'MODULE_wait':raise(Class, Error, Stack)
    end.

initial(ok, Slot) -> {ok, {?MODULE, Slot}};
initial({stop, Why}, _Slot) -> {error, Why};
initial(ignore, _Slot) -> {error, ignore}.

event(Module, Event, {_, Slot} = State) ->
    case handled({event, Event}, Slot) of
        {unknown, Why} ->
            warn(Module, event, Event, Why),
            {ok, State};
        What ->
            what(What, State)
    end.

call(Module, Request, {_, Slot} = State) ->
    case handled({call, Request}, Slot) of
        {unknown, Why} ->
            warn(Module, call, Request, Why),
            {ok, {'$refused', Why}, State};
        {reply, Reply, keep} ->
            {ok, Reply, State};
        {reply, Reply, hibernate} ->
            {ok, Reply, State, hibernate};
        {reply, Reply, remove} ->
            {remove_handler, Reply};
        {reply, Reply, {swap, Other, Arguments}} ->
            {swap_handler, Reply, '$swap', State, Other, {'$swap', Arguments}}
    end.

%% Every handler gets every message; one that is for none of them may be for another process's eyes only.
info(Message, {_, Slot} = State) ->
    case handled({info, Message}, Slot) of
        {unknown, _} -> {ok, State};
        What -> what(What, State)
    end.

what(keep, State) -> {ok, State};
what(hibernate, State) -> {ok, State, hibernate};
what(remove, _State) -> remove_handler;
what({swap, Other, Arguments}, State) -> {swap_handler, '$swap', State, Other, {'$swap', Arguments}}.

handled(Message, Slot) ->
    try settled('MODULE':handle(Slot, Message), Message, Slot) of
        {answer, Result, ok} -> Result;
        Result -> Result
    catch
        Class:Error:Stack -> 'MODULE_wait':raise(Class, Error, Stack)
    end.

settled(dirty_cpu, Message, Slot) -> settled('MODULE':handle_dirty_cpu(Slot, Message), Message, Slot);
settled(dirty_io, Message, Slot) -> settled('MODULE':handle_dirty_io(Slot, Message), Message, Slot);
settled(Result, _Message, Slot) -> 'MODULE_wait':settle(Result, Slot).

warn(Module, Kind, Message, Why) ->
    logger:warning(#{label => {otp, unknown_event}, module => Module, name => self(), type => Kind, 
                     event => 'MODULE_bounded':term(Message), reason => Why},
                   #{domain => [otp], report_cb => fun report/1}).

report(#{module := Module, name := Name, type := Kind, event := Event, reason := Why}) ->
    {"~tp, a handler of ~tp, has nobody for the ~tp ~0tp: ~ts", [Module, Name, Kind, Event, Why]}.

%% What the handler leaves, to who deletes it or takes its place.
terminate(Why, {_, Slot}) ->
    {answer, Left, ok} = 'MODULE_wait':settle('MODULE':on(Slot, {terminate, Why}), Slot),
    Left.

%% To another build, in two steps or in one: see code_change/4 in MODULE_statem.
code_change(_Own, State = {Old, Slot}, {otp_prepare, Native, Number}) ->
    case Native:successor(Number, Old:carried(Slot)) of
        {ok, Next} ->
            put({'$otp_next', Slot}, Next),
            {ok, State};
        {error, Why} ->
            {error, 'MODULE':stays(Why, Old)}
    end;
code_change(_Number, State = {_, Slot}, otp_back) ->
    erase({'$otp_next', Slot}),
    {ok, State};
code_change(_Number, State = {?MODULE, _}, _Extra) ->
    {ok, State};
code_change(_Number, {_Old, Slot}, {otp_commit, _Native, _, _Options}) ->
    Next = {_, _} = erase({'$otp_next', Slot}),
    adopted(Next);
code_change(Number, {Old, Slot}, _Extra) ->
    case 'MODULE':successor(Number, Old:carried(Slot)) of
        {ok, Next} -> adopted(Next);
        {error, {no_form, Why}} -> {error, Why};
        {error, Why} -> {error, Why}
    end.

adopted({Slot, Orders}) ->
    ok = 'MODULE_wait':settle({orders, Orders, ok}, Slot),
    {ok, {?MODULE, Slot}}.

format_status(Status) ->
    maps:map(fun(state, {_, Slot}) -> 'MODULE':shown(Slot); (_, Value) -> 'MODULE_bounded':term(Value) end, Status).

%% All of it, for another build.
shown(Slot) ->
    try 'MODULE':on(Slot, state)
    catch _:_ -> '(a callback has it)'
    end.

%% The state for another build; where there is none to give, an error.
carried(Slot) -> 'MODULE':on(Slot, carry).
