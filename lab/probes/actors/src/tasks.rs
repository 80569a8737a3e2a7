//! A task of tokio for each actor, with tokio's channels as mailboxes: the base cost of actor systems on tokio.
//!
//! The runtime is the multi-threaded one with its default number of workers. Mailboxes are bounded where bounds are
//! safe, as tokio advises (64 messages, which is also kameo's default), and unbounded in Big, where actors with full
//! mailboxes would wait for each other. There is no supervision; `recover` awaits the handle of the task, which reports
//! a panic.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use tokio::sync::mpsc::{Sender, UnboundedSender, channel, unbounded_channel};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::program::{
    Creation, Outcome, Program, Tally, check, check_big, gone, nanoseconds, rally_share, silence_panics,
};
use crate::{beside, clients, on_tokio};

/// Messages in a mailbox.
const ROOM: usize = 64;

pub fn run(program: &Program) -> Result<Outcome, String> {
    on_tokio::run(program, run_program)
}

async fn run_program(program: Program) -> Result<Outcome, String> {
    match program {
        Program::PingPong { n } => ping_pong(n).await,
        Program::ThreadRing { p, n } => thread_ring(p, n).await,
        Program::ForkJoin { p, n } => fork_join(p, n).await,
        Program::Create { p } => create(p).await,
        Program::Big { p } => big(p).await,
        Program::Ask { asks, others } => ask(asks, others).await,
        Program::Recover { crashes } => recover(crashes).await,
        Program::Beside(asked) => beside::tasks(asked).await,
    }
}

async fn ping_pong(n: u64) -> Result<Outcome, String> {
    let begun = Instant::now();
    let (report, mut reports) = channel(ROOM);
    let (to_ping, mut of_ping) = channel::<u64>(ROOM);
    let (to_pong, mut of_pong) = channel::<u64>(ROOM);
    for (inbox, other) in [(&mut of_ping, to_pong), (&mut of_pong, to_ping.clone())] {
        let (_, unused) = channel(1);
        let mut inbox = std::mem::replace(inbox, unused);
        let report = report.clone();
        tokio::spawn(async move {
            let mut received = 0;
            while let Some(count) = inbox.recv().await {
                received += 1;
                if count == 0 {
                    let _ = report.send(received).await;
                    return;
                }
                let _ = other.send(count - 1).await;
            }
        });
    }
    to_ping.send(n).await.map_err(gone)?;
    let received = reports.recv().await.ok_or(()).map_err(gone)?;
    let outcome = Outcome::whole(begun.elapsed());
    check("what the last one received", received, rally_share(n))?;
    Ok(outcome)
}

async fn thread_ring(p: usize, n: u64) -> Result<Outcome, String> {
    let begun = Instant::now();
    let parent = tokio::spawn(async move {
        let (report, mut reports) = channel(ROOM);
        let (inlets, inboxes): (Vec<Sender<u64>>, Vec<_>) = (0..p).map(|_| channel(ROOM)).unzip();
        for (index, mut inbox) in inboxes.into_iter().enumerate() {
            let (next, report) = (inlets[(index + 1) % p].clone(), report.clone());
            tokio::spawn(async move {
                while let Some(count) = inbox.recv().await {
                    if count == 0 {
                        let _ = report.send(index).await;
                    } else {
                        let _ = next.send(count - 1).await;
                    }
                }
            });
        }
        let first = inlets[0].clone();
        tokio::spawn(async move { first.send(n).await });
        reports.recv().await.ok_or(()).map_err(gone)
    });
    let last = parent.await.map_err(gone)??;
    let outcome = Outcome::whole(begun.elapsed());
    check("who had the last message", last as u64, n % p as u64)?;
    Ok(outcome)
}

async fn fork_join(p: usize, n: u64) -> Result<Outcome, String> {
    let begun = Instant::now();
    let parent: JoinHandle<Result<Vec<u64>, String>> = tokio::spawn(async move {
        let (report, mut reports) = unbounded_channel();
        let worker = |_| {
            let (inlet, mut inbox) = channel::<()>(ROOM);
            let report = report.clone();
            tokio::spawn(async move {
                let mut received = 0;
                while let Some(()) = inbox.recv().await {
                    received += 1;
                    if received == n {
                        let _ = report.send(received);
                    }
                }
            });
            inlet
        };
        let workers: Vec<Sender<()>> = (0..p).map(worker).collect();
        for _ in 0..n {
            for worker in &workers {
                worker.send(()).await.map_err(gone)?;
            }
        }
        let mut counts = Vec::with_capacity(p);
        while counts.len() < p {
            counts.push(reports.recv().await.ok_or(()).map_err(gone)?);
        }
        Ok(counts)
    });
    let counts = parent.await.map_err(gone)??;
    let outcome = Outcome::whole(begun.elapsed());
    counts.into_iter().try_for_each(|count| check("what a worker counted", count, n))?;
    Ok(outcome)
}

async fn create(p: usize) -> Result<Outcome, String> {
    let creation = Creation::begin()?;
    let parent: JoinHandle<Result<_, String>> = tokio::spawn(async move {
        let (report, mut reports) = unbounded_channel();
        let mut inlets = Vec::with_capacity(p);
        for index in 0..p {
            let (inlet, mut inbox) = channel::<()>(ROOM);
            let report = report.clone();
            tokio::spawn(async move {
                let _ = report.send(index);
                while inbox.recv().await.is_some() {}
            });
            inlets.push(inlet);
        }
        let mut seen = vec![false; p];
        for _ in 0..p {
            seen[reports.recv().await.ok_or(()).map_err(gone)?] = true;
        }
        Ok((inlets, seen))
    });
    let (inlets, seen) = parent.await.map_err(gone)??;
    let outcome = creation.end(p)?;
    drop(inlets);
    check("how many have started", seen.iter().filter(|seen| **seen).count(), p)?;
    Ok(outcome)
}

enum ToBig {
    Everybody(Arc<[UnboundedSender<ToBig>]>),
    From(usize),
}

async fn big(p: usize) -> Result<Outcome, String> {
    let begun = Instant::now();
    let parent: JoinHandle<Result<Vec<(usize, u64)>, String>> = tokio::spawn(async move {
        let (report, mut reports) = unbounded_channel();
        let worker = |index: usize| {
            let (inlet, mut inbox) = unbounded_channel();
            let report = report.clone();
            tokio::spawn(async move {
                let mut tally = Tally::default();
                while let Some(message) = inbox.recv().await {
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
                        return;
                    }
                }
            });
            inlet
        };
        let workers: Arc<[UnboundedSender<ToBig>]> = (0..p).map(worker).collect();
        workers.iter().try_for_each(|worker| worker.send(ToBig::Everybody(workers.clone())).map_err(gone))?;
        let mut all = Vec::with_capacity(p);
        while all.len() < p {
            all.push(reports.recv().await.ok_or(()).map_err(gone)?);
        }
        Ok(all)
    });
    let reports = parent.await.map_err(gone)??;
    let outcome = Outcome::whole(begun.elapsed());
    check_big(p, reports.into_iter())?;
    Ok(outcome)
}

type Request = (u64, oneshot::Sender<u64>);

async fn request(server: Sender<Request>, value: u64) -> Result<u64, String> {
    let (reply, replied) = oneshot::channel();
    server.send((value, reply)).await.map_err(gone)?;
    replied.await.map_err(gone)
}

async fn ask(asks: u64, others: usize) -> Result<Outcome, String> {
    let (server, mut inbox) = channel::<Request>(ROOM);
    tokio::spawn(async move {
        while let Some((value, reply)) = inbox.recv().await {
            let _ = reply.send(value + 1);
        }
    });
    let stop = Arc::new(AtomicBool::new(false));
    for _ in 0..others {
        let server = server.clone();
        tokio::spawn(clients::untimed(stop.clone(), move |value| request(server.clone(), value)));
    }
    let client = tokio::spawn(clients::timed(asks, move |value| request(server.clone(), value)));
    let samples = client.await.map_err(gone)??;
    stop.store(true, Ordering::Relaxed);
    Ok(Outcome::samples(samples))
}

enum ToMortal {
    Die,
    Who(oneshot::Sender<u64>),
}

async fn recover(crashes: u64) -> Result<Outcome, String> {
    silence_panics();
    let mut samples = Vec::with_capacity(crashes as usize);
    let mortal = |incarnation: u64| {
        let (inlet, mut inbox) = channel(ROOM);
        let handle = tokio::spawn(async move {
            while let Some(message) = inbox.recv().await {
                match message {
                    ToMortal::Die => panic!("told to"),
                    ToMortal::Who(reply) => drop(oneshot::Sender::send(reply, incarnation)),
                }
            }
        });
        (inlet, handle)
    };
    let (mut inlet, mut handle) = mortal(0);
    for wanted in 1..=crashes {
        let begun = Instant::now();
        inlet.send(ToMortal::Die).await.map_err(gone)?;
        let survived = handle.await.is_ok();
        (inlet, handle) = mortal(wanted);
        let (reply, replied) = oneshot::channel();
        inlet.send(ToMortal::Who(reply)).await.map_err(gone)?;
        let number = replied.await.map_err(gone)?;
        samples.push(nanoseconds(begun.elapsed()));
        check("the incarnation that answers", number, wanted)?;
        check("how many survived their panic", u8::from(survived), 0)?;
    }
    Ok(Outcome::samples(samples))
}
