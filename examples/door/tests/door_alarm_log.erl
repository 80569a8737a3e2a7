%% AlarmLog: a handler of events in Rust. Generated: change it there.
-module(door_alarm_log).
-behaviour(gen_event).
-export([add_handler/1, add_sup_handler/1, delete_handler/1, alarms/1, alarms/2]).
-export([init/1, handle_event/2, handle_call/2, handle_info/2, code_change/3, format_status/1]).
-export_type([manager/0, event/0, alarm/0]).

%% The process that has the handlers, its name on this node, or its name elsewhere.
-type manager() :: pid() | atom() | {atom(), node()} | {global, term()} | {via, module(), term()}.

%% What it takes of gen_event:notify/2.
-type event() :: alarm().
-type state() :: {module(), reference()}.

%% Something that somebody should know of.
-type alarm() :: {wrong_code, #{times := non_neg_integer()}} | smoke.

-spec add_handler(manager()) -> ok | {'EXIT', term()} | term().
add_handler(Server) ->
    gen_event:add_handler(Server, ?MODULE, {'$start', {}}).

%% The same for the process that calls this: it is told when the handler goes, which goes with it.
-spec add_sup_handler(manager()) -> ok | {'EXIT', term()} | term().
add_sup_handler(Server) ->
    gen_event:add_sup_handler(Server, ?MODULE, {'$start', {}}).

-spec delete_handler(manager()) -> term() | {error, module_not_found} | {'EXIT', term()}.
delete_handler(Server) ->
    gen_event:delete_handler(Server, ?MODULE, delete).

%% The alarms until now, the first one first.
-spec alarms(manager()) -> [alarm()].
alarms(Server) ->
    alarms(Server, 5000).

-spec alarms(manager(), timeout()) -> [alarm()].
alarms(Server, Timeout) ->
    call(Server, alarms, Timeout).

%% A request that is not of its type, or to nobody, is an error of the caller's.
call(Server, Request, Timeout) ->
    case gen_event:call(Server, ?MODULE, Request, Timeout) of
        {'$refused', Why} -> erlang:error({refused, Why});
        {error, bad_module} -> erlang:error({refused, no_handler});
        {error, {'EXIT', Why}} -> erlang:error(Why);
        Reply -> Reply
    end.

%% ---------------------------------------------------------------- what gen_event calls

-spec init(term()) -> {ok, state()} | {error, term()}.
init(Arguments) ->
    door_native_event:init(1, Arguments).

%% A handler goes on in the build that it began in, until its code is changed.
handle_event(Event, {Half, _} = State) ->
    Half:event(?MODULE, Event, State).

handle_call(Request, {Half, _} = State) ->
    Half:call(?MODULE, Request, State).

handle_info(Message, {Half, _} = State) ->
    Half:info(Message, State).

code_change(_OldVsn, State, Extra) ->
    door_native_event:code_change(1, State, Extra).

format_status(Status) ->
    door_native_event:format_status(Status).
