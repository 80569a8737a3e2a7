%% The programs on OTP in Rust: they are in the application lab/probes/actors/otp, whose gen_server `Runner` runs one.
-module(kizami_actors_otp).

-behaviour(kizami_actors).

-export([run/2]).

run(Program, Params) ->
    {ok, Runner} = kizami_actors_otp_runner:start_link(),
    case gen_server:call(Runner, {run, Program, Params}, infinity) of
        {ok, Parts} -> #{parts => Parts};
        {error, Why} -> throw(Why)
    end.
