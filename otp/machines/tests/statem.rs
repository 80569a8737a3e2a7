//! The promises of gen_statem, in a real Erlang VM.

mod vm;

/// `start(How)` gives a job whose log is empty.
const START: &str = "
start(How) -> {ok, J} = machines_job:start_link(How), machines_job:log(J), J.
%% What comes into the log in time; if nothing is to come, what does not.
logged(J, []) -> timer:sleep(100), [] = machines_job:log(J);
logged(J, Expected) -> logged(J, Expected, [], 500).
logged(_, Expected, Expected, _) -> ok;
logged(_, Expected, Got, 0) -> error({Expected, Got});
logged(J, Expected, Got, Left) -> timer:sleep(10), logged(J, Expected, Got ++ machines_job:log(J), Left - 1).
asked(Fun) -> Self = self(), spawn_link(fun() -> Self ! {answer, Fun()} end), timer:sleep(5).
answer() -> receive {answer, Answer} -> Answer after 2000 -> none end.
";

fn check(expressions: &str) -> String {
    vm::check_with(expressions, START)
}

#[test]
fn it_begins_in_its_state_with_what_init_said() {
    check(
        "{ok, J} = machines_job:start_link(<<\"plain\">>),
         [<<\"plain\">>, <<\"Idle > Idle\">>, <<\"began Idle\">>, <<\"noted of init\">>] = machines_job:log(J),
         {ok, K} = machines_job:start_link_as(named, <<\"async\">>),
         [<<\"async\">>, <<\"Idle > Idle\">>, <<\"began Idle\">>, <<\"noted of init\">>] = machines_job:log(named),
         {error, {already_started, K}} = machines_job:start_link_as(named, <<\"async\">>),
         {ok, L} = machines_job:start_link_as({global, named}, <<\"async\">>), L = global:whereis_name(named),
         [<<\"async\">> | _] = machines_job:log({global, named}),
         {machines_job, init, 1} = proc_lib:translate_initial_call(K)",
    );
}

#[test]
fn a_start_that_fails_says_why() {
    let said = check(
        "ignore = machines_job:start_link(<<\"none\">>),
         {error, <<\"not today\">>} = machines_job:start_link(<<\"refused\">>),
         {error, <<\"the argument of machines_job is wrong: expected a binary in UTF-8 at element 1\">>} = gen_statem:start(machines_job, {5}, []),
         {error, {panic, <<\"no such job\">>, _, _}} = machines_job:start_link(<<\"panic\">>),
         Of26 = list_to_integer(erlang:system_info(otp_release)) >= 26,
         %% Since OTP 26 the start takes the exit signal with it.
         receive {'EXIT', _, {{panic, _, _, _}, _}} -> false = Of26 after 1000 -> true = Of26 end",
    );
    assert!(said.contains("no such job"), "{said}");
}

#[test]
fn a_state_is_entered_and_its_timeout_leaves_it() {
    check(
        "J = start(<<\"x\">>),
         machines_job:go(J, 3),
         [<<\"Idle > Busy(3)\">>] = machines_job:log(J),
         {{busy, 3}, _} = sys:get_state(J),
         logged(J, [<<\"done 3 in Busy(3)\">>, <<\"Busy(3) > Idle\">>]),
         machines_job:go(J, 3), <<\"again\">> = machines_job:again(J),
         [_, <<\"Busy(3) > Busy(3)\">>] = machines_job:log(J)",
    );
}

#[test]
fn what_is_put_off_comes_again_in_the_next_state() {
    check(
        "J = start(<<\"x\">>),
         asked(fun() -> machines_job:round(J) end),
         machines_job:go(J, 1), machines_job:go(J, 2),
         1 = answer(),
         logged(J, [<<\"Idle > Busy(1)\">>, <<\"done 1 in Busy(1)\">>, <<\"Busy(1) > Idle\">>,
                    <<\"Idle > Busy(2)\">>, <<\"done 2 in Busy(2)\">>, <<\"Busy(2) > Idle\">>])",
    );
}

#[test]
fn replies_may_come_later_and_from_another_callback() {
    check(
        "J = start(<<\"x\">>),
         asked(fun() -> machines_job:when_busy(J) end),
         machines_job:go(J, 4), <<\"round 4\">> = answer(),
         asked(fun() -> machines_job:when_busy(J) end),
         1 = machines_job:answer_all(J), <<\"at last\">> = answer()",
    );
}

#[test]
fn its_own_events_come_before_what_is_in_the_queue() {
    check(
        "J = start(<<\"x\">>),
         sys:suspend(J), machines_job:twice(J, <<\"a\">>), machines_job:twice(J, <<\"b\">>), J ! <<\"c\">>, sys:resume(J),
         [<<\"twice\">>, <<\"noted a 1\">>, <<\"noted a 2\">>, <<\"twice\">>, <<\"noted b 1\">>, <<\"noted b 2\">>,
          <<\"told c\">>] = machines_job:log(J)",
    );
}

#[test]
fn timers_end_as_they_should() {
    check(
        "J = start(<<\"x\">>),
         Timers = fun(How, Expected) -> [machines_job:timers(J, H) || H <- How], logged(J, Expected) end,
         Timers([<<\"named\">>], [<<\"tick 2\">>]),
         Timers([<<\"named\">>, <<\"update\">>], [<<\"tick 7\">>]),
         Timers([<<\"named\">>, <<\"cancel\">>], []),
         Timers([<<\"keys\">>, <<\"update key\">>], [<<\"tick 1\">>, <<\"tick 22\">>]),
         Timers([<<\"at\">>], [<<\"tick 5\">>]),
         Timers([<<\"state\">>], [<<\"tick 8\">>]),
         Timers([<<\"state\">>, <<\"update state\">>], [<<\"tick 9\">>]),
         Timers([<<\"state\">>, <<\"cancel state\">>], []),
         machines_job:timers(J, <<\"state\">>), machines_job:go(J, 1),
         logged(J, [<<\"Idle > Busy(1)\">>, <<\"done 1 in Busy(1)\">>, <<\"Busy(1) > Idle\">>])",
    );
}

#[test]
fn the_timeout_of_an_event_ends_with_the_next_one() {
    check(
        "J = start(<<\"x\">>),
         machines_job:timers(J, <<\"event\">>), timer:sleep(100), [<<\"quiet\">>] = machines_job:log(J),
         machines_job:timers(J, <<\"event\">>), machines_job:timers(J, <<\"hibernate\">>), timer:sleep(100), [] = machines_job:log(J)",
    );
}

#[test]
fn a_callback_may_wait_and_nothing_is_lost_meanwhile() {
    check(
        "J = start(<<\"x\">>),
         asked(fun() -> machines_job:slow(J, 30) end),
         machines_job:timers(J, <<\"cancel state\">>), machines_job:twice(J, <<\"a\">>), J ! <<\"b\">>,
         <<\"was Idle\">> = answer(),
         [<<\"slow\">>, <<\"Idle > Busy(5)\">>, <<\"twice\">>, <<\"noted a 1\">>, <<\"noted a 2\">>, <<\"told b\">>] = machines_job:log(J),
         machines_job:slow_cast(J), [<<\"noted slowly\">>] = machines_job:log(J),
         500500 = machines_job:hard(J, 1000),
         machines_job:remind(J, <<\"later\">>), logged(J, [<<\"told later\">>])",
    );
}

#[test]
fn it_ends_in_order_and_answers_who_waits() {
    check(
        "register(observer, self()),
         J = start(<<\"x\">>),
         asked(fun() -> machines_job:when_busy(J) end),
         <<\"bye\">> = machines_job:finish(J, <<\"bye\">>), <<\"over\">> = answer(),
         receive {<<\"ended Idle\">>, normal} -> ok after 1000 -> error(not_told) end,
         receive {'EXIT', J, normal} -> ok after 60000 -> error(goes_on) end,
         K = start(<<\"x\">>), machines_job:go(K, 99),
         receive {<<\"ended Busy(99)\">>, <<\"too many rounds\">>} -> ok after 1000 -> error(not_told) end,
         receive {'EXIT', K, <<\"too many rounds\">>} -> ok after 60000 -> error(goes_on) end,
         L = start(<<\"x\">>), gen_statem:stop(L),
         receive {<<\"ended Idle\">>, normal} -> ok after 1000 -> error(not_told) end,
         M = start(<<\"x\">>), P = spawn(fun() -> link(M), receive stop -> ok end end), timer:sleep(10), exit(P, kill),
         receive {'EXIT', M, <<\"a friend was killed\">>} -> ok after 60000 -> error(goes_on) end",
    );
}

#[test]
fn a_panic_ends_it_and_is_told_with_its_place() {
    let said = check(
        "register(observer, self()),
         J = start(<<\"x\">>),
         {{{panic, <<\"broken\">>, File, _}, _}, _} = try machines_job:break_down(J) catch exit:R -> R end,
         true = string:find(File, <<\"machines/src/job.rs\">>) =/= nomatch,
         K = start(<<\"x\">>), machines_job:break_down_later(K),
         receive {'EXIT', K, {{panic, <<\"broken later\">>, _, _}, _}} -> ok after 60000 -> error(goes_on) end,
         receive {_, _} = M -> error({told, M}) after 20 -> ok end",
    );
    // The data is shown as it was left, and as being in use where a callback had it.
    assert!(said.contains("State machine") && said.contains("before the panic"), "{said}");
    assert!(said.contains("broken later") && said.contains("(a callback has it)"), "{said}");
}

#[test]
fn tools_see_what_they_see_of_any() {
    let said = check(
        "J = start(<<\"x\">>),
         {status, J, {module, gen_statem}, [_, running, _, _, Told]} = sys:get_status(J),
         [{idle, <<\"Job { log: [], waiting: [] }\">>}] = [S || {data, [{\"State\", S}]} <- Told],
         sys:trace(J, true), machines_job:go(J, 6), 6 = machines_job:round(J), sys:trace(J, false),
         {{busy, 7}, _} = sys:replace_state(J, fun({_, D}) -> {{busy, 7}, D} end), 7 = machines_job:round(J)",
    );
    assert!(said.contains("*DBG*") && said.contains("round"), "{said}");
}

#[test]
fn what_nobody_is_there_for_is_told_and_lost() {
    let said = check(
        "J = start(<<\"x\">>),
         J ! hello, gen_statem:cast(J, {go, far}),
         {refused, Why} = try machines_job:slow(J, soon) catch error:E -> E end,
         true = string:find(Why, \"at slow, element 2\") =/= nomatch,
         sys:replace_state(J, fun({_, D}) -> {nowhere, D} end),
         {'$refused', <<\"expected idle or {busy, _} at the state\">>} = gen_statem:call(J, log)",
    );
    assert_eq!(said.matches("has nobody for the").count(), 4, "{said}");
}

#[test]
fn another_build_goes_on_with_what_there_was() {
    vm::check_with(
        "J = start(<<\"x\">>),
         ok = sys:suspend(J),
         ok = sys:change_code(J, machines_job, undefined, []),
         sys:replace_state(J, fun(_) -> {<<\"old\">>, {checks, slot}} end),
         ok = sys:change_code(J, machines_job, undefined, []),
         ok = sys:resume(J),
         [<<\"was old: noted\">>] = machines_job:log(J), 8 = machines_job:round(J)",
        &(START.to_owned() + "carried(slot) -> {<<\"noted\">>, 8}.\n"),
    );
}

#[test]
fn a_running_one_stays_in_its_build_until_its_code_is_changed() {
    let next = in_a_vm::compiled_as("machines", "machines_next", &[]);
    check(&format!(
        "{{ok, S}} = machines_switch:start_link(false), true = machines_switch:switch(S), J = start(<<\"x\">>),
         {{ok, M}} = gen_event:start_link(), ok = machines_doubled:add_handler(M), gen_event:sync_notify(M, 4),
         code:add_patha({:?}),
         [{{module, N}} = {{code:purge(N), code:load_file(N)}} =:= {{false, {{module, N}}}} andalso {{module, N}}
          || N <- [machines_switch, machines_job, machines_doubled]],
         false = machines_switch:switch(S), {{false, {{machines_native_statem, _}}}} = sys:get_state(S),
         [] = machines_job:log(J), {{8, <<>>}} = machines_doubled:doubled_sum(M),
         [ok = sys:suspend(P) || P <- [S, M, J]],
         ok = sys:change_code(S, machines_switch, undefined, []), ok = sys:change_code(M, machines_doubled, undefined, []),
         {{error, <<\"its state has no form to go over in\", _/binary>>}} = sys:change_code(J, machines_job, undefined, []),
         [ok = sys:resume(P) || P <- [S, M, J]],
         {{false, {{machines_next_statem, _}}}} = sys:get_state(S), 2 = machines_switch:count(S), true = machines_switch:switch(S),
         [{{machines_doubled, false, {{machines_next_event, _}}}}] = sys:get_state(M), {{8, <<>>}} = machines_doubled:doubled_sum(M),
         {{_, {{machines_native_statem, _}}}} = sys:get_state(J), <<\"again\">> = machines_job:again(J)",
        next.path()
    ));
}

#[test]
fn it_is_used_from_rust() {
    check(
        "{ok, O} = machines_owner:start_link(), {false, 6, true} = machines_owner:switches(O), 6 = machines_switch:count(switch)",
    );
}

#[test]
fn it_is_supervised() {
    check(
        "{ok, Root} = machines_root:start_link(), Job = whereis(job),
         [{job, Job, worker, [machines_job]}] = supervisor:which_children(Root),
         try machines_job:break_down(job) catch exit:_ -> ended end, timer:sleep(50),
         true = whereis(job) =/= Job",
    );
}

#[test]
fn it_may_be_one_of_a_pool() {
    check(
        "{ok, Pool} = machines_job:start_pool(undefined, #{restart => permanent, intensity => 1, period => 5000, shutdown => 1000,
                                                  most => 2}),
         {ok, J} = supervisor:start_child(Pool, [{<<\"async\">>}]),
         [<<\"async\">>, <<\"Idle > Idle\">>, <<\"began Idle\">>, <<\"noted of init\">>] = machines_job:log(J),
         ignore = supervisor:start_child(Pool, [{<<\"none\">>}]),
         {error, <<\"not today\">>} = supervisor:start_child(Pool, [{<<\"refused\">>}]),
         {error, {panic, _, _, _}} = supervisor:start_child(Pool, [{<<\"panic\">>}]),
         [{undefined, J, worker, [machines_job]}] = supervisor:which_children(Pool),
         {machines_job, init, 1} = proc_lib:translate_initial_call(J),
         try machines_job:break_down(J) catch exit:_ -> ended end, timer:sleep(100),
         [{undefined, K, worker, [machines_job]}] = supervisor:which_children(Pool), true = K =/= J,
         [<<\"async\">> | _] = machines_job:log(K),
         gen_server:cast(Pool, {start_child, {<<\"async\">>}}),
         [[<<\"async\">> | _] = machines_job:log(L) || {_, L, _, _} <- [_, _] = supervisor:which_children(Pool), L =/= K],
         {messages, []} = process_info(self(), messages)",
    );
}
