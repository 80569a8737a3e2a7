//! The programs written for kameo: an actor is a type, a message another, and `tell` waits for room in the mailbox.
//!
//! Mailboxes have kameo's default, a bound of 64 messages, except where that could end in a deadlock. In Big every
//! worker sends to every other, and in Thread Ring and the fork-join programs all workers report to a parent that may
//! itself be waiting for room, so these workers and parents have unbounded mailboxes. The runtime is tokio's
//! multi-threaded one with its default configuration.

mod actor;
mod serving;

use std::sync::Arc;
use std::time::Instant;

use kameo::actor::{Actor, ActorRef, Spawn};
use kameo::error::Infallible;
use kameo::mailbox;
use kameo::message::{Context, Message};
use tokio::sync::oneshot;

use actor::plain_actors;

use crate::on_tokio::{self, Done, finish};
use crate::program::{Creation, Outcome, Program, Tally, check, check_big, gone, not_written, rally_share};

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
        Program::Ask { asks, others } => serving::ask(asks, others).await,
        Program::Recover { crashes } => serving::recover(crashes).await,
        Program::Beside(_) => not_written("kameo"),
    }
}

plain_actors!(Player, Starter, Counter, BigWorker);

// ---------------------------------------------------------------- PingPong

struct Player {
    other: Option<ActorRef<Player>>,
    received: u64,
    done: Done<u64>,
}

struct Meet(ActorRef<Player>);

struct Ball(u64);

impl Message<Meet> for Player {
    type Reply = ();

    async fn handle(&mut self, Meet(other): Meet, _: &mut Context<Self, ()>) {
        self.other = Some(other);
    }
}

impl Message<Ball> for Player {
    type Reply = ();

    async fn handle(&mut self, Ball(count): Ball, _: &mut Context<Self, ()>) {
        self.received += 1;
        if count == 0 {
            finish(&mut self.done, self.received);
        } else if let Some(other) = &self.other {
            let _ = other.tell(Ball(count - 1)).await;
        }
    }
}

async fn ping_pong(n: u64) -> Result<Outcome, String> {
    let begun = Instant::now();
    let (done, mut ends) = (oneshot::channel(), oneshot::channel());
    let ping = Player::spawn(Player { other: None, received: 0, done: Some(done.0) });
    let pong = Player::spawn(Player { other: Some(ping.clone()), received: 0, done: Some(ends.0) });
    ping.tell(Meet(pong.clone())).await.map_err(gone)?;
    ping.tell(Ball(n)).await.map_err(gone)?;
    let received = tokio::select! {
        received = done.1 => received,
        received = &mut ends.1 => received,
    };
    let outcome = Outcome::whole(begun.elapsed());
    check("what the last one received", received.map_err(gone)?, rally_share(n))?;
    Ok(outcome)
}

// ---------------------------------------------------------------- Thread Ring

struct RingParent {
    done: Done<usize>,
}

struct Last(usize);

impl Actor for RingParent {
    type Args = (usize, u64, oneshot::Sender<usize>);
    type Error = Infallible;

    async fn on_start((p, n, done): Self::Args, me: ActorRef<Self>) -> Result<Self, Self::Error> {
        let member = async |index, next| {
            let member = Member { index, next, parent: me.clone() };
            Member::spawn_link_with_mailbox(&me, member, mailbox::unbounded()).await
        };
        // From the last to the first, so that each but the last knows the next when it begins.
        let last = member(p - 1, None).await;
        let mut first = last.clone();
        for index in (0..p - 1).rev() {
            first = member(index, Some(first)).await;
        }
        let _ = last.tell(Next(first.clone())).await;
        let starter = Starter::spawn_link(&me, Starter).await;
        let _ = starter.tell(Begin(first, n)).await;
        Ok(Self { done: Some(done) })
    }
}

impl Message<Last> for RingParent {
    type Reply = ();

    async fn handle(&mut self, Last(index): Last, _: &mut Context<Self, ()>) {
        finish(&mut self.done, index);
    }
}

struct Starter;

struct Begin(ActorRef<Member>, u64);

impl Message<Begin> for Starter {
    type Reply = ();

    async fn handle(&mut self, Begin(first, n): Begin, _: &mut Context<Self, ()>) {
        let _ = first.tell(Token(n)).await;
    }
}

struct Member {
    index: usize,
    next: Option<ActorRef<Member>>,
    parent: ActorRef<RingParent>,
}

struct Next(ActorRef<Member>);

struct Token(u64);

plain_actors!(Member);

impl Message<Next> for Member {
    type Reply = ();

    async fn handle(&mut self, Next(next): Next, _: &mut Context<Self, ()>) {
        self.next = Some(next);
    }
}

impl Message<Token> for Member {
    type Reply = ();

    async fn handle(&mut self, Token(count): Token, _: &mut Context<Self, ()>) {
        if count == 0 {
            let _ = self.parent.tell(Last(self.index)).await;
        } else if let Some(next) = &self.next {
            let _ = next.tell(Token(count - 1)).await;
        }
    }
}

async fn thread_ring(p: usize, n: u64) -> Result<Outcome, String> {
    let begun = Instant::now();
    let (done, end) = oneshot::channel();
    let _parent = RingParent::spawn((p, n, done));
    let last = end.await.map_err(gone)?;
    let outcome = Outcome::whole(begun.elapsed());
    check("who had the last message", last as u64, n % p as u64)?;
    Ok(outcome)
}

// ---------------------------------------------------------------- Fork-Join

struct Work;

struct Counted(u64);

/// A worker that counts to `n`.
struct Counter {
    n: u64,
    received: u64,
    parent: ActorRef<JoinParent>,
}

impl Message<Work> for Counter {
    type Reply = ();

    async fn handle(&mut self, Work: Work, _: &mut Context<Self, ()>) {
        self.received += 1;
        if self.received == self.n {
            let _ = self.parent.tell(Counted(self.received)).await;
        }
    }
}

struct JoinParent {
    p: usize,
    counts: Vec<u64>,
    done: Done<Vec<u64>>,
}

impl Actor for JoinParent {
    type Args = (usize, u64, oneshot::Sender<Vec<u64>>);
    type Error = Infallible;

    async fn on_start((p, n, done): Self::Args, me: ActorRef<Self>) -> Result<Self, Self::Error> {
        let worker = |_| Counter::spawn(Counter { n, received: 0, parent: me.clone() });
        let workers: Vec<_> = (0..p).map(worker).collect();
        for _ in 0..n {
            for worker in &workers {
                let _ = worker.tell(Work).await;
            }
        }
        Ok(Self { p, counts: Vec::with_capacity(p), done: Some(done) })
    }
}

impl Message<Counted> for JoinParent {
    type Reply = ();

    async fn handle(&mut self, Counted(count): Counted, _: &mut Context<Self, ()>) {
        self.counts.push(count);
        if self.counts.len() == self.p {
            finish(&mut self.done, std::mem::take(&mut self.counts));
        }
    }
}

async fn fork_join(p: usize, n: u64) -> Result<Outcome, String> {
    let begun = Instant::now();
    let (done, end) = oneshot::channel();
    let _parent = JoinParent::spawn_with_mailbox((p, n, done), mailbox::unbounded());
    let counts = end.await.map_err(gone)?;
    let outcome = Outcome::whole(begun.elapsed());
    counts.into_iter().try_for_each(|count| check("what a worker counted", count, n))?;
    Ok(outcome)
}

// ---------------------------------------------------------------- creation

struct Started(usize);

struct Child;

impl Actor for Child {
    type Args = (usize, ActorRef<CreateParent>);
    type Error = Infallible;

    async fn on_start((index, parent): Self::Args, _: ActorRef<Self>) -> Result<Self, Self::Error> {
        let _ = parent.tell(Started(index)).await;
        Ok(Self)
    }
}

struct CreateParent {
    seen: Vec<bool>,
    started: usize,
    children: Vec<ActorRef<Child>>,
    done: Done<(Vec<bool>, Vec<ActorRef<Child>>)>,
}

impl Actor for CreateParent {
    type Args = (usize, oneshot::Sender<(Vec<bool>, Vec<ActorRef<Child>>)>);
    type Error = Infallible;

    async fn on_start((p, done): Self::Args, me: ActorRef<Self>) -> Result<Self, Self::Error> {
        let children = (0..p).map(|index| Child::spawn((index, me.clone()))).collect();
        Ok(Self { seen: vec![false; p], started: 0, children, done: Some(done) })
    }
}

impl Message<Started> for CreateParent {
    type Reply = ();

    async fn handle(&mut self, Started(index): Started, _: &mut Context<Self, ()>) {
        self.seen[index] = true;
        self.started += 1;
        if self.started == self.seen.len() {
            finish(&mut self.done, (std::mem::take(&mut self.seen), std::mem::take(&mut self.children)));
        }
    }
}

async fn create(p: usize) -> Result<Outcome, String> {
    let creation = Creation::begin()?;
    let (done, end) = oneshot::channel();
    let _parent = CreateParent::spawn_with_mailbox((p, done), mailbox::unbounded());
    let (seen, children) = end.await.map_err(gone)?;
    let outcome = creation.end(p)?;
    drop(children);
    check("how many have started", seen.iter().filter(|seen| **seen).count(), p)?;
    Ok(outcome)
}

// ---------------------------------------------------------------- Big

struct Everybody(Arc<[ActorRef<BigWorker>]>);

struct From(usize);

struct BigWorker {
    index: usize,
    p: usize,
    tally: Tally,
    parent: ActorRef<BigParent>,
}

impl BigWorker {
    async fn report(&mut self) {
        if let Some(senders) = self.tally.done(self.p) {
            let _ = self.parent.tell(Had(self.index, senders)).await;
        }
    }
}

impl Message<Everybody> for BigWorker {
    type Reply = ();

    async fn handle(&mut self, Everybody(all): Everybody, _: &mut Context<Self, ()>) {
        for (other, worker) in all.iter().enumerate() {
            if other != self.index {
                let _ = worker.tell(From(self.index)).await;
            }
        }
        self.tally.sent = true;
        self.report().await;
    }
}

impl Message<From> for BigWorker {
    type Reply = ();

    async fn handle(&mut self, From(sender): From, _: &mut Context<Self, ()>) {
        self.tally.take(sender);
        self.report().await;
    }
}

struct Had(usize, u64);

struct BigParent {
    p: usize,
    reports: Vec<(usize, u64)>,
    done: Done<Vec<(usize, u64)>>,
}

impl Actor for BigParent {
    type Args = (usize, oneshot::Sender<Vec<(usize, u64)>>);
    type Error = Infallible;

    async fn on_start((p, done): Self::Args, me: ActorRef<Self>) -> Result<Self, Self::Error> {
        let worker = |index| {
            let worker = BigWorker { index, p, tally: Tally::default(), parent: me.clone() };
            BigWorker::spawn_with_mailbox(worker, mailbox::unbounded())
        };
        let workers: Arc<[ActorRef<BigWorker>]> = (0..p).map(worker).collect();
        for worker in workers.iter() {
            let _ = worker.tell(Everybody(workers.clone())).await;
        }
        Ok(Self { p, reports: Vec::with_capacity(p), done: Some(done) })
    }
}

impl Message<Had> for BigParent {
    type Reply = ();

    async fn handle(&mut self, Had(worker, senders): Had, _: &mut Context<Self, ()>) {
        self.reports.push((worker, senders));
        if self.reports.len() == self.p {
            finish(&mut self.done, std::mem::take(&mut self.reports));
        }
    }
}

async fn big(p: usize) -> Result<Outcome, String> {
    let begun = Instant::now();
    let (done, end) = oneshot::channel();
    let _parent = BigParent::spawn_with_mailbox((p, done), mailbox::unbounded());
    let reports = end.await.map_err(gone)?;
    let outcome = Outcome::whole(begun.elapsed());
    check_big(p, reports.into_iter())?;
    Ok(outcome)
}
