//! The gateway in a real Erlang VM, with real clients over TCP, well-behaved and badly behaved ones.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

// Its behaviours are linked into this program, so that what they say of themselves can be asked for.
use gateway as _;

/// A gateway that runs, and an Erlang that can be asked in it.
struct Gateway {
    vm: Child,
    ask: ChildStdin,
    answers: BufReader<ChildStdout>,
    address: SocketAddr,
    folder: tempfile::TempDir,
}

/// Evaluates each line that comes in, and writes what it is as one line.
const ASKED: &str = "-module(asked).\n-export([main/0]).\nmain() -> ok = application:start(gateway), loop().\n\
    loop() -> case io:get_line(\"\") of eof -> halt(0); Line -> {ok, T, _} = erl_scan:string(Line), \
    {ok, E} = erl_parse:parse_exprs(T), V = try erl_eval:exprs(E, []) of {value, Value, _} -> Value \
    catch C:R -> {C, R} end, io:format(\"~0tp~n\", [V]), loop() end.\n";

impl Gateway {
    /// One at a free port, which takes a device for gone after `idle`.
    fn start(idle: Duration) -> Self {
        let folder = in_a_vm::compiled("gateway", &[("asked", ASKED)]);
        let mut vm = Command::new("erl")
            .args(["-noshell", "-pa", ".", "-kernel", "logger_level", "critical", "-s", "asked", "main"])
            .args(["-otp_application", "gateway", "-extra", "127.0.0.1:0", &idle.as_millis().to_string()])
            .current_dir(folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("erl, of Debian's package erlang-base");
        let ask = vm.stdin.take().expect("a pipe");
        let answers = BufReader::new(vm.stdout.take().expect("a pipe"));
        let nowhere = SocketAddr::from(([0, 0, 0, 0], 0));
        let mut gateway = Self { vm, ask, answers, address: nowhere, folder };
        let address = gateway.ask("gateway_acceptor:address(acceptor)");
        gateway.address = address.trim_matches(['<', '>', '"']).parse().expect("an address");
        gateway
    }

    fn ask(&mut self, expression: &str) -> String {
        writeln!(self.ask, "{expression}.").expect("the VM runs");
        let mut answer = String::new();
        self.answers.read_line(&mut answer).expect("the VM runs");
        answer.trim_end().to_owned()
    }

    /// Asks until it is so.
    fn ask_until(&mut self, expression: &str, expected: &str) {
        let mut answer = String::new();
        for _ in 0..500 {
            answer = self.ask(expression);
            if answer == expected {
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        panic!("{expression} is {answer} and not {expected}");
    }

    fn client(&self) -> Client {
        let stream = TcpStream::connect(self.address).expect("it listens");
        stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a socket");
        Client { reader: BufReader::new(stream.try_clone().expect("a socket")), stream }
    }

    fn device(&self, name: &str) -> Client {
        let mut client = self.client();
        assert_eq!(client.ask(&format!("hello {name}")), "ok");
        client
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        let _ = self.vm.kill();
        let _ = self.vm.wait();
    }
}

struct Client {
    stream: TcpStream,
    reader: BufReader<TcpStream>,
}

impl Client {
    fn say(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).expect("a connection");
    }

    /// The next line; nothing where the connection has ended.
    fn hear(&mut self) -> String {
        let mut line = String::new();
        match self.reader.read_line(&mut line) {
            Ok(_) => line.trim_end().to_owned(),
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => String::new(),
            Err(error) => panic!("no line came: {error}"),
        }
    }

    fn ask(&mut self, line: &str) -> String {
        self.say(format!("{line}\n").as_bytes());
        self.hear()
    }

    /// Whether the other side ends the connection, whatever it says before.
    fn ends(mut self) -> bool {
        let mut rest = Vec::new();
        match self.reader.read_to_end(&mut rest) {
            Ok(_) => true,
            Err(error) => error.kind() == std::io::ErrorKind::ConnectionReset,
        }
    }
}

const LONG: Duration = Duration::from_secs(60);

#[test]
fn devices_report_and_are_asked_about_over_tcp_and_from_erlang() {
    let mut gateway = Gateway::start(LONG);
    let mut boiler = gateway.device("boiler");
    let mut room = gateway.device("room-1");
    // Whoever wants to know what is reported is told of it.
    let attached = gateway.ask(
        "gateway_telemetry:attach(test, [gateway, reading], \
         fun(_, #{value := V}, #{device := D, key := K}, _) -> persistent_term:put(reading, {D, K, V}) end, none)",
    );
    assert_eq!(attached, "ok");
    assert_eq!(boiler.ask("temp 61.5"), "ok");
    gateway.ask_until("persistent_term:get(reading, none)", "{<<\"boiler\">>,<<\"temp\">>,61.5}");
    assert_eq!(room.ask("get boiler temp"), "61.5");
    assert_eq!(room.ask("get boiler level"), "none");
    assert_eq!(room.ask("devices"), "boiler room-1");
    assert_eq!(gateway.ask("gateway_hub:value(hub, <<\"boiler\">>, <<\"temp\">>)"), "61.5");
    assert_eq!(gateway.ask("gateway_hub:tell(hub, <<\"boiler\">>, <<\"heat\">>)"), "true");
    assert_eq!(boiler.hear(), "heat");
    // Bytes come as they like: several lines in one piece, one line in several.
    boiler.say(b"temp 62\r\nlevel 3\npi");
    assert_eq!((boiler.hear(), boiler.hear()), ("ok".into(), "ok".into()));
    assert_eq!(boiler.ask("ng"), "pong");
    assert_eq!(boiler.ask("quit"), "bye");
    assert!(boiler.ends());
    gateway.ask_until("gateway_hub:connected(hub)", "[<<\"room-1\">>]");
    assert_eq!(room.ask("get boiler level"), "3");
    assert_eq!(gateway.ask("gateway_hub:tell(hub, <<\"boiler\">>, <<\"heat\">>)"), "false");
    // A device that comes again takes the place of what is left of it.
    let mut anew = gateway.device("room-1");
    assert_eq!(room.hear(), "error another connection has said hello by this name");
    assert!(room.ends());
    assert_eq!(anew.ask("devices"), "room-1");
}

#[test]
fn what_a_stranger_sends_ends_that_connection_at_most() {
    let mut gateway = Gateway::start(LONG);
    let mut good = gateway.device("good");
    // A line that never ends, and is longer than all that could be buffered.
    let mut endless = gateway.client();
    endless.say(&[b'x'; 100_000]);
    assert_eq!(endless.hear(), "error the line is too long");
    // It may go on with the next line.
    assert_eq!(endless.ask("\nping"), "pong");
    // Bytes that are no text.
    let mut garbage = gateway.client();
    for _ in 0..20 {
        let _ = garbage.stream.write_all(b"\x00\xff\xfe\x80\n");
    }
    assert!(garbage.ends());
    // Random bytes from many at once.
    let mut number = 0x9E37_79B9_7F4A_7C15_u64;
    for _ in 0..20 {
        let bytes: Vec<u8> = std::iter::repeat_with(|| {
            number ^= number << 13;
            number ^= number >> 7;
            number ^= number << 17;
            number as u8
        })
        .take(20_000)
        .collect();
        let mut client = gateway.client();
        let _ = client.stream.write_all(&bytes);
        let _ = client.stream.shutdown(Shutdown::Write);
        assert!(client.ends());
    }
    assert_eq!(good.ask("temp 1"), "ok");
    gateway.ask_until("proplists:get_value(active, supervisor:count_children(connections))", "2");
}

#[test]
fn a_client_that_never_reads_is_let_go_of() {
    let mut gateway = Gateway::start(LONG);
    // Long answers to short questions fill what there is sooner.
    let names: Vec<String> = (0..50).map(|n| format!("a-name-as-long-as-one-may-be--{n:02}")).collect();
    let _others: Vec<Client> = names.iter().map(|name| gateway.device(name)).collect();
    let mut deaf = gateway.device("deaf");
    deaf.stream.set_write_timeout(Some(Duration::from_secs(20))).expect("a socket");
    let lines = "devices\n".repeat(10_000);
    let mut sent = 0;
    let error = loop {
        match deaf.stream.write(lines.as_bytes()) {
            Ok(written) => sent += written,
            Err(error) => break error,
        }
        assert!(sent < 1_000_000_000, "it takes everything");
    };
    use std::io::ErrorKind::{BrokenPipe, ConnectionReset};
    assert!(matches!(error.kind(), ConnectionReset | BrokenPipe), "{error} after {sent} bytes");
    gateway.ask_until("length(gateway_hub:connected(hub))", "50");
}

#[test]
fn five_hundred_at_once_are_served_and_a_panic_ends_one_of_them() {
    const MANY: usize = 500;
    let mut gateway = Gateway::start(LONG);
    let mut clients: Vec<Client> = (0..MANY).map(|n| gateway.device(&format!("d{n}"))).collect();
    for _ in 0..3 {
        for (n, client) in clients.iter_mut().enumerate() {
            client.say(format!("n {n}\n").as_bytes());
        }
        for client in &mut clients {
            assert_eq!(client.hear(), "ok");
        }
    }
    assert_eq!(gateway.ask("length(gateway_hub:connected(hub))"), "500");
    assert_eq!(
        gateway.ask("lists:sum([trunc(gateway_hub:value(hub, D, <<\"n\">>)) || D <- gateway_hub:connected(hub)])"),
        "124750"
    );
    gateway.ask(
        "[gateway_connection:drill(P) || {_, P, _, _} <- supervisor:which_children(connections), gateway_connection:device(P) =:= <<\"d7\">>]",
    );
    assert!(clients.remove(7).ends());
    gateway.ask_until("length(gateway_hub:connected(hub))", "499");
    for client in &mut clients {
        assert_eq!(client.ask("ping"), "pong");
    }
    drop(clients);
    gateway.ask_until("supervisor:count_children(connections)", "[{specs,1},{active,0},{supervisors,0},{workers,0}]");
    assert_eq!(gateway.device("d7").ask("get d7 n"), "7");
}

#[test]
fn connections_that_come_and_go_leave_no_line_in_the_log() {
    let mut gateway = Gateway::start(LONG);
    // What is logged for people to look at, of the library and of this program, goes into a file.
    let logged = gateway.folder.path().join("warnings");
    let handler = format!(
        "logger:remove_handler(default), logger:set_primary_config(level, warning), \
         logger:add_handler(test, logger_std_h, #{{level => warning, config => #{{file => \"{}\"}}}})",
        logged.display()
    );
    assert_eq!(gateway.ask(&handler), "ok");
    for n in 0..200 {
        let mut client = gateway.device(&format!("d{n}"));
        if n % 2 == 0 {
            assert_eq!(client.ask("quit"), "bye");
        }
    }
    gateway.ask_until("supervisor:count_children(connections)", "[{specs,1},{active,0},{supervisors,0},{workers,0}]");
    // It has taken what came before that.
    gateway.ask("gateway_acceptor:address(acceptor)");
    assert_eq!(gateway.ask("logger_std_h:filesync(test)"), "ok");
    assert_eq!(std::fs::read_to_string(&logged).expect("a log"), "");
    // And the way into that file is one.
    gateway.ask("acceptor ! what, gateway_acceptor:address(acceptor), logger_std_h:filesync(test)");
    assert!(std::fs::read_to_string(&logged).expect("a log").contains("has nobody for the message what"));
}

#[test]
fn who_is_silent_for_too_long_is_taken_for_gone_and_who_speaks_is_not() {
    let gateway = Gateway::start(Duration::from_millis(500));
    let silent = gateway.device("silent");
    let mut speaks = gateway.device("speaks");
    for _ in 0..15 {
        std::thread::sleep(Duration::from_millis(100));
        assert_eq!(speaks.ask("ping"), "pong");
    }
    assert!(silent.ends());
}

#[test]
fn what_fails_in_the_middle_is_started_anew() {
    let mut gateway = Gateway::start(LONG);
    let mut client = gateway.device("one");
    // Who accepts: the connections stay.
    gateway.ask("exit(whereis(acceptor), kill)");
    let same = gateway.ask("is_list(supervisor:which_children(connections))");
    assert_eq!((same.as_str(), client.ask("ping").as_str()), ("true", "pong"));
    gateway.ask_until("is_pid(whereis(acceptor))", "true");
    let address = gateway.ask("gateway_acceptor:address(acceptor)");
    gateway.address = address.trim_matches(['<', '>', '"']).parse().expect("an address");
    gateway.device("two");
    // The hub: the devices come again.
    gateway.ask("exit(whereis(hub), kill)");
    assert!(client.ends());
    gateway.ask_until("is_pid(whereis(acceptor))", "true");
    let address = gateway.ask("gateway_acceptor:address(acceptor)");
    gateway.address = address.trim_matches(['<', '>', '"']).parse().expect("an address");
    assert_eq!(gateway.device("one").ask("devices"), "one");
}
