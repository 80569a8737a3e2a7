%% A program in Erlang that uses every behaviour, and the types of the generated modules by their names.
-module(caller).

-export([all/0]).

-spec all() -> ok.
all() ->
    {ok, Tree} = stations:start_link(settings()),
    {ok, Station} = station:start_link(settings()),
    Reading = reading(7),
    1 = station:keep(Station, Reading),
    ok = station:note(Station, Reading),
    #{items := [#{value := 7, quality := good}, _], next := 10} = station:page(Station, 0),
    #{quality := good} = station:last(Station),
    {ok, {reading, 1, 7}} = station:as_before(Station, Reading),
    {error, <<"its sensor has no number">>} = station:as_before(Station, Reading#{sensor := <<"a">>}),
    Inner = group(<<"in">>, []),
    #{<<"in">> := Inner} = station:regroup(Station, group(<<"out">>, [Inner])),
    {server, 80} = station:taken(Station, #{width => 80}),
    #{quality := {doubtful, 3}} = station:later(Station, Reading#{quality => {doubtful, 3}}),
    {ok, Other} = station:start_link_as(other, settings()),
    {ok, #{items := []}} = station:of_other(Station, Other),
    {error, {down, noproc}} = station:of_other(Station, nobody),
    valve(),
    alarms(Reading),
    unlink(Tree),
    exit(Tree, shutdown),
    ok.

-spec settings() -> station:settings().
settings() ->
    #{limit => 10}.

-spec reading(integer()) -> station:reading().
reading(Value) ->
    #{sensor => <<"1">>, value => Value}.

-spec group(binary(), [station:group()]) -> station:group().
group(Name, Groups) ->
    #{name => Name, groups => Groups}.

-spec valve() -> ok.
valve() ->
    {ok, Valve} = valve:start_link(closed),
    closed = valve:open(Valve, #{litres => 2}),
    litres(valve:later(Valve), 2),
    ok = valve:close(Valve),
    closed = valve:later(Valve),
    ok.

-spec litres(valve:state(), non_neg_integer()) -> true.
litres({open, #{litres := Litres}}, Expected) ->
    Litres =:= Expected orelse error(Litres).

-spec alarms(alarms:reading()) -> 1.
alarms(Reading) ->
    {ok, Manager} = gen_event:start_link(),
    ok = alarms:add_handler(Manager, settings()),
    ok = gen_event:sync_notify(Manager, broken(Reading)),
    #{items := [#{limit := 10}]} = alarms:limits(Manager),
    1 = alarms:delete_handler(Manager).

-spec broken(alarms:reading()) -> alarms:event().
broken(Reading) ->
    {broken, #{reading => Reading}}.
