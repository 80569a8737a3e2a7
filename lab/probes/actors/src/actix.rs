//! The programs written for actix: an actor stays on one arbiter, a thread with an event loop, for its whole life.
//!
//! The programmer chooses the arbiter, and this choice has the largest effect: a message within an arbiter is a push to
//! a queue, a message to another arbiter is a thread's wake-up. Both placements are measured. `OneArbiter` is what
//! `.start()` does. `Spread` has an arbiter for each processor (at least two), about as many actors on each, and as few
//! messages across arbiters as possible: a ring is cut into arcs, while every message of a ping-pong goes across.
//!
//! Messages are sent with `do_send`, which never waits for room: bounded mailboxes (16 by default) hold up `send` alone.

mod places;
mod serving;

use std::sync::Arc;
use std::time::Instant;

use actix::dev::ToEnvelope;
use actix::prelude::*;
use tokio::sync::oneshot;

use places::Places;

use crate::program::{Creation, Outcome, Program, Tally, check, check_big, gone, not_written, rally_share};

/// Where actors live.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Placement {
    OneArbiter,
    Spread,
}

pub fn run(program: &Program, placement: Placement) -> Result<Outcome, String> {
    let system = System::new();
    let program = *program;
    system.block_on(async move {
        let number = match placement {
            Placement::OneArbiter => 0,
            Placement::Spread => std::thread::available_parallelism().map_or(2, usize::from).max(2),
        };
        let arbiters: Vec<Arbiter> = (0..number).map(|_| Arbiter::new()).collect();
        let places = Places(arbiters.iter().map(Arbiter::handle).collect());
        let outcome = match program {
            Program::PingPong { n } => ping_pong(&places, n).await,
            Program::ThreadRing { p, n } => thread_ring(&places, p, n).await,
            Program::ForkJoin { p, n } => fork_join(&places, p, n).await,
            Program::Create { p } => create(&places, p).await,
            Program::Big { p } => big(&places, p).await,
            Program::Ask { asks, others } => serving::ask(&places, asks, others).await,
            Program::Recover { crashes } => serving::recover(crashes).await,
            Program::Beside(_) => not_written("actix"),
        }?;
        let placed = if number == 0 { "one arbiter".to_owned() } else { format!("spread over {number} arbiters") };
        Ok(outcome.placed(placed))
    })
}

/// Whoever waits outside of the actors for the end.
type Done<T> = Option<oneshot::Sender<T>>;

fn finish<T>(done: &mut Done<T>, result: T) {
    if let Some(done) = done.take() {
        let _ = done.send(result);
    }
}

macro_rules! actors {
    ($($name:ident),* $(,)?) => {
        $(impl Actor for $name {
            type Context = Context<Self>;
        })*
    };
}

actors!(Player, Member, Starter, Counter, BigWorker);

// ---------------------------------------------------------------- PingPong

struct Player {
    other: Option<Recipient<Ball>>,
    received: u64,
    done: Done<u64>,
}

#[derive(Message)]
#[rtype(result = "()")]
struct Meet(Recipient<Ball>);

#[derive(Message)]
#[rtype(result = "()")]
struct Ball(u64);

impl Handler<Meet> for Player {
    type Result = ();

    fn handle(&mut self, Meet(other): Meet, _: &mut Context<Self>) {
        self.other = Some(other);
    }
}

impl Handler<Ball> for Player {
    type Result = ();

    fn handle(&mut self, Ball(count): Ball, _: &mut Context<Self>) {
        self.received += 1;
        if count == 0 {
            finish(&mut self.done, self.received);
        } else if let Some(other) = &self.other {
            other.do_send(Ball(count - 1));
        }
    }
}

async fn ping_pong(places: &Places, n: u64) -> Result<Outcome, String> {
    let begun = Instant::now();
    let (done, mut ends) = (oneshot::channel(), oneshot::channel());
    let ping = places.start(0, 2, move || Player { other: None, received: 0, done: Some(done.0) });
    let other = Some(ping.clone().recipient());
    let pong = places.start(1, 2, move || Player { other, received: 0, done: Some(ends.0) });
    ping.do_send(Meet(pong.recipient()));
    ping.do_send(Ball(n));
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
    places: Places,
    p: usize,
    n: u64,
    done: Done<usize>,
}

#[derive(Message)]
#[rtype(result = "()")]
struct Last(usize);

impl Actor for RingParent {
    type Context = Context<Self>;

    fn started(&mut self, context: &mut Self::Context) {
        let parent = context.address();
        let member = |index, next| {
            let parent = parent.clone();
            self.places.start(index, self.p, move || Member { index, next, parent })
        };
        // From the last to the first, so that each but the last knows the next when it begins.
        let last = member(self.p - 1, None);
        let first = (0..self.p - 1).rev().fold(last.clone(), |next, index| member(index, Some(next)));
        last.do_send(Next(first.clone()));
        self.places.start(0, self.p, || Starter).do_send(Begin(first, self.n));
    }
}

impl Handler<Last> for RingParent {
    type Result = ();

    fn handle(&mut self, Last(index): Last, _: &mut Context<Self>) {
        finish(&mut self.done, index);
    }
}

struct Starter;

#[derive(Message)]
#[rtype(result = "()")]
struct Begin(Addr<Member>, u64);

impl Handler<Begin> for Starter {
    type Result = ();

    fn handle(&mut self, Begin(first, n): Begin, _: &mut Context<Self>) {
        first.do_send(Token(n));
    }
}

struct Member {
    index: usize,
    next: Option<Addr<Member>>,
    parent: Addr<RingParent>,
}

#[derive(Message)]
#[rtype(result = "()")]
struct Next(Addr<Member>);

#[derive(Message)]
#[rtype(result = "()")]
struct Token(u64);

impl Handler<Next> for Member {
    type Result = ();

    fn handle(&mut self, Next(next): Next, _: &mut Context<Self>) {
        self.next = Some(next);
    }
}

impl Handler<Token> for Member {
    type Result = ();

    fn handle(&mut self, Token(count): Token, _: &mut Context<Self>) {
        if count == 0 {
            self.parent.do_send(Last(self.index));
        } else if let Some(next) = &self.next {
            next.do_send(Token(count - 1));
        }
    }
}

async fn thread_ring(places: &Places, p: usize, n: u64) -> Result<Outcome, String> {
    let begun = Instant::now();
    let (done, end) = oneshot::channel();
    let of = places.clone();
    let _parent = places.start(0, p, move || RingParent { places: of, p, n, done: Some(done) });
    let last = end.await.map_err(gone)?;
    let outcome = Outcome::whole(begun.elapsed());
    check("who had the last message", last as u64, n % p as u64)?;
    Ok(outcome)
}

// ---------------------------------------------------------------- Fork-Join and Big: one parent, many workers

type Beginning<W, R> = Box<dyn FnOnce(Addr<Parent<W, R>>) -> Vec<W> + Send>;

/// Makes the workers, tells them to begin, and collects what each reports.
struct Parent<W: Unpin + 'static, R: Unpin + 'static> {
    begin: Option<Beginning<W, R>>,
    /// Kept, because an actor that nobody can write to any more ends.
    workers: Vec<W>,
    p: usize,
    reports: Vec<R>,
    done: Done<(Vec<R>, Vec<W>)>,
}

type Of<W, R> = Context<Parent<W, R>>;

impl<W: Unpin + 'static, R: Unpin + 'static> Actor for Parent<W, R> {
    type Context = Context<Self>;

    fn started(&mut self, context: &mut Self::Context) {
        if let Some(begin) = self.begin.take() {
            self.workers = begin(context.address());
        }
    }
}

#[derive(Message)]
#[rtype(result = "()")]
struct Had<R: 'static>(R);

impl<W: Unpin + 'static, R: Unpin + 'static> Handler<Had<R>> for Parent<W, R> {
    type Result = ();

    fn handle(&mut self, Had(report): Had<R>, _: &mut Of<W, R>) {
        self.reports.push(report);
        if self.reports.len() == self.p {
            finish(&mut self.done, (std::mem::take(&mut self.reports), std::mem::take(&mut self.workers)));
        }
    }
}

/// Runs a parent of `p` to its end: what was reported, and the workers, which live as long as that is kept.
async fn parent<W, R>(
    places: &Places,
    p: usize,
    begin: impl FnOnce(Addr<Parent<W, R>>) -> Vec<W> + Send + 'static,
) -> Result<(Vec<R>, Vec<W>), String>
where
    W: Send + Unpin + 'static,
    R: Send + Unpin + 'static,
    Of<W, R>: ToEnvelope<Parent<W, R>, Had<R>>,
{
    let (done, end) = oneshot::channel();
    let make = move || Parent {
        begin: Some(Box::new(begin)),
        workers: Vec::new(),
        p,
        reports: Vec::with_capacity(p),
        done: Some(done),
    };
    let _parent = places.start(0, p, make);
    end.await.map_err(gone)
}

struct Counter {
    n: u64,
    received: u64,
    parent: Recipient<Had<u64>>,
}

#[derive(Message)]
#[rtype(result = "()")]
struct Work;

impl Handler<Work> for Counter {
    type Result = ();

    fn handle(&mut self, Work: Work, _: &mut Context<Self>) {
        self.received += 1;
        if self.received == self.n {
            self.parent.do_send(Had(self.received));
        }
    }
}

async fn fork_join(places: &Places, p: usize, n: u64) -> Result<Outcome, String> {
    let begun = Instant::now();
    let of = places.clone();
    let begin = move |me: Addr<Parent<Addr<Counter>, u64>>| {
        let worker = |index| {
            let parent = me.clone().recipient();
            of.start(index, p, move || Counter { n, received: 0, parent })
        };
        let workers: Vec<_> = (0..p).map(worker).collect();
        for _ in 0..n {
            workers.iter().for_each(|worker| worker.do_send(Work));
        }
        workers
    };
    let (counts, workers) = parent(places, p, begin).await?;
    let outcome = Outcome::whole(begun.elapsed());
    drop(workers);
    counts.into_iter().try_for_each(|count| check("what a worker counted", count, n))?;
    Ok(outcome)
}

struct Child {
    index: usize,
    parent: Recipient<Had<usize>>,
}

impl Actor for Child {
    type Context = Context<Self>;

    fn started(&mut self, _: &mut Self::Context) {
        self.parent.do_send(Had(self.index));
    }
}

async fn create(places: &Places, p: usize) -> Result<Outcome, String> {
    let creation = Creation::begin()?;
    let of = places.clone();
    let begin = move |me: Addr<Parent<Addr<Child>, usize>>| {
        let child = |index| {
            let parent = me.clone().recipient();
            of.start(index, p, move || Child { index, parent })
        };
        (0..p).map(child).collect()
    };
    let (mut started, children) = parent(places, p, begin).await?;
    let outcome = creation.end(p)?;
    drop(children);
    started.sort_unstable();
    started.dedup();
    check("how many have started", started.len(), p)?;
    Ok(outcome)
}

struct BigWorker {
    index: usize,
    p: usize,
    tally: Tally,
    parent: Recipient<Had<(usize, u64)>>,
}

#[derive(Message)]
#[rtype(result = "()")]
struct Everybody(Arc<[Addr<BigWorker>]>);

#[derive(Message)]
#[rtype(result = "()")]
struct From(usize);

impl BigWorker {
    fn report(&self) {
        if let Some(senders) = self.tally.done(self.p) {
            self.parent.do_send(Had((self.index, senders)));
        }
    }
}

impl Handler<Everybody> for BigWorker {
    type Result = ();

    fn handle(&mut self, Everybody(all): Everybody, _: &mut Context<Self>) {
        let others = all.iter().enumerate().filter(|(other, _)| *other != self.index);
        others.for_each(|(_, other)| other.do_send(From(self.index)));
        self.tally.sent = true;
        self.report();
    }
}

impl Handler<From> for BigWorker {
    type Result = ();

    fn handle(&mut self, From(sender): From, _: &mut Context<Self>) {
        self.tally.take(sender);
        self.report();
    }
}

async fn big(places: &Places, p: usize) -> Result<Outcome, String> {
    let begun = Instant::now();
    let of = places.clone();
    let begin = move |me: Addr<Parent<Addr<BigWorker>, (usize, u64)>>| {
        let worker = |index| {
            let parent = me.clone().recipient();
            of.start(index, p, move || BigWorker { index, p, tally: Tally::default(), parent })
        };
        let workers: Arc<[Addr<BigWorker>]> = (0..p).map(worker).collect();
        workers.iter().for_each(|worker| worker.do_send(Everybody(workers.clone())));
        workers.to_vec()
    };
    let (reports, workers) = parent(places, p, begin).await?;
    let outcome = Outcome::whole(begun.elapsed());
    drop(workers);
    check_big(p, reports.into_iter())?;
    Ok(outcome)
}
