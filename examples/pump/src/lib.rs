//! A pump that must not stop: a sensor measures, a controller decides, an actuator doses, every 10 ms, and a watchdog looks after
//! them.
//!
//! The pump is made to be broken. A plan of faults (`faults`) has each part panic, hang, wait for ever, send a wrong value, or
//! send nothing. `world` is the hardware that the parts work on, which no fault touches; it also judges in how many periods the
//! actuator got a command that was fresh and valid. `parts` is the application on OTP; `examples/pump/actix` is the same for
//! actix. docs/otp-safety.md has the figures.

pub mod faults;
mod parts;
pub mod world;

pub use parts::{Actuator, ActuatorApi, Controller, ControllerApi, Judge, JudgeApi, Sensor, Watchdog, WatchdogApi};

use std::time::Duration;

use otp::{Args, Tree, one_for_one, rest_for_one, supervisor, worker};

use crate::faults::Plan;
use crate::world::World;

otp::application!(root);

/// The judge, who must not be lost with the rest, and the pump. The command line gives the seed of the faults, how many there are,
/// and `plain` for a pump that does everything on the schedulers that all processes share.
#[supervisor]
pub fn root(args: Args) -> Tree {
    let number = |at: usize, or: u64| args.0.get(at).map_or(or, |text| text.parse().expect("a number"));
    let mut world = World::new(Plan::new(number(0, 1), number(1, 0) as usize));
    world.dirty = args.0.get(2).is_none_or(|how| how != "plain");
    World::install(world);
    one_for_one().child(worker::<Judge>(()).name("judge")).child(supervisor::<treatment>(()))
}

/// What comes later sends to what came before, so it is started anew with it.
#[supervisor]
pub fn treatment() -> Tree {
    rest_for_one()
        .intensity(200, Duration::from_secs(10))
        .child(worker::<Actuator>(()).name("actuator"))
        .child(worker::<Controller>(()).name("controller"))
        .child(worker::<Sensor>(()).name("sensor"))
        .child(worker::<Watchdog>(()).name("watchdog"))
}
