%% Dialyzer's findings about modules.
%%
%%   erl -noshell -pa WHERE_THIS_IS -run typed main PLT FILE …
%%
%% The files are .beam files with +debug_info, of Erlang or of Elixir. What dialyzer knows of OTP's own modules lies in the file
%% PLT, which is made when it does not exist, and only of those modules that the generated modules and their callers use.
%%
%% The last line is "accepted", "warned" or, when dialyzer cannot be run, "cannot: " and the reason.
-module(typed).

-export([main/1]).

%% What the Erlang half calls of OTP, and what that says of itself.
-define(OTP, [application, application_controller, beam_lib, code, erl_eval, erl_parse, erl_scan, erlang, ets, file, filename,
              gen, gen_event, gen_server, gen_statem, global, inet, init, io, io_lib, lists, logger, maps, net_kernel, os, peer,
              persistent_term, proc_lib, proplists, re, string, supervisor, sys, timer, unicode]).

main([Plt | Files]) ->
    code:which(dialyzer) =:= non_existing andalso cannot("dialyzer is not installed (Debian's erlang-dialyzer)"),
    filelib:is_regular(Plt) orelse build(Plt),
    Options = [{analysis_type, succ_typings}, {init_plt, Plt}, {files, Files},
               {warnings, [unknown, unmatched_returns, extra_return, missing_return]}],
    %% Elixir's own modules have no place in the PLT, and the library telemetry is used only where it is there.
    Known = fun({warn_unknown, _, {_, {telemetry, _, _}}}) -> true;
               ({warn_unknown, _, {_, {Module, _, _}}}) -> lists:prefix("Elixir.", atom_to_list(Module));
               (_) -> false
            end,
    case [Warning || Warning <- dialyzer:run(Options), not Known(Warning)] of
        [] -> io:format("accepted~n");
        Warnings -> io:format("~ts~nwarned~n", [[dialyzer:format_warning(Warning) || Warning <- Warnings]])
    end,
    halt().

build(Plt) ->
    Beams = [beam(Module) || Module <- ?OTP],
    lists:all(fun is_told/1, Beams) orelse cannot("OTP's own modules were compiled without debug information"),
    %% Made beside it and moved there, since others may make the same.
    Made = Plt ++ "." ++ os:getpid(),
    _ = dialyzer:run([{analysis_type, plt_build}, {output_plt, Made}, {files, Beams}]),
    ok = file:rename(Made, Plt).

beam(Module) ->
    case code:which(Module) of
        preloaded -> filename:join([code:lib_dir(erts), "ebin", atom_to_list(Module) ++ ".beam"]);
        File -> File
    end.

%% Whether the file says what the module was made of.
is_told(Beam) ->
    case beam_lib:chunks(Beam, [debug_info]) of
        {ok, {_, [{debug_info, {debug_info_v1, _, {none, _}}}]}} -> false;
        {ok, _} -> true;
        {error, beam_lib, _} -> false
    end.

-spec cannot(string()) -> no_return().
cannot(Why) ->
    io:format("cannot: ~s~n", [Why]),
    halt().
