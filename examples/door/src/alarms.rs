//! Alarms, and the event handler that records them.

use otp::{Data, Init, gen_event};

/// Something that somebody should know of.
#[derive(Clone, Data, Debug, PartialEq, Eq)]
pub enum Alarm {
    WrongCode { times: u32 },
    Smoke,
}

/// Notes the alarms.
#[derive(Data, Debug)]
pub struct AlarmLog {
    alarms: Vec<Alarm>,
}

#[gen_event]
impl AlarmLog {
    fn init() -> Init<Self> {
        Ok(AlarmLog { alarms: Vec::new() })
    }

    #[event]
    fn alarm(&mut self, alarm: Alarm) {
        self.alarms.push(alarm);
    }

    /// The alarms until now, the first one first.
    #[call]
    fn alarms(&mut self) -> Vec<Alarm> {
        self.alarms.clone()
    }
}
