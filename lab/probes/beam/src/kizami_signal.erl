%% A handler for the signals that ask the VM to end: it sends them to a process as messages.
%%
%% The VM's own handler answers SIGTERM with init:stop(), which would kill the process that holds the rows. This handler
%% takes its place in erl_signal_server, and the process that it was given ends the VM.
-module(kizami_signal).

-behaviour(gen_event).

-export([forward_to/1]).
-export([init/1, handle_event/2, handle_call/2]).

%% From now on Pid gets {signal, Name} for SIGTERM, SIGHUP, SIGQUIT and SIGUSR1. (SIGINT belongs to the VM's break
%% handler and cannot be taken; the flag +Bi makes the VM ignore it.)
-spec forward_to(pid()) -> ok.
forward_to(Pid) ->
    ok = gen_event:add_handler(erl_signal_server, ?MODULE, Pid),
    _ = gen_event:delete_handler(erl_signal_server, erl_signal_handler, replaced),
    ok = os:set_signal(sighup, handle).

-spec init(pid()) -> {ok, pid()}.
init(Pid) ->
    {ok, Pid}.

-spec handle_event(atom(), pid()) -> {ok, pid()}.
handle_event(Name, Pid) ->
    Pid ! {signal, Name},
    {ok, Pid}.

-spec handle_call(term(), pid()) -> {ok, not_used, pid()}.
handle_call(_, Pid) ->
    {ok, not_used, Pid}.
