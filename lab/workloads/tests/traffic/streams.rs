//! The workloads TCP and UDP.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use super::harness::{trial, trial_at, trial_outside, without_its_partner};

pub fn every_byte_of_a_tcp_stream_arrives() {
    for (direction, wait) in [("send", "read"), ("receive", "read"), ("send", "poll"), ("receive", "poll")] {
        let chunk = ("chunk", "10000B");
        let given = [("direction", direction), ("wait", wait), ("total", "33000000B"), ("duration", "60s"), chunk];
        let trial = trial("tcp", &given).went_well();
        assert_eq!(trial.fact("total_bytes"), 33e6);
        let (times, bytes) = (trial.column("", "time"), trial.column("", "bytes"));
        assert!(bytes.len() > 20 && bytes.iter().all(|b| (1 << 20..(1 << 20) + 10_000).contains(b)), "{bytes:?}");
        assert!(bytes.iter().sum::<u64>() <= 33_000_000);
        let (all, seconds) = (times.iter().sum::<u64>() as f64 / 1e9, trial.fact("seconds"));
        assert!(all <= seconds, "rows of {all} s in {seconds} s");
        assert_eq!(trial.fact("bits_per_second"), 33e6 * 8.0 / seconds);
        for setting in ["send_buffer", "receive_buffer", "congestion_control", "segment_size"] {
            assert_ne!(trial.effective[setting].0, "unknown");
        }
    }
}

pub fn the_buffers_of_a_tcp_stream_are_held_to_what_is_asked_for_and_read_back_at_its_end() {
    for direction in ["send", "receive"] {
        let given = [("direction", direction), ("total", "64MiB"), ("duration", "60s")];
        let held = [&given[..], &[("buffer", "32KiB")]].concat();
        let trial = trial("tcp", &held).went_well();
        for buffer in ["send_buffer", "receive_buffer"] {
            assert_eq!(trial.effective[buffer], ("65536 B".into(), true), "{direction}, {buffer}");
        }
        let too_large = [&given[..], &[("buffer", "1GiB")]].concat();
        let trial = super::harness::trial("tcp", &too_large).went_well();
        for buffer in ["send_buffer", "receive_buffer"] {
            let (bytes, as_requested) = &trial.effective[buffer];
            assert!(!as_requested && bytes != "65536 B", "{direction}, {buffer}: {bytes}");
        }
    }
}

pub fn a_tcp_stream_ends_with_its_time() {
    for (direction, wait) in [("send", "read"), ("receive", "read"), ("send", "poll"), ("receive", "poll")] {
        let trial = trial("tcp", &[("direction", direction), ("wait", wait), ("duration", "300ms")]).went_well();
        // It ended at all: there is room for much more than could be sent.
        assert!(trial.fact("total_bytes") > 0.0 && trial.fact("total_bytes") < (64u64 << 30) as f64);
    }
}

pub fn a_tcp_stream_of_less_than_a_row_is_one_row() {
    for direction in ["send", "receive"] {
        let trial = trial("tcp", &[("direction", direction), ("total", "300000B"), ("duration", "60s")]).went_well();
        assert_eq!(trial.column("", "bytes"), [300_000], "{direction}");
    }
}

pub fn a_tcp_partner_that_dies_is_a_failure_and_not_a_hang() {
    for given in [&[("direction", "send"), ("duration", "3600s")], &[("direction", "receive"), ("duration", "3600s")]] {
        let failure = without_its_partner("tcp", given).failure.expect("a failure");
        assert!(failure.contains("killed by signal 9"), "{failure}");
    }
}

pub fn what_is_sent_by_udp_is_received_or_lost() {
    let given = [("rate", "8Mbit"), ("duration", "450ms"), ("size", "1000B")];
    let trial = trial("udp", &given).went_well();
    let [sent, received, lost] = ["sent", "received", "lost"].map(|name| trial.column("", name));
    assert_eq!(sent.len(), 5);
    for (row, sent) in sent.iter().enumerate() {
        assert_eq!(*sent, received[row] + lost[row]);
    }
    assert_eq!(trial.fact("sent"), sent.iter().sum::<u64>() as f64);
    assert_eq!(trial.fact("received"), received.iter().sum::<u64>() as f64);
    // One at time zero and then one a millisecond: no more than were offered, and the plan was not given up.
    let all = trial.fact("sent");
    assert!((1.0..=451.0).contains(&all), "{all} datagrams");
    assert!(trial.fact("received") > 0.0);
    assert_eq!((trial.fact("duplicates"), trial.fact("reordered")), (0.0, 0.0));
    assert_eq!(trial.fact("loss_percent"), trial.fact("lost") * 100.0 / all);
    assert!(trial.column("", "offered").iter().all(|rate| *rate == 8_000_000));
    let length: u64 = trial.column("", "time").iter().sum();
    assert!(length >= 450_000_000);
}

pub fn more_than_can_be_sent_by_udp_is_offered_and_shows() {
    let trial = trial("udp", &[("rate", "400Gbit"), ("duration", "100ms"), ("size", "64B")]).went_well();
    assert!(trial.fact("sent_bps") < trial.fact("offered_bps") / 2.0);
    assert!(trial.fact("sent") > 0.0);
}

pub fn a_udp_receiver_that_dies_is_a_failure_and_not_a_hang() {
    let failure = without_its_partner("udp", &[("duration", "3600s"), ("rate", "1Mbit")]).failure.expect("a failure");
    assert!(failure.contains("killed by signal 9"), "{failure}");
}

pub fn messages_come_back_over_tcp_and_udp() {
    for given in [
        &[("protocol", "tcp"), ("trips", "200")][..],
        &[("protocol", "udp"), ("trips", "200")],
        &[("protocol", "tcp"), ("trips", "50"), ("size", "65507B")],
        &[("protocol", "udp"), ("trips", "50"), ("size", "65507B"), ("placement", "same-cpu")],
    ] {
        let trial = trial("net-rtt", given).went_well();
        assert_eq!(trial.column("", "time").len().to_string(), given[1].1, "{given:?}");
    }
}

pub fn the_other_half_of_a_workload_can_be_done_outside() {
    for protocol in ["tcp", "udp"] {
        let trial = trial_outside("net-rtt", &[("protocol", protocol), ("trips", "100"), ("size", "1000B")]);
        assert_eq!((trial.failure.as_deref(), trial.part("").len()), (None, 100), "{protocol}");
        // One is made before.
        assert_eq!(trial.fact("answered"), 101.0);
    }
    for direction in ["send", "receive"] {
        let given = [("direction", direction), ("total", "33000000B"), ("duration", "60s"), ("buffer", "32KiB")];
        let trial = trial_outside("tcp", &given);
        assert_eq!((trial.failure.as_deref(), trial.fact("total_bytes")), (None, 33e6), "{direction}");
        for buffer in ["send_buffer", "receive_buffer"] {
            assert_eq!(trial.effective[buffer], ("65536 B".into(), true), "{direction}, {buffer}");
        }
        let trial = trial_outside("tcp", &[("direction", direction), ("duration", "200ms")]);
        assert!(trial.failure.is_none() && trial.fact("total_bytes") > 0.0, "{:?}", trial.failure);
    }
    let trial = trial_outside("udp", &[("rate", "8Mbit"), ("duration", "450ms"), ("size", "1000B")]);
    assert_eq!(trial.failure, None);
    let [sent, received, lost] = ["sent", "received", "lost"].map(|name| trial.column("", name).iter().sum::<u64>());
    assert!(received > 0 && (1..=451).contains(&sent), "{received} of {sent}");
    assert_eq!((trial.part("").len(), received + lost), (5, sent));
    assert_eq!(trial.fact("received"), received as f64);

    let placed = trial_outside("net-rtt", &[("placement", "same-cpu"), ("trips", "10")]);
    assert!(placed.failure.is_some_and(|why| why.contains("the partner is outside")));
}

pub fn a_partner_outside_that_is_not_there_or_says_something_else_is_a_failure() {
    // Two that say nothing are as many as it listens to.
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    let at = listener.local_addr().expect("its address");
    std::thread::spawn(move || kizami_workloads::linux::partner::serve(&listener));
    let silent = [(); 2].map(|()| TcpStream::connect(at).expect("it listens"));
    std::thread::sleep(Duration::from_millis(100));
    let why = trial_at(at, "net-rtt", &[("trips", "10")]).failure.expect("it is busy");
    assert!(why.contains("2 tasks already") || why.contains("ask the partner outside"), "{why}");
    drop(silent);

    let taken = TcpListener::bind(("127.0.0.1", 0)).expect("a port").local_addr().expect("its address");
    let why = trial_at(taken, "net-rtt", &[("trips", "10")]).failure.expect("nobody is there");
    assert!(why.contains("reach the partner outside") && why.contains(&taken.to_string()), "{why}");

    for answer in ["refused: it is late\n", "99999999\n", "no", ""] {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
        let at = listener.local_addr().expect("its address");
        let thread = std::thread::spawn(move || {
            let (mut connection, _) = listener.accept().expect("it is asked");
            BufReader::new(connection.try_clone().expect("a copy")).read_line(&mut String::new()).expect("a task");
            connection.write_all(answer.as_bytes()).expect("it listens");
        });
        let why = trial_at(at, "tcp", &[("duration", "100ms")]).failure.expect("no answer");
        thread.join().expect("it ends");
        assert!(why.contains("the partner outside"), "{answer:?}: {why}");
    }
}
