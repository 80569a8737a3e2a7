%% Creation under a supervisor: gen_servers that a simple_one_for_one supervisor of OTP starts one after the other, the
%% usual way to start processes while a program runs. The other programs are those of kizami_actors_server.
-module(kizami_actors_supervised).

-behaviour(kizami_actors).
-behaviour(supervisor).

-export([run/2]).
-export([init/1, start_child/2]).

run('fork-join-create', #{p := P} = Params) ->
    {ok, Supervisor} = supervisor:start_link(?MODULE, Params),
    Main = self(),
    Create = fun() ->
        {ok, Collector} = gen_server:start_link(kizami_actors_server, {collector, Main, P, []}, []),
        %% Another process asks for the children, so that what comes to this one does not lie in its way.
        spawn_link(fun() -> [{ok, _} = supervisor:start_child(Supervisor, [Collector]) || _ <- lists:seq(1, P)] end),
        receive {started, Started} -> Started end
    end,
    {Outcome, Started} = kizami_actors:creation(P, Create),
    kizami_actors:check("how many have started", length(lists:usort(Started)), P),
    Outcome;
run(Program, Params) ->
    kizami_actors_server:run(Program, Params).

init(Params) ->
    Child = #{id => child, start => {?MODULE, start_child, [Params]}, restart => temporary},
    {ok, {#{strategy => simple_one_for_one}, [Child]}}.

start_child(Params, Collector) ->
    Options = [{spawn_opt, [{message_queue_data, kizami_actors:queue(Params)}]}],
    gen_server:start_link(kizami_actors_server, {child, Collector}, Options).
