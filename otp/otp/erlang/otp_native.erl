%% The native half of an application, and the loop of the processes whose work it does.
%%
%% Each build of an application has a module like this one of its own, named as its library (MODULE below is replaced by
%% that name), so the running build stays where it is when the next one is loaded.
%%
%% A process holds a reference to its state and gives every message to handle/2, which says what is to be done next:
%%
%%   ok                 nothing
%%   [To | Message]     send that (a reply: To is a process or the alias of one)
%%   {unknown, Why}     nobody is there for this message; with [To | Message] as a third, send that first
%%   dirty_cpu, _io     ask again on a scheduler that may be held up
%%   system             this is a message of sys(3)
%%   exit               this is the end of a linked process
%%
%% A panic comes out of handle/2 as an error and ends the process, as a wrong match would.
-module('MODULE').

-export([start/4, start_link/4, enter/5, init/2]).
-export([system_continue/3, system_terminate/4, system_code_change/4, system_get_state/1, system_replace_state/2]).
-on_load(load/0).

-nifs([init/2, handle/2, handle_dirty_cpu/2, handle_dirty_io/2]).

-record(self, {parent :: pid(), name :: term(), module :: module(), debug = [] :: [sys:debug_option()]}).

load() ->
    case erlang:load_nif(filename:rootname(code:which(?MODULE)), 0) of
        ok -> ok;
        {error, {Why, Text}} ->
            logger:error("the library of ~p cannot be loaded: ~p: ~ts", [?MODULE, Why, Text]),
            {error, Why}
    end.

%% Starts the behaviour that has this number in the library; Module is its own module.
start_link(Module, Number, Name, Argument) ->
    proc_lib:start_link(?MODULE, enter, [self(), Module, Number, Name, Argument]).

start(Module, Number, Name, Argument) ->
    proc_lib:start(?MODULE, enter, [self(), Module, Number, Name, Argument]).

enter(Starter, Module, Number, Name, Argument) ->
    put('$initial_call', {Module, init, 1}),
    case register_name(Name) of
        true ->
            try init(Number, Argument) of
                {ok, State} ->
                    proc_lib:init_ack(Starter, {ok, self()}),
                    loop(State, #self{parent = Starter, name = Name, module = Module});
                ignore ->
                    unregister_name(Name),
                    proc_lib:init_ack(Starter, ignore),
                    exit(normal);
                {stop, Reason} ->
                    unregister_name(Name),
                    proc_lib:init_ack(Starter, {error, Reason}),
                    exit(Reason)
            catch
                error:Reason:Stack ->
                    unregister_name(Name),
                    proc_lib:init_ack(Starter, {error, Reason}),
                    erlang:raise(error, Reason, Stack)
            end;
        {false, Pid} ->
            proc_lib:init_ack(Starter, {error, {already_started, Pid}})
    end.

register_name(undefined) ->
    true;
register_name({local, Name}) ->
    try register(Name, self())
    catch error:badarg -> {false, whereis(Name)}
    end.

unregister_name({local, Name}) -> catch unregister(Name);
unregister_name(undefined) -> ok.

loop(State, Self) ->
    receive
        Message ->
            done(handle(State, Message), Message, State, Self)
    end.

done(ok, _Message, State, Self) ->
    loop(State, Self);
done([To | Reply], _Message, State, Self) ->
    To ! Reply,
    loop(State, Self);
done(Other, Message, State, Self) ->
    other(Other, Message, State, Self).

other(dirty_cpu, Message, State, Self) ->
    done(handle_dirty_cpu(State, Message), Message, State, Self);
other(dirty_io, Message, State, Self) ->
    done(handle_dirty_io(State, Message), Message, State, Self);
other(system, {system, From, Request}, State, Self) ->
    sys:handle_system_msg(Request, From, Self#self.parent, ?MODULE, Self#self.debug, {State, Self});
other(exit, {'EXIT', Parent, Reason}, _State, #self{parent = Parent}) ->
    exit(Reason);
other(exit, Message, State, Self) ->
    other({unknown, <<"no end of a linked process">>}, Message, State, Self);
other({unknown, Why, [To | Refusal]}, Message, State, Self) ->
    To ! Refusal,
    other({unknown, Why}, Message, State, Self);
other({unknown, Why}, Message, State, Self) ->
    logger:warning(#{label => {otp, unknown_message}, module => Self#self.module, name => self(), message => Message,
                     reason => Why},
                   #{domain => [otp], report_cb => fun report/1}),
    loop(State, Self).

report(#{module := Module, name := Name, message := Message, reason := Why}) ->
    {"~tp (~tp) has nobody for the message ~tp: ~ts", [Module, Name, Message, Why]}.

system_continue(_Parent, Debug, {State, Self}) ->
    loop(State, Self#self{debug = Debug}).

system_terminate(Reason, _Parent, _Debug, _Misc) ->
    exit(Reason).

system_code_change(Misc, _Module, _OldVsn, _Extra) ->
    {ok, Misc}.

system_get_state({State, _Self}) ->
    {ok, State}.

system_replace_state(_Replace, _Misc) ->
    erlang:error(not_supported).

init(_Number, _Argument) -> erlang:nif_error(not_loaded).
handle(_State, _Message) -> erlang:nif_error(not_loaded).
handle_dirty_cpu(_State, _Message) -> erlang:nif_error(not_loaded).
handle_dirty_io(_State, _Message) -> erlang:nif_error(not_loaded).
