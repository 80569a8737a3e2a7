//! Clusters: several nodes of one application, started as a user starts them, each in a terminal of its own.

mod common;

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use common::{InTime, Running, Signal, User, certificates, said, skipped};

const ALL: [&str; 4] = ["--", "a@127.0.0.1", "b@127.0.0.1", "c@127.0.0.1"];

fn node(user: &User, path: &Path, name: &str) -> Running {
    Running::start(&mut user.cargo_otp(path, &[&["run", "--name", name], &ALL[..]].concat()))
}

fn ask(user: &User, path: &Path, name: &str, expression: &str) -> String {
    user.done(path, &["console", "--name", name, "--eval", expression]).trim().to_owned()
}

/// Waits until a node knows of so many visits.
fn knows(user: &User, path: &Path, name: &str, total: &str) {
    let began = Instant::now();
    let application = path.file_name().and_then(|name| name.to_str()).expect("a name");
    while ask(user, path, name, &format!("{application}_visits:total(visits)")) != total {
        assert!(began.elapsed() < Duration::from_secs(100), "{name} never knew of {total} visits");
    }
}

#[test]
fn three_nodes_count_together_and_one_that_was_killed_hears_what_it_had_counted() {
    let user = User::new();
    let path = user.application("shared_one", "cluster");
    let wrong = user.cargo_otp(&path, &["run", "--", "b"]).output_in_time();
    assert!(wrong.status.code() == Some(1) && said(&wrong).contains("b is no node"), "{}", said(&wrong));
    let (mut a, mut b) = (node(&user, &path, "a"), node(&user, &path, "b"));
    a.says("b@127.0.0.1 is there");
    b.says("a@127.0.0.1 is there");
    let mut c = node(&user, &path, "c");
    a.says("c@127.0.0.1 is there");
    b.says("c@127.0.0.1 is there");
    ask(&user, &path, "a", "shared_one_visits:visit(visits)");
    ask(&user, &path, "c", "shared_one_visits:visit(visits)");
    ask(&user, &path, "c", "shared_one_visits:visit(visits)");
    ["a", "b", "c"].iter().for_each(|name| knows(&user, &path, name, "3"));
    c.signal(Signal::KILL);
    assert_eq!(c.ends(), None);
    a.says("c@127.0.0.1 is gone");
    let again = node(&user, &path, "c");
    a.says("c@127.0.0.1 is there");
    knows(&user, &path, "c", "3");
    drop((a, b, again));
}

#[test]
fn nodes_talk_by_tls_where_otp_toml_says_so() {
    let user = User::new();
    let path = user.application("secret_one", "cluster");
    fs::write(path.join("otp.toml"), "[vm]\ntls = \"tls.conf\"\n").expect("settings");
    assert!(user.refused(&path, &["run"]).contains("there is no file"));
    if !certificates(&path) {
        return skipped("nodes that talk by TLS: Erlang's application ssl is not installed (Debian's erlang-ssl)");
    }
    let right = fs::read(path.join("tls.conf")).expect("the settings");
    for (wrong, told) in [
        ("[{server, []}, {client, []}", "syntax error"),
        ("[{server, []}].", "nothing of the client"),
        ("[{server, [{certfile, \"no.pem\"}]}, {client, []}].", "certfile of the server, no.pem: no such file"),
    ] {
        fs::write(path.join("tls.conf"), wrong).expect("settings");
        let said = user.refused(&path, &["run"]);
        assert!(said.contains("tls.conf") && said.contains(told), "{said}");
    }
    fs::write(path.join("tls.conf"), right).expect("settings");
    let (mut a, mut b) = (node(&user, &path, "a"), node(&user, &path, "b"));
    a.says("b@127.0.0.1 is there");
    b.says("a@127.0.0.1 is there");
    assert_eq!(ask(&user, &path, "a", "init:get_argument(proto_dist)"), "{ok,[[\"inet_tls\"]]}");
    ask(&user, &path, "a", "secret_one_visits:visit(visits)");
    knows(&user, &path, "b", "1");
    // Who does not talk by it is not let in, with the right cookie: here, a console of elsewhere.
    let elsewhere = ["console", "--name", "a", "--eval", "node()"];
    let output = user.cargo_otp(user.folder.path(), &elsewhere).output_in_time();
    assert!(output.status.code() == Some(3) && said(&output).contains("cannot be reached"), "{}", said(&output));
    assert!(user.refused(&path, &["release"]).contains("a release takes no `tls`"));
    drop((a, b));
}
