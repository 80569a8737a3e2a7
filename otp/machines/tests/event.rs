//! The promises of gen_event, in a real Erlang VM.

mod vm;

/// `start()` gives a manager with a tally that begins at 0; `carried/1` is what an older build gives of a state.
const START: &str = "
start() -> {ok, M} = gen_event:start_link(), ok = machines_tally:add_handler(M, 0), M.
carried(slot) -> 77.
heard(Text) -> receive Text -> ok; Other -> error({heard, Other}) after 2000 -> error({not_heard, Text}) end.
";

fn check(expressions: &str) -> String {
    vm::check_with(expressions, START)
}

#[test]
fn each_handler_gets_the_events_that_it_is_for() {
    check(
        "M = start(),
         ok = gen_event:add_handler(M, {machines_tally, b}, {'$start', {100}}),
         gen_event:notify(M, 5), ok = gen_event:sync_notify(M, <<\"word\">>), M ! 3,
         8 = machines_tally:sum(M), [<<\"word\">>] = machines_tally:words(M),
         108 = gen_event:call(M, {machines_tally, b}, sum),
         [{machines_tally, b}, machines_tally] = gen_event:which_handlers(M)",
    );
}

#[test]
fn a_handler_that_does_not_start_says_why() {
    check(
        "M = start(),
         {error, ignore} = machines_tally:add_handler(M, -1),
         {error, <<\"nothing below zero\">>} = machines_tally:add_handler(M, -2),
         {'EXIT', {{panic, <<\"no such tally\">>, _, _}, _}} = machines_tally:add_handler(M, -3),
         {error, <<\"the argument of machines_tally is wrong: \", _/binary>>} = machines_tally:add_handler(M, a),
         {error, <<\"the argument of machines_tally is wrong: \", _/binary>>} = gen_event:add_handler(M, machines_tally, a),
         [machines_tally] = gen_event:which_handlers(M)",
    );
}

#[test]
fn a_handler_may_wait_and_the_next_event_comes_after() {
    check(
        "M = start(),
         gen_event:notify(M, 14), gen_event:notify(M, 15), gen_event:notify(M, 1),
         30 = gen_event:call(M, machines_tally, {sum_later, 10}), 30 = machines_tally:sum_later(M, 0)",
    );
}

#[test]
fn a_handler_that_leaves_says_what_it_had() {
    check(
        "register(observer, self()),
         M = start(), gen_event:notify(M, 4), 4 = machines_tally:delete_handler(M), heard(<<\"Deleted\">>),
         {error, module_not_found} = machines_tally:delete_handler(M),
         ok = machines_tally:add_handler(M, 5), gen_event:notify(M, 0), heard(<<\"Removed\">>),
         {refused, no_handler} = try machines_tally:sum(M) catch error:E -> E end,
         ok = machines_tally:add_handler(M, 6), 6 = machines_tally:last(M), heard(<<\"Removed\">>), [] = gen_event:which_handlers(M),
         ok = machines_tally:add_handler(M, 7), gen_event:stop(M), heard(<<\"Stopped\">>),
         receive {'EXIT', M, normal} -> ok after 60000 -> error(goes_on) end",
    );
}

#[test]
fn a_handler_takes_the_place_of_another() {
    check(
        "register(observer, self()),
         M = start(), gen_event:notify(M, 3), gen_event:notify(M, 16), heard(<<\"Swapped\">>),
         {38, <<\"itself\">>} = machines_doubled:doubled_sum(M),
         gen_event:notify(M, 1), {40, <<\"itself\">>} = machines_doubled:doubled_sum(M), [machines_doubled] = gen_event:which_handlers(M)",
    );
}

#[test]
fn a_panic_removes_its_handler_only_and_is_told_with_its_place() {
    let said = check(
        "M = start(), ok = gen_event:add_sup_handler(M, {machines_tally, b}, {'$start', {1}}),
         ok = machines_doubled:add_handler(M),
         gen_event:sync_notify(M, 13),
         receive {gen_event_EXIT, {machines_tally, b}, {'EXIT', {{panic, <<\"thirteen\">>, File, _}, _}}} ->
             true = string:find(File, <<\"machines/src/tally.rs\">>) =/= nomatch
         after 1000 -> error(not_told) end,
         [machines_doubled] = gen_event:which_handlers(M), {26, <<>>} = machines_doubled:doubled_sum(M),
         ok = machines_tally:add_handler(M, 5),
         {{panic, <<\"attempt to divide by zero\">>, _, _}, _} = try machines_tally:divided_by(M, 0) catch error:E -> E end,
         [machines_doubled] = gen_event:which_handlers(M)",
    );
    assert!(said.contains("event handler") && said.contains("thirteen") && said.contains("tally.rs"), "{said}");
}

#[test]
fn tools_see_what_they_see_of_any() {
    let said = check(
        "M = start(), gen_event:notify(M, 3), machines_tally:sum(M),
         {status, M, {module, gen_event}, [_, running, _, _, Told]} = sys:get_status(M),
         [_] = [S || {items, {\"Installed handlers\", [S]}} <- Told],
         true = string:find(io_lib:format(\"~p\", [Told]), \"Tally { sum: 3\") =/= nomatch,
         sys:trace(M, true), gen_event:sync_notify(M, 1), sys:trace(M, false),
         gen_event:sync_notify(M, nonsense), M ! nonsense,
         {refused, _} = try gen_event:call(M, machines_tally, {sum_later, a}) of {'$refused', W} -> {refused, W} catch _:E -> E end,
         sys:suspend(M), sys:change_code(M, machines_tally, undefined, []),
         sys:replace_state(M, fun({machines_tally, I, _}) -> {machines_tally, I, {checks, slot}} end),
         sys:change_code(M, machines_tally, undefined, []), sys:resume(M),
         77 = machines_tally:sum(M), [<<\"upgraded\">>] = machines_tally:words(M)",
    );
    assert!(said.contains("*DBG*"), "{said}");
    assert_eq!(said.matches("has nobody for the").count(), 2, "{said}");
}

#[test]
fn a_manager_is_used_from_rust() {
    let said = check(
        "{ok, Root} = machines_with_events:start_link(),
         [io:format(\"~ts~n\", [Line]) || Line <- machines_owner:everything(owner)],
         <<\"Ok(\\\"machines_tally\\\")\">> = machines_owner:own(owner, numbers),
         1 = length(gen_event:which_handlers(numbers)), gen_event:sync_notify(numbers, 0),
         [<<\"machines_tally Normal\">>] = machines_owner:exits(owner),
         <<\"Ok(\\\"machines_tally\\\")\">> = machines_owner:own(owner, numbers), gen_event:sync_notify(numbers, 13),
         [<<\"machines_tally Failed(Panic { message: \\\"thirteen\\\"\", _/binary>>] = machines_owner:exits(owner),
         <<\"Ok(\\\"machines_tally\\\")\">> = machines_owner:own(owner, numbers), gen_event:sync_notify(numbers, 16),
         [<<\"machines_tally Swapped { by: HandlerName { module: \\\"machines_doubled\\\"\", _/binary>>] = machines_owner:exits(owner),
         [{_, _, worker, [machines_owner]}, {numbers, _, worker, _}] = supervisor:which_children(Root)",
    );
    let told = "\
true
the handler said that it is not needed
the handler failed: <<\"nothing below zero\">>
the handler failed: a panic: no such tally (otp/machines/src/tally.rs:";
    let results = "\
Ok(12) Ok(31)
Err(true)
Err(Refused(\"there is no such handler\"))
[HandlerName { module: \"machines_tally\", id: Some(2) }]
Ok((62, \"the second\"))
Err(NotThere)
Ok(7)
Ok((-2, \"nobody\"))
";
    assert!(said.contains(told) && said.contains(results), "{said}");
}
