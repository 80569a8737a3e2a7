%% Options of the probe's command line, checked once; all other modules work with valid values.
-module(kizami_options).

-export([parse/1]).

-export_type([options/0]).

-type options() :: #{
    workload := atom(),
    lang := elixir | erlang,
    iterations := pos_integer(),
    n := non_neg_integer() | none,
    pause_ms := non_neg_integer(),
    flush_rows := non_neg_integer(),
    lock_memory := boolean(),
    nif => string(),
    fullsweep_after => non_neg_integer(),
    min_heap_size => non_neg_integer(),
    priority => low | normal | high,
    message_queue_data => on_heap | off_heap
}.

%% Words. A heap that the VM cannot have makes it abort instead of refusing, so the key stops at 1 GiB (64-bit).
-define(LARGEST_HEAP, 16#8000000).

%% The options in arguments of the form key=value, or a sentence on the first thing that is wrong with them.
-spec parse([string()]) -> {ok, options()} | {error, iolist()}.
parse(Arguments) ->
    try
        Given = lists:foldl(fun argument/2, #{}, Arguments),
        Options = maps:merge(defaults(), Given),
        [throw(["the key ", atom_to_list(Key), " is missing"]) || Key <- required(), not is_map_key(Key, Options)],
        together(Options),
        {ok, Options}
    catch
        throw:Why -> {error, Why}
    end.

%% What each key allows and the keys together do not.
together(#{lock_memory := true} = Options) when not is_map_key(nif, Options) ->
    throw("lock_memory=true needs the key nif, the path of the native library without .so");
%% A process of high priority that never waits keeps all others from its scheduler: on a VM with a single one nothing
%% would be reported and no signal be answered.
together(#{priority := high, pause_ms := 0}) ->
    throw("priority=high needs a pause_ms of at least 1, or the process that measures starves the rest of the VM");
together(_) ->
    ok.

defaults() ->
    #{n => none, pause_ms => 5, flush_rows => 0, lock_memory => false}.

required() ->
    [workload, lang, iterations].

%% Each key and what its value is.
keys() ->
    [
        {workload, name},
        {lang, [elixir, erlang]},
        {n, {at_least, 0}},
        {iterations, {at_least, 1}},
        {pause_ms, {at_least, 0}},
        {flush_rows, {at_least, 0}},
        {fullsweep_after, {at_least, 0}},
        {min_heap_size, {between, 0, ?LARGEST_HEAP}},
        {priority, [low, normal, high]},
        {message_queue_data, [on_heap, off_heap]},
        {lock_memory, [true, false]},
        {nif, path}
    ].

argument(Argument, Given) ->
    {Name, Text} =
        case string:split(Argument, "=") of
            [Before, After] -> {Before, After};
            [_] -> throw(["the argument ", Argument, " is not of the form key=value"])
        end,
    case [Entry || {Key, _} = Entry <- keys(), atom_to_list(Key) =:= Name] of
        [{Key, _}] when is_map_key(Key, Given) ->
            throw(["the key ", Name, " is given twice"]);
        [{Key, Kind}] ->
            Given#{Key => value(Kind, Text, Name)};
        [] ->
            Known = lists:join(", ", [atom_to_list(Key) || {Key, _} <- keys()]),
            throw(["the key ", Name, " is unknown; the keys are ", Known])
    end.

value({at_least, Least}, Text, Name) ->
    case string:to_integer(Text) of
        {Number, []} when is_integer(Number), Number >= Least -> Number;
        _ -> bad(Name, Text, ["a whole number, at least ", integer_to_list(Least)])
    end;
value({between, Least, Most}, Text, Name) ->
    case string:to_integer(Text) of
        {Number, []} when is_integer(Number), Number >= Least, Number =< Most -> Number;
        _ -> bad(Name, Text, ["a whole number from ", integer_to_list(Least), " to ", integer_to_list(Most)])
    end;
value(path, Text, Name) ->
    case Text of
        [] -> bad(Name, Text, "a path");
        _ -> Text
    end;
value(name, Text, Name) ->
    case re:run(Text, "^[a-z][a-z0-9_]{0,62}\\z", [{capture, none}]) of
        match -> list_to_atom(Text);
        nomatch -> bad(Name, Text, "the name of a function: small letters, digits and _")
    end;
value(Choices, Text, Name) when is_list(Choices) ->
    case [Choice || Choice <- Choices, atom_to_list(Choice) =:= Text] of
        [Choice] -> Choice;
        [] -> bad(Name, Text, ["one of ", lists:join(", ", [atom_to_list(Choice) || Choice <- Choices])])
    end.

-spec bad(string(), string(), iolist()) -> no_return().
bad(Name, Text, Wanted) ->
    throw(["the value of ", Name, " is '", Text, "' but must be ", Wanted]).
