%% The supervisor of the server that `recover` kills: one child, which is restarted whenever it dies.
-module(kizami_actors_supervisor).

-behaviour(supervisor).

-export([start_link/2]).
-export([init/1]).

%% Starts it with a child that will die Crashes times.
-spec start_link(non_neg_integer(), {module(), atom(), [term()]}) -> {ok, pid()} | {error, term()}.
start_link(Crashes, Start) ->
    case supervisor:start_link(?MODULE, {Crashes, Start}) of
        {ok, Pid} -> {ok, Pid};
        {error, Why} -> {error, Why};
        ignore -> {error, ignored}
    end.

init({Crashes, Start}) ->
    {ok, {#{strategy => one_for_one, intensity => Crashes + 1, period => 3600}, [#{id => mortal, start => Start}]}}.
