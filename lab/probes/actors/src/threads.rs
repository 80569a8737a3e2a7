//! One thread of the operating system for each actor, with the channels of the standard library as mailboxes.
//!
//! This is Rust without any crate. Mailboxes are unbounded, as those of `std::sync::mpsc` are by default. There is no
//! supervision: `recover` joins the thread and starts another.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use crate::beside;
use crate::program::{
    Creation, Outcome, Program, Tally, check, check_big, gone, nanoseconds, rally_share, silence_panics,
};

pub fn run(program: &Program) -> Result<Outcome, String> {
    let outcome = match *program {
        Program::PingPong { n } => ping_pong(n),
        Program::ThreadRing { p, n } => thread_ring(p, n),
        Program::ForkJoin { p, n } => fork_join(p, n),
        Program::Create { p } => create(p),
        Program::Big { p } => big(p),
        Program::Ask { asks, others } => ask(asks, others),
        Program::Recover { crashes } => recover(crashes),
        Program::Beside(asked) => beside::threads(asked),
    }?;
    Ok(outcome.placed("a thread each"))
}

/// Starts a thread for an actor.
fn actor<T: Send + 'static>(body: impl FnOnce() -> T + Send + 'static) -> Result<JoinHandle<T>, String> {
    let refused = |e| format!("could not start a thread for an actor: {e}; the limits are ulimit -u and pid_max");
    thread::Builder::new().spawn(body).map_err(refused)
}

fn joined<T>(parent: JoinHandle<Result<T, String>>) -> Result<T, String> {
    parent.join().map_err(gone)?
}

fn ping_pong(n: u64) -> Result<Outcome, String> {
    let begun = Instant::now();
    let (report, reports) = channel();
    let (to_ping, of_ping) = channel();
    let (to_pong, of_pong) = channel();
    let player = |inbox: Receiver<u64>, other: Sender<u64>| {
        let report = report.clone();
        actor(move || {
            let mut received = 0;
            for count in inbox {
                received += 1;
                if count == 0 {
                    let _ = report.send(received);
                    return;
                }
                let _ = other.send(count - 1);
            }
        })
    };
    player(of_ping, to_pong)?;
    player(of_pong, to_ping.clone())?;
    to_ping.send(n).map_err(gone)?;
    let received = reports.recv().map_err(gone)?;
    let outcome = Outcome::whole(begun.elapsed());
    check("what the last one received", received, rally_share(n))?;
    Ok(outcome)
}

fn thread_ring(p: usize, n: u64) -> Result<Outcome, String> {
    let begun = Instant::now();
    let parent = actor(move || {
        let (report, reports) = channel();
        let (inlets, inboxes): (Vec<Sender<u64>>, Vec<Receiver<u64>>) = (0..p).map(|_| channel()).unzip();
        for (index, inbox) in inboxes.into_iter().enumerate() {
            let (next, report) = (inlets[(index + 1) % p].clone(), report.clone());
            actor(move || {
                for count in inbox {
                    if count == 0 {
                        let _ = report.send(index);
                    } else {
                        let _ = next.send(count - 1);
                    }
                }
            })?;
        }
        let first = inlets[0].clone();
        actor(move || first.send(n))?;
        reports.recv().map_err(gone)
    })?;
    let last = joined(parent)?;
    let outcome = Outcome::whole(begun.elapsed());
    check("who had the last message", last as u64, n % p as u64)?;
    Ok(outcome)
}

fn fork_join(p: usize, n: u64) -> Result<Outcome, String> {
    let begun = Instant::now();
    let parent = actor(move || -> Result<Vec<u64>, String> {
        let (report, reports) = channel();
        let worker = |_| {
            let (inlet, inbox) = channel::<()>();
            let report = report.clone();
            actor(move || {
                let mut received = 0;
                for () in inbox {
                    received += 1;
                    if received == n {
                        let _ = report.send(received);
                    }
                }
            })?;
            Ok(inlet)
        };
        let workers: Vec<Sender<()>> = (0..p).map(worker).collect::<Result<_, String>>()?;
        for _ in 0..n {
            for worker in &workers {
                worker.send(()).map_err(gone)?;
            }
        }
        (0..p).map(|_| reports.recv().map_err(gone)).collect()
    })?;
    let counts = joined(parent)?;
    let outcome = Outcome::whole(begun.elapsed());
    counts.into_iter().try_for_each(|count| check("what a worker counted", count, n))?;
    Ok(outcome)
}

fn create(p: usize) -> Result<Outcome, String> {
    let creation = Creation::begin()?;
    let parent = actor(move || -> Result<_, String> {
        let (report, reports) = channel();
        let mut inlets = Vec::with_capacity(p);
        for index in 0..p {
            let (inlet, inbox) = channel::<()>();
            let report = report.clone();
            actor(move || {
                let _ = report.send(index);
                for () in inbox {}
            })?;
            inlets.push(inlet);
        }
        let mut seen = vec![false; p];
        for _ in 0..p {
            seen[reports.recv().map_err(gone)?] = true;
        }
        Ok((inlets, seen))
    })?;
    let (inlets, seen) = joined(parent)?;
    let outcome = creation.end(p)?;
    drop(inlets);
    check("how many have started", seen.iter().filter(|seen| **seen).count(), p)?;
    Ok(outcome)
}

enum ToBig {
    Everybody(Arc<[Sender<ToBig>]>),
    From(usize),
}

fn big(p: usize) -> Result<Outcome, String> {
    let begun = Instant::now();
    let parent = actor(move || -> Result<Vec<(usize, u64)>, String> {
        let (report, reports) = channel();
        let worker = |index: usize| {
            let (inlet, inbox) = channel();
            let report = report.clone();
            actor(move || {
                let mut tally = Tally::default();
                for message in inbox {
                    match message {
                        ToBig::From(sender) => tally.take(sender),
                        ToBig::Everybody(all) => {
                            let others = all.iter().enumerate().filter(|(other, _)| *other != index);
                            others.for_each(|(_, other)| drop(other.send(ToBig::From(index))));
                            tally.sent = true;
                        }
                    }
                    if let Some(senders) = tally.done(p) {
                        let _ = report.send((index, senders));
                        // It knows all others, so nobody would ever end.
                        return;
                    }
                }
            })?;
            Ok(inlet)
        };
        let workers: Arc<[Sender<ToBig>]> = (0..p).map(worker).collect::<Result<_, String>>()?;
        workers.iter().try_for_each(|worker| worker.send(ToBig::Everybody(workers.clone())).map_err(gone))?;
        (0..p).map(|_| reports.recv().map_err(gone)).collect()
    })?;
    let reports = joined(parent)?;
    let outcome = Outcome::whole(begun.elapsed());
    check_big(p, reports.into_iter())?;
    Ok(outcome)
}

fn ask(asks: u64, others: usize) -> Result<Outcome, String> {
    let (server, inbox) = channel::<(u64, Sender<u64>)>();
    actor(move || inbox.into_iter().for_each(|(request, reply)| _ = reply.send(request + 1)))?;
    let stop = Arc::new(AtomicBool::new(false));
    for _ in 0..others {
        let (server, stop) = (server.clone(), stop.clone());
        actor(move || {
            let (reply, replies) = channel();
            while !stop.load(Ordering::Relaxed) && server.send((1, reply.clone())).is_ok() {
                let _ = replies.recv();
            }
        })?;
    }
    let client = actor(move || -> Result<Vec<u64>, String> {
        let mut samples = Vec::with_capacity(asks as usize);
        let (reply, replies) = channel();
        for request in 0..asks {
            let begun = Instant::now();
            server.send((request, reply.clone())).map_err(gone)?;
            let answer = replies.recv().map_err(gone)?;
            samples.push(nanoseconds(begun.elapsed()));
            check("the reply", answer, request + 1)?;
        }
        Ok(samples)
    })?;
    let samples = joined(client)?;
    stop.store(true, Ordering::Relaxed);
    Ok(Outcome::samples(samples))
}

enum ToMortal {
    Die,
    Who(Sender<u64>),
}

fn recover(crashes: u64) -> Result<Outcome, String> {
    silence_panics();
    let mut samples = Vec::with_capacity(crashes as usize);
    let mortal = |incarnation: u64| {
        let (inlet, inbox) = channel();
        let body = move || {
            for message in inbox {
                match message {
                    ToMortal::Die => panic!("told to"),
                    ToMortal::Who(reply) => drop(reply.send(incarnation)),
                }
            }
        };
        actor(body).map(|handle| (inlet, handle))
    };
    let (mut inlet, mut handle) = mortal(0)?;
    for wanted in 1..=crashes {
        let begun = Instant::now();
        inlet.send(ToMortal::Die).map_err(gone)?;
        let survived = handle.join().is_ok();
        (inlet, handle) = mortal(wanted)?;
        let (reply, replies) = channel();
        inlet.send(ToMortal::Who(reply)).map_err(gone)?;
        let number = replies.recv().map_err(gone)?;
        samples.push(nanoseconds(begun.elapsed()));
        check("the incarnation that answers", number, wanted)?;
        check("how many survived their panic", u8::from(survived), 0)?;
    }
    Ok(Outcome::samples(samples))
}
