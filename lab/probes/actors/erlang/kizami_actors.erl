%% The runner of the comparison of actor systems in an Erlang VM: runs one program, and reports to the lab.
%%
%%   erl -noshell -noinput -pa FOLDER -s kizami_actors main -extra system=MODULE program=NAME [queue=off_heap] KEY=N ...
%%
%% MODULE is a callback module of this one: run(Program, Params) runs the program once, checks its result, and returns
%% the samples of each part of the workload. So a new way to write actors for this VM is a new module in a folder of its
%% own (-pa), and nothing else. The programs are described in lab/workloads/src/actors.
-module(kizami_actors).

-export([main/0]).
-export([whole/1, samples/1, creation/2, check/3, queue/1, timed/2]).

-export_type([program/0, params/0, outcome/0]).

-type program() :: pingpong | 'thread-ring' | 'fork-join' | 'fork-join-create' | big | ask | recover.
%% The parameters of the workload under their names, and for `queue` where the message queues of its actors are to be.
-type params() :: #{atom() => non_neg_integer() | on_heap | off_heap}.
%% The samples of each part, in nanoseconds (in bytes for the part memory).
-type outcome() :: #{parts := [[non_neg_integer()]]}.

%% Called once, in a process of its own, when the VM is up. The time that it gives is from before the first actor is made
%% until all is done. Throws a sentence when the program came to a wrong result; whatever else ends it is told too.
-callback run(program(), params()) -> outcome().

%% Entry for `erl -s`; returns at once, so that the VM finishes its start.
-spec main() -> ok.
main() ->
    spawn(fun begin_when_up/0),
    ok.

begin_when_up() ->
    case kizami_report:open() of
        {ok, Stream} -> report(Stream);
        {error, Why} -> complain(Why)
    end.

report(Stream) ->
    {Line, Status} =
        try
            {Module, Program, Params} = arguments(init:get_plain_arguments()),
            %% Reports of crashes cost time and go nowhere.
            ok = logger:set_primary_config(level, none),
            write(Stream, effective(Params) ++ [kizami_report:fact(clock_pair_ns, clock_pair()), kizami_report:ready()]),
            #{parts := Parts} = Module:run(Program, Params),
            write(Stream, [kizami_report:rows(Part, Values) || {Part, Values} <- numbered(Parts), Values =/= []]),
            {kizami_report:done(), 0}
        catch
            throw:Sentence -> {kizami_report:failed(Sentence), 1};
            _:What:Stack -> {kizami_report:failed(io_lib:format("the program failed: ~0tP", [{What, Stack}, 40])), 1}
        end,
    write(Stream, [Line]),
    erlang:halt(Status, [{flush, false}]).

numbered(Parts) ->
    lists:zip(lists:seq(0, length(Parts) - 1), [[[Value] || Value <- Values] || Values <- Parts]).

write(Stream, Lines) ->
    lists:foreach(
        fun(Line) ->
            case kizami_report:write(Stream, Line) of
                ok -> ok;
                {error, Why} -> complain(Why)
            end
        end,
        Lines
    ).

%% A lab that is gone wants nothing more.
-spec complain(string()) -> no_return().
complain(Text) ->
    io:format(standard_error, "kizami_actors: ~ts~n", [Text]),
    erlang:halt(1, [{flush, false}]).

%% What is in force in this VM, as the reports show it.
effective(Params) ->
    Placement = io_lib:format("~b schedulers", [erlang:system_info(schedulers_online)]),
    [
        kizami_report:effective(placement, Placement, true, ""),
        kizami_report:effective(message_queue_data, atom_to_list(queue(Params)), true, ""),
        kizami_report:effective(otp_release, erlang:system_info(otp_release), true, ""),
        kizami_report:effective(emu_flavor, atom_to_list(erlang:system_info(emu_flavor)), true, "")
    ].

%%% the command line

arguments(Given) ->
    Pairs = [pair(Argument) || Argument <- Given],
    {System, Rest} = take("system", Pairs),
    {Program, Numbers} = take("program", Rest),
    Module = list_to_atom(System),
    case code:ensure_loaded(Module) of
        {module, Module} -> ok;
        {error, Problem} -> throw(io_lib:format("cannot load ~p (~p); is its folder given with -pa?", [Module, Problem]))
    end,
    load_all(),
    {Module, list_to_atom(Program), maps:from_list([{list_to_atom(Key), value(Key, Text)} || {Key, Text} <- Numbers])}.

%% All code is there before the time begins, as it is in a release, and in the systems that are programs.
load_all() ->
    {ok, Folders} = init:get_argument(pa),
    Files = [File || Folder <- lists:append(Folders), File <- filelib:wildcard("*.beam", Folder)],
    ok = code:ensure_modules_loaded([list_to_atom(filename:rootname(File)) || File <- Files]).

pair(Argument) ->
    case string:split(Argument, "=") of
        [Key, Value] -> {Key, Value};
        [_] -> throw(["the argument ", Argument, " is not of the form key=value"])
    end.

take(Key, Pairs) ->
    case lists:keytake(Key, 1, Pairs) of
        {value, {Key, Value}, Rest} -> {Value, Rest};
        false -> throw(["the key ", Key, " is missing"])
    end.

value("queue", "on_heap") ->
    on_heap;
value("queue", "off_heap") ->
    off_heap;
value(Key, Text) ->
    case string:to_integer(Text) of
        {Number, []} when is_integer(Number), Number >= 0 -> Number;
        _ -> throw(["the value of ", Key, " is '", Text, "' but must be a whole number"])
    end.

%%% what the programs share

%% Where the message queues of the actors are to be.
-spec queue(params()) -> on_heap | off_heap.
queue(Params) ->
    maps:get(queue, Params, on_heap).

%% The outcome of a program whose sample is its whole time: from Begun (erlang:monotonic_time/0) until now.
-spec whole(integer()) -> outcome().
whole(Begun) ->
    samples([nanoseconds(erlang:monotonic_time() - Begun)]).

-spec samples([non_neg_integer()]) -> outcome().
samples(Samples) ->
    #{parts => [Samples]}.

%% The outcome of making P actors, which Create does and returns from when all have started and live.
-spec creation(pos_integer(), fun(() -> Result)) -> {outcome(), Result}.
creation(P, Create) ->
    Before = resident(),
    Begun = erlang:monotonic_time(),
    Result = Create(),
    Elapsed = erlang:monotonic_time() - Begun,
    {#{parts => [[nanoseconds(Elapsed)], [max(0, resident() - Before) div P]]}, Result}.

%% Calls Fun with 1 to N and gives how long each call took, in nanoseconds.
-spec timed(non_neg_integer(), fun((pos_integer()) -> term())) -> [non_neg_integer()].
timed(N, Fun) ->
    timed(1, N, Fun, []).

timed(Index, N, _, Samples) when Index > N ->
    lists:reverse(Samples);
timed(Index, N, Fun, Samples) ->
    Begun = erlang:monotonic_time(),
    _ = Fun(Index),
    Elapsed = erlang:monotonic_time() - Begun,
    timed(Index + 1, N, Fun, [nanoseconds(Elapsed) | Samples]).

%% Throws unless the program came to what it must come to.
-spec check(iodata(), Got :: term(), Wanted :: term()) -> ok.
check(_, Wanted, Wanted) ->
    ok;
check(What, Got, Wanted) ->
    throw(io_lib:format("the program came to a wrong result: ~ts is ~0tp and must be ~0tp", [What, Got, Wanted])).

nanoseconds(Native) ->
    erlang:convert_time_unit(Native, native, nanosecond).

%% The memory of this VM that is resident, in bytes.
resident() ->
    {ok, Text} = file:read_file("/proc/self/status"),
    {match, [Kilobytes]} = re:run(Text, "^VmRSS:\\s+([0-9]+) kB", [multiline, {capture, all_but_first, binary}]),
    binary_to_integer(Kilobytes) * 1024.

%% The median of a thousand clock pairs: what taking the time costs, here and now.
clock_pair() ->
    lists:nth(500, lists:sort(timed(1000, fun(_) -> ok end))).
