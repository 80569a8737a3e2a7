%% Bounds on what is logged: a short form of any term, and a filter of logger for the reports that OTP makes of our processes.
%%
%% Whoever sends a message decides how large it is, and whoever writes it into a log takes time and room for all of it: io_lib
%% indents each level of a term further, so one that is a million levels deep is written in hours. So nothing that came from elsewhere is
%% logged as it is: our own reports hold short forms. Those of proc_lib and of supervisors hold what OTP puts there, the queue of a
%% process that crashed, the reason of its end, the arguments of a child; they are logged by the process that they are about or
%% by its supervisor, so the filter finds out whether that one is ours.
-module('MODULE_bounded').

-export([term/1, text/1, stack/1, watch/0, unwatch/0, filter/2, is_known/1]).

%% About how many bytes the parts of a term may take when they are written.
-define(ROOM, 2000).
%% What each term takes at least, with the comma behind it.
-define(LEAST, 8).
%% How deep terms may lie inside each other.
-define(LEVELS, 16).
%% Larger integers are not written: that takes the square of the time that they are long.
-define(LARGE, (1 bsl 1024)).
%% How many processes that are linked to one that crashed are told of.
-define(NEIGHBOURS, 8).

%% ---------------------------------------------------------------- short forms

%% The term itself, if it is small; else the same with '...' where something is left out. Takes no longer for a large one.
-spec term(term()) -> term().
term(Term) ->
    {Short, _Room} = short(Term, ?LEVELS, ?ROOM),
    Short.

%% The beginning of a text.
-spec text(binary()) -> binary().
text(Text) ->
    {Short, _Room} = bytes(Text, 2 * ?ROOM),
    Short.

%% A stack without the arguments of its functions, of which each may be of any size.
-spec stack(term()) -> term().
stack(Stack) when is_list(Stack) -> [frame(Frame) || Frame <- Stack];
stack(Other) -> term(Other).

frame({Module, Function, Arguments, Where}) when is_list(Arguments) -> {Module, Function, length(Arguments), Where};
frame({Function, Arguments, Where}) when is_list(Arguments) -> {Function, length(Arguments), Where};
frame(Frame) -> Frame.

%% {Short, Room} with what is left of the room.
short(_Term, _Levels, Room) when Room =< 0 ->
    {'...', 0};
short(Term, Levels, Room) when is_list(Term), Term =/= [] ->
    case characters(Term, 0, Room) of
        {Kept, whole} -> {Term, Room - Kept - ?LEAST};
        {Kept, cut} -> {lists:sublist(Term, Kept div 2) ++ "...", Room - Kept div 2 - ?LEAST};
        _ when Levels =:= 0 -> {'...', Room - ?LEAST};
        _ -> list(Term, Levels - 1, Room, [])
    end;
short(Term, Levels, Room) when is_tuple(Term), tuple_size(Term) > 0 ->
    case Levels of
        0 -> {'...', Room - ?LEAST};
        _ -> tuple(Term, 1, Levels - 1, Room - ?LEAST, [])
    end;
short(Term, Levels, Room) when is_map(Term), map_size(Term) > 0 ->
    case Levels of
        0 -> {'...', Room - ?LEAST};
        _ -> map(maps:next(maps:iterator(Term)), Levels - 1, Room - ?LEAST, [])
    end;
short(Term, _Levels, Room) when is_bitstring(Term) ->
    bytes(Term, Room);
short(Term, _Levels, Room) when is_integer(Term), Term < ?LARGE, Term > -?LARGE ->
    {Term, Room - ?LEAST};
short(Term, _Levels, Room) when is_integer(Term) ->
    {iolist_to_binary(io_lib:format("#Integer<~b bytes>", [erlang:external_size(Term)])), Room - 3 * ?LEAST};
short(Term, _Levels, Room) when is_atom(Term) ->
    {Term, Room - max(?LEAST, byte_size(atom_to_binary(Term)))};
short(Term, _Levels, Room) ->
    {Term, Room - 3 * ?LEAST}.

%% How many characters a list begins with, as far as there is room, and whether these are all of it.
characters([Char | Rest], Count, Room) when is_integer(Char), Char >= 32, Char =< 16#D7FF; Char =:= $\n; Char =:= $\t ->
    case Count < Room of
        true -> characters(Rest, Count + 1, Room);
        false -> {Count, cut}
    end;
characters([], Count, _Room) ->
    {Count, whole};
characters(_Other, _Count, _Room) ->
    {0, other}.

list([], _Levels, Room, Done) ->
    {lists:reverse(Done), Room};
list(_Rest, _Levels, Room, Done) when Room =< 0 ->
    {lists:reverse(Done, ['...']), 0};
list([Element | Rest], Levels, Room, Done) ->
    {Short, Left} = short(Element, Levels, Room),
    list(Rest, Levels, Left, [Short | Done]);
list(Rest, Levels, Room, Done) ->
    {Short, Left} = short(Rest, Levels, Room),
    {lists:reverse(Done, Short), Left}.

tuple(Tuple, Index, _Levels, Room, Done) when Index > tuple_size(Tuple) ->
    {list_to_tuple(lists:reverse(Done)), Room};
tuple(_Tuple, _Index, _Levels, Room, Done) when Room =< 0 ->
    {list_to_tuple(lists:reverse(Done, ['...'])), 0};
tuple(Tuple, Index, Levels, Room, Done) ->
    {Short, Left} = short(element(Index, Tuple), Levels, Room),
    tuple(Tuple, Index + 1, Levels, Left, [Short | Done]).

map(none, _Levels, Room, Done) ->
    {maps:from_list(Done), Room};
map(_Entries, _Levels, Room, Done) when Room =< 0 ->
    {maps:from_list([{'...', '...'} | Done]), 0};
map({Key, Value, Iterator}, Levels, Room, Done) ->
    {ShortKey, Left} = short(Key, Levels, Room),
    {ShortValue, Left1} = short(Value, Levels, Left),
    map(maps:next(Iterator), Levels, Left1, [{ShortKey, ShortValue} | Done]).

%% Of what does not fit, half as much as would, so that what follows it is seen too.
bytes(Bits, Room) when bit_size(Bits) =< Room * 8 ->
    {Bits, Room - max(?LEAST, byte_size(Bits))};
bytes(Bits, Room) ->
    Half = Room div 2,
    <<Bytes:Half/binary, _/bitstring>> = Bits,
    Kept = case unicode:characters_to_binary(Bytes) of
        {incomplete, Whole, _} -> Whole;
        _ -> Bytes
    end,
    %% A copy: a part of a binary keeps all of it.
    {<<Kept/binary, "...">>, Room - Half - ?LEAST}.

%% ---------------------------------------------------------------- reports that OTP makes

%% Has logger ask the filter below, from now on or no longer.
watch() ->
    _ = logger:add_primary_filter(?MODULE, {fun ?MODULE:filter/2, none}),
    ok.

unwatch() ->
    _ = logger:remove_primary_filter(?MODULE),
    ok.

%% An event with its report in short, if it is one of those that OTP makes of a process of ours.
filter(#{msg := {report, #{label := Label, report := Report} = All}} = Event, _) ->
    case Label of
        {proc_lib, crash} -> shortened(fun crash/1, Report, All, Event);
        {supervisor, _} -> shortened(fun supervisor/1, Report, All, Event);
        _ -> ignore
    end;
filter(_Event, _) ->
    ignore.

shortened(How, Report, All, Event) ->
    case is_ours(get('$initial_call')) of
        true -> Event#{msg := {report, All#{report := How(Report)}}};
        false -> ignore
    end.

is_ours({supervisor, Module, _}) -> is_known(Module);
is_ours({Module, _, _}) -> is_known(Module);
is_ours(_) -> false.

is_known('MODULE_wait') -> true;
is_known(Module) -> element(1, 'MODULE_move':behaviour(Module)) =/= gone.

crash([Own, Linked]) when is_list(Own), is_list(Linked) ->
    [facts(Own), [{neighbour, facts(Facts)} || {neighbour, Facts} <- lists:sublist(Linked, ?NEIGHBOURS)]];
crash(Other) ->
    Other.

supervisor(Facts) when is_list(Facts) -> facts(Facts);
supervisor(Other) -> Other.

facts(Facts) -> [fact(Fact) || Fact <- Facts].

fact({error_info, {Class, Reason, Stack}}) -> {error_info, {Class, term(Reason), stack(Stack)}};
fact({current_stacktrace, Stack}) -> {current_stacktrace, stack(Stack)};
fact({What, Child}) when What =:= offender; What =:= started, is_list(Child) -> {What, facts(Child)};
fact({mfargs, {Module, Function, Arguments}}) -> {mfargs, {Module, Function, term(Arguments)}};
fact({What, Value}) -> {What, term(Value)};
fact(Other) -> Other.
