//! Behaviours of every kind whose -specs use types of their own, which callers refer to by name; some of the names are taken.

use std::collections::HashMap;
use std::time::Duration;

use otp::{
    CallError, Data, Entered, Handled, Init, Server, Step, Tree, gen_event, gen_server, gen_statem, one_for_one, pool,
    supervisor, time, worker,
};

/// What a sensor found.
#[derive(Clone, Debug, Data)]
pub struct Reading {
    sensor: String,
    value: i32,
    #[otp(default)]
    quality: Quality,
}

#[derive(Clone, Copy, Debug, Default, Data)]
pub enum Quality {
    #[default]
    Good,
    Doubtful(u8),
}

/// The same name is another type's.
pub mod legacy {
    use otp::Data;

    #[derive(Clone, Debug, Data)]
    pub struct Reading(pub i32, pub i32);
}

/// Sensors that belong together, and groups of such.
#[derive(Clone, Debug, Data)]
pub struct Group {
    name: String,
    groups: Vec<Group>,
}

/// A part of many.
#[derive(Clone, Debug, Data)]
pub struct Page<T> {
    items: Vec<T>,
    #[otp(default)]
    next: Option<usize>,
}

/// Names that Erlang has, and that its module has.
pub mod taken {
    use otp::Data;

    #[derive(Clone, Debug, Data)]
    pub struct Map {
        pub width: u16,
    }

    #[derive(Clone, Debug, Data)]
    #[otp(record, rename = "server")]
    pub struct Host {
        pub port: u16,
    }
}

#[derive(Clone, Debug, Data)]
pub struct Settings {
    limit: usize,
}

#[supervisor(module = "stations")]
pub fn stations(settings: Settings) -> Tree {
    one_for_one().child(worker::<Station>(settings)).child(pool::<Valve>().name("valves"))
}

/// Keeps readings.
#[derive(Debug, Data)]
pub struct Station {
    limit: usize,
    readings: Vec<Reading>,
}

#[gen_server(module = "station")]
impl Station {
    fn init(settings: Settings) -> Init<Self> {
        Ok(Self { limit: settings.limit.min(1000), readings: Vec::new() })
    }

    /// Keeps one more, and says how many there are.
    #[call]
    fn keep(&mut self, reading: Reading) -> usize {
        self.readings.truncate(self.limit);
        self.readings.push(reading);
        self.readings.len()
    }

    #[cast]
    fn note(&mut self, reading: Reading) {
        self.keep(reading);
    }

    #[call]
    fn last(&mut self) -> Option<Reading> {
        self.readings.last().cloned()
    }

    #[call]
    fn page(&mut self, from: usize) -> Page<Reading> {
        Page { items: self.readings.iter().skip(from).take(10).cloned().collect(), next: from.checked_add(10) }
    }

    #[call]
    fn as_before(&mut self, reading: Reading) -> Result<legacy::Reading, String> {
        let sensor = reading.sensor.parse().map_err(|_| "its sensor has no number")?;
        Ok(legacy::Reading(sensor, reading.value))
    }

    #[call]
    fn regroup(&mut self, group: Group) -> HashMap<String, Group> {
        group.groups.into_iter().map(|group| (group.name.clone(), group)).collect()
    }

    #[call]
    fn taken(&mut self, map: taken::Map) -> taken::Host {
        taken::Host { port: map.width }
    }

    /// Waits first.
    #[call]
    async fn later(&mut self, reading: Reading) -> Reading {
        time::sleep(Duration::from_millis(1)).await;
        reading
    }

    /// What another one has.
    #[call]
    async fn of_other(&mut self, other: Server<Self>) -> Result<Page<Reading>, CallError> {
        other.page(0).within(Duration::from_millis(20)).await
    }
}

/// What a valve is doing.
#[derive(Clone, Debug, Data)]
pub enum State {
    Closed,
    Open(Data_),
}

/// What goes through it.
#[derive(Clone, Debug, Data)]
#[otp(rename = "data")]
pub struct Data_ {
    litres: u32,
}

#[derive(Debug, Data)]
pub struct Valve {
    opened: u32,
}

#[gen_statem(state = State, module = "valve")]
impl Valve {
    fn init(state: State) -> Init<(State, Self)> {
        Ok((state, Self { opened: 0 }))
    }

    #[enter]
    fn entered(&mut self, _from: State, to: State) -> Entered<Self> {
        match to {
            State::Closed => Entered::keep(),
            State::Open(_) => Entered::keep().state_timeout(Duration::from_secs(60), ValveTimeout::Shut),
        }
    }

    #[call]
    fn open(&mut self, state: State, flow: Data_) -> Step<Self, State> {
        self.opened = self.opened.saturating_add(1);
        Step::to(State::Open(flow)).next_event(ValveEvent::Opened(self.opened)).reply(state)
    }

    #[call]
    async fn later(&mut self, state: State) -> Step<Self, State> {
        time::sleep(Duration::from_millis(1)).await;
        Step::keep().reply(state)
    }

    #[cast]
    fn close(&mut self, _state: State) -> Step<Self> {
        Step::to(State::Closed)
    }

    #[event]
    fn opened(&mut self, _state: State, count: u32) {
        self.opened = count;
    }

    #[timeout]
    fn shut(&mut self, _state: State) -> Step<Self> {
        Step::to(State::Closed)
    }
}

/// What goes wrong.
#[derive(Clone, Debug, Data)]
pub enum Event {
    Broken { reading: Reading },
    Repaired,
}

/// Counts what goes wrong.
#[derive(Debug, Data)]
pub struct Alarms {
    broken: u32,
    limit: Settings,
}

#[gen_event(module = "alarms")]
impl Alarms {
    fn init(limit: Settings) -> Init<Self> {
        Ok(Self { broken: 0, limit })
    }

    #[event]
    async fn event(&mut self, event: Event) -> Handled<Self> {
        match event {
            Event::Broken { .. } => self.broken = self.broken.saturating_add(1),
            Event::Repaired => time::sleep(Duration::from_millis(1)).await,
        }
        Handled::keep()
    }

    #[call]
    fn limits(&mut self) -> Page<Settings> {
        Page { items: vec![self.limit.clone()], next: None }
    }

    #[terminate]
    fn end(&mut self) -> u32 {
        self.broken
    }
}
