//! The pump on actix 0.13, as a good user would write it: an arbiter for each part, so that a part that blocks holds up no other;
//! the library's `Supervisor` around each part; drivers on threads that may block, one command at a time.
//!
//! - `Supervised` is that and no more: the watchdog tells a stuck part to stop, and the `Supervisor` starts the part anew.
//! - `Guarded` adds by hand what OTP has anyway, as much of it as this program needs: a part that is stuck or gone is replaced by
//!   another actor on another arbiter, addresses are looked up and not kept, and an actor that comes back from a hang finds out
//!   that it has been replaced.

use std::future::pending;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use actix::prelude::*;
use pump::faults::Part;
use pump::world::{Effect, MOST, TICK, World, control, is_plausible};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    Supervised,
    Guarded,
}

/// Runs the pump until its time is over; how it went.
pub fn run(mode: Mode) -> String {
    // Planned panics are no news.
    std::panic::set_hook(Box::new(|_| {}));
    System::new().block_on(async move {
        let post = Arc::new(Post { mode, places: Mutex::default() });
        [Part::Actuator, Part::Controller, Part::Sensor, Part::Watchdog].into_iter().for_each(|part| post.start(part));
        actix::clock::sleep(World::get().remaining()).await;
        World::get().verdict()
    })
}

/// Where the parts are reached.
struct Post {
    mode: Mode,
    places: Mutex<Places>,
}

#[derive(Default)]
struct Places {
    sensor: Option<Addr<Sensor>>,
    controller: Option<Addr<Controller>>,
    actuator: Option<Addr<Actuator>>,
    watchdog: Option<Addr<Watchdog>>,
    /// How often each part was started.
    started: [u64; 4],
}

impl Post {
    fn places(&self) -> MutexGuard<'_, Places> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts a part on an arbiter of its own; one that was there before is nobody from now on.
    fn start(self: &Arc<Self>, part: Part) {
        World::get().hear(part);
        let arbiter = Arbiter::new().handle();
        let mut places = self.places();
        places.started[part as usize] += 1;
        let role = Role { post: self.clone(), part, number: places.started[part as usize] };
        match part {
            Part::Sensor => {
                places.sensor = Some(Supervisor::start_in_arbiter(&arbiter, |_| Sensor { role, period: 0 }));
            }
            Part::Controller => {
                places.controller = Some(Supervisor::start_in_arbiter(&arbiter, |_| Controller { role, level: 80.0 }));
            }
            Part::Actuator => places.actuator = Some(Supervisor::start_in_arbiter(&arbiter, |_| Actuator { role })),
            Part::Watchdog => places.watchdog = Some(Supervisor::start_in_arbiter(&arbiter, |_| Watchdog { role })),
        }
    }

    /// Does what can be done about a part that is stuck.
    fn restart(self: &Arc<Self>, part: Part) {
        if self.mode == Mode::Guarded {
            return self.start(part);
        }
        let places = self.places();
        match part {
            Part::Sensor => places.sensor.iter().for_each(|address| address.do_send(Restart)),
            Part::Controller => places.controller.iter().for_each(|address| address.do_send(Restart)),
            Part::Actuator => places.actuator.iter().for_each(|address| address.do_send(Restart)),
            Part::Watchdog => places.watchdog.iter().for_each(|address| address.do_send(Restart)),
        }
        World::get().hear(part);
    }

    /// A part whose arbiter has gone with a panic.
    fn gone(&self) -> Option<Part> {
        fn is_gone<A: Actor>(address: &Option<Addr<A>>) -> bool {
            address.as_ref().is_some_and(|address| !address.connected())
        }
        let places = self.places();
        let gone = [is_gone(&places.sensor), is_gone(&places.controller), is_gone(&places.actuator)];
        [Part::Sensor, Part::Controller, Part::Actuator].into_iter().find(|part| gone[*part as usize])
    }

    fn controller(&self) -> Option<Addr<Controller>> {
        self.places().controller.clone()
    }

    fn actuator(&self) -> Option<Addr<Actuator>> {
        self.places().actuator.clone()
    }
}

/// What an actor is, for as long as no other is it.
#[derive(Clone)]
struct Role {
    post: Arc<Post>,
    part: Part,
    number: u64,
}

impl Role {
    /// Ends the arbiter of one that came back too late.
    fn is_over(&self) -> bool {
        let over = self.post.places().started[self.part as usize] != self.number;
        if over {
            Arbiter::current().stop();
        }
        over
    }

    fn hear(&self) {
        if !self.is_over() {
            World::get().hear(self.part);
        }
    }
}

/// Stop, to be started anew by the `Supervisor`.
#[derive(Message)]
#[rtype(result = "()")]
struct Restart;

#[derive(Message)]
#[rtype(result = "()")]
struct Measured {
    period: u64,
    level: f64,
}

#[derive(Message)]
#[rtype(result = "()")]
struct Dose {
    measured: u64,
    dose: f64,
}

macro_rules! supervised {
    ($($name:ident)*) => {$(
        impl Supervised for $name {
            fn restarting(&mut self, _: &mut Context<Self>) {
                World::get().hear(self.role.part);
            }
        }

        impl Handler<Restart> for $name {
            type Result = ();

            fn handle(&mut self, _: Restart, context: &mut Context<Self>) {
                context.stop();
            }
        }
    )*};
}

supervised! { Sensor Controller Actuator Watchdog }

/// Work of a driver: on a thread that may block, while the actor takes nothing else. `None` when it panicked.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    tokio::task::spawn_blocking(work).await.ok()
}

struct Sensor {
    role: Role,
    period: u64,
}

impl Actor for Sensor {
    type Context = Context<Self>;

    fn started(&mut self, context: &mut Context<Self>) {
        context.run_interval(TICK, Self::tick);
    }
}

impl Sensor {
    fn tick(&mut self, context: &mut Context<Self>) {
        let world = World::get();
        let now = world.now();
        if now == self.period || self.role.is_over() {
            return;
        }
        self.period = now;
        let work = blocking(move || (world.strike(Part::Sensor), world.level()));
        let done = async move {
            let (effect, level) = work.await?;
            if effect == Effect::Wait {
                pending::<()>().await;
            }
            Some((effect, level))
        };
        context.wait(done.into_actor(self).map(move |done, this, context| {
            let Some((effect, level)) = done else { return context.stop() };
            let level = if effect == Effect::Wrong { f64::NAN } else { level };
            if effect != Effect::Lost && !this.role.is_over() {
                this.role.post.controller().iter().for_each(|to| to.do_send(Measured { period: now, level }));
            }
            this.role.hear();
            if world.is_silent(Part::Watchdog) {
                this.role.post.restart(Part::Watchdog);
            }
        }));
    }
}

struct Controller {
    role: Role,
    level: f64,
}

impl Actor for Controller {
    type Context = Context<Self>;
}

impl Handler<Measured> for Controller {
    type Result = ();

    fn handle(&mut self, Measured { period, level }: Measured, context: &mut Context<Self>) {
        let effect = World::get().strike(Part::Controller);
        if self.role.is_over() {
            return;
        }
        if is_plausible(level) {
            self.level = level;
        }
        let dose = match effect {
            Effect::Nothing => Some(control(self.level)),
            Effect::Wrong => Some(MOST * 100.0),
            Effect::Lost => None,
            // What an actor awaits is beside its other messages unless it says otherwise, so those go on.
            Effect::Wait => {
                context.spawn(pending().into_actor(self));
                None
            }
        };
        if let Some(dose) = dose {
            self.role.post.actuator().iter().for_each(|to| to.do_send(Dose { measured: period, dose }));
        }
        self.role.hear();
    }
}

struct Actuator {
    role: Role,
}

impl Actor for Actuator {
    type Context = Context<Self>;
}

impl Handler<Dose> for Actuator {
    type Result = ();

    fn handle(&mut self, Dose { measured, dose }: Dose, context: &mut Context<Self>) {
        let world = World::get();
        let work = blocking(move || {
            let effect = world.strike(Part::Actuator);
            match effect {
                Effect::Nothing => world.dose(measured, dose),
                Effect::Wrong => world.dose(measured, f64::NAN),
                Effect::Lost | Effect::Wait => {}
            }
            effect
        });
        let done = async move {
            let effect = work.await?;
            if effect == Effect::Wait {
                pending::<()>().await;
            }
            Some(())
        };
        // A motor takes one command at a time.
        context.wait(done.into_actor(self).map(|done, this, context| match done {
            Some(()) => this.role.hear(),
            None => context.stop(),
        }));
    }
}

struct Watchdog {
    role: Role,
}

impl Actor for Watchdog {
    type Context = Context<Self>;

    fn started(&mut self, context: &mut Context<Self>) {
        context.run_interval(TICK, Self::tick);
    }
}

impl Watchdog {
    fn tick(&mut self, context: &mut Context<Self>) {
        let world = World::get();
        if self.role.is_over() {
            return;
        }
        let gone = (self.role.post.mode == Mode::Guarded).then(|| self.role.post.gone()).flatten();
        let stuck = match world.strike(Part::Watchdog) {
            Effect::Nothing => gone.or_else(|| world.stuck()),
            Effect::Wrong => Some(Part::Controller),
            Effect::Lost => None,
            Effect::Wait => {
                context.spawn(pending().into_actor(self));
                None
            }
        };
        if self.role.is_over() {
            return;
        }
        if let Some(part) = stuck {
            self.role.post.restart(part);
        }
        self.role.hear();
    }
}
