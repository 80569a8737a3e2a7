%% Wrong callers: each function makes one mistake, which dialyzer finds by the types of the generated modules alone.
-module(wrong).

-export([another_field/1, another_type_inside/1, field_left_out/1, no_such_state/0, reply_is_no_number/1, of_the_old_kind/1,
         event/0, half_a_settings/0]).

another_field(Station) ->
    station:keep(Station, #{sensor => <<"1">>, value => 1, retrys => 3}).

another_type_inside(Station) ->
    station:regroup(Station, #{name => <<"a">>, groups => [#{name => b, groups => []}]}).

field_left_out(Station) ->
    station:note(Station, #{sensor => <<"1">>}).

no_such_state() ->
    valve:start_link(ajar).

reply_is_no_number(Station) ->
    case station:last(Station) of
        undefined -> 0;
        Number when is_integer(Number) -> Number
    end.

of_the_old_kind(Station) ->
    {ok, {reading, _, _, _}} = station:as_before(Station, #{sensor => <<"1">>, value => 1}).

-spec event() -> alarms:event().
event() ->
    {broken, 7}.

half_a_settings() ->
    stations:start_link(#{}).
