%% What it takes to have an Erlang VM: the time until it does something, and its memory. The one process reports, and ends the VM.
%%
%%   erl -s kizami_start main -extra boot NANOSECONDS      since when it is started, by CLOCK_MONOTONIC
%%   erl -s kizami_start main -extra footprint
-module(kizami_start).

-export([main/0]).

%% How long the VM stays for the lab to look at it, in milliseconds.
-define(STAYS_MS, 3000).

-spec main() -> no_return().
main() ->
    First = erlang:monotonic_time(),
    case kizami_report:open() of
        {ok, Stream} ->
            write(Stream, [kizami_report:ready()]),
            Verdict = perform(init:get_plain_arguments(), Stream, First),
            write(Stream, [Verdict]),
            erlang:halt(
                case Verdict =:= kizami_report:done() of
                    true -> 0;
                    false -> 1
                end
            );
        {error, Why} ->
            io:format(standard_error, "kizami_start: ~ts~n", [Why]),
            erlang:halt(1)
    end.

perform(["boot", Text], Stream, First) ->
    case {string:to_integer(Text), clock()} of
        {{Began, []}, {ok, Offset}} when is_integer(Began) ->
            write(Stream, [kizami_report:rows([row(Began, Offset, First)])]),
            kizami_report:done();
        {{_, _}, {error, Why}} ->
            kizami_report:failed(Why);
        {_, _} ->
            kizami_report:failed(["the beginning '", Text, "' is no number of nanoseconds"])
    end;
perform(["footprint"], Stream, _) ->
    write(Stream, [kizami_report:fact(memory_inside_bytes, erlang:memory(total))]),
    timer:sleep(?STAYS_MS),
    kizami_report:done();
perform(Arguments, _, _) ->
    kizami_report:failed(["what is to be measured? not ", lists:join(" ", Arguments)]).

%% The whole and its phases, in nanoseconds: until the VM ran (monitor), until its code is loaded and this module begins (init), and
%% until now (probe). It has neither a firmware nor a kernel of its own.
row(Began, Offset, First) ->
    Ends = [erlang:system_info(start_time), First, erlang:monotonic_time()],
    [Ran, Code, Now] = [nanoseconds(Offset + End) || End <- Ends],
    [Monitor, Init, Probe] = [max(0, Ran - Began), Code - Ran, Now - Code],
    [Monitor + Init + Probe, Monitor, 0, 0, Init, Probe].

%% What the clock of the VM has to be added to, to be CLOCK_MONOTONIC.
clock() ->
    Before = erlang:monotonic_time(),
    Source = erlang:system_info(os_monotonic_time_source),
    After = erlang:monotonic_time(),
    case {proplists:get_value(clock_id, Source), proplists:get_value(time, Source)} of
        {'CLOCK_MONOTONIC', Time} when is_integer(Time) -> {ok, Time - (Before + After) div 2};
        {Other, _} -> {error, io_lib:format("this VM takes its time from ~0tp, and the lab from CLOCK_MONOTONIC", [Other])}
    end.

nanoseconds(Native) ->
    erlang:convert_time_unit(Native, native, nanosecond).

write(Stream, Lines) ->
    lists:foreach(
        fun(Line) ->
            case kizami_report:write(Stream, Line) of
                ok -> ok;
                %% A lab that is gone wants nothing more.
                {error, _} -> erlang:halt(1)
            end
        end,
        Lines
    ).
