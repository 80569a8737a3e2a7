//! The programs about servers, written for actix: the clients of one, and the replacement of one that has panicked.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use actix::prelude::*;
use tokio::sync::oneshot;

use super::places::Places;
use crate::clients;
use crate::program::{Outcome, gone, silence_panics};

struct Server;

impl Actor for Server {
    type Context = Context<Self>;
}

#[derive(Message)]
#[rtype(result = "u64")]
struct Successor(u64);

impl Handler<Successor> for Server {
    type Result = u64;

    fn handle(&mut self, Successor(value): Successor, _: &mut Context<Self>) -> u64 {
        value + 1
    }
}

async fn request(server: Addr<Server>, value: u64) -> Result<u64, String> {
    server.send(Successor(value)).await.map_err(gone)
}

/// The server is on the first arbiter, and the client that is timed on the last.
pub async fn ask(places: &Places, asks: u64, others: usize) -> Result<Outcome, String> {
    let server = places.start(0, 1, || Server);
    let stop = Arc::new(AtomicBool::new(false));
    let arbiters: Vec<ArbiterHandle> = if places.0.is_empty() { vec![Arbiter::current()] } else { places.0.to_vec() };
    for index in 0..others {
        let (server, stop) = (server.clone(), stop.clone());
        arbiters[index % arbiters.len()].spawn(async move {
            let _ = clients::untimed(stop, move |value| request(server.clone(), value)).await;
        });
    }
    let (done, end) = oneshot::channel();
    arbiters[arbiters.len() - 1].spawn(async move {
        let _ = done.send(clients::timed(asks, move |value| request(server.clone(), value)).await);
    });
    let samples = end.await.map_err(gone)??;
    stop.store(true, Ordering::Relaxed);
    Ok(Outcome::samples(samples))
}

struct Mortal(u64);

impl Actor for Mortal {
    type Context = Context<Self>;
}

impl Supervised for Mortal {}

#[derive(Message)]
#[rtype(result = "()")]
struct Die;

#[derive(Message)]
#[rtype(result = "u64")]
struct Who;

impl Handler<Die> for Mortal {
    type Result = ();

    fn handle(&mut self, Die: Die, _: &mut Context<Self>) {
        panic!("told to");
    }
}

impl Handler<Who> for Mortal {
    type Result = u64;

    fn handle(&mut self, Who: Who, _: &mut Context<Self>) -> u64 {
        self.0
    }
}

/// A `Supervisor` of actix restarts an actor that stops its context. It does not survive a panic: that unwinds the event
/// loop of the arbiter, and with it every actor on it and the supervisor too. What is left to a user is to give the actor
/// an arbiter of its own and to watch from another for its address to be closed; that is what is measured, the new thread
/// included. With others on the same arbiter, they would be gone as well.
pub async fn recover(crashes: u64) -> Result<Outcome, String> {
    silence_panics();
    let births = AtomicU64::new(0);
    let start = || {
        let arbiter = Arbiter::new();
        let incarnation = births.fetch_add(1, Ordering::Relaxed);
        let address = Supervisor::start_in_arbiter(&arbiter.handle(), move |_| Mortal(incarnation));
        (arbiter, address)
    };
    let current = std::cell::RefCell::new(start());
    let address = || current.borrow().1.clone();
    let crash = || async {
        // The reply never comes, and that it does not is how a panic is told.
        match address().send(Die).await {
            Err(MailboxError::Closed) => Ok(()),
            Err(MailboxError::Timeout) | Ok(()) => Err("the actor has survived its panic".to_owned()),
        }
    };
    let who = || async {
        if !address().connected() {
            *current.borrow_mut() = start();
        }
        address().send(Who).await.map_err(gone)
    };
    Ok(Outcome::samples(clients::recoveries(crashes, crash, who).await?))
}
