//! An application with sockets, upgraded while its connections are open and used: none is dropped, and every line is answered once.

mod common;

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use common::{Running, User, edit};
use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit};

/// `examples/gateway` as an application of a user's, which runs.
struct Gateway {
    user: User,
    path: PathBuf,
    address: SocketAddr,
    _running: Running,
}

impl Gateway {
    fn start(name: &str) -> Self {
        Self::start_with(name, |_| {})
    }

    /// The same, once `change` has changed the sources.
    fn start_with(name: &str, change: impl FnOnce(&Path)) -> Self {
        let user = User::new();
        let path = user.application(name, "minimal");
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/gateway/src");
        for source in fs::read_dir(sources).expect("the sources").flatten() {
            fs::copy(source.path(), path.join("src").join(source.file_name())).expect("copy a source");
        }
        edit(&path.join("Cargo.toml"), |text| {
            text.replace("[dependencies]\n", "[dependencies]\ntracing = \"0.1.44\"\n")
        });
        change(&path.join("src"));
        // No device is taken for gone while something is built, however slow the machine is.
        let hour = "3600000";
        let mut run = user.cargo_otp(&path, &["run", "--", "127.0.0.1:0", hour]);
        let mut running = Running::start(run.env("OTP_LOG", "info"));
        let listens = running.says("it listens");
        let address = listens.split("address=").nth(1).and_then(|rest| rest.split_whitespace().next());
        let address = address.and_then(|address| address.parse().ok()).expect("where it listens");
        Self { user, path, address, _running: running }
    }

    fn replace(&self, file: &str, from: &str, to: &str) {
        edit(&self.path.join("src").join(file), |text| text.replace(from, to));
    }

    fn upgraded(&self) -> String {
        self.user.done(&self.path, &["upgrade"])
    }

    fn ask(&self, expression: &str) -> String {
        self.user.done(&self.path, &["console", "--eval", expression]).trim().to_owned()
    }

    fn client(&self) -> Client {
        let stream = TcpStream::connect(self.address).expect("it listens");
        stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a socket");
        Client { reader: BufReader::new(stream.try_clone().expect("a socket")), stream }
    }
}

struct Client {
    stream: TcpStream,
    reader: BufReader<TcpStream>,
}

impl Client {
    fn say(&mut self, text: &str) {
        self.stream.write_all(text.as_bytes()).expect("a connection");
    }

    fn hear(&mut self) -> String {
        let mut line = String::new();
        self.reader.read_line(&mut line).expect("an answer");
        line.trim_end().to_owned()
    }

    fn ask(&mut self, line: &str) -> String {
        self.say(&format!("{line}\n"));
        self.hear()
    }
}

#[test]
fn connections_stay_open_through_upgrades() {
    let gateway = Gateway::start("open_gateway");
    let mut clients: Vec<Client> = (0..20).map(|_| gateway.client()).collect();
    for (number, client) in clients.iter_mut().enumerate() {
        assert_eq!(client.ask(&format!("hello d{number}")), "ok");
    }
    // An upgrade that is refused takes nothing away.
    gateway.replace("hub.rs", "pub struct Hub {\n", "pub struct Hub {\n    more: u64,\n");
    gateway.replace("hub.rs", "Ok(Hub { ", "Ok(Hub { more: 0, ");
    let said = gateway.user.refused(&gateway.path, &["upgrade"]);
    assert!(said.contains("hub (hub) cannot go over: expected a map with the key more"), "{said}");
    for client in &mut clients {
        assert_eq!(client.ask("ping"), "pong");
    }
    gateway.replace("hub.rs", "    more: u64,\n", "    #[otp(default = 7)]\n    more: u64,\n");
    // Half of a line is in the connection's state, and what comes meanwhile in the kernel's buffer.
    clients[0].say("pi");
    gateway.replace("connection.rs", "\"pong\"", "\"pong 2\"");
    let said = gateway.upgraded();
    for what in [
        "1 open_gateway_acceptor",
        "20 open_gateway_connection",
        "1 open_gateway_hub",
        "1 pool of open_gateway_connection",
    ] {
        assert!(said.contains(what), "{said}");
    }
    assert_eq!(clients[0].ask("ng"), "pong 2");
    for client in &mut clients[1..] {
        assert_eq!(client.ask("ping"), "pong 2");
    }
    // Who listens does so still, and the hub hears of the end of who connected before.
    let mut late = gateway.client();
    assert_eq!(late.ask("hello late"), "ok");
    drop(clients.remove(3));
    common::soon("the hub hears that d3 has gone", || {
        gateway.ask("lists:member(<<\"d3\">>, open_gateway_hub:connected(hub))") == "false"
    });
    assert_eq!(
        gateway.ask("{open_gateway_hub:tell(hub, <<\"d1\">>, <<\"open\">>), length(open_gateway_hub:connected(hub))}"),
        "{true,20}"
    );
    assert_eq!(clients[1].hear(), "open");
}

#[test]
fn too_few_descriptors_refuse_an_upgrade_and_take_no_connection_away() {
    let gateway = Gateway::start("narrow_gateway");
    let mut clients: Vec<Client> = (0..40).map(|_| gateway.client()).collect();
    for client in &mut clients {
        assert_eq!(client.ask("ping"), "pong");
    }
    gateway.replace("connection.rs", "\"pong\"", "\"pong 2\"");
    let pid = gateway.ask("list_to_integer(os:getpid())").parse().ok().and_then(Pid::from_raw);
    let open: u64 = gateway.ask("length(filelib:wildcard(\"/proc/self/fd/*\"))").parse().expect("a number");
    let limited = |current| {
        let before = getrlimit(Resource::Nofile);
        let new = Rlimit { current, maximum: before.maximum };
        prlimit(pid, Resource::Nofile, new).expect("its limit").current
    };
    let before = limited(Some(open + 20));
    let said = gateway.user.refused(&gateway.path, &["upgrade"]);
    assert!(said.contains("cannot go over: a file descriptor cannot be duplicated: Too many open files"), "{said}");
    for client in &mut clients {
        assert_eq!(client.ask("ping"), "pong");
    }
    limited(before);
    assert!(gateway.upgraded().contains("40 narrow_gateway_connection"));
    for client in &mut clients {
        assert_eq!(client.ask("ping"), "pong 2");
    }
}

#[test]
fn who_accepts_may_stay_in_its_build_and_hands_over_to_the_next() {
    let gateway = Gateway::start_with("split_gateway", |sources| {
        edit(&sources.join("acceptor.rs"), |text| text.replace("#[derive(Carry, Debug)]", "#[derive(Debug)]"));
    });
    let mut early = gateway.client();
    assert_eq!(early.ask("hello early"), "ok");
    gateway.replace("connection.rs", "\"pong\"", "\"pong 2\"");
    let said = gateway.upgraded();
    assert!(said.contains("acceptor (acceptor) goes on in the build that it began in"), "{said}");
    // Accepted in the first build, and served in the second.
    let mut late = gateway.client();
    assert_eq!((late.ask("hello late"), late.ask("ping")), ("ok".into(), "pong 2".into()));
    assert_eq!(early.ask("ping"), "pong 2");
    assert_eq!(late.ask("devices"), "early late");
}

/// What a client met with: how many lines it sent, how many of them were answered otherwise than expected, and the longest wait.
#[derive(Default)]
struct Met {
    lines: u64,
    wrong: Vec<String>,
    longest: Duration,
}

impl Met {
    fn ask(&mut self, client: &mut Client, line: &str, expected: &str) {
        let asked = Instant::now();
        let answer = client.ask(line);
        self.longest = self.longest.max(asked.elapsed());
        self.lines += 1;
        if answer != expected {
            self.wrong.push(format!("{line}: {answer} and not {expected}"));
        }
    }

    fn with(self, other: Self) -> Self {
        Self {
            lines: self.lines + other.lines,
            wrong: [self.wrong, other.wrong].concat(),
            longest: self.longest.max(other.longest),
        }
    }
}

/// A device that reports numbers one after the other, and asks for each whether it has arrived, until it is over.
fn reports(client: &mut Client, name: &str, from: u64, rest: Duration, over: &AtomicBool) -> Met {
    let mut met = Met::default();
    for number in from.. {
        met.ask(client, &format!("n {number}"), "ok");
        met.ask(client, &format!("get {name} n"), &number.to_string());
        if over.load(Ordering::Relaxed) {
            break;
        }
        thread::sleep(rest);
    }
    met
}

/// Devices that come and go, one after the other.
fn come_and_go(gateway: &Gateway, over: &AtomicBool) -> Met {
    let mut met = Met::default();
    while !over.load(Ordering::Relaxed) {
        let mut client = gateway.client();
        met.ask(&mut client, "hello comes", "ok");
        met.ask(&mut client, "quit", "bye");
    }
    met
}

/// The devices, which report while `body` runs, and what they met with.
fn under_load<R>(gateway: &Gateway, clients: &mut [Client], from: u64, body: impl FnOnce() -> R) -> (Met, R) {
    let (over, rest) = (AtomicBool::new(false), Duration::from_millis(clients.len() as u64 / 5));
    thread::scope(|scope| {
        let over = &over;
        let devices = clients.iter_mut().enumerate();
        let devices: Vec<_> = devices
            .map(|(number, client)| scope.spawn(move || reports(client, &format!("d{number}"), from, rest, over)))
            .chain([scope.spawn(move || come_and_go(gateway, over))])
            .collect();
        let result = body();
        over.store(true, Ordering::Relaxed);
        let met = devices.into_iter().map(|device| device.join().expect("a device")).fold(Met::default(), Met::with);
        (met, result)
    })
}

/// `KIZAMI_CONNECTIONS=500 cargo test -p cargo-otp --test upgrading_gateway under_load -- --nocapture` tells the pauses.
#[test]
fn connections_under_load_are_none_dropped_and_every_line_is_answered() {
    let many = std::env::var("KIZAMI_CONNECTIONS").map_or(40, |many| many.parse().expect("a number of connections"));
    let gateway = Gateway::start("loaded_gateway");
    let mut clients: Vec<Client> = (0..many).map(|_| gateway.client()).collect();
    for (number, client) in clients.iter_mut().enumerate() {
        assert_eq!(client.ask(&format!("hello d{number}")), "ok");
    }
    let (quiet, ()) = under_load(&gateway, &mut clients, 0, || thread::sleep(Duration::from_secs(2)));
    println!("{many} connections, no upgrade: {} lines, the longest wait {:?}", quiet.lines, quiet.longest);
    assert_eq!(quiet.wrong, Vec::<String>::new());
    for version in 1..=3_u32 {
        let word = |version: u32| if version == 1 { "\"pong\"".to_owned() } else { format!("\"pong {version}\"") };
        gateway.replace("connection.rs", &word(version), &word(version + 1));
        gateway.user.done(&gateway.path, &["build"]);
        let (met, said) = under_load(&gateway, &mut clients, u64::from(version) << 32, || gateway.upgraded());
        let suspended = said.lines().find(|line| line.contains("Suspended")).unwrap_or_default().trim();
        println!("upgrade {version}: {} lines, the longest wait {:?}; {suspended}", met.lines, met.longest);
        assert_eq!(met.wrong, Vec::<String>::new(), "{said}");
        assert!(
            said.contains("1 loaded_gateway_acceptor")
                && said.contains("1 loaded_gateway_hub")
                && !said.contains("warning"),
            "{said}"
        );
        for client in &mut clients {
            assert_eq!(client.ask("ping"), word(version + 1).trim_matches('"'));
        }
    }
    assert_eq!(gateway.ask(&format!("length(loaded_gateway_hub:connected(hub)) >= {many}")), "true");
}
