#!/usr/bin/env escript
%% The Erlang part of a release, put into the release's folder: the applications that are needed, and the boot file that loads and
%% starts them. The text on standard output is for people; an error goes to standard error, with exit status 1.
-mode(compile).

main([Out, Name, Version, Ebin, Erts, Strip | Extra]) ->
    io:setopts(standard_error, [{encoding, unicode}]),
    true = code:add_patha(Ebin),
    Application = list_to_atom(Name),
    Needed = needed([kernel, stdlib] ++ [list_to_atom(One) || One <- Extra] ++ [Application], []),
    Taken = [One || One <- Needed, Erts =:= "erts" orelse not is_of_otp(One)],
    Folders = [take(One, Out) || One <- Taken],
    Strip =:= "strip" andalso [strip(Beam) || Folder <- Folders, Beam <- filelib:wildcard(Folder ++ "/ebin/*.beam")],
    boot(Out, Name, Version, [{One, vsn(One)} || One <- Needed]).

%% The applications and all that they need, those first.
needed([], Done) ->
    lists:reverse(Done);
needed([One | Rest], Done) ->
    case lists:member(One, Done) of
        true ->
            needed(Rest, Done);
        false ->
            case application:load(One) of
                Loaded when Loaded =:= ok; Loaded =:= {error, {already_loaded, One}} -> ok;
                {error, _} -> fail("the application ~tp is needed and is not in this Erlang/OTP", [One])
            end,
            Optional = value(One, optional_applications),
            Others = [Other || Other <- value(One, applications) ++ value(One, included_applications),
                               not lists:member(Other, Optional) orelse code:lib_dir(Other) =/= {error, bad_name}],
            case Others -- Done of
                [] -> needed(Rest, [One | Done]);
                First -> needed(First ++ [One | Rest], Done)
            end
    end.

value(Application, Key) ->
    case application:get_key(Application, Key) of
        {ok, Value} -> Value;
        undefined -> []
    end.

vsn(Application) ->
    value(Application, vsn).

folder(Application) ->
    filename:dirname(filename:dirname(code:where_is_file(atom_to_list(Application) ++ ".app"))).

is_of_otp(Application) ->
    lists:prefix(code:lib_dir() ++ "/", folder(Application)).

take(Application, Out) ->
    To = filename:join([Out, "lib", atom_to_list(Application) ++ "-" ++ vsn(Application)]),
    [copy(filename:join(folder(Application), Part), filename:join(To, Part)) || Part <- ["ebin", "priv"]],
    To.

copy(From, To) ->
    case filelib:is_dir(From) of
        true ->
            ok = filelib:ensure_path(To),
            {ok, Names} = file:list_dir(From),
            [copy(filename:join(From, Name), filename:join(To, Name)) || Name <- Names];
        false ->
            case file:copy(From, To) of
                {ok, _} ->
                    % A program stays one; the eighth element of a file_info is its mode.
                    {ok, Info} = file:read_file_info(From),
                    ok = file:change_mode(To, element(8, Info));
                {error, enoent} ->
                    ok;
                {error, Why} ->
                    fail("cannot copy ~ts to ~ts: ~ts", [From, To, file:format_error(Why)])
            end
    end.

%% What is stripped comes out compressed, as Debian keeps modules anyway; plain ones are loaded in less time.
strip(Beam) ->
    {ok, Whole} = file:read_file(Beam),
    {ok, {_, Stripped}} = beam_lib:strip(Whole),
    ok = file:write_file(Beam, plain(Stripped)).

plain(<<16#1f, 16#8b, _/binary>> = Compressed) -> zlib:gunzip(Compressed);
plain(Module) -> Module.

boot(Out, Name, Version, Applications) ->
    Folder = filename:join([Out, "releases", Version]),
    ok = filelib:ensure_path(Folder),
    Start = filename:join(Folder, "start"),
    Release = {release, {Name, Version}, {erts, erlang:system_info(version)}, Applications},
    ok = file:write_file(Start ++ ".rel", io_lib:format("%% coding: utf-8~n~tp.~n", [Release])),
    Lib = filename:join(Out, "lib"),
    Options = [{path, [filename:join(Lib, "*/ebin")]}, {variables, [{"REL", Lib}]}, {outdir, Folder}, silent],
    code:which(systools) =/= non_existing orelse fail("systools makes boot files, and this Erlang/OTP lacks its application sasl", []),
    case systools:make_script(Start, Options) of
        {ok, _, _} -> ok;
        {error, Module, Why} -> fail("no boot file: ~ts", [Module:format_error(Why)])
    end.

-spec fail(string(), [term()]) -> no_return().
fail(Form, Values) ->
    io:format(standard_error, Form ++ "~n", Values),
    halt(1).
