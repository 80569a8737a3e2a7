//! What states and statics hold goes over: sockets, timers, monitors, moments, and values of statics that are kept.

mod common;

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};

use common::{Running, User, edit};

struct Held {
    user: User,
    path: PathBuf,
    version: u32,
    _running: Running,
}

impl Held {
    fn start(name: &str) -> Self {
        let user = User::new();
        let path = user.application(name, "minimal");
        fs::copy(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/upgrading/held.rs"), path.join("src/lib.rs"))
            .expect("copy the sources");
        let mut running = Running::start(&mut user.cargo_otp(&path, &["run"]));
        running.says("it keeps");
        Self { user, path, version: 1, _running: running }
    }

    fn change(&self, from: &str, to: &str) {
        edit(&self.path.join("src/lib.rs"), |text| text.replace(from, to));
    }

    /// To a build with another version.
    fn upgraded(&mut self) -> String {
        let version = self.version + 1;
        self.change(&format!("u32 {{\n        {}\n", self.version), &format!("u32 {{\n        {version}\n"));
        let said = self.user.done(&self.path, &["upgrade"]);
        assert!(said.contains("1 clock, 1 everything, 1 keeper"), "{said}");
        assert_eq!(self.ask("keeper:version(keeper)"), version.to_string());
        self.version = version;
        said
    }

    fn ask(&self, expression: &str) -> String {
        self.user.done(&self.path, &["console", "--eval", expression]).trim().to_owned()
    }

    fn comes_to(&self, expression: &str, expected: &str) {
        common::soon(expression, || self.ask(expression) == expected);
    }
}

#[test]
fn no_period_of_a_ticker_is_lost() {
    let mut held = Held::start("ticking");
    for _ in 0..3 {
        let ticks: u64 = held.ask("element(1, clock:ticked(clock))").parse().expect("a number");
        held.comes_to(&format!("element(1, clock:ticked(clock)) > {ticks} + 10"), "true");
        assert_eq!(
            held.ask("{clock:wait(clock), clock:wait(clock), element(2, clock:ticked(clock))}"),
            "{true,true,false}"
        );
        held.upgraded();
        assert_eq!(held.ask("clock:made_anew(clock)"), "true");
    }
    let ticks: u64 = held.ask("element(1, clock:ticked(clock))").parse().expect("a number");
    held.comes_to(&format!("element(1, clock:ticked(clock)) > {ticks} + 10"), "true");
    assert_eq!(held.ask("{clock:wait(clock), element(2, clock:ticked(clock))}"), "{true,false}");
}

#[test]
fn what_was_asked_for_comes_once_in_whatever_build() {
    let mut held = Held::start("keeping");
    let port: u16 = held.ask("keeper:port(keeper)").parse().expect("a port");
    let connect = || TcpStream::connect(("127.0.0.1", port)).expect("it listens");
    // Asked for before the upgrade, and ready after it.
    assert_eq!(held.ask("keeper:ask_for_one(keeper)"), "ok");
    held.upgraded();
    let mut first = connect();
    held.comes_to("keeper:accept(keeper)", "{1,true}");
    // Asked for and had before: nothing is asked for after the upgrade, whoever comes.
    held.upgraded();
    let _second = connect();
    held.comes_to("element(2, keeper:accept(keeper))", "true");
    // Ready before the upgrade, while the process takes no message: the message is in its queue, and comes in the next build.
    assert_eq!(held.ask("keeper:ask_for_one(keeper), sys:suspend(keeper)"), "ok");
    let mut third = connect();
    held.comes_to("element(2, process_info(whereis(keeper), message_queue_len))", "1");
    held.upgraded();
    held.comes_to("keeper:accept(keeper)", "{2,true}");
    assert_eq!(held.ask("keeper:accept(keeper)"), "{2,false}");
    // The last who came in is connected still, and a line begun in one build ends in another.
    first.write_all(b"nobody reads this\n").expect("a connection");
    third.write_all(b"one line").expect("a connection");
    assert_eq!(held.ask("keeper:line(keeper)"), "undefined");
    held.upgraded();
    third.write_all(b" in two builds\n").expect("a connection");
    held.comes_to("keeper:line(keeper)", "<<\"one line in two builds\">>");
    // Room to write is waited for in one build, and comes in another.
    assert_eq!(held.ask("keeper:say_much(keeper) > 0"), "true");
    held.upgraded();
    assert_eq!(held.ask("element(1, keeper:said(keeper))"), "false");
    let mut said = vec![0; 1 << 25];
    third.read_exact(&mut said).expect("all of it");
    held.comes_to("keeper:said(keeper)", "{true,0}");
}

#[test]
fn values_of_every_form_are_the_same_in_the_next_build() {
    let mut held = Held::start("forms");
    let before = held.ask("everything:shown(everything)");
    assert!(before.contains("Everything"), "{before}");
    held.upgraded();
    assert_eq!(held.ask("everything:shown(everything)"), before);
}

#[test]
fn monitors_and_timers_can_be_cancelled_and_come_in_the_next_build() {
    let mut held = Held::start("watching");
    assert_eq!(
        held.ask("P = spawn(fun() -> register(watched, self()), receive stop -> ok end end), keeper:watch(keeper, P)"),
        "ok"
    );
    assert_eq!(held.ask("keeper:later(keeper, 600000)"), "ok");
    held.upgraded();
    assert_eq!(held.ask("keeper:cancel(keeper), keeper:later(keeper, 10), exit(whereis(watched), kill)"), "true");
    held.comes_to("{keeper:gone(keeper), keeper:dues(keeper)}", "{1,1}");
    let kept = "length([N || {{'$otp', N}, _} <- element(2, process_info(whereis(keeper), dictionary))])";
    assert_eq!(held.ask(kept), "0", "nothing of what was cancelled or came is left");
}

#[test]
fn statics_that_are_kept_go_over_and_others_begin_anew() {
    let mut held = Held::start("kept_static");
    assert_eq!(held.ask("keeper:say(keeper, <<\"one\">>)"), "{[<<\"one\">>],1}");
    assert_eq!(held.ask("keeper:say(keeper, <<\"two\">>)"), "{[<<\"one\">>,<<\"two\">>],2}");
    let said = held.upgraded();
    assert!(said.contains("Kept the values of statics: 1"), "{said}");
    assert_eq!(held.ask("keeper:say(keeper, <<\"three\">>)"), "{[<<\"one\">>,<<\"two\">>,<<\"three\">>],1}");
    // Another form refuses the upgrade, and all goes on.
    held.change("static SAID: Vec<String>", "static SAID: Vec<u64>");
    held.change("said.push(what);", "said.push(what.len() as u64);");
    held.change("(Vec<String>, u64)", "(Vec<u64>, u64)");
    let said = held.user.refused(&held.path, &["upgrade"]);
    assert!(said.contains("::SAID cannot go over: expected") && said.contains("nothing was changed"), "{said}");
    assert_eq!(held.ask("element(2, keeper:say(keeper, <<\"four\">>))"), "2");
    // One that is not there any more is named.
    held.change("static SAID: Vec<u64>", "static NUMBERS: Vec<u64>");
    held.change("SAID.with", "NUMBERS.with");
    let said = held.upgraded();
    assert!(said.contains("warning: the static kept_static::SAID is not in the new build"), "{said}");
    assert_eq!(held.ask("keeper:say(keeper, <<\"five\">>)"), "{[4],1}");
}
