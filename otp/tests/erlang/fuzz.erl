%% Tries a library of kizami-otp with terms that nobody would send.
%%
%%   erl -noshell -pa . -pa WHERE_FUZZ_IS -run fuzz main SECONDS SEED
%%
%% runs in a folder with the modules of an application, compiled with +debug_info, and its library, such as the ebin that cargo
%% otp build makes. It starts every server that is there and asks it for everything that its module's -specs promise: with arguments of the type, with such in which
%% something was changed, and with any terms. Beside that it calls the native functions themselves, all that the module has, with
%% any terms. What must hold:
%%
%%   - the VM lives,
%%   - an answer is of the type that the -spec says; a wrong argument is refused with a text,
%%   - every function takes some of the arguments that its -spec allows, unless its name begins with rare_,
%%   - a module `echo` gives back what it got: the same term, and where the name of the function begins with near_, what stays the
%%     same when it is sent again. No argument ends its server.
%%
%% With KIZAMI_FUZZ_TRACE set, each worker writes its next call to a file before it does it, so that a call that ends the VM can be
%% found there.
-module(fuzz).

-export([main/1]).

-record(spec, {module, name, arguments, result}).

-define(WORKERS, 4).

main([Seconds, Seed]) ->
    logger:set_primary_config(level, none),
    process_flag(trap_exit, true),
    Modules = [{list_to_atom(filename:rootname(Beam)), forms(Beam)} || Beam <- filelib:wildcard("*.beam")],
    [Module] = [open(Module, Forms) || {Module, Forms} <- Modules, lists:keymember(on_load, 3, Forms)],
    io:format("fuzz of ~s for ~s s, seed ~s~n", [Module, Seconds, Seed]),
    Nifs = Module:module_info(nifs),
    Servers = lists:append([describe(Name, Forms) || {Name, Forms} <- Modules]),
    [io:format("~s: ~b functions~n", [Server, length(Specs)]) || {Server, _, Specs, _} <- Servers],
    io:format("native: ~s~n", [lists:join(" ", [io_lib:format("~s/~b", [N, A]) || {N, A} <- lists:sort(Nifs)])]),
    Workers = [spawn_link(fun() -> worker(Number, list_to_integer(Seed), list_to_integer(Seconds), Module, Nifs, Servers) end)
               || Number <- lists:seq(1, ?WORKERS)],
    Counts = [receive {'EXIT', Worker, {done, Count}} -> Count;
                      {'EXIT', Worker, Why} -> io:format("FAILED: ~tP~n", [Why, 60]), halt(1)
              end || Worker <- Workers],
    Sums = lists:foldl(fun(Count, Sum) -> maps:merge_with(fun(_, A, B) -> A + B end, Count, Sum) end, #{}, Counts),
    io:format("~b calls of native functions, ~b of servers: ~b answered, ~b refused, ~b ended their server~n",
              [maps:get(What, Sums, 0) || What <- [native, asked, answered, refused, ended]]),
    Never = [{Server, Spec#spec.name} || {Server, _, Specs, _} <- Servers, Spec <- Specs,
                                         not is_map_key({answered, Server, Spec#spec.name}, Sums),
                                         string:prefix(atom_to_list(Spec#spec.name), "rare_") =:= nomatch],
    case Never =/= [] andalso maps:get(asked, Sums, 0) > 500 * length(lists:append([Specs || {_, _, Specs, _} <- Servers])) of
        true -> io:format("FAILED: what the -spec allows is never taken by ~p~n", [Never]), halt(1);
        false -> io:format("passed~n"), halt(0)
    end.

forms(Beam) ->
    case beam_lib:chunks(Beam, [abstract_code]) of
        {ok, {_, [{abstract_code, {raw_abstract_v1, Forms}}]}} -> Forms;
        _ -> []
    end.

%% Loads the native module with all its functions exported.
open(Module, Forms) ->
    {ok, Module, Code} = compile:forms(Forms, [export_all, nowarn_export_all]),
    {module, Module} = code:load_binary(Module, filename:absname(atom_to_list(Module) ++ ".beam"), Code),
    Module.

%% {Module, Spec of its start, Specs of its calls, Types}, if it is a server's.
describe(Module, Forms) ->
    Types = maps:from_list([{Name, Type} || {attribute, _, type, {Name, Type, _}} <- Forms]),
    Specs = [#spec{module = Module, name = Name, arguments = Arguments, result = Result}
             || {attribute, _, spec, {{Name, _}, [{type, _, 'fun', [{type, _, product, Arguments}, Result]}]}} <- Forms],
    case lists:keyfind(start_link, #spec.name, Specs) of
        #spec{} = Start when is_map_key(server, Types) ->
            Calls = [Spec#spec{arguments = Arguments} || #spec{arguments = [{user_type, _, server, []} | Arguments]} = Spec <- Specs],
            [{Module, Start, Calls, Types}];
        _ ->
            []
    end.

worker(Number, Seed, Seconds, Module, Nifs, Servers) ->
    process_flag(trap_exit, true),
    rand:seed(exsss, {Seed, Number, 0}),
    put(trace, os:getenv("KIZAMI_FUZZ_TRACE") =/= false andalso "fuzz_last_" ++ integer_to_list(Number)),
    put(pool, pool()),
    put(count, #{}),
    [deep(Term, Module, Nifs, Servers) || {Other, Term} <- large_terms(), Other rem ?WORKERS =:= Number - 1],
    garbage_collect(),
    work(erlang:monotonic_time(millisecond) + Seconds * 1000, Module, Nifs, Servers).

work(Until, Module, Nifs, Servers) ->
    case erlang:monotonic_time(millisecond) < Until of
        false ->
            exit({done, get(count)});
        true ->
            case rand:uniform(3) of
                1 -> any_native(Module, Nifs, Servers);
                _ -> ask(pick(Servers))
            end,
            flush(),
            work(Until, Module, Nifs, Servers)
    end.

flush() ->
    receive _ -> flush() after 0 -> ok end.

count(What) ->
    put(count, maps:update_with(What, fun(N) -> N + 1 end, 1, get(count))).

%% ---------------------------------------------------------------- servers

ask({Module, Start, Specs, Types}) when Specs =/= [] ->
    Server = server(Module, Start, Types),
    Spec = pick(Specs),
    Arguments = [argument(Type, Types) || Type <- Spec#spec.arguments],
    put(asked, {Module, Spec#spec.name}),
    case ask(Server, Spec, Arguments) of
        {answer, Answer} ->
            count(answered),
            count({answered, Module, Spec#spec.name}),
            of_type(Spec#spec.result, Answer, Types) orelse exit({answer_of_another_type, Spec, Arguments, Answer}),
            Module =:= echo andalso same(Server, Spec, Arguments, Answer);
        refused ->
            count(refused);
        {ended, Why} ->
            Module =:= echo andalso exit({ended, Spec, Arguments, Why}),
            count(ended)
    end;
ask(_) ->
    ok.

ask(Server, #spec{module = Module, name = Name}, Arguments) ->
    count(asked),
    trace({Module, Name, Arguments}),
    try {answer, apply(Module, Name, [Server | Arguments])}
    catch
        error:{refused, Why} when is_binary(Why) -> refused;
        exit:Why -> {ended, Why}
    end.

same(Server, #spec{name = Name} = Spec, [Argument], Answer) ->
    case atom_to_list(Name) of
        "near_" ++ _ ->
            {answer, Again} = ask(Server, Spec, [Answer]),
            sorted(Again) =:= sorted(Answer) orelse exit({not_the_same_again, Name, Argument, Answer, Again});
        _ ->
            Answer =:= Argument orelse exit({not_the_same, Name, Argument, Answer})
    end.

sorted(List) when is_list(List) -> lists:sort(List);
sorted(Other) -> Other.

%% This worker's own server of the kind.
server(Module, Start, Types) ->
    case get({server, Module}) of
        Pid when is_pid(Pid) ->
            case is_process_alive(Pid) of
                true -> Pid;
                false -> put({server, Module}, undefined), server(Module, Start, Types)
            end;
        undefined ->
            case (catch apply(Module, start_link, [generate(Type, Types, 4) || Type <- Start#spec.arguments])) of
                {ok, Pid} -> put({server, Module}, Pid), Pid;
                _ -> server(Module, Start, Types)
            end
    end.

argument(Type, Types) ->
    case rand:uniform(10) of
        N when N =< 6 -> generate(Type, Types, 4);
        N when N =< 8 -> damaged(generate(Type, Types, 4));
        _ -> any(4)
    end.

%% ---------------------------------------------------------------- native functions

any_native(Module, Nifs, Servers) ->
    {Name, Arity} = pick(Nifs),
    native(Module, Name, [native_argument(Servers) || _ <- lists:seq(1, Arity)]).

native(Module, Name, Arguments) ->
    count(native),
    trace({Module, Name, Arguments}),
    try apply(Module, Name, Arguments) of
        Result -> remember(Result)
    catch
        _:_ -> ok
    end.

native_argument(Servers) ->
    case rand:uniform(8) of
        1 -> pick(numbers(Servers));
        2 -> {any(3)};
        3 -> message(Servers);
        4 -> message(Servers);
        5 -> any(4);
        _ -> pick(get(pool))
    end.

message(Servers) ->
    {Module, _, Specs, Types} = pick(Servers),
    Request = case Specs of
        [] -> any(3);
        _ ->
            #spec{name = Name, arguments = Arguments} = pick(Specs),
            list_to_tuple([Name | [argument(Type, Types) || Type <- Arguments]])
    end,
    Message = case rand:uniform(6) of
        1 -> {'$gen_cast', Request};
        2 -> {system, {self(), make_ref()}, any(2)};
        3 -> {'EXIT', self(), any(2)};
        4 -> {'$gen_call', {self(), [alias | make_ref()]}, Request};
        _ -> {'$gen_call', {self(), make_ref()}, Request}
    end,
    put(asked, Module),
    case rand:uniform(5) of 1 -> damaged(Message); _ -> Message end.

%% Some of what came back is passed on later: references to states above all.
remember(Result) ->
    case Result of
        {ok, Slot} when is_reference(Slot) -> keep(Slot);
        _ -> rand:uniform(50) =:= 1 andalso erts_debug:flat_size(Result) < 1000 andalso keep(Result)
    end.

keep(Term) ->
    put(pool, lists:sublist([Term | get(pool)], 40)).

%% What is so deep that recursion would end in the stack's end, or so long; numbered.
large_terms() ->
    Size = 100000,
    Nest = fun(How) -> lists:foldl(fun(_, Term) -> How(Term) end, leaf, lists:seq(1, Size)) end,
    lists:enumerate([Nest(fun(T) -> [T] end), Nest(fun(T) -> {T} end), Nest(fun(T) -> {node, T, 0, leaf} end),
        Nest(fun(T) -> #{a => T} end), Nest(fun(T) -> {nodes, [T]} end), Nest(fun(T) -> [leaf | T] end),
        lists:seq(1, Size), lists:seq(1, Size) ++ tail, list_to_tuple(lists:seq(1, Size)), maps:from_keys(lists:seq(1, Size), 0)]).

%% Gives it to every native function, alone, as a request, and as the argument of every request.
deep(Term, Module, Nifs, Servers) ->
    Call = fun(Request) -> {'$gen_call', {self(), make_ref()}, Request} end,
    [native(Module, Name, arguments(Arity, Slot, Message))
     || {_, Start, Specs, Types} <- Servers,
        Slot <- [Term | lists:append([slot(Module, Number, Start, Types) || Number <- numbers(Servers)])],
        Message <- [Term, {Term}, Call(Term) | [Call({Name, Term}) || #spec{name = Name} <- Specs]],
        {Name, Arity} <- Nifs].

%% Those of the behaviours, of which some are no servers; and one too many.
numbers(Servers) ->
    lists:seq(0, length(Servers) + 2).

slot(Module, Number, Start, Types) ->
    try Module:init(Number, list_to_tuple([generate(Type, Types, 4) || Type <- Start#spec.arguments])) of
        {ok, Slot} when is_reference(Slot) -> [Slot];
        _ -> []
    catch
        _:_ -> []
    end.

arguments(0, _, _) -> [];
arguments(1, _, Message) -> [Message];
arguments(Arity, Slot, Message) -> [Slot | lists:duplicate(Arity - 1, Message)].

trace(Call) ->
    case get(trace) of
        false -> ok;
        File -> file:write_file(File, io_lib:format("~tP~n", [Call, 1000]))
    end.

%% ---------------------------------------------------------------- terms of a type

generate(Type, Types, Depth) ->
    case Type of
        {ann_type, _, [_, Other]} -> generate(Other, Types, Depth);
        {user_type, _, Name, []} -> generate(maps:get(Name, Types), Types, Depth - 1);
        {atom, _, Atom} -> Atom;
        {integer, _, Integer} -> Integer;
        {op, _, '-', {integer, _, Integer}} -> -Integer;
        {type, _, union, Each} when Depth > 0 -> generate(pick(Each), Types, Depth);
        % Where it is deep enough, the first, which ends soonest where people write types.
        {type, _, union, [First | _]} -> generate(First, Types, Depth);
        {type, _, range, [From, To]} ->
            {Low, High} = {generate(From, Types, 0), generate(To, Types, 0)},
            Low + rand:uniform(High - Low + 1) - 1;
        {type, _, tuple, any} -> any_tuple(Depth);
        {type, _, tuple, Each} -> list_to_tuple([generate(One, Types, Depth - 1) || One <- Each]);
        {type, _, list, []} -> any_list(Depth);
        {type, _, list, [_]} when Depth =< 0 -> [];
        {type, _, list, [Of]} -> [generate(Of, Types, Depth - 1) || _ <- some(Depth)];
        {type, _, map, any} -> any_map(Depth);
        {type, _, map, Each} -> maps:from_list(lists:append([entries(Entry, Types, Depth) || Entry <- Each]));
        {type, _, Name, []} -> plain(Name, Depth);
        {remote_type, _, _} -> any(Depth)
    end.

entries({type, _, map_field_exact, [Key, Value]}, Types, Depth) ->
    [{generate(Key, Types, Depth - 1), generate(Value, Types, Depth - 1)}];
entries({type, _, map_field_assoc, [{atom, _, Key}, Value]}, Types, Depth) ->
    case rand:uniform(2) of 1 -> []; 2 -> [{Key, generate(Value, Types, Depth - 1)}] end;
entries({type, _, map_field_assoc, [Key, Value]}, Types, Depth) ->
    [{generate(Key, Types, Depth - 1), generate(Value, Types, Depth - 1)} || _ <- some(Depth)].

plain(Name, Depth) ->
    case Name of
        integer -> integer();
        non_neg_integer -> abs(integer());
        pos_integer -> abs(integer()) + 1;
        byte -> rand:uniform(256) - 1;
        char -> pick([rand:uniform(128) - 1, rand:uniform(16#D7FF), 16#E000 + rand:uniform(16#102000) - 1]);
        float -> float_();
        number -> pick([integer(), float_()]);
        boolean -> pick([true, false]);
        atom -> atom_();
        module -> atom_();
        binary -> binary_();
        bitstring -> bitstring_();
        string -> "a string";
        pid -> self();
        reference -> make_ref();
        map -> any_map(Depth);
        tuple -> any_tuple(Depth);
        timeout -> pick([infinity, abs(integer())]);
        nil -> [];
        _ -> any(Depth)
    end.

of_type(Type, Term, Types) ->
    case Type of
        {ann_type, _, [_, Other]} -> of_type(Other, Term, Types);
        {user_type, _, Name, []} -> of_type(maps:get(Name, Types), Term, Types);
        {atom, _, Atom} -> Term =:= Atom;
        {integer, _, Integer} -> Term =:= Integer;
        {type, _, union, Each} -> lists:any(fun(One) -> of_type(One, Term, Types) end, Each);
        {type, _, range, [From, To]} ->
            is_integer(Term) andalso Term >= generate(From, Types, 0) andalso Term =< generate(To, Types, 0);
        {type, _, tuple, any} -> is_tuple(Term);
        {type, _, tuple, Each} ->
            is_tuple(Term) andalso tuple_size(Term) =:= length(Each)
                andalso lists:all(fun({One, Element}) -> of_type(One, Element, Types) end, lists:zip(Each, tuple_to_list(Term)));
        {type, _, list, [Of]} ->
            is_list(Term) andalso lists:all(fun(Element) -> of_type(Of, Element, Types) end, Term);
        {type, _, map, any} -> is_map(Term);
        {type, _, map, Each} -> is_map(Term) andalso map_of_type(Each, Term, Types);
        {type, _, integer, []} -> is_integer(Term);
        {type, _, non_neg_integer, []} -> is_integer(Term) andalso Term >= 0;
        {type, _, pos_integer, []} -> is_integer(Term) andalso Term > 0;
        {type, _, byte, []} -> is_integer(Term) andalso Term >= 0 andalso Term =< 255;
        {type, _, char, []} -> is_integer(Term) andalso Term >= 0 andalso Term =< 16#10FFFF;
        {type, _, float, []} -> is_float(Term);
        {type, _, boolean, []} -> is_boolean(Term);
        {type, _, atom, []} -> is_atom(Term);
        {type, _, binary, []} -> is_binary(Term);
        {type, _, pid, []} -> is_pid(Term);
        {type, _, Name, []} when Name =:= term; Name =:= any -> true;
        _ -> true
    end.

map_of_type(Each, Map, Types) ->
    {Exact, Others} = lists:partition(fun({type, _, Kind, _}) -> Kind =:= map_field_exact end, Each),
    lists:all(fun({type, _, _, [{atom, _, Key}, _]}) -> is_map_key(Key, Map) end, Exact)
        andalso lists:all(fun({Key, Value}) ->
            lists:any(fun({type, _, _, [K, V]}) -> of_type(K, Key, Types) andalso of_type(V, Value, Types) end, Exact ++ Others)
        end, maps:to_list(Map)).

%% ---------------------------------------------------------------- any terms

any(Depth) when Depth =< 0 ->
    case rand:uniform(8) of
        1 -> atom_();
        2 -> binary_();
        3 -> bitstring_();
        4 -> float_();
        5 -> pick(get(pool));
        6 -> pick([[], {}, #{}, <<>>, "", '']);
        _ -> integer()
    end;
any(Depth) ->
    case rand:uniform(7) of
        1 -> any_tuple(Depth);
        2 -> any_list(Depth);
        3 -> any_map(Depth);
        4 -> [any(Depth - 1) | any(0)];
        5 -> rand:uniform(20) =:= 1 andalso large();
        _ -> any(0)
    end.

any_tuple(Depth) -> list_to_tuple(any_list(Depth)).
any_list(Depth) -> [any(Depth - 1) || _ <- some(Depth)].
any_map(Depth) -> maps:from_list([{any(Depth - 1), any(Depth - 1)} || _ <- some(Depth)]).

%% Something that is deep or long, but not so that it takes long to make.
large() ->
    Size = rand:uniform(3000),
    case rand:uniform(6) of
        1 -> lists:foldl(fun(_, Term) -> [Term] end, [], lists:seq(1, Size));
        2 -> lists:foldl(fun(_, Term) -> {node, Term, 0, leaf} end, leaf, lists:seq(1, Size));
        3 -> lists:foldl(fun(_, Term) -> #{a => Term} end, leaf, lists:seq(1, Size));
        4 -> lists:seq(1, Size);
        5 -> maps:from_list([{N, N} || N <- lists:seq(1, Size)]);
        6 -> rand:bytes(Size)
    end.

%% A list of a few, rarely of many more.
some(Depth) ->
    lists:seq(1, case rand:uniform(20) of
        1 when Depth < 3 -> 30 + rand:uniform(10);
        N -> N rem 4
    end).

integer() ->
    case rand:uniform(4) of
        1 -> rand:uniform(21) - 11;
        2 -> rand:uniform(256) - 129;
        _ -> pick([1, -1]) * (1 bsl pick([7, 8, 15, 16, 31, 32, 59, 60, 62, 63, 64, 65, 200])) + rand:uniform(3) - 2
    end.

float_() ->
    case rand:uniform(4) of
        1 -> pick([0.0, -0.0, 1.0, 0.1, 1.7976931348623157e308, 4.9e-324, 3.4028235e38, 3.4028236e38, -1.0e39]);
        _ -> rand:normal() * 1000
    end.

atom_() ->
    pick([ok, error, undefined, nil, true, false, leaf, node, stop, 'receive', '', nan, infinity, 'it\'s', 'Ωμέγα', 'ÿ',
          list_to_atom(lists:duplicate(255, $x)), list_to_atom(lists:duplicate(255, 16#3A9)), '$gen_call', move_by, kind]).

binary_() ->
    case rand:uniform(5) of
        1 -> rand:bytes(rand:uniform(100));
        2 -> unicode:characters_to_binary([rand:uniform(1000) || _ <- some(3)]);
        3 -> <<_:3, Unaligned:8/binary, _/bitstring>> = rand:bytes(20), Unaligned;
        4 -> Large = rand:bytes(200), binary:part(Large, 5, 100);
        _ -> <<"text">>
    end.

bitstring_() ->
    <<_:3, Odd:5/bitstring, _/bitstring>> = rand:bytes(4),
    Odd.

%% What takes some making: processes, ports and references of this node and of another, functions.
pool() ->
    Gone = spawn(fun() -> ok end),
    Node = "elsewhere@nowhere",
    Named = <<100, (length(Node)):16, (list_to_binary(Node))/binary>>,
    Far = binary_to_term(<<131, 88, Named/binary, 7:32, 0:32, 3:32>>),
    FarReference = binary_to_term(<<131, 90, 3:16, Named/binary, 3:32, 1:32, 2:32, 3:32>>),
    [self(), Gone, Far, FarReference, make_ref(), alias(), hd(erlang:ports()), fun lists:map/2,
     fun(Term) -> {Gone, Term} end, fun elsewhere:nothing/0, 1 bsl 5000, -(1 bsl 5000), [a | b], lists:seq(1, 40)].

pick(List) ->
    lists:nth(rand:uniform(length(List)), List).

%% The term with something else somewhere in it.
damaged(Term) ->
    case rand:uniform(3) of
        1 -> any(2);
        _ when is_tuple(Term), tuple_size(Term) > 0 ->
            At = rand:uniform(tuple_size(Term)),
            case rand:uniform(5) of
                1 -> erlang:append_element(Term, any(1));
                2 -> erlang:delete_element(At, Term);
                _ -> setelement(At, Term, damaged(element(At, Term)))
            end;
        _ when is_list(Term), Term =/= [] ->
            case rand:uniform(4) of
                1 -> [any(1) | Term];
                2 -> tl(Term);
                3 -> [damaged(hd(Term)) | tl(Term)];
                4 -> [hd(Term) | damaged(tl(Term))]
            end;
        _ when is_map(Term), map_size(Term) > 0 ->
            Key = pick(maps:keys(Term)),
            case rand:uniform(4) of
                1 -> maps:remove(Key, Term);
                2 -> Term#{any(1) => any(1)};
                3 -> Term#{Key := damaged(maps:get(Key, Term))};
                4 -> maps:put(damaged(Key), maps:get(Key, Term), maps:remove(Key, Term))
            end;
        _ when is_binary(Term) -> <<Term/binary, 255>>;
        _ when is_integer(Term) -> Term bxor (1 bsl rand:uniform(70));
        _ -> any(1)
    end.
