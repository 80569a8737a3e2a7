%% The programs on OTP in Rust: the application lab/probes/actors/otp has them, and its gen_server `runner` does one.
-module(kizami_actors_otp).

-behaviour(kizami_actors).

-export([run/2]).

run(Program, Params) ->
    {ok, Runner} = runner:start_link(),
    case gen_server:call(Runner, {run, Program, Params}, infinity) of
        {ok, Parts} -> #{parts => Parts};
        {error, Why} -> throw(Why)
    end.
