//! An actor of ractor whose state is its arguments, and the start of any actor.

use ractor::{Actor, ActorProcessingErr, ActorRef};

/// What the handler of a message gives.
pub type Handled = Result<(), ActorProcessingErr>;

/// An actor whose state is its arguments.
macro_rules! plain_actor {
    ($name:ident: $msg:ty, $state:ty, |$myself:pat_param, $message:pat_param, $of:pat_param| $body:expr) => {
        struct $name;

        impl Actor for $name {
            type Msg = $msg;
            type State = $state;
            type Arguments = $state;

            async fn pre_start(&self, _: ActorRef<$msg>, state: $state) -> Result<$state, ActorProcessingErr> {
                Ok(state)
            }

            async fn handle(&self, $myself: ActorRef<$msg>, $message: $msg, $of: &mut $state) -> Handled {
                $body
            }
        }
    };
}
pub(super) use plain_actor;

pub async fn spawn<A: Actor>(actor: A, arguments: A::Arguments) -> Result<ActorRef<A::Msg>, String> {
    let spawned = Actor::spawn(None, actor, arguments).await;
    spawned.map(|(actor, _)| actor).map_err(|e| format!("could not start an actor: {e}"))
}
