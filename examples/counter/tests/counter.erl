%% Counter: a gen_server in Rust. Generated: change it there.
-module(counter).
-export([start_link/1, start_link_as/2, add/2, add/3, divided_by/2, divided_by/3, reset/1]).
-export(['$otp'/0, start_pool/2]).
-export_type([server/0, started/0]).

%% A process, its name on this node, its name on another, or among all.
-type server() :: pid() | atom() | {atom(), node()} | {global, term()}.
-type started() :: {ok, pid()} | ignore | {error, term()}.

-spec start_link(Start :: integer()) -> started().
start_link(Start) ->
    counter_native:start_link(?MODULE, 0, undefined, {Start}, []).

%% The same with a name on this node, or among all connected ones.
-spec start_link_as(Name :: atom() | {global, term()}, Start :: integer()) -> started().
start_link_as({global, _} = Name, Start) ->
    counter_native:start_link(?MODULE, 0, Name, {Start}, []);
start_link_as(Name, Start) ->
    counter_native:start_link(?MODULE, 0, {local, Name}, {Start}, []).

%% Counts on by `n`.
-spec add(server(), N :: integer()) -> integer().
add(Server, N) ->
    add(Server, N, 5000).

-spec add(server(), N :: integer(), timeout()) -> integer().
add(Server, N, Timeout) ->
    call(Server, {add, N}, Timeout).

%% How many of `n` would fit into what was counted.
-spec divided_by(server(), N :: integer()) -> integer().
divided_by(Server, N) ->
    divided_by(Server, N, 5000).

-spec divided_by(server(), N :: integer(), timeout()) -> integer().
divided_by(Server, N, Timeout) ->
    call(Server, {divided_by, N}, Timeout).

%% Begins again.
-spec reset(server()) -> ok.
reset(Server) ->
    gen_server:cast(Server, reset).

%% A supervisor of any number of these.
start_pool(Name, Config) ->
    counter_native_pool:start_link(?MODULE, Name, Config).

%% Where processes of this kind begin, for who supervises them.
'$otp'() ->
    {counter_native, 0, []}.

%% A request that is not of its type is an error of the caller's.
call(Server, Request, Timeout) ->
    case gen_server:call(Server, Request, Timeout) of
        {'$refused', Why} -> erlang:error({refused, Why});
        Reply -> Reply
    end.
