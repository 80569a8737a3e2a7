//! The programs about servers, written for kameo: the clients of one, and the replacement of one that has panicked.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use kameo::actor::{Actor, ActorRef, Spawn};
use kameo::error::Infallible;
use kameo::message::{Context, Message};
use kameo::supervision::RestartPolicy;

use super::actor::plain_actors;
use crate::clients;
use crate::program::{Outcome, gone, silence_panics};

struct Server;

struct Successor(u64);

impl Message<Successor> for Server {
    type Reply = u64;

    async fn handle(&mut self, Successor(value): Successor, _: &mut Context<Self, u64>) -> u64 {
        value + 1
    }
}

async fn request(server: ActorRef<Server>, value: u64) -> Result<u64, String> {
    server.ask(Successor(value)).await.map_err(gone)
}

pub async fn ask(asks: u64, others: usize) -> Result<Outcome, String> {
    let server = Server::spawn(Server);
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

struct Keeper;

plain_actors!(Server, Keeper);

/// What is made anew counts how often that was.
struct Mortal(u64);

impl Actor for Mortal {
    type Args = Arc<AtomicU64>;
    type Error = Infallible;

    async fn on_start(births: Self::Args, _: ActorRef<Self>) -> Result<Self, Self::Error> {
        Ok(Self(births.fetch_add(1, Ordering::Relaxed)))
    }
}

struct Die;

struct Who;

impl Message<Die> for Mortal {
    type Reply = ();

    async fn handle(&mut self, Die: Die, _: &mut Context<Self, ()>) {
        panic!("told to");
    }
}

impl Message<Who> for Mortal {
    type Reply = u64;

    async fn handle(&mut self, Who: Who, _: &mut Context<Self, u64>) -> u64 {
        self.0
    }
}

/// The reference of a supervised actor is that of its replacements too.
pub async fn recover(crashes: u64) -> Result<Outcome, String> {
    silence_panics();
    let keeper = Keeper::spawn(Keeper);
    let limit = u32::try_from(crashes).unwrap_or(u32::MAX).saturating_add(1);
    let supervised = Mortal::supervise(&keeper, Arc::default())
        .restart_policy(RestartPolicy::Permanent)
        .restart_limit(limit, Duration::from_secs(3600));
    let mortal = supervised.spawn().await;
    let crash = || async { mortal.tell(Die).await.map_err(gone) };
    let who = || async { mortal.ask(Who).await.map_err(gone) };
    Ok(Outcome::samples(clients::recoveries(crashes, crash, who).await?))
}
