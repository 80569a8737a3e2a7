%% Random terms: terms of a type, any terms, and terms in which something was changed. A random term may contain terms that the
%% process keeps under `pool` in its dictionary.
-module(fuzz_terms).

-export([generate/3, of_type/3, any/1, any_list/1, integer/0, large_terms/0, pool/0, pick/1, damaged/1]).

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
        {remote_type, _, [{atom, _, inet}, {atom, _, Name}, []]} -> of_inet(Name);
        {remote_type, _, _} -> any(Depth)
    end.

of_inet(ip4_address) -> list_to_tuple([rand:uniform(256) - 1 || _ <- lists:seq(1, 4)]);
of_inet(ip6_address) -> list_to_tuple([rand:uniform(65536) - 1 || _ <- lists:seq(1, 8)]);
of_inet(ip_address) -> of_inet(pick([ip4_address, ip6_address]));
of_inet(port_number) -> rand:uniform(65536) - 1.

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
        {remote_type, _, [{atom, _, inet}, {atom, _, port_number}, []]} ->
            is_integer(Term) andalso Term >= 0 andalso Term =< 65535;
        {remote_type, _, [{atom, _, inet}, {atom, _, ip4_address}, []]} -> inet:is_ipv4_address(Term);
        {remote_type, _, [{atom, _, inet}, {atom, _, ip6_address}, []]} -> inet:is_ipv6_address(Term);
        {remote_type, _, [{atom, _, inet}, {atom, _, ip_address}, []]} -> inet:is_ip_address(Term);
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

%% What is so deep that recursion would end in the stack's end, or so long; numbered.
large_terms() ->
    Size = 100000,
    Nest = fun(How) -> lists:foldl(fun(_, Term) -> How(Term) end, leaf, lists:seq(1, Size)) end,
    lists:enumerate([Nest(fun(T) -> [T] end), Nest(fun(T) -> {T} end), Nest(fun(T) -> {node, T, 0, leaf} end),
        Nest(fun(T) -> #{a => T} end), Nest(fun(T) -> {nodes, [T]} end), Nest(fun(T) -> [leaf | T] end), Nest(fun(T) -> {T, []} end),
        lists:seq(1, Size), lists:seq(1, Size) ++ tail, list_to_tuple(lists:seq(1, Size)), maps:from_keys(lists:seq(1, Size), 0),
        binary:copy(<<"0123456789">>, Size), <<(binary:copy(<<255>>, Size))/binary, 1:3>>,
        %% Nearly the largest integer that there is since OTP 27.
        1 bsl 4000000,
        %% What is one term in many places, and would be large if it were looked at in each.
        lists:foldl(fun(_, T) -> [T | T] end, leaf, lists:seq(1, 12)), lists:foldl(fun(_, T) -> {node, T, 0, T} end, leaf, lists:seq(1, 12))]).

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
