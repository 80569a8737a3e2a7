%% The courier: sends for threads of the application, which are no processes, to what only Erlang can reach: a process of another node, an
%% alias, a name that is not of this node. To a process of this node a thread sends by itself.
%%
%% There is one for all builds of an application, so what a thread sends to one address keeps its order, also when the thread is of a
%% build that was replaced. So it runs no module of a build, which it would keep loaded: its code is an expression, which erl_eval runs.
-module('MODULE_courier').

-export([find/0, send/2]).

%% The courier, started if there is none.
-spec find() -> pid().
find() ->
    Name = list_to_atom("$otp_courier_" ++ atom_to_list('MODULE':observe(application, name))),
    case whereis(Name) of
        Courier when is_pid(Courier) ->
            Courier;
        undefined ->
            Pid = spawn(erlang, apply, [code(), []]),
            %% It belongs to no application: the end of one ends all processes of its group.
            group_leader(whereis(init), Pid),
            try register(Name, Pid) of
                true -> Pid
            catch
                error:badarg -> exit(Pid, kill), find()
            end
    end.

%% The words are those of send/2 below. Nothing that is sent may end it: what lies in its queue would be lost.
code() ->
    Text = "fun Courier() ->
                receive {send, To, Message} ->
                    try
                        case To of
                            {global, Name} -> global:send(Name, Message);
                            {via, Module, Name} -> Module:send(Name, Message);
                            _ -> erlang:send(To, Message)
                        end
                    catch _:_ -> nobody
                    end;
                _ -> ok
                end,
                Courier()
            end.",
    {ok, Tokens, _} = erl_scan:string(Text),
    {ok, Expressions} = erl_parse:parse_exprs(Tokens),
    {value, Courier, _} = erl_eval:exprs(Expressions, []),
    Courier.

%% Sends to whatever a message can be sent to, or to nobody.
send(To, Message) ->
    try
        case To of
            {global, Name} -> global:send(Name, Message);
            {via, Module, Name} -> Module:send(Name, Message);
            _ -> erlang:send(To, Message)
        end
    catch
        _:_ -> nobody
    end.
