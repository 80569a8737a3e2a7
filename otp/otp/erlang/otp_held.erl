%% Who holds a scheduler up: callbacks that compute for long, of which the VM tells afterwards.
%%
%% The VM runs a native function to its end, and no other process of that scheduler meanwhile: timers are late, calls run out of time, and
%% nothing says why. The VM has one monitor for this (long_schedule of erlang:system_monitor/2), which is set where the variable
%% OTP_LONG_SCHEDULE says from how many milliseconds on it is told: `cargo otp run` and `test` do so. What somebody else has set stays.
-module('MODULE_held').

-export([watch/0, watch_instead/1, tell/3, text/3]).

%% How often it is told at most, in milliseconds: a server may be slow with each of its messages.
-define(PAUSE, 1000).

%% Has this process be told, if it is wanted and nobody is.
watch() ->
    case limit() of
        none -> ok;
        Limit -> watch(Limit, erlang:system_monitor())
    end.

watch(Limit, undefined) ->
    _ = erlang:system_monitor(self(), [{long_schedule, Limit}]),
    ok;
watch(_Limit, _Other) ->
    ok.

%% The same instead of the process of this name.
watch_instead(Name) ->
    case {limit(), erlang:system_monitor()} of
        {none, _} -> ok;
        {Limit, {Pid, _}} -> _ = [watch(Limit, undefined) || Pid =:= whereis(Name)], ok;
        {Limit, undefined} -> watch(Limit, undefined)
    end.

limit() ->
    case os:getenv("OTP_LONG_SCHEDULE") of
        false -> none;
        Text ->
            case string:to_integer(Text) of
                {Limit, ""} when Limit > 0 -> Limit;
                _ -> none
            end
    end.

%% {monitor, Pid, long_schedule, Info} has come, and this was told before at that time, or never: when it is told now.
tell(Pid, Info, Before) ->
    Now = erlang:monotonic_time(millisecond),
    case Before =:= never orelse Now - Before >= ?PAUSE of
        true ->
            case text(Pid, Info, nobody) of
                none ->
                    Before;
                Text ->
                    logger:warning(#{label => {otp, held_up}, process => Pid, info => Info, text => Text},
                                   #{domain => [otp], report_cb => fun(#{text := Said}) -> {"~ts", [Said]} end}),
                    Now
            end;
        false ->
            Before
    end.

%% What there is to be said of a process, if it is one of ours; Known is how it is called, if that is known.
text(Pid, Info, Known) when is_pid(Pid) ->
    case Known =/= nobody orelse is_ours(Pid, Info) of
        true ->
            unicode:characters_to_binary(io_lib:format(
                "~ts held its scheduler for ~b ms, and no other process of that scheduler ran meanwhile. Work that takes long belongs on a "
                "dirty scheduler (#[call(dirty_cpu)], otp::on_dirty_cpu), or gives the scheduler back now and then "
                "(otp::Slice::check().await), in a callback or in a task of its own",
                [named(Pid, Known), proplists:get_value(timeout, Info, 0)]));
        false ->
            none
    end;
text(_Port, _Info, _Known) ->
    none.

named(_Pid, Known) when Known =/= nobody -> Known;
named(Pid, nobody) ->
    Name = case is_alive_here(Pid, registered_name) of {registered_name, N} -> [io_lib:format(", ~tp", [N])]; _ -> [] end,
    case module(Pid) of
        none -> io_lib:format("the process ~tp~ts", [Pid, Name]);
        Module -> io_lib:format("the process ~tp~ts, of ~tp,", [Pid, Name, Module])
    end.

%% Nothing of one that has ended since.
is_alive_here(Pid, What) ->
    try process_info(Pid, What) catch error:badarg -> undefined end.

module(Pid) ->
    case is_alive_here(Pid, dictionary) of
        {dictionary, Dictionary} ->
            case lists:keyfind('$initial_call', 1, Dictionary) of
                {_, {Module, _, _}} -> Module;
                false -> none
            end;
        undefined -> none
    end.

%% A process of a behaviour or of a task; of one that has ended since it is known where it was.
is_ours(Pid, Info) ->
    Module = module(Pid),
    Module =/= none andalso 'MODULE_bounded':is_known(Module)
        orelse lists:any(fun({in, Place}) -> is_native(Place); ({out, Place}) -> is_native(Place); (_) -> false end, Info).

is_native({Module, _, _}) -> 'MODULE_move':family(Module) =/= none orelse Module =:= 'MODULE';
is_native(_) -> false.
