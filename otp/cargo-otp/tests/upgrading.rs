//! Upgrades of a running application: no call and no state is lost, and an application that cannot be upgraded goes on as before.

mod common;

use std::fs;
use std::path::{Path, PathBuf};

use common::{Running, User, edit};

/// Clients of the counter, some through another server, that call on until they are told to stop; what they were answered is a
/// number each, and no two the same.
const HAMMER: &str = "
    Client = fun Client(Ask, All) ->
        receive {stop, To} -> To ! {answered, All}
        after 1 -> Client(Ask, [Ask() | All])
        end
    end,
    register(hammer, spawn(fun() ->
        Asks = [fun() -> counter:add(counter) end, fun() -> asker:ask(asker) end],
        Clients = [spawn_link(fun() -> Client(Ask, []) end) || Ask <- Asks ++ Asks],
        receive {stop, To} ->
            [Pid ! {stop, self()} || Pid <- Clients],
            All = lists:append([receive {answered, Answers} -> Answers end || _ <- Clients]),
            To ! {hammered, length(All), lists:sort(All) =:= lists:seq(1, length(All))}
        end
    end)), ok";

const STOP: &str = "hammer ! {stop, self()}, receive {hammered, Number, Right} -> {Number > 100, Right} end";

/// A state with one thing more than that of the first version.
fn second(text: String) -> String {
    let text = text.replace(
        "#[derive(Data)]\npub struct Counter {\n    count: u64,\n}",
        "#[derive(Data)]\npub struct OldCounter {\n    count: u64,\n}\n\n\
         #[derive(Data)]\npub struct Counter {\n    count: u64,\n    upgraded: u32,\n}",
    );
    let text = text.replace(
        "Ok(Counter { count: 0 })\n    }",
        "Ok(Counter { count: 0, upgraded: 0 })\n    }\n\n    #[upgrade]\n    \
         fn from_v1(old: OldCounter) -> Self {\n        otp::time::Timer::after(Duration::ZERO, &\"due\".to_owned());\n        \
         Counter { count: old.count, upgraded: 1 }\n    }\n\n    \
         #[info]\n    fn due(&mut self, _what: String) {\n        self.upgraded += 10;\n    }\n\n    \
         #[call]\n    fn upgraded(&mut self) -> u32 {\n        self.upgraded\n    }",
    );
    text.replace("u32 {\n        1\n", "u32 {\n        2\n")
}

struct Shop {
    user: User,
    path: PathBuf,
    _running: Running,
}

impl Shop {
    fn open(name: &str) -> Self {
        let user = User::new();
        let path = user.application(name, "minimal");
        fs::copy(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/upgrading/shop.rs"), path.join("src/lib.rs"))
            .expect("copy the sources");
        let mut running = Running::start(&mut user.cargo_otp(&path, &["run"]));
        running.says("the shop is open");
        Self { user, path, _running: running }
    }

    fn change(&self, change: impl Fn(String) -> String) {
        edit(&self.path.join("src/lib.rs"), change);
    }

    fn replace(&self, from: &str, to: &str) {
        self.change(|text| text.replace(from, to));
    }

    fn upgraded(&self) -> String {
        self.user.done(&self.path, &["upgrade"])
    }

    fn ask(&self, expression: &str) -> String {
        self.user.done(&self.path, &["console", "--eval", expression]).trim().to_owned()
    }

    /// Kills the process of this name, and asks once another has it: how long a restart takes is the machine's.
    fn ask_anew(&self, name: &str, expression: &str) -> String {
        self.ask(&format!(
            "Old = whereis({name}), exit(Old, kill), \
             (fun Wait() -> case whereis({name}) of New when is_pid(New), New =/= Old -> ok; _ -> timer:sleep(5), Wait() end end)(), \
             {expression}"
        ))
    }

    /// The builds of which a module is loaded.
    fn builds(&self) -> String {
        let tellers = self.ask("length([N || N <- registered(), lists:suffix(\"_observe\", atom_to_list(N))])");
        let builds = self.ask(
            "length(lists:usort([B || {M, _} <- code:all_loaded(), {match, [B]} <- \
                 [re:run(atom_to_list(M), \"_shop_([0-9a-f]{8})\", [{capture, all_but_first, list}])]]))",
        );
        assert_eq!(tellers, builds, "each build has a process that tells what its threads do, and goes with it");
        builds
    }
}

#[test]
fn a_shop_goes_on_through_upgrades_with_all_that_it_knows() {
    let shop = Shop::open("lively_shop");
    assert_eq!(
        shop.ask(
            "[{ok, _} = supervisor:start_child(things, [{N}]) || N <- lists:seq(1, 1000)], \
                  gen_event:notify(news, {sold, <<\"bread\">>}), log:sold(news)"
        ),
        "[<<\"bread\">>]"
    );
    assert_eq!(shop.ask("{door:open(door), door:is_open(door)}"), "{1,true}");
    assert_eq!(shop.ask(HAMMER), "ok");
    assert_eq!(
        shop.ask(
            "register(waiter, spawn(fun() -> Said = gen_server:call(worker, when_over, infinity), \
                  receive {ask, To} -> To ! Said end end)), timer:sleep(100), ok"
        ),
        "ok"
    );
    let attach = "lively_shop_telemetry:attach(kept, [otp, upgrade], \
                  fun(_, M, _, _) -> persistent_term:put(upgrades, [M | persistent_term:get(upgrades, [])]) end, none)";
    assert_eq!(shop.ask(attach), "ok");

    shop.change(second);
    let said = shop.upgraded();
    for one in ["1 asker", "1 counter", "1 door", "1 handler log", "1 listener", "1 pool of thing", "1000 thing"] {
        assert!(said.contains(one), "{said}");
    }
    assert_eq!(
        shop.ask("{counter:version(counter), counter:upgraded(counter)}"),
        "{2,11}",
        "its #[upgrade] ran, and what it ordered"
    );
    for version in 3..5_u32 {
        shop.replace(&format!("u32 {{\n        {}\n", version - 1), &format!("u32 {{\n        {version}\n"));
        let said = shop.upgraded();
        assert!(said.contains("1 counter") && said.contains("1000 thing"), "{said}");
        assert_eq!(shop.ask("counter:version(counter)"), version.to_string());
    }
    assert_eq!(
        shop.ask("[P >= 1006 andalso D > S || #{processes := P, duration := D, suspended := S} <- persistent_term:get(upgrades)]"),
        "[true,true,true]",
        "who handles events goes on to do so"
    );
    assert_eq!(shop.ask(STOP), "{true,true}");
    assert_eq!(shop.ask("counter:upgraded(counter)"), "11", "the state is of its own form since the first one");
    assert_eq!(
        shop.ask(
            "lists:sort([thing:number(P) || {_, P, _, _} <- supervisor:which_children(things)]) =:= lists:seq(1, 1000)"
        ),
        "true"
    );
    assert_eq!(shop.ask("{door:open(door), door:is_open(door), log:sold(news)}"), "{2,true,[<<\"bread\">>]}");
    assert_eq!(
        shop.ask("worker:over(worker), waiter ! {ask, self()}, receive Said -> Said after 5000 -> none end"),
        "<<\"over\">>",
        "who called in the first build is answered in the last"
    );
    // What is started anew is so in the last build, and the others are gone.
    assert_eq!(shop.ask_anew("counter", "counter:version(counter)"), "4");
    assert_eq!(
        shop.ask(
            "[{_, P, _, _} | _] = supervisor:which_children(things), exit(P, kill), timer:sleep(100), \
                  length(supervisor:which_children(things))"
        ),
        "1000"
    );
    assert_eq!(shop.builds(), "1");
    assert_eq!(shop.ask("element(1, sys:get_status(counter))"), "status");
    assert_eq!(shop.ask("sys:get_state(counter)"), "#{count => 0,upgraded => 0}");
}

#[test]
fn what_cannot_go_over_goes_on_as_before_with_all_others() {
    let shop = Shop::open("wary_shop");
    assert_eq!(shop.ask("{counter:add(counter), door:open(door), door:is_open(door)}"), "{1,1,true}");
    let library = shop.path.join("src/lib.rs");
    let good = fs::read_to_string(&library).expect("the sources");
    let as_before = |whys: &[&str], change: &dyn Fn(String) -> String| {
        shop.change(change);
        let said = shop.user.refused(&shop.path, &["upgrade"]);
        for why in whys.iter().chain(&["nothing was changed"]) {
            assert!(said.contains(why), "{why} is not in {said}");
        }
        assert_eq!(shop.ask("{counter:version(counter), door:is_open(door)}"), "{1,true}");
        assert_eq!(shop.builds(), "1", "nothing of the new build is left");
        fs::write(&library, &good).expect("change the sources back");
    };
    as_before(
        &["counter (counter) cannot go over: expected", "note: a state of another form goes over by an #[upgrade]"],
        &|text| {
            text.replace("count: u64,\n}", "count: u64,\n    more: u64,\n}")
                .replace("count: 0 }", "count: 0, more: 0 }")
        },
    );
    as_before(&["door (door) cannot go over: it panicked at src/lib.rs"], &|text| {
        let upgrade = "#[upgrade]\n    fn old(state: Lock, old: OldDoor) -> (Lock, Self) {\n        assert!(old.opened > 9, \"never\");\n        (state, Door { opened: 0, by: 0 })\n    }\n\n    ";
        let old = "#[derive(Data)]\npub struct OldDoor {\n    opened: u32,\n}\n\n";
        let text = text.replace(
            "#[derive(Data)]\npub struct Door {",
            &format!("{old}#[derive(Data)]\npub struct Door {{\n    by: u32,"),
        );
        let text = text.replace("Door { opened: 0 }", "Door { opened: 0, by: 0 }");
        text.replace("#[call]\n    fn open", &format!("{upgrade}#[call]\n    fn open"))
    });
    // A library that the node cannot load.
    shop.replace("u32 {\n        1\n", "u32 {\n        2\n");
    shop.user.done(&shop.path, &["build"]);
    let ebin = common::target().join("otp/debug/wary_shop/ebin");
    for file in
        fs::read_dir(ebin).expect("the modules").flatten().filter(|file| file.path().extension() == Some("so".as_ref()))
    {
        fs::write(file.path(), "no library").expect("break the library");
    }
    let said = shop.user.refused(&shop.path, &["upgrade"]);
    assert!(said.contains("the new build cannot be loaded"), "{said}");
    assert_eq!(shop.ask("{counter:version(counter), counter:add(counter), door:is_open(door)}"), "{1,2,true}");
}

#[test]
fn who_has_no_form_stays_in_its_build_and_is_named() {
    let shop = Shop::open("partial_shop");
    assert_eq!(shop.ask("{asker:ask(asker), counter:version(counter)}"), "{1,1}");
    shop.change(|text| {
        text.replace("#[derive(Data)]\npub struct Asker", "pub struct Asker")
            .replace("u32 {\n        1\n", "u32 {\n        2\n")
    });
    let said = shop.user.refused(&shop.path, &["upgrade", "--strict"]);
    assert!(said.contains("asker (asker) cannot go over: partial_shop::Asker has no form to go over in"), "{said}");
    assert_eq!((shop.ask("counter:version(counter)").as_str(), shop.builds().as_str()), ("1", "1"));
    let said = shop.upgraded();
    assert!(said.contains("asker (asker) goes on in the build that it began in, until it is started anew: "), "{said}");
    assert!(
        said.contains("its callbacks read the same in this build, though what they call may have changed"),
        "{said}"
    );
    assert!(said.contains("1 counter") && !said.contains("1 asker"), "{said}");
    // It is in the first build, and calls one that is in the second.
    assert_eq!(shop.ask("{asker:ask(asker), counter:version(counter)}"), "{2,2}");
    assert_eq!(shop.builds(), "2");
    shop.replace("u32 {\n        2\n", "u32 {\n        3\n");
    assert!(shop.upgraded().contains("asker (asker) goes on"));
    assert_eq!(shop.ask("{asker:ask(asker), counter:version(counter)}"), "{3,3}");
    assert_eq!(shop.builds(), "2", "the second build has nobody any more, the first has the asker");
    assert_eq!(shop.ask_anew("asker", "asker:ask(asker)"), "4");
    shop.replace("u32 {\n        3\n", "u32 {\n        4\n");
    shop.replace("self.asked += 1;", "self.asked += 2;");
    let said = shop.upgraded();
    assert!(said.contains("asker (asker) goes on") && said.contains("its callbacks have changed since"), "{said}");
    assert_eq!(shop.builds(), "2", "it was started anew in the third");
}

#[test]
fn who_has_no_form_may_go_over_by_its_text() {
    let user = User::new();
    let path = user.application("formless_one", "minimal");
    let library = path.join("src/lib.rs");
    edit(&library, |text| text.replace("#[derive(Data)]\n", "").replace("Data, ", ""));
    let running = user.run(&path, &[]);
    let ask = || user.done(&path, &["console", "-e", "formless_one_greeter:greet(formless_one_greeter, <<\"you\">>)"]);
    assert!(ask().contains("number 1."));
    edit(&library, |text| text.replace("Hello", "Hallo"));
    let said = user.done(&path, &["upgrade"]);
    assert!(
        said.contains("formless_one_greeter (formless_one_greeter) goes on in the build that it began in"),
        "{said}"
    );
    edit(&library, |text| text.replace("pub struct", "#[derive(otp::Data)]\npub struct"));
    let said = user.done(&path, &["upgrade"]);
    assert!(said.contains("let an #[upgrade] whose old state is a String make a new state"), "{said}");
    assert!(ask().contains("Hello, you! You are number 2."));
    let upgrade = "#[upgrade]\n    fn of_a_text(old: String) -> Self {\n        assert_eq!(old, \"formless_one::Greeter\");\n        \
                   Greeter { greeted: 7 }\n    }\n\n    /// A greeting for";
    edit(&library, |text| text.replace("/// A greeting for", upgrade));
    assert!(user.done(&path, &["upgrade", "--strict"]).contains("1 formless_one_greeter"));
    assert!(ask().contains("Hallo, you! You are number 8."));
    drop(running);
}

#[test]
fn who_asks_for_it_stays_or_is_started_anew_after_its_last_work() {
    let shop = Shop::open("third_shop");
    assert_eq!(
        shop.ask(
            "[{ok, _} = supervisor:start_child(things, [{N}]) || N <- lists:seq(1, 3)], \
                  {asker:ask(asker), asker:ask(asker), door:open(door)}"
        ),
        "{1,2,1}"
    );
    // Its state may be a third party's; what it does at its end is what it does before it is started anew.
    let terminate = |text: String| {
        let text = text.replace("#[derive(Data)]\npub struct Asker", "pub struct Asker");
        let text = text.replace("module = \"asker\")", "module = \"asker\", on_upgrade = restart)");
        text.replace(
            "    #[call]\n    async fn ask",
            "    #[terminate]\n    async fn drained(&mut self) {\n        \
             Server::<Counter>::named(\"counter\").add().await.expect(\"an answer\");\n    }\n\n    #[call]\n    async fn ask",
        )
    };
    shop.change(terminate);
    let said = shop.upgraded();
    assert!(said.contains("Restarted asker (asker), which its behaviour asks for"), "{said}");
    assert_eq!(shop.builds(), "1");
    assert_eq!(shop.ask("asker:ask(asker)"), "3", "the build before had no last work");
    shop.change(|text| {
        let text = text.replace("module = \"thing\")", "module = \"thing\", on_upgrade = restart)");
        text.replace("module = \"door\")", "module = \"door\", on_upgrade = stay)")
    });
    let said = shop.upgraded();
    assert!(
        said.contains("Restarted asker (asker)") && said.contains("and 2 more), which its behaviour asks for"),
        "{said}"
    );
    assert!(
        said.contains(
            "door (door) goes on in the build that it began in, until it is started anew: its behaviour says so"
        ),
        "{said}"
    );
    assert_eq!(shop.ask("asker:ask(asker)"), "5", "its last work counted too");
    assert_eq!(
        shop.ask(
            "{lists:sort([thing:number(P) || {_, P, _, _} <- supervisor:which_children(things)]), \
                  proplists:get_value(active, supervisor:count_children(things)), door:open(door), door:is_open(door)}"
        ),
        "{[1,2,3],3,2,true}"
    );
    assert_eq!(shop.builds(), "2");
}

#[test]
fn who_stays_is_not_waited_for() {
    let shop = Shop::open("endless_shop");
    assert_eq!(
        shop.ask("spawn(fun() -> counter:until(counter, <<\"never\">>) end), timer:sleep(100), door:open(door)"),
        "1"
    );
    shop.replace("module = \"counter\")", "module = \"counter\", on_upgrade = stay)");
    let said = shop.user.refused(&shop.path, &["upgrade", "--strict"]);
    assert!(said.contains("counter (counter) cannot go over: its behaviour says so (on_upgrade = stay)"), "{said}");
    let said = shop.upgraded();
    assert!(said.contains("counter (counter) goes on in the build that it began in"), "{said}");
    assert_eq!(shop.ask("{door:open(door), element(2, process_info(whereis(counter), message_queue_len))}"), "{2,0}");
    assert_eq!(shop.builds(), "2");
}

#[test]
fn a_tree_gets_what_is_new_in_it_and_loses_what_is_not_there_any_more() {
    let shop = Shop::open("growing_shop");
    shop.change(|text| {
        text.replace(".child(worker::<Door>(()).name(\"door\"))", ".child(worker::<Counter>(()).name(\"second\"))")
    });
    let said = shop.upgraded();
    assert!(said.contains("Ended door") && said.contains("Started second"), "{said}");
    assert!(said.contains("1 counter"), "the one that is new has begun in this build, and did not go over: {said}");
    assert_eq!(
        shop.ask("{whereis(door), counter:add(second), length(supervisor:which_children(root))}"),
        "{undefined,1,7}"
    );
    // A tree that cannot be made is seen before anything is changed.
    shop.replace("    one_for_one()\n", "    assert!(_args.0.len() > 9, \"too few\");\n    one_for_one()\n");
    let said = shop.user.refused(&shop.path, &["upgrade"]);
    assert!(said.contains("the tree of root cannot be made: it panicked") && said.contains("too few"), "{said}");
    assert_eq!(shop.ask("counter:add(second)"), "2");
}

/// Stops the counter when it has answered the last question of the upgrade, before it goes on, for longer than the upgrade takes.
const HOLD: &str = "
    spawn(fun() ->
        Counter = whereis(counter),
        erlang:trace(Counter, true, [send]),
        Hold = fun Hold(0) -> erlang:suspend_process(Counter), timer:sleep(3000), erlang:resume_process(Counter);
                   Hold(Left) -> receive {trace, Counter, send, {[alias | _], _}, _} -> Hold(Left - 1); _ -> Hold(Left) end
               end,
        Hold(3)
    end), ok";

#[test]
fn a_build_is_unloaded_when_all_have_left_it() {
    let shop = Shop::open("patient_shop");
    let things = "[{ok, _} = supervisor:start_child(things, [{N}]) || N <- lists:seq(1, 1000)], counter:add(counter)";
    assert_eq!(shop.ask(things), "1");
    shop.replace("u32 {\n        1\n", "u32 {\n        2\n");
    shop.user.done(&shop.path, &["build"]);
    assert_eq!(shop.ask(HOLD), "ok");
    let said = shop.upgraded();
    assert!(said.contains("1 counter"), "{said}");
    assert_eq!(shop.ask("{counter:add(counter), counter:version(counter)}"), "{2,2}", "it has gone on with its state");
    assert_eq!(shop.builds(), "1");
}

#[test]
fn who_does_not_come_to_an_end_is_named() {
    let shop = Shop::open("slow_shop");
    shop.replace("u32 {\n        1\n", "u32 {\n        2\n");
    shop.user.done(&shop.path, &["build"]);
    assert_eq!(
        shop.ask(
            "spawn(fun() -> counter:until(counter, <<\"enough\">>) end), timer:sleep(100), worker:rest(worker, 3000)"
        ),
        "ok"
    );
    let said = shop.user.refused(&shop.path, &["upgrade", "--timeout", "1"]);
    assert!(said.contains("counter has not come to the end of a callback in time"), "{said}");
    // With more time the callback comes to its end first.
    let enough = "spawn(fun() -> timer:sleep(1000), register(enough, self()), timer:sleep(infinity) end), ok";
    assert_eq!(shop.ask(enough), "ok");
    assert!(shop.user.done(&shop.path, &["upgrade", "--timeout", "60"]).contains("1 counter"));
    assert_eq!(shop.ask("counter:version(counter)"), "2");
    // One that waited for the next message, but not for ever, does so in the new build; to ask it would be a message.
    let idle = "Idle = fun Idle(0) -> never;
                           Idle(Left) -> is_pid(whereis(idle)) orelse begin timer:sleep(20), Idle(Left - 1) end
                       end, Idle(1000)";
    assert_eq!(shop.ask(idle), "true");
}

#[test]
fn work_under_way_ends_in_the_build_that_it_began_in() {
    let shop = Shop::open("busy_shop");
    assert_eq!(shop.ask("worker:work(worker)"), "ok");
    let mut version = 1;
    let mut upgraded = || {
        shop.replace(&format!("u32 {{\n        {version}\n"), &format!("u32 {{\n        {}\n", version + 1));
        version += 1;
        shop.upgraded()
    };
    for builds in ["2", "2"] {
        let said = upgraded();
        assert!(
            said.contains("1 worker") && said.contains("tasks that go on in the build that they began in"),
            "{said}"
        );
        assert_eq!(shop.builds(), builds, "the first and the last: {said}");
    }
    assert_eq!(shop.ask("register(done, spawn(timer, sleep, [60000])), timer:sleep(200), ok").len(), 2);
    assert!(!upgraded().contains("tasks"));
    assert_eq!(shop.builds(), "1");
}
