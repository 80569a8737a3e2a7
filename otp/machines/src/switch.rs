//! A state machine whose data has a form in Erlang, used from Rust.

use otp::{Data, Init, Step, gen_statem};

/// Counts how often it was switched.
#[derive(Data, Debug, PartialEq)]
pub struct Switch {
    count: u32,
}

#[gen_statem(state = bool)]
impl Switch {
    fn init(on: bool) -> Init<(bool, Self)> {
        Ok((on, Self { count: 0 }))
    }

    /// To the other state; whether it is on now.
    #[call]
    fn switch(&mut self, state: bool) -> Step<Self, bool> {
        self.count += 1;
        Step::to(!state).reply(!state)
    }

    #[call]
    fn count(&mut self, _state: bool) -> u32 {
        self.count
    }

    #[cast]
    fn add(&mut self, _state: bool, host: u32, request: u32) {
        self.count += host + request;
    }
}
