//! The pump on OTP. A part does not know how the others are started anew, or that they are: it sends to names.
//!
//! Work that may hang, a driver that blocks or a computation that takes too long, is done on dirty schedulers: the process is
//! killed there at once, while its thread comes back when the work does. Work that hangs on an ordinary scheduler (`plain`) holds
//! up every other process on that scheduler, and its own process ends when the work comes back and not before.

use std::future::pending;
use std::time::Duration;

use otp::time::{Tick, Ticker, Timer};
use otp::{Caller, Data, Init, Pid, Server, gen_server, on_dirty_io};

use crate::faults::Part;
use crate::world::{Effect, MOST, TICK, World, control, is_plausible};

/// Measures once a period.
#[derive(Debug)]
pub struct Sensor {
    _ticker: Ticker,
    period: u64,
}

#[gen_server]
impl Sensor {
    fn init() -> Init<Self> {
        World::get().hear(Part::Sensor);
        Ok(Sensor { _ticker: Ticker::every(TICK)?, period: 0 })
    }

    #[info]
    async fn tick(&mut self, _tick: Tick) {
        let world = World::get();
        let now = world.now();
        if now == self.period {
            return;
        }
        self.period = now;
        let (effect, level) = may_hang(move || (world.strike(Part::Sensor), world.level())).await;
        let controller = Server::<Controller>::named("controller");
        match effect {
            Effect::Nothing => controller.measured(now, level),
            Effect::Wrong => controller.measured(now, f64::NAN),
            Effect::Lost => {}
            Effect::Wait => pending().await,
        }
        world.hear(Part::Sensor);
        // Somebody has to look after who looks after the others.
        if world.is_silent(Part::Watchdog) {
            kill(Part::Watchdog);
        }
    }
}

/// Decides how much.
#[derive(Debug)]
pub struct Controller {
    /// The last measurement that could be.
    level: f64,
}

#[gen_server]
impl Controller {
    fn init() -> Init<Self> {
        World::get().hear(Part::Controller);
        Ok(Controller { level: 80.0 })
    }

    #[cast]
    async fn measured(&mut self, period: u64, level: f64) {
        let world = World::get();
        let effect = may_hang(|| world.strike(Part::Controller)).await;
        if is_plausible(level) {
            self.level = level;
        }
        let actuator = Server::<Actuator>::named("actuator");
        match effect {
            Effect::Nothing => actuator.dose(period, control(self.level)),
            Effect::Wrong => actuator.dose(period, MOST * 100.0),
            Effect::Lost => {}
            Effect::Wait => pending().await,
        }
        world.hear(Part::Controller);
    }
}

/// Drives the motor.
#[derive(Debug)]
pub struct Actuator;

#[gen_server]
impl Actuator {
    fn init() -> Init<Self> {
        World::get().hear(Part::Actuator);
        Ok(Actuator)
    }

    #[cast]
    async fn dose(&mut self, measured: u64, dose: f64) {
        let world = World::get();
        let effect = may_hang(move || {
            let effect = world.strike(Part::Actuator);
            match effect {
                Effect::Nothing => world.dose(measured, dose),
                Effect::Wrong => world.dose(measured, f64::NAN),
                Effect::Lost | Effect::Wait => {}
            }
            effect
        })
        .await;
        if effect == Effect::Wait {
            pending().await
        }
        world.hear(Part::Actuator);
    }
}

/// Ends a part that is stuck; the supervisor starts it anew.
#[derive(Debug)]
pub struct Watchdog {
    _ticker: Ticker,
    alarms: u64,
}

#[gen_server]
impl Watchdog {
    fn init() -> Init<Self> {
        World::get().hear(Part::Watchdog);
        Ok(Watchdog { _ticker: Ticker::every(TICK)?, alarms: 0 })
    }

    /// How often it ended a part.
    #[call]
    fn alarms(&mut self) -> u64 {
        self.alarms
    }

    #[info]
    async fn tick(&mut self, _tick: Tick) {
        let world = World::get();
        let stuck = match may_hang(|| world.strike(Part::Watchdog)).await {
            Effect::Nothing => world.stuck(),
            Effect::Wrong => Some(Part::Controller),
            Effect::Lost => None,
            Effect::Wait => pending().await,
        };
        if let Some(part) = stuck {
            self.alarms += 1;
            kill(part);
            // The next one gets its time.
            world.hear(part);
        }
        world.hear(Part::Watchdog);
    }
}

/// Does what the fault may be in.
async fn may_hang<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    if World::get().dirty { on_dirty_io(work).await } else { work() }
}

fn kill(part: Part) {
    let name = match part {
        Part::Sensor => "sensor",
        Part::Controller => "controller",
        Part::Actuator => "actuator",
        Part::Watchdog => "watchdog",
    };
    if let Some(process) = Pid::registered(name) {
        otp::kill(&process);
    }
}

/// Says how it went when all is over.
#[derive(Debug)]
pub struct Judge {
    asked: Vec<Caller<String>>,
}

/// All is over.
#[derive(Data, Debug)]
pub struct Over;

#[gen_server]
impl Judge {
    fn init() -> Init<Self> {
        Timer::after(World::get().remaining() + Duration::from_millis(50), &Over);
        Ok(Judge { asked: Vec::new() })
    }

    /// How it went, as `World::verdict` writes it. Answered at the end.
    #[call]
    fn verdict(&mut self, caller: Caller<String>) {
        if World::get().remaining().is_zero() {
            caller.reply(World::get().verdict());
        } else {
            self.asked.push(caller);
        }
    }

    #[info]
    fn over(&mut self, _over: Over) {
        for caller in self.asked.drain(..) {
            caller.reply(World::get().verdict());
        }
    }
}
