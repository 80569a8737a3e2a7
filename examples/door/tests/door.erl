%% Door: a gen_statem in Rust. Generated: change it there.
-module(door).
-behaviour(gen_statem).
-export([start_link/1, start_link_as/2, code_length/1, code_length/2, wait_until_open/1, wait_until_open/2,
         change_code/2, change_code/3, button/2]).
-export([init/1, callback_mode/0, handle_event/4, code_change/4, format_status/1]).
-export(['$otp'/0, start_pool/2]).
-export_type([state/0, door_state/0]).

-type state() :: door_state().
-type data() :: {module(), reference()}.

%% Whether the door is open.
-type door_state() :: locked | open | blocked.

-spec start_link(Code :: binary()) -> gen_statem:start_ret().
start_link(Code) ->
    gen_statem:start_link(?MODULE, {Code}, []).

%% The same with a name on this node, or among all connected ones.
-spec start_link_as(Name :: atom() | {global, term()}, Code :: binary()) -> gen_statem:start_ret().
start_link_as({global, _} = Name, Code) ->
    gen_statem:start_link(Name, ?MODULE, {Code}, []);
start_link_as(Name, Code) ->
    gen_statem:start_link({local, Name}, ?MODULE, {Code}, []).

%% How many digits the code has.
-spec code_length(gen_statem:server_ref()) -> non_neg_integer().
code_length(Server) ->
    code_length(Server, infinity).

-spec code_length(gen_statem:server_ref(), timeout()) -> non_neg_integer().
code_length(Server, Timeout) ->
    call(Server, code_length, Timeout).

%% Answered when the door is open.
-spec wait_until_open(gen_statem:server_ref()) -> ok.
wait_until_open(Server) ->
    wait_until_open(Server, infinity).

-spec wait_until_open(gen_statem:server_ref(), timeout()) -> ok.
wait_until_open(Server, Timeout) ->
    call(Server, wait_until_open, Timeout).

%% A new code, which only who is inside may set.
-spec change_code(gen_statem:server_ref(), Code :: binary()) -> ok | {error, binary()}.
change_code(Server, Code) ->
    change_code(Server, Code, infinity).

-spec change_code(gen_statem:server_ref(), Code :: binary(), timeout()) -> ok | {error, binary()}.
change_code(Server, Code, Timeout) ->
    call(Server, {change_code, Code}, Timeout).

%% Presses a button. What is pressed while the door is open counts when it is locked again.
-spec button(gen_statem:server_ref(), Digit :: non_neg_integer()) -> ok.
button(Server, Digit) ->
    gen_statem:cast(Server, {button, Digit}).

%% A supervisor of any number of these.
start_pool(Name, Config) ->
    door_native_pool:start_link(?MODULE, Name, Config).

%% Where processes of this kind begin, for who supervises them.
'$otp'() ->
    {door_native_statem, 0, [enter]}.

%% A request that is not of its type is an error of the caller's.
call(Server, Request, Timeout) ->
    case gen_statem:call(Server, Request, Timeout) of
        {'$refused', Why} -> erlang:error({refused, Why});
        Reply -> Reply
    end.

%% ---------------------------------------------------------------- what gen_statem calls

init(Arguments) ->
    door_native_statem:init(0, Arguments, [enter]).

callback_mode() ->
    [handle_event_function, state_enter].

%% A process goes on in the build that it began in, until its code is changed.
-spec handle_event(gen_statem:event_type() | enter, term(), state(), data()) ->
          gen_statem:event_handler_result(state()) | gen_statem:state_enter_result(state()).
handle_event(Type, Content, State, {Machine, _} = Data) ->
    Machine:event(Type, Content, State, Data).

code_change(_OldVsn, State, Data, Extra) ->
    door_native_statem:code_change(0, State, Data, Extra).

format_status(Status) ->
    door_native_statem:format_status(Status).
