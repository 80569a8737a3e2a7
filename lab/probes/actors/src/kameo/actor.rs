//! An actor of kameo whose state is its arguments.

/// An actor that is made of its arguments as they are.
macro_rules! plain_actors {
    ($($name:ident),*) => {
        $(impl Actor for $name {
            type Args = Self;
            type Error = Infallible;

            async fn on_start(state: Self::Args, _: ActorRef<Self>) -> Result<Self, Self::Error> {
                Ok(state)
            }
        })*
    };
}
pub(super) use plain_actors;
