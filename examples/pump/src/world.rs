//! The world that the parts work on and no fault touches: the patient, the motor with its interlock, a register of when each part
//! was last heard of, and the record by which a run is judged. On a device this is hardware.

use std::fmt::Write as _;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::faults::{HANG, Kind, Part, Plan};

/// How often a command is due.
pub const PERIOD: Duration = Duration::from_millis(10);

/// How often the sensor and the watchdog look at the clock.
pub const TICK: Duration = Duration::from_millis(2);

/// A command is fresh for so many periods after its measurement.
const FRESH: u64 = 2;

/// A part that was not heard of for so many periods is stuck.
const PATIENCE: u64 = 5;

/// The most that a period may dose.
pub const MOST: f64 = 2.0;

/// What is left of a fault for the handler to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    Nothing,
    Wait,
    Wrong,
    Lost,
}

#[derive(Debug)]
pub struct World {
    plan: Plan,
    /// Whether what may hang runs on dirty schedulers, on OTP.
    pub dirty: bool,
    began: Instant,
    /// For each period, whether the motor took a command in it.
    given: Vec<AtomicBool>,
    /// For each part, the period in which it last came to an end of its work.
    heard: [AtomicU64; 4],
}

static INSTALLED: OnceLock<World> = OnceLock::new();

impl World {
    pub fn new(plan: Plan) -> Self {
        let given = (0..plan.periods()).map(|_| AtomicBool::new(false)).collect();
        Self { plan, dirty: true, began: Instant::now(), given, heard: Default::default() }
    }

    /// Makes it the one of this program, if there is none.
    pub fn install(world: Self) {
        let _ = INSTALLED.set(world);
    }

    /// # Panics
    /// When none was installed.
    pub fn get() -> &'static Self {
        INSTALLED.get().expect("the world is there before its parts")
    }

    /// The number of the period.
    pub fn now(&self) -> u64 {
        (self.began.elapsed().as_nanos() / PERIOD.as_nanos()) as u64
    }

    /// How long until all is over.
    pub fn remaining(&self) -> Duration {
        (PERIOD * self.given.len() as u32).saturating_sub(self.began.elapsed())
    }

    /// Has the part fail if that is planned: panics and hangs here, and says what the handler is to do.
    pub fn strike(&self, part: Part) -> Effect {
        match self.plan.take(part, self.now()) {
            None => Effect::Nothing,
            Some(Kind::Panic) => panic!("the {part:?} panics, as planned"),
            Some(Kind::Hang) => {
                std::thread::sleep(HANG);
                Effect::Nothing
            }
            Some(Kind::Wait) => Effect::Wait,
            Some(Kind::Wrong) => Effect::Wrong,
            Some(Kind::Lost) => Effect::Lost,
        }
    }

    /// What the sensor measures: it goes up and down.
    pub fn level(&self) -> f64 {
        120.0 + 40.0 * (self.began.elapsed().as_secs_f64() * 3.0).sin()
    }

    /// The motor. Its interlock takes no dose that cannot be, or that answers to a measurement too long ago.
    pub fn dose(&self, measured: u64, dose: f64) {
        let now = self.now();
        let valid = dose.is_finite() && (0.0..=MOST).contains(&dose);
        let fresh = measured <= now && now - measured <= FRESH;
        if let (true, Some(given)) = (valid && fresh, self.given.get(now as usize)) {
            given.store(true, Ordering::Release);
        }
    }

    /// The part has come to an end of its work, or has begun anew.
    pub fn hear(&self, part: Part) {
        self.heard[part as usize].store(self.now(), Ordering::Release);
    }

    pub fn is_silent(&self, part: Part) -> bool {
        self.now() > self.heard[part as usize].load(Ordering::Acquire) + PATIENCE
    }

    /// The part that holds up the others: the first that is silent, as those after it get nothing.
    pub fn stuck(&self) -> Option<Part> {
        [Part::Sensor, Part::Controller, Part::Actuator].into_iter().find(|part| self.is_silent(*part))
    }

    /// How it went, as lines of words:
    ///
    /// - `periods N given N longest N`: of the periods after the first 30, in which all starts, in how many the motor got a command,
    ///   and how many in a row it got none at the most;
    /// - `came N`: how many of the planned faults came about, which those of a part that is gone do not;
    /// - for each fault, `fault PART KIND missed N`: how many it got none in up to the next fault.
    pub fn verdict(&self) -> String {
        const START: usize = 30;
        let given: Vec<bool> = self.given.iter().map(|given| given.load(Ordering::Acquire)).collect();
        let judged = &given[START..];
        let longest = judged.split(|given| *given).map(<[bool]>::len).max().unwrap_or(0);
        let mut text =
            format!("periods {} given {} longest {longest}\n", judged.len(), judged.iter().filter(|g| **g).count());
        let _ = writeln!(text, "came {}", self.plan.came());
        let faults = self.plan.faults();
        for (n, fault) in faults.iter().enumerate() {
            let next = faults.get(n + 1).map_or(given.len(), |next| next.period as usize);
            let missed = given[fault.period as usize..next].iter().filter(|given| !**given).count();
            let _ = writeln!(text, "fault {:?} {:?} missed {missed}", fault.part, fault.kind);
        }
        text
    }
}

/// What the controller makes of a measurement: more where there is more.
pub fn control(level: f64) -> f64 {
    ((level - 80.0) / 50.0).clamp(0.0, MOST)
}

/// Whether a measurement can be.
pub fn is_plausible(level: f64) -> bool {
    level.is_finite() && (10.0..1000.0).contains(&level)
}
