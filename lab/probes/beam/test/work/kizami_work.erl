%% Functions that make the probe's behaviour visible: one that fails, and one that collects garbage.
-module(kizami_work).

-export([third_fails/1, collects/1]).

%% Fails in its third call.
-spec third_fails(term()) -> ok.
third_fails(_) ->
    case put(calls, 1 + calls(get(calls))) of
        2 -> exit('the "third" call');
        _ -> ok
    end.

calls(undefined) -> 0;
calls(Calls) -> Calls.

%% Makes one minor collection at least, so that each row tells when it was taken.
-spec collects(term()) -> true.
collects(_) ->
    erlang:garbage_collect(self(), [{type, minor}]).
