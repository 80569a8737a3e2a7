%% The probe in the Erlang VM: measures one function, with the three processes of the Nerves real-time study.
%%
%%   eval       checks the command line, prepares the VM, spawns the other two, and ends the VM
%%   eval_loop  calls the function and takes the time
%%   output     keeps the rows and reports them
%%
%% Invariants:
%% - eval_loop runs with the settings that are measured and with nothing else on its heap: it keeps no rows, formats
%%   nothing, and the calibration of the clock stores its values outside of the heap.
%% - output alone writes to the lab. It monitors eval_loop before it lets it start, so that the message about the end of
%%   eval_loop comes after the last of its rows, for any reason of that end; rows are always reported before the
%%   verdict.
%% - The VM halts with 0 after `done` and with 1 after anything else.
-module(kizami_probe).

-export([main/0]).

%% Clock pairs for the overhead of taking the time.
-define(CLOCK_PAIRS, 1000).

%% No line of the report holds more rows than this.
-define(ROWS_A_LINE, 10000).

%% How long after a signal the VM may still report, in milliseconds.
-define(LAST_WORDS_MS, 900).

-record(kept, {
    stream :: kizami_report:stream(),
    flush :: non_neg_integer(),
    count = 0 :: non_neg_integer(),
    %% The rows not yet reported, newest first.
    rows = [] :: [{integer(), non_neg_integer(), non_neg_integer()}]
}).

%% Entry for `erl -s kizami_probe main -extra key=value ...`; returns at once, so that the VM finishes its start.
-spec main() -> ok.
main() ->
    spawn(fun eval/0),
    ok.

eval() ->
    kizami_signal:forward_to(self()),
    {Output, Monitor} = spawn_monitor(fun output/0),
    Loop =
        try
            start(Output)
        catch
            throw:Why ->
                Output ! {failed, Why},
                none;
            _:Why:Stack ->
                Output ! {failed, io_lib:format("cannot start: ~0tP", [{Why, Stack}, 40])},
                none
        end,
    wait(Monitor, Loop).

start(Output) ->
    {Options, Work, Lines} = prepare(),
    Pairs = counters:new(?CLOCK_PAIRS, []),
    Loop = spawn_opt(
        fun() -> eval_loop_start(Output, Pairs, Work, Options) end,
        kizami_settings:requested(Options)
    ),
    Output ! {watch, Loop, Pairs, Options, Lines},
    Loop.

%% Everything that can be refused before the first call; throws the sentence that says why.
prepare() ->
    case kizami_options:parse(init:get_plain_arguments()) of
        {ok, Options} ->
            Work = work(Options),
            {Options, Work, kizami_settings:vm() ++ [kizami_settings:memory(Options)]};
        {error, Why} ->
            throw(Why)
    end.

work(#{lang := Lang, workload := Function}) ->
    Module =
        case Lang of
            erlang -> kizami_work;
            elixir -> 'Elixir.KizamiWork'
        end,
    case code:ensure_loaded(Module) of
        {module, Module} ->
            ok;
        {error, Problem} ->
            throw(io_lib:format("cannot load ~p (~p); is its folder given with -pa?", [Module, Problem]))
    end,
    case erlang:function_exported(Module, Function, 1) of
        true -> fun Module:Function/1;
        false -> throw(io_lib:format("the workload ~p is no function of ~p with one argument", [Function, Module]))
    end.

%% A signal ends eval_loop, whose end makes output report what there is; only if that takes too long (a reader that does
%% not read) the VM ends without it.
wait(Monitor, Loop) ->
    receive
        {'DOWN', Monitor, process, _, {status, Status}} ->
            erlang:halt(Status);
        {'DOWN', Monitor, process, _, Why} ->
            complain(io_lib:format("the process that reports has failed: ~0tp", [Why])),
            erlang:halt(1);
        {signal, Name} when is_pid(Loop) ->
            exit(Loop, {signal, Name}),
            erlang:send_after(?LAST_WORDS_MS, self(), too_late),
            wait(Monitor, none);
        {signal, _} ->
            wait(Monitor, none);
        too_late ->
            erlang:halt(1, [{flush, false}])
    end.

complain(Text) ->
    io:format(standard_error, "kizami_probe: ~ts~n", [Text]).

%%% eval_loop

eval_loop_start(Output, Pairs, Work, #{n := N, pause_ms := Pause, iterations := Iterations}) ->
    clock_pairs(Pairs, ?CLOCK_PAIRS),
    Output ! {settled, self(), kizami_settings:own()},
    receive
        start -> eval_loop(Work, N, Pause, Iterations, Output, 0)
    end.

clock_pairs(_, 0) ->
    ok;
clock_pairs(Pairs, Index) ->
    T1 = erlang:monotonic_time(),
    T2 = erlang:monotonic_time(),
    counters:put(Pairs, Index, T2 - T1),
    clock_pairs(Pairs, Index - 1).

%% The order of these steps is that of the study, and Count 0 is its cold call.
eval_loop(_, _, _, Last, _, Count) when Count > Last ->
    ok;
eval_loop(Work, N, Pause, Last, Output, Count) ->
    timer:sleep(Pause),
    T1 = erlang:monotonic_time(),
    _ = Work(N),
    T2 = erlang:monotonic_time(),
    {heap_size, HeapSize} = process_info(self(), heap_size),
    {garbage_collection, Collection} = process_info(self(), garbage_collection),
    {minor_gcs, MinorGcs} = lists:keyfind(minor_gcs, 1, Collection),
    Output ! {row, {T2 - T1, HeapSize, MinorGcs}},
    timer:sleep(Pause),
    eval_loop(Work, N, Pause, Last, Output, Count + 1).

%%% output

output() ->
    case kizami_report:open() of
        {ok, Stream} ->
            output_start(Stream);
        {error, Why} ->
            complain(Why),
            exit({status, 1})
    end.

output_start(Stream) ->
    receive
        {failed, Why} ->
            verdict(Stream, kizami_report:failed(Why));
        {watch, Loop, Pairs, Options, VmLines} ->
            Monitor = monitor(process, Loop),
            receive
                {settled, Loop, Own} ->
                    write(Stream, VmLines ++ kizami_settings:process(Options, Own)),
                    write(Stream, [kizami_report:fact(clock_pair_ns, median(Pairs)), kizami_report:ready()]),
                    {Collections, _, _} = statistics(garbage_collection),
                    Loop ! start,
                    output(#kept{stream = Stream, flush = maps:get(flush_rows, Options)}, Monitor, Collections);
                {'DOWN', Monitor, process, _, Why} ->
                    verdict(Stream, ended(Why))
            end
    end.

output(#kept{flush = Flush, count = Flush} = Kept, Monitor, Collections) when Flush > 0 ->
    output(flush(Kept), Monitor, Collections);
output(#kept{count = Count, rows = Rows, stream = Stream} = Kept, Monitor, Collections) ->
    receive
        {row, Row} ->
            output(Kept#kept{count = Count + 1, rows = [Row | Rows]}, Monitor, Collections);
        {'DOWN', Monitor, process, _, Why} ->
            {AtEnd, _, _} = statistics(garbage_collection),
            Memory = erlang:memory(total),
            flush(Kept),
            write(Stream, [
                kizami_report:fact(vm_collections, AtEnd - Collections),
                kizami_report:fact(vm_memory_bytes, Memory)
            ]),
            verdict(Stream, ended(Why))
    end.

%% The verdict on an eval_loop that ended for this reason.
ended(normal) ->
    kizami_report:done();
ended({signal, Name}) ->
    kizami_report:failed(io_lib:format("stopped by ~s", [string:uppercase(atom_to_list(Name))]));
ended(Why) ->
    kizami_report:failed(io_lib:format("the process that measures has failed: ~0tP", [Why, 40])).

-spec verdict(kizami_report:stream(), kizami_report:line()) -> no_return().
verdict(Stream, Line) ->
    write(Stream, [Line]),
    exit({status, status(Line =:= kizami_report:done())}).

status(true) -> 0;
status(false) -> 1.

%% Reports the rows that are kept, and keeps none.
flush(#kept{stream = Stream, rows = Rows} = Kept) ->
    flush(Stream, lists:reverse(Rows)),
    Kept#kept{count = 0, rows = []}.

flush(_, []) ->
    ok;
flush(Stream, Rows) ->
    {Now, Later} = lists:split(min(?ROWS_A_LINE, length(Rows)), Rows),
    write(Stream, [kizami_report:rows([[nanoseconds(Time), Heap, Minor] || {Time, Heap, Minor} <- Now])]),
    flush(Stream, Later).

%% A reader that is gone wants nothing more: ends the process, and with it the VM.
write(Stream, Lines) ->
    lists:foreach(
        fun(Line) ->
            case kizami_report:write(Stream, Line) of
                ok ->
                    ok;
                {error, Why} ->
                    complain(Why),
                    exit({status, 1})
            end
        end,
        Lines
    ).

median(Pairs) ->
    Sorted = lists:sort([counters:get(Pairs, Index) || Index <- lists:seq(1, ?CLOCK_PAIRS)]),
    nanoseconds(lists:nth(?CLOCK_PAIRS div 2, Sorted)).

nanoseconds(Native) ->
    erlang:convert_time_unit(Native, native, nanosecond).
