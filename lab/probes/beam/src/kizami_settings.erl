%% The settings in force: read back from the VM and reported as lines.
%%
%% "As requested" is judged only for settings that the probe itself was asked for. Settings of the VM's flags are
%% reported as they are; the one exception is the binding of schedulers, where the VM keeps the request and drops it
%% silently.
-module(kizami_settings).

-export([vm/0, memory/1, own/0, process/2, requested/1]).

%% What own/0 read in the process that measures.
-type own() :: [{garbage_collection | priority | message_queue_data, term()}].

-define(OF_PROCESS, [fullsweep_after, min_heap_size, priority, message_queue_data]).

%% The options of spawn_opt that were requested.
-spec requested(kizami_options:options()) -> [{atom(), term()}].
requested(Options) ->
    [{Setting, maps:get(Setting, Options)} || Setting <- ?OF_PROCESS, is_map_key(Setting, Options)].

%% To be called in the process that measures; kept small, because it leaves its garbage on that heap.
-spec own() -> own().
own() ->
    process_info(self(), [garbage_collection, priority, message_queue_data]).

%% The lines for the settings of the process that measures.
-spec process(kizami_options:options(), own()) -> [kizami_report:line()].
process(Options, Own) ->
    {garbage_collection, Collection} = lists:keyfind(garbage_collection, 1, Own),
    [process_line(Setting, Options, Collection ++ Own) || Setting <- ?OF_PROCESS].

process_line(Setting, Options, Own) ->
    {Setting, Value} = lists:keyfind(Setting, 1, Own),
    {AsRequested, Why} =
        case Options of
            #{Setting := Value} -> {true, ""};
            #{Setting := Requested} -> difference(Setting, Requested, Value);
            #{} -> {true, ""}
        end,
    kizami_report:effective(Setting, io_lib:format("~p", [Value]), AsRequested, Why).

%% The VM rounds a heap up to the next of its own sizes, and then never goes below the size that every process has at
%% least (+hms). The rounded value is what was requested; the least size in its place is not.
difference(min_heap_size, Requested, Value) ->
    {min_heap_size, Least} = erlang:system_info(min_heap_size),
    case rounded(Requested) of
        Value ->
            {true, io_lib:format("the VM rounds ~b words up to its next heap size", [Requested])};
        Rounded when Rounded < Least, Value =:= Least ->
            {false,
                io_lib:format(
                    "~b words is below the least heap of this VM, ~b words; its flag +hms ~b would lower that",
                    [Requested, Least, Requested]
                )};
        _ ->
            refused(Requested)
    end;
%% The VM keeps this counter in 16 bits and drops the rest of the number without a word.
difference(fullsweep_after, Requested, Value) when Requested > 65535 ->
    {false,
        io_lib:format("the VM keeps only the lower 16 bits of this number: ~b becomes ~b", [Requested, Value])};
difference(_, Requested, _) ->
    refused(Requested).

refused(Requested) ->
    {false, io_lib:format("~p was requested and the VM did not take it", [Requested])}.

%% The VM tells its next heap size only by taking it as the least size; that is put back at once, and no process is
%% spawned meanwhile.
rounded(Requested) ->
    Least = erlang:system_flag(min_heap_size, Requested),
    {min_heap_size, Rounded} = erlang:system_info(min_heap_size),
    _ = erlang:system_flag(min_heap_size, Least),
    Rounded.

%% The lines for the settings of the VM.
-spec vm() -> [kizami_report:line()].
vm() ->
    [bindings() | [system(Setting) || Setting <- of_vm()]].

of_vm() ->
    [
        otp_release,
        emu_flavor,
        emu_type,
        wordsize,
        schedulers,
        schedulers_online,
        dirty_cpu_schedulers,
        dirty_io_schedulers,
        thread_pool_size,
        time_warp_mode,
        time_correction
    ].

system(Setting) ->
    kizami_report:effective(Setting, show(erlang:system_info(Setting)), true, "").

show(Text) when is_list(Text) -> Text;
show(Term) -> io_lib:format("~p", [Term]).

%% The logical processor of each scheduler, or `unbound`.
bindings() ->
    Bindings = tuple_to_list(erlang:system_info(scheduler_bindings)),
    Wanted = erlang:system_info(scheduler_bind_type),
    {AsRequested, Why} =
        case lists:all(fun(Binding) -> Binding =:= unbound end, Bindings) of
            true when Wanted =/= unbound ->
                {false, io_lib:format("the binding ~p was requested and the VM could not bind", [Wanted])};
            _ ->
                {true, ""}
        end,
    Value = lists:join(",", [show(Binding) || Binding <- Bindings]),
    kizami_report:effective(scheduler_bindings, Value, AsRequested, Why).

%% Locks the memory if that was requested, and says whether it is locked now, by what the kernel counts as locked.
-spec memory(kizami_options:options()) -> kizami_report:line().
memory(Options) ->
    Result = lock(Options),
    Status =
        case file:read_file("/proc/self/status") of
            {ok, Read} -> Read;
            {error, _} -> <<>>
        end,
    Locked = kilobytes("VmLck", Status),
    Value = is_integer(Locked) andalso Locked > 0,
    Why =
        case Result of
            not_requested ->
                "";
            ok when Locked =:= unknown ->
                "mlockall succeeded, but /proc/self/status does not tell what is locked";
            ok ->
                io_lib:format("~b kB of address space are locked", [Locked]);
            {not_loaded, Error} ->
                Error;
            {refused, Error} ->
                io_lib:format(
                    "mlockall: ~s; it takes CAP_IPC_LOCK, or a limit (ulimit -l) above the whole address space, ~p kB",
                    [Error, kilobytes("VmSize", Status)]
                )
        end,
    kizami_report:effective(lock_memory, atom_to_list(Value), Result =:= not_requested orelse Value, Why).

lock(#{lock_memory := true, nif := Path}) ->
    case kizami_native:load(Path) of
        ok ->
            case kizami_native:lock_memory() of
                ok -> ok;
                {error, Text} -> {refused, Text}
            end;
        {error, {_, Text}} ->
            {not_loaded, Text}
    end;
lock(#{lock_memory := false}) ->
    not_requested.

kilobytes(Name, Status) ->
    case re:run(Status, ["^", Name, ":\\s+([0-9]+) kB"], [multiline, {capture, all_but_first, list}]) of
        {match, [Number]} -> list_to_integer(Number);
        nomatch -> unknown
    end.
