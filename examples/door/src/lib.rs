//! A door with a code lock, and a log of its alarms: a state machine and an event handler, under a supervisor.

mod alarms;
mod lock;

pub use alarms::{Alarm, AlarmLog, AlarmLogApi};
pub use lock::{Door, DoorApi, DoorState, DoorTimeout};

use otp::{Args, Data, EventManager, Init, Tree, events, gen_server, one_for_all, supervisor, worker};

otp::application!(root);

/// Adds the log to the manager of alarms. Both end together, so the log is there whenever the manager is.
#[derive(Data, Debug)]
pub struct Guard;

#[gen_server]
impl Guard {
    async fn init() -> Init<Self> {
        EventManager::<Alarm>::named("alarms").add_sup_handler::<AlarmLog>(()).await?;
        Ok(Self)
    }
}

/// The manager of alarms, the log, and the door, whose code the command line gives.
#[supervisor]
pub fn root(args: Args) -> Tree {
    let code = args.0.first().cloned().unwrap_or_else(|| "1234".to_owned());
    one_for_all()
        .child(events::<Alarm>("alarms"))
        .child(worker::<Guard>(()))
        .child(worker::<Door>(code).name("front_door"))
}
