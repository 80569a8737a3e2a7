%% Checks of the store on three nodes, as Erlang code sees them. Each node is a VM of its own; the checks speak to it through its
%% standard input and output, so the state of the links between the nodes does not matter.
-module(checks).
-export([all_have_what_one_is_told/0, a_node_that_was_killed_catches_up/0, both_sides_of_a_cut_agree_when_it_heals/0,
         a_node_named_wrong_is_refused/0]).

-record(node, {peer, name}).

all_have_what_one_is_told() ->
    [A, B, C] = three(),
    2 = call(A, put, [<<"colour">>, <<"red">>]),
    all([A, B, C], <<"colour">>, <<"red">>),
    %% Whoever has seen a value overwrites it, wherever.
    2 = call(C, put, [<<"colour">>, <<"green">>]),
    all([A, B, C], <<"colour">>, <<"green">>),
    2 = call(B, delete, [<<"colour">>]),
    all([A, B, C], <<"colour">>, undefined),
    [] = call(A, keys, []).

a_node_that_was_killed_catches_up() ->
    [A, B, C] = three(),
    2 = call(C, put, [<<"before">>, <<"1">>]),
    all([A, B, C], <<"before">>, <<"1">>),
    Pid = peer:call(C#node.peer, os, getpid, []),
    os:cmd("kill -s KILL " ++ Pid),
    until("it is gone", fun() -> call(A, put, [<<"while">>, <<"2">>]) =:= 1 end),
    until("b knows it too", fun() -> call(B, delete, [<<"before">>]) =:= 1 end),
    %% More than go into one message.
    [1 = call(A, put, [integer_to_binary(N), <<"many">>]) || N <- lists:seq(1, 1200)],
    Again = start("c"),
    all([A, B, Again], <<"while">>, <<"2">>),
    all([A, B, Again], <<"before">>, undefined),
    until("it has all", fun() -> length(call(Again, keys, [])) =:= 1201 end),
    until("it is told again", fun() -> call(B, put, [<<"after">>, <<"3">>]) =:= 2 end),
    all([A, B, Again], <<"after">>, <<"3">>).

both_sides_of_a_cut_agree_when_it_heals() ->
    [A, B, C] = Nodes = three(),
    cut(C, [A, B]),
    %% To leave no node that sees both sides, `global` may cut a and b off from each other too, until they connect again.
    until("c is alone", fun() -> call(C, put, [<<"both">>, <<"there">>]) =:= 0 end),
    until("a has b only", fun() -> call(A, put, [<<"both">>, <<"here">>]) =:= 1 end),
    call(A, put, [<<"here">>, <<"1">>]),
    call(C, put, [<<"there">>, <<"2">>]),
    all([A, B], <<"both">>, <<"here">>),
    all([C], <<"both">>, <<"there">>),
    all([A, B], <<"there">>, undefined),
    all([C], <<"here">>, undefined),
    heal(C, [A, B]),
    all(Nodes, <<"here">>, <<"1">>),
    all(Nodes, <<"there">>, <<"2">>),
    until("they agree", fun() -> length(lists:usort([call(Node, get, [<<"both">>]) || Node <- Nodes])) =:= 1 end),
    until("they are whole", fun() -> call(B, put, [<<"both">>, <<"again">>]) =:= 2 end),
    all(Nodes, <<"both">>, <<"again">>).

a_node_named_wrong_is_refused() ->
    ok = application:load(kv),
    process_flag(trap_exit, true),
    {error, {shutdown, {failed_to_start_child, links, <<"b is no node: ", _/binary>>}}} = kv_root:start_link([<<"b">>]).

%% ---------------------------------------------------------------- nodes

three() ->
    Nodes = [start(Name) || Name <- ["a", "b", "c"]],
    [until("all are there", fun() -> peer:call(Peer, kv_links, missing, [links]) =:= [] end) || #node{peer = Peer} <- Nodes],
    until("all know all", fun() -> [2, 2, 2] =:= [call(Node, put, [<<"first">>, <<"0">>]) || Node <- Nodes] end),
    [call(Node, delete, [<<"first">>]) || Node <- Nodes],
    [all([Node], <<"first">>, undefined) || Node <- Nodes],
    Nodes.

%% The application. Flags of `peer` come after these, so no plain arguments can stand there.
start(Name) ->
    Arguments = ["-pa", ".", "-setcookie", "kv", "-kernel", "inet_dist_use_interface", "{127,0,0,1}",
                 "-kernel", "logger_level", "critical",
                 "-kv", "arguments", "[\"a@127.0.0.1\",\"b@127.0.0.1\",\"c@127.0.0.1\"]"],
    {ok, Peer, Node} = peer:start_link(#{name => Name, host => "127.0.0.1", longnames => true, args => Arguments,
                                         connection => standard_io, wait_boot => 120000}),
    {ok, _} = peer:call(Peer, application, ensure_all_started, [kv]),
    #node{peer = Peer, name = Node}.

cut(#node{peer = Peer}, Others) ->
    [peer:call(Peer, erlang, set_cookie, [Other, a_cut_link]) || #node{name = Other} <- Others],
    [peer:call(Peer, erlang, disconnect_node, [Other]) || #node{name = Other} <- Others].

heal(#node{peer = Peer}, Others) ->
    [peer:call(Peer, erlang, set_cookie, [Other, kv]) || #node{name = Other} <- Others].

call(#node{peer = Peer}, Function, Arguments) ->
    peer:call(Peer, kv_store, Function, [store | Arguments], 60000).

%% All have this value, after a moment.
all(Nodes, Key, Value) ->
    [until({Name, Key, Value}, fun() -> call(Node, get, [Key]) =:= Value end) || #node{name = Name} = Node <- Nodes].

%% As long as a loaded machine may need.
until(What, Is) -> until(What, Is, erlang:monotonic_time(second) + 100).

until(What, Is, End) ->
    case Is() of
        true -> ok;
        false ->
            erlang:monotonic_time(second) < End orelse error({it_never_came_to_this, What}),
            timer:sleep(20),
            until(What, Is, End)
    end.
