//! The programs written for ractor: an actor has one type of messages, an enum, and `cast` puts one into its mailbox.
//!
//! Mailboxes of ractor are always unbounded. Actors are linked to the actor that starts them where the program wants a
//! parent of all (Thread Ring, recover). The runtime is tokio's multi-threaded one with its default configuration.

mod actor;
mod serving;

use std::sync::Arc;
use std::time::Instant;

use ractor::{Actor, ActorProcessingErr, ActorRef};
use tokio::sync::oneshot;

use actor::{Handled, plain_actor, spawn};

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
        Program::Beside(_) => not_written("ractor"),
    }
}

// ---------------------------------------------------------------- PingPong

enum ToPlayer {
    Meet(ActorRef<ToPlayer>),
    Ball(u64),
}

struct PlayerState {
    other: Option<ActorRef<ToPlayer>>,
    received: u64,
    done: Done<u64>,
}

plain_actor!(Player: ToPlayer, PlayerState, |_, message, state| {
    match message {
        ToPlayer::Meet(other) => state.other = Some(other),
        ToPlayer::Ball(count) => {
            state.received += 1;
            if count == 0 {
                finish(&mut state.done, state.received);
            } else if let Some(other) = &state.other {
                other.cast(ToPlayer::Ball(count - 1))?;
            }
        }
    }
    Ok(())
});

async fn ping_pong(n: u64) -> Result<Outcome, String> {
    let begun = Instant::now();
    let (done, mut ends) = (oneshot::channel(), oneshot::channel());
    let ping = spawn(Player, PlayerState { other: None, received: 0, done: Some(done.0) }).await?;
    let pong = spawn(Player, PlayerState { other: Some(ping.clone()), received: 0, done: Some(ends.0) }).await?;
    ping.cast(ToPlayer::Meet(pong)).map_err(gone)?;
    ping.cast(ToPlayer::Ball(n)).map_err(gone)?;
    let received = tokio::select! {
        received = done.1 => received,
        received = &mut ends.1 => received,
    };
    let outcome = Outcome::whole(begun.elapsed());
    check("what the last one received", received.map_err(gone)?, rally_share(n))?;
    Ok(outcome)
}

// ---------------------------------------------------------------- Thread Ring

enum ToMember {
    Next(ActorRef<ToMember>),
    Token(u64),
}

struct MemberState {
    index: usize,
    next: Option<ActorRef<ToMember>>,
    parent: ActorRef<Last>,
}

struct Last(usize);

plain_actor!(Member: ToMember, MemberState, |_, message, state| {
    match (message, &state.next) {
        (ToMember::Next(next), _) => state.next = Some(next),
        (ToMember::Token(0), _) => state.parent.cast(Last(state.index))?,
        (ToMember::Token(count), Some(next)) => next.cast(ToMember::Token(count - 1))?,
        (ToMember::Token(_), None) => {}
    }
    Ok(())
});

struct Begin(ActorRef<ToMember>, u64);

plain_actor!(Starter: Begin, (), |_, Begin(first, n), ()| Ok(first.cast(ToMember::Token(n))?));

struct RingParent;

impl Actor for RingParent {
    type Msg = Last;
    type State = Done<usize>;
    type Arguments = (usize, u64, Done<usize>);

    async fn pre_start(
        &self,
        me: ActorRef<Last>,
        (p, n, done): Self::Arguments,
    ) -> Result<Self::State, ActorProcessingErr> {
        let member = async |index, next| {
            let state = MemberState { index, next, parent: me.clone() };
            Actor::spawn_linked(None, Member, state, me.get_cell()).await.map(|(member, _)| member)
        };
        // From the last to the first, so that each but the last knows the next when it begins.
        let last = member(p - 1, None).await?;
        let mut first = last.clone();
        for index in (0..p - 1).rev() {
            first = member(index, Some(first)).await?;
        }
        last.cast(ToMember::Next(first.clone()))?;
        let (starter, _) = Actor::spawn_linked(None, Starter, (), me.get_cell()).await?;
        starter.cast(Begin(first, n))?;
        Ok(done)
    }

    async fn handle(&self, _: ActorRef<Last>, Last(index): Last, done: &mut Self::State) -> Handled {
        finish(done, index);
        Ok(())
    }
}

async fn thread_ring(p: usize, n: u64) -> Result<Outcome, String> {
    let begun = Instant::now();
    let (done, end) = oneshot::channel();
    let _parent = spawn(RingParent, (p, n, Some(done))).await?;
    let last = end.await.map_err(gone)?;
    let outcome = Outcome::whole(begun.elapsed());
    check("who had the last message", last as u64, n % p as u64)?;
    Ok(outcome)
}

// ---------------------------------------------------------------- Fork-Join

struct Work;

struct CounterState {
    n: u64,
    received: u64,
    parent: ActorRef<Counted>,
}

struct Counted(u64);

plain_actor!(Counter: Work, CounterState, |_, Work, state| {
    state.received += 1;
    if state.received == state.n {
        state.parent.cast(Counted(state.received))?;
    }
    Ok(())
});

struct JoinParent;

struct JoinState {
    p: usize,
    counts: Vec<u64>,
    done: Done<Vec<u64>>,
}

impl Actor for JoinParent {
    type Msg = Counted;
    type State = JoinState;
    type Arguments = (usize, u64, Done<Vec<u64>>);

    async fn pre_start(
        &self,
        me: ActorRef<Counted>,
        (p, n, done): Self::Arguments,
    ) -> Result<JoinState, ActorProcessingErr> {
        let mut workers = Vec::with_capacity(p);
        for _ in 0..p {
            let state = CounterState { n, received: 0, parent: me.clone() };
            workers.push(Actor::spawn(None, Counter, state).await?.0);
        }
        for _ in 0..n {
            for worker in &workers {
                worker.cast(Work)?;
            }
        }
        Ok(JoinState { p, counts: Vec::with_capacity(p), done })
    }

    async fn handle(&self, _: ActorRef<Counted>, Counted(count): Counted, state: &mut JoinState) -> Handled {
        state.counts.push(count);
        if state.counts.len() == state.p {
            finish(&mut state.done, std::mem::take(&mut state.counts));
        }
        Ok(())
    }
}

async fn fork_join(p: usize, n: u64) -> Result<Outcome, String> {
    let begun = Instant::now();
    let (done, end) = oneshot::channel();
    let _parent = spawn(JoinParent, (p, n, Some(done))).await?;
    let counts = end.await.map_err(gone)?;
    let outcome = Outcome::whole(begun.elapsed());
    counts.into_iter().try_for_each(|count| check("what a worker counted", count, n))?;
    Ok(outcome)
}

// ---------------------------------------------------------------- creation

struct Started(usize);

type Children = Vec<ActorRef<()>>;

struct Child;

impl Actor for Child {
    type Msg = ();
    type State = ();
    type Arguments = (usize, ActorRef<Started>);

    async fn pre_start(&self, _: ActorRef<()>, (index, parent): Self::Arguments) -> Result<(), ActorProcessingErr> {
        Ok(parent.cast(Started(index))?)
    }
}

struct CreateParent;

struct CreateState {
    seen: Vec<bool>,
    started: usize,
    children: Children,
    done: Done<(Vec<bool>, Children)>,
}

impl Actor for CreateParent {
    type Msg = Started;
    type State = CreateState;
    type Arguments = (usize, Done<(Vec<bool>, Children)>);

    async fn pre_start(
        &self,
        me: ActorRef<Started>,
        (p, done): Self::Arguments,
    ) -> Result<CreateState, ActorProcessingErr> {
        let mut children = Vec::with_capacity(p);
        for index in 0..p {
            children.push(Actor::spawn(None, Child, (index, me.clone())).await?.0);
        }
        Ok(CreateState { seen: vec![false; p], started: 0, children, done })
    }

    async fn handle(&self, _: ActorRef<Started>, Started(index): Started, state: &mut CreateState) -> Handled {
        state.seen[index] = true;
        state.started += 1;
        if state.started == state.seen.len() {
            finish(&mut state.done, (std::mem::take(&mut state.seen), std::mem::take(&mut state.children)));
        }
        Ok(())
    }
}

async fn create(p: usize) -> Result<Outcome, String> {
    let creation = Creation::begin()?;
    let (done, end) = oneshot::channel();
    let _parent = spawn(CreateParent, (p, Some(done))).await?;
    let (seen, children) = end.await.map_err(gone)?;
    let outcome = creation.end(p)?;
    drop(children);
    check("how many have started", seen.iter().filter(|seen| **seen).count(), p)?;
    Ok(outcome)
}

// ---------------------------------------------------------------- Big

enum ToBig {
    Everybody(Arc<[ActorRef<ToBig>]>),
    From(usize),
}

struct BigState {
    index: usize,
    p: usize,
    tally: Tally,
    parent: ActorRef<Had>,
}

struct Had(usize, u64);

plain_actor!(BigWorker: ToBig, BigState, |_, message, state| {
    match message {
        ToBig::From(sender) => state.tally.take(sender),
        ToBig::Everybody(all) => {
            for (_, other) in all.iter().enumerate().filter(|(other, _)| *other != state.index) {
                other.cast(ToBig::From(state.index))?;
            }
            state.tally.sent = true;
        }
    }
    if let Some(senders) = state.tally.done(state.p) {
        state.parent.cast(Had(state.index, senders))?;
    }
    Ok(())
});

struct BigParent;

struct BigParentState {
    p: usize,
    reports: Vec<(usize, u64)>,
    done: Done<Vec<(usize, u64)>>,
}

impl Actor for BigParent {
    type Msg = Had;
    type State = BigParentState;
    type Arguments = (usize, Done<Vec<(usize, u64)>>);

    async fn pre_start(
        &self,
        me: ActorRef<Had>,
        (p, done): Self::Arguments,
    ) -> Result<BigParentState, ActorProcessingErr> {
        let mut workers = Vec::with_capacity(p);
        for index in 0..p {
            let state = BigState { index, p, tally: Tally::default(), parent: me.clone() };
            workers.push(Actor::spawn(None, BigWorker, state).await?.0);
        }
        let workers: Arc<[ActorRef<ToBig>]> = workers.into();
        for worker in workers.iter() {
            worker.cast(ToBig::Everybody(workers.clone()))?;
        }
        Ok(BigParentState { p, reports: Vec::with_capacity(p), done })
    }

    async fn handle(&self, _: ActorRef<Had>, Had(worker, senders): Had, state: &mut BigParentState) -> Handled {
        state.reports.push((worker, senders));
        if state.reports.len() == state.p {
            finish(&mut state.done, std::mem::take(&mut state.reports));
        }
        Ok(())
    }
}

async fn big(p: usize) -> Result<Outcome, String> {
    let begun = Instant::now();
    let (done, end) = oneshot::channel();
    let _parent = spawn(BigParent, (p, Some(done))).await?;
    let reports = end.await.map_err(gone)?;
    let outcome = Outcome::whole(begun.elapsed());
    check_big(p, reports.into_iter())?;
    Ok(outcome)
}
