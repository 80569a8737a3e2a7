%% Checks of the probe: its functions in this VM, and its flow in VMs that are started as the lab starts them.
%%
%% The script test/run starts it with the folder of the compiled probe, the folder of the Elixir code, the folder of
%% test/work, a folder for files, and the native library or nothing. It prints each check, and halts with 1 when one has
%% failed.
-module(kizami_test).

-export([main/0]).

%% Only against a probe that hangs; no check depends on how long something takes.
-define(HANGS_MS, 60000).

-spec main() -> no_return().
main() ->
    [Out, Elixir, Work, Files | Native] = init:get_plain_arguments(),
    persistent_term:put(?MODULE, #{out => Out, elixir => Elixir, work => Work, files => Files}),
    Results = [check(Name, Check) || {Name, Check} <- checks() ++ native_checks(Native)],
    Failed = length([failed || false <- Results]),
    io:format("~b checks, ~b failed~n", [length(Results), Failed]),
    erlang:halt(min(Failed, 1)).

check(Name, Check) ->
    try
        Check(),
        io:format("ok      ~s~n", [Name]),
        true
    catch
        _:Why:Stack ->
            io:format("FAILED  ~s~n        ~0tP~n", [Name, {Why, Stack}, 60]),
            false
    end.

checks() ->
    [
        {"the functions compute what they say, in both languages", fun functions/0},
        {"text of any kind survives the report", fun encoding/0},
        {"rows come in order after ready, the cold one first and extra", fun rows/0},
        {"rows are sent as they come when asked for", fun parts/0},
        {"every function runs in both languages", fun workloads/0},
        {"settings that were not requested are told too", fun defaults/0},
        {"fullsweep_after of table 4 is what the VM made of it", fun fullsweep_after/0},
        {"min_heap_size of table 5 is what the VM made of it", fun min_heap_size/0},
        {"a lower least heap (+hms) lets a small heap take effect", fun least_heap/0},
        {"priority of table 6 takes effect", fun priority/0},
        {"message_queue_data takes effect", fun message_queue_data/0},
        {"the settings of the VM are told", fun vm/0},
        {"schedulers that could not be bound are told", fun bindings/0},
        {"an unknown key is refused by name", fun unknown_key/0},
        {"a bad value is refused by name", fun bad_values/0},
        {"a missing key or function is refused by name", fun missing/0},
        {"a function that fails leaves the rows before it", fun failing/0},
        {"SIGTERM leaves the rows so far", fun sigterm/0},
        {"10,000 rows reach a slow reader", fun slow_reader/0},
        {"a reader that is gone ends the VM", fun closed_reader/0},
        {"SIGTERM ends the VM though the reader does not read", fun stuck_reader/0},
        {"without a file descriptor 3 it says so", fun no_reader/0}
    ].

native_checks([]) ->
    io:format("NOT RUN: locking memory (cargo is missing, so there is no native library)~n"),
    [];
native_checks([Library]) ->
    [
        {"locked memory is what the kernel says it is", fun() -> locked(Library) end},
        {"a native library that is not there is told", fun no_library/0}
    ].

%%% In this VM

functions() ->
    Modules = [kizami_work, 'Elixir.KizamiWork'],
    [8002000 = Module:sum(4000) || Module <- Modules],
    [6765 = Module:fib(20) || Module <- Modules],
    [[0, 1, 1, 2, 3, 5] = [Module:fib(N) || N <- lists:seq(0, 5)] || Module <- Modules],
    [ok = Module:sleep(1) || Module <- Modules],
    [ok = Module:nothing(none) || Module <- Modules].

encoding() ->
    Text = <<"a \" b \\ c \n d \t \x{1} \x{1f} ü 刻 \x{1f600} /"/utf8>>,
    Line = iolist_to_binary(kizami_report:encode(kizami_report:failed(Text))),
    nomatch = binary:match(Line, <<"\n">>),
    #{<<"failed">> := #{<<"why">> := Text}} = kizami_json:decode(Line).

%%% Small helpers

same(Same, Same) -> ok;
same(Expected, Got) -> error({expected, Expected, got, Got}).

contains(Part, Text) ->
    case binary:match(Text, Part) of
        nomatch -> error({expected, Part, in, Text});
        _ -> ok
    end.

as_text(Value) ->
    iolist_to_binary(io_lib:format("~p", [Value])).

%%% The flow

rows() ->
    #{work := Folder} = persistent_term:get(?MODULE),
    {0, Lines} = probe(["-pa", Folder], ["workload=collects", "lang=erlang", "iterations=20"]),
    Kinds = [Kind || Line <- Lines, Kind <- maps:keys(Line), Kind =/= <<"effective">>, Kind =/= <<"fact">>],
    [<<"ready">>, <<"rows">>, <<"done">>] = Kinds,
    Rows = all_rows(Lines),
    21 = length(Rows),
    [true = Time > 0 andalso Heap >= 233 andalso Minor >= 0 || [Time, Heap, Minor] <- Rows],
    %% Each call collects, so the count of collections is the order of the calls.
    Collections = [Minor || [_, _, Minor] <- Rows],
    Collections = lists:usort(Collections),
    true = fact(<<"clock_pair_ns">>, Lines) > 0,
    true = fact(<<"vm_collections">>, Lines) > 0,
    true = fact(<<"vm_memory_bytes">>, Lines) > 0.

parts() ->
    {0, Lines} = probe(["workload=nothing", "lang=erlang", "iterations=10", "pause_ms=0", "flush_rows=4"]),
    Parts = [Part || #{<<"rows">> := Part} <- Lines],
    [{0, 4}, {0, 4}, {0, 3}] = [{Part, length(Rows)} || #{<<"part">> := Part, <<"rows">> := Rows} <- Parts].

workloads() ->
    [
        begin
            {0, Lines} = probe(["workload=" ++ Work, "lang=" ++ Lang, "iterations=3", "pause_ms=1"] ++ N),
            {Work, Lang, 4} = {Work, Lang, length(all_rows(Lines))}
        end
     || {Work, N} <- [{"nothing", []}, {"sum", ["n=4000"]}, {"fib", ["n=20"]}, {"sleep", ["n=5"]}],
        Lang <- ["erlang", "elixir"]
    ].

defaults() ->
    Lines = nothing([], []),
    [
        same({as_text(Value), true, <<>>}, effective(atom_to_binary(Setting), Lines))
     || {Setting, Value} <- spawned([])
    ],
    {<<"false">>, true, <<>>} = effective(<<"lock_memory">>, Lines).

%% What this VM makes of an option of spawn_opt.
spawned(Options) ->
    Parent = self(),
    Pid = spawn_opt(
        fun() -> Parent ! {self(), process_info(self(), [garbage_collection, priority, message_queue_data])} end,
        Options
    ),
    receive
        {Pid, [{garbage_collection, Collection} | Others]} ->
            [lists:keyfind(Setting, 1, Collection) || Setting <- [min_heap_size, fullsweep_after]] ++ Others
    end.

fullsweep_after() ->
    [
        begin
            Real = proplists:get_value(fullsweep_after, spawned([{fullsweep_after, Requested}])),
            Text = integer_to_binary(Real),
            Taken = Real =:= Requested,
            Lines = nothing([], ["fullsweep_after=" ++ integer_to_list(Requested)]),
            {Text, Taken, Why} = effective(<<"fullsweep_after">>, Lines),
            Taken = Why =:= <<>>
        end
     || Requested <- [0, 32767, 65535, 131071]
    ].

min_heap_size() ->
    {min_heap_size, Least} = erlang:system_info(min_heap_size),
    [
        begin
            Real = proplists:get_value(min_heap_size, spawned([{min_heap_size, Requested}])),
            Text = integer_to_binary(Real),
            Taken = Requested >= Least,
            Lines = nothing([], ["min_heap_size=" ++ integer_to_list(Requested)]),
            {Text, Taken, Why} = effective(<<"min_heap_size">>, Lines),
            same(Real =:= Requested, Why =:= <<>>)
        end
     || Requested <- [34, 233, 6765, 196418]
    ].

least_heap() ->
    {Text, true, _} = effective(<<"min_heap_size">>, nothing(["+hms", "34"], ["min_heap_size=34"])),
    Heap = binary_to_integer(Text),
    true = Heap >= 34 andalso Heap < 233.

priority() ->
    [
        same({list_to_binary(Priority), true, <<>>}, effective(<<"priority">>, nothing([], ["priority=" ++ Priority])))
     || Priority <- ["low", "normal", "high"]
    ].

message_queue_data() ->
    [
        same(
            {list_to_binary(Where), true, <<>>},
            effective(<<"message_queue_data">>, nothing([], ["message_queue_data=" ++ Where]))
        )
     || Where <- ["on_heap", "off_heap"]
    ].

vm() ->
    Lines = nothing(["+S", "1:1", "+SDio", "3"], []),
    {<<"1">>, true, <<>>} = effective(<<"schedulers_online">>, Lines),
    {<<"3">>, true, <<>>} = effective(<<"dirty_io_schedulers">>, Lines),
    {<<"unbound">>, true, <<>>} = effective(<<"scheduler_bindings">>, Lines),
    Release = list_to_binary(erlang:system_info(otp_release)),
    {Release, true, <<>>} = effective(<<"otp_release">>, Lines),
    Flavor = atom_to_binary(erlang:system_info(emu_flavor)),
    {Flavor, true, <<>>} = effective(<<"emu_flavor">>, Lines).

%% Whether binding works depends on the machine; that a failed one is never called "as requested" does not.
bindings() ->
    {Value, AsRequested, _} = effective(<<"scheduler_bindings">>, nothing(["+stbt", "db"], [])),
    Bound = [Binding || Binding <- binary:split(Value, <<",">>, [global]), Binding =/= <<"unbound">>],
    AsRequested = Bound =/= [].

%%% What is refused

unknown_key() ->
    refused(["workload=nothing", "lang=erlang", "iterations=1", "min_heap=3"], <<"min_heap is unknown">>).

bad_values() ->
    [
        refused(["workload=nothing", "lang=erlang", "iterations=1", Bad], Name)
     || {Bad, Name} <- [
            {"n=-1", <<"value of n ">>},
            {"n=4k", <<"value of n ">>},
            {"pause_ms=", <<"value of pause_ms ">>},
            {"fullsweep_after=many", <<"value of fullsweep_after ">>},
            {"min_heap_size=99999999999999", <<"value of min_heap_size ">>},
            {"priority=max", <<"value of priority ">>},
            {"message_queue_data=heap", <<"value of message_queue_data ">>},
            {"lock_memory=yes", <<"value of lock_memory ">>},
            {"lock_memory=true", <<"key nif">>},
            {"nif=", <<"value of nif ">>},
            {"flush_rows=1.5", <<"value of flush_rows ">>},
            {"iterations=2", <<"iterations is given twice">>},
            {"what", <<"what is not of the form">>}
        ]
    ],
    refused(
        ["workload=nothing", "lang=erlang", "iterations=1", "priority=high", "pause_ms=0"],
        <<"pause_ms of at least 1">>
    ),
    refused(["workload=nothing", "lang=c", "iterations=1"], <<"value of lang ">>),
    refused(["workload=Sum/0", "lang=erlang", "iterations=1"], <<"value of workload ">>),
    refused(["workload=nothing", "lang=erlang", "iterations=0"], <<"value of iterations ">>).

missing() ->
    refused(["lang=erlang", "iterations=1"], <<"workload is missing">>),
    refused(["workload=nothing", "iterations=1"], <<"lang is missing">>),
    refused(["workload=nothing", "lang=erlang"], <<"iterations is missing">>),
    refused(["workload=product", "lang=erlang", "iterations=1"], <<"product">>),
    refused(["workload=product", "lang=elixir", "iterations=1"], <<"product">>).

refused(Arguments, Part) ->
    {1, [#{<<"failed">> := #{<<"why">> := Why}}]} = probe(Arguments),
    contains(Part, Why).

%%% What goes wrong

failing() ->
    #{work := Folder} = persistent_term:get(?MODULE),
    {1, Lines} = probe(["-pa", Folder], ["workload=third_fails", "lang=erlang", "iterations=9", "pause_ms=1"]),
    2 = length(all_rows(Lines)),
    #{<<"failed">> := #{<<"why">> := Why}} = lists:last(Lines),
    contains(<<"the \"third\" call">>, Why),
    %% A function that fails in the cold call has no rows to leave.
    {1, Others} = probe(["workload=fib", "lang=elixir", "iterations=9"]),
    [] = all_rows(Others),
    #{<<"failed">> := _} = lists:last(Others).

sigterm() ->
    %% With parts, so that there are surely rows when the signal comes, and then more in the last part.
    Port = start([], ["workload=nothing", "lang=erlang", "iterations=1000000", "flush_rows=7", "pause_ms=1"]),
    Before = read_until(Port, <<"{\"rows\":">>, <<>>),
    signal(Port, "TERM"),
    {1, Lines} = finish(Port, Before),
    true = length(all_rows(Lines)) >= 7,
    #{<<"failed">> := #{<<"why">> := <<"stopped by SIGTERM">>}} = lists:last(Lines),
    %% Without parts the rows were all kept back.
    Other = start([], ["workload=sum", "lang=erlang", "n=1000", "iterations=1000000", "pause_ms=1"]),
    Ready = read_until(Other, <<"{\"ready\":">>, <<>>),
    timer:sleep(500),
    signal(Other, "TERM"),
    {1, Kept} = finish(Other, Ready),
    true = length(all_rows(Kept)) > 0,
    #{<<"failed">> := #{<<"why">> := <<"stopped by SIGTERM">>}} = lists:last(Kept).

slow_reader() ->
    Command = "(\"$@\" 3>&1 1>/dev/null; echo $? >\"$0.status\") 2>/dev/null | (sleep 2; cat)",
    Arguments = ["workload=nothing", "lang=erlang", "iterations=10000", "pause_ms=0"],
    {0, Lines} = finish(shell(Command, command([], Arguments)), <<>>),
    10001 = length(all_rows(Lines)),
    #{<<"done">> := _} = lists:last(Lines),
    {ok, <<"0\n">>} = file:read_file(file("status")).

closed_reader() ->
    Command = "(\"$@\" 3>&1 1>/dev/null; echo $? >\"$0.status\") 2>\"$0.errors\" | head -n 1",
    Arguments = ["workload=nothing", "lang=erlang", "iterations=1000000", "flush_rows=1"],
    {0, [_]} = finish(shell(Command, command([], Arguments)), <<>>),
    {ok, <<"1\n">>} = file:read_file(file("status")),
    {ok, Errors} = file:read_file(file("errors")),
    contains(<<"file descriptor 3: broken pipe">>, Errors).

stuck_reader() ->
    Command =
        "mkfifo \"$0.fifo\" && { sleep 600 <\"$0.fifo\" & reader=$!; \"$@\" 3>\"$0.fifo\" 1>/dev/null 2>&1 & probe=$!;"
        " sleep 3; kill -TERM $probe; wait $probe; echo \"{\\\"status\\\":$?}\"; kill $reader; }",
    Arguments = ["workload=nothing", "lang=erlang", "iterations=100000000", "flush_rows=1", "pause_ms=0"],
    {_, [#{<<"status">> := 1}]} = finish(shell(Command, command([], Arguments)), <<>>).

no_reader() ->
    Command = "exec 3>&-; exec \"$@\" 2>\"$0.errors\"",
    Arguments = ["workload=nothing", "lang=erlang", "iterations=1"],
    {1, []} = finish(shell(Command, command([], Arguments)), <<>>),
    {ok, Errors} = file:read_file(file("errors")),
    contains(<<"file descriptor 3 is not open">>, Errors).

%%% The native library

%% Whether locking is allowed depends on who runs this; that the report agrees with the kernel does not.
locked(Library) ->
    Arguments = ["workload=nothing", "lang=erlang", "iterations=1000000", "lock_memory=true", "nif=" ++ Library],
    Port = start([], Arguments),
    Before = read_until(Port, <<"{\"ready\":">>, <<>>),
    {ok, Status} = file:read_file(["/proc/", integer_to_list(os_pid(Port)), "/status"]),
    {match, [Kilobytes]} = re:run(Status, "VmLck:\\s+([0-9]+) kB", [{capture, all_but_first, list}]),
    signal(Port, "TERM"),
    {1, Lines} = finish(Port, Before),
    {Value, AsRequested, Why} = effective(<<"lock_memory">>, Lines),
    AsRequested = list_to_integer(Kilobytes) > 0,
    AsRequested = Value =:= <<"true">>,
    case AsRequested of
        true -> ok;
        false -> contains(<<"mlockall: ">>, Why)
    end.

no_library() ->
    Lines = nothing([], ["lock_memory=true", "nif=/nowhere/library"]),
    {<<"false">>, false, Why} = effective(<<"lock_memory">>, Lines),
    contains(<<"/nowhere/library.so">>, Why).

%%% Starting a probe, and reading what it reports

nothing(Flags, Arguments) ->
    {0, Lines} = probe(Flags, ["workload=nothing", "lang=erlang", "iterations=1", "pause_ms=1"] ++ Arguments),
    Lines.

probe(Arguments) ->
    probe([], Arguments).

probe(Flags, Arguments) ->
    finish(start(Flags, Arguments), <<>>).

start(Flags, Arguments) ->
    shell("exec 3>&1 1>/dev/null 2>&1; exec \"$@\"", command(Flags, Arguments)).

command(Flags, Arguments) ->
    #{out := Out, elixir := Elixir} = persistent_term:get(?MODULE),
    ["erl", "-noshell", "-noinput", "+Bi", "-pa", Out, "-pa", Elixir] ++ Flags ++
        ["-s", "kizami_probe", "main", "-extra" | Arguments].

shell(Command, Arguments) ->
    open_port({spawn_executable, "/bin/sh"}, [{args, ["-c", Command, file("files") | Arguments]}, binary, exit_status]).

%% Files of a shell command, whose $0 is file("files"); a suffix is put by both sides.
file("files") ->
    #{files := Files} = persistent_term:get(?MODULE),
    filename:join(Files, "probe");
file(Suffix) ->
    file("files") ++ "." ++ Suffix.

os_pid(Port) ->
    {os_pid, Pid} = erlang:port_info(Port, os_pid),
    Pid.

signal(Port, Signal) ->
    "" = os:cmd(io_lib:format("kill -~s ~b", [Signal, os_pid(Port)])).

read_until(Port, Part, Text) ->
    case binary:match(Text, Part) of
        nomatch ->
            receive
                {Port, {data, More}} -> read_until(Port, Part, <<Text/binary, More/binary>>);
                {Port, {exit_status, Status}} -> error({ended, Status, Text})
            after ?HANGS_MS -> error({hangs, Text})
            end;
        _ ->
            Text
    end.

%% The exit status and all lines, each decoded.
finish(Port, Text) ->
    receive
        {Port, {data, More}} -> finish(Port, <<Text/binary, More/binary>>);
        {Port, {exit_status, Status}} -> {Status, [kizami_json:decode(Line) || Line <- lines(Text)]}
    after ?HANGS_MS -> error({hangs, Text})
    end.

lines(Text) ->
    %% Every line is ended by a newline, so the last part must be empty.
    [<<>> | Lines] = lists:reverse(binary:split(Text, <<"\n">>, [global])),
    lists:reverse(Lines).

all_rows(Lines) ->
    lists:append([Rows || #{<<"rows">> := #{<<"rows">> := Rows}} <- Lines]).

fact(Name, Lines) ->
    [Value] = [Value || #{<<"fact">> := #{<<"name">> := This, <<"value">> := Value}} <- Lines, This =:= Name],
    Value.

effective(Setting, Lines) ->
    [#{<<"value">> := Value, <<"as_requested">> := AsRequested, <<"why">> := Why}] =
        [Effective || #{<<"effective">> := #{<<"setting">> := This} = Effective} <- Lines, This =:= Setting],
    {Value, AsRequested, Why}.
