//! State machines and event handlers that use every callback and every action, each in the simplest way that shows it.

mod job;
mod phase;
mod switch;
mod tally;

pub use job::{Job, JobApi, JobEvent, JobTimeout};
pub use phase::Phase;
pub use switch::{Switch, SwitchApi};
pub use tally::{Doubled, DoubledApi, Owner, OwnerApi, Tally, TallyApi, with_events};

use otp::{Tree, one_for_one, supervisor, worker};

otp::application!(root);

/// A job under a supervisor, as any other process.
#[supervisor]
pub fn root() -> Tree {
    one_for_one().child(worker::<Job>("supervised".to_owned()).name("job"))
}
