//! The programs about servers, written for ractor: the clients of one, and the replacement of one that has panicked.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ractor::{Actor, ActorProcessingErr, ActorRef, RpcReplyPort, SupervisionEvent, call};

use super::actor::{Handled, plain_actor, spawn};
use crate::clients;
use crate::program::{Outcome, gone, silence_panics};

enum ToServer {
    Successor(u64, RpcReplyPort<u64>),
}

plain_actor!(Server: ToServer, (), |_, ToServer::Successor(value, reply), ()| Ok(reply.send(value + 1)?));

async fn request(server: ActorRef<ToServer>, value: u64) -> Result<u64, String> {
    call!(server, ToServer::Successor, value).map_err(gone)
}

pub async fn ask(asks: u64, others: usize) -> Result<Outcome, String> {
    let server = spawn(Server, ()).await?;
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
    Who(RpcReplyPort<u64>),
}

plain_actor!(Mortal: ToMortal, u64, |_, message, incarnation| {
    match message {
        ToMortal::Die => panic!("told to"),
        ToMortal::Who(reply) => Ok(reply.send(*incarnation)?),
    }
});

/// ractor tells a parent that its child has failed; what to do then is for the parent to write.
struct Keeper;

enum ToKeeper {
    Child(RpcReplyPort<ActorRef<ToMortal>>),
}

struct KeeperState {
    child: ActorRef<ToMortal>,
    born: u64,
}

impl Actor for Keeper {
    type Msg = ToKeeper;
    type State = KeeperState;
    type Arguments = ();

    async fn pre_start(&self, me: ActorRef<ToKeeper>, (): ()) -> Result<KeeperState, ActorProcessingErr> {
        let (child, _) = Actor::spawn_linked(None, Mortal, 0, me.get_cell()).await?;
        Ok(KeeperState { child, born: 1 })
    }

    async fn handle(&self, _: ActorRef<ToKeeper>, message: ToKeeper, state: &mut KeeperState) -> Handled {
        let ToKeeper::Child(reply) = message;
        Ok(reply.send(state.child.clone())?)
    }

    async fn handle_supervisor_evt(
        &self,
        me: ActorRef<ToKeeper>,
        event: SupervisionEvent,
        state: &mut KeeperState,
    ) -> Handled {
        if let SupervisionEvent::ActorFailed(..) = event {
            state.child = Actor::spawn_linked(None, Mortal, state.born, me.get_cell()).await?.0;
            state.born += 1;
        }
        Ok(())
    }
}

pub async fn recover(crashes: u64) -> Result<Outcome, String> {
    silence_panics();
    let keeper = spawn(Keeper, ()).await?;
    let child = async || call!(keeper, ToKeeper::Child).map_err(gone);
    let crash = || async { child().await?.cast(ToMortal::Die).map_err(gone) };
    let who = || async {
        let child = child().await?;
        call!(child, ToMortal::Who).map_err(gone)
    };
    Ok(Outcome::samples(clients::recoveries(crashes, crash, who).await?))
}
