//! {{Name}}: a gen_statem.

use std::time::Duration;

use otp::{Data, Entered, Init, Step, gen_statem};

/// What it is in; what only matters there stands with it.
#[derive(Clone, Debug, Data, PartialEq)]
pub enum State {
    Idle,
    Busy { on: String },
}

/// Does one thing at a time.
#[derive(Data)]
pub struct {{Name}} {
    done: u64,
}

#[gen_statem(state = State)]
impl {{Name}} {
    fn init() -> Init<(State, Self)> {
        Ok((State::Idle, Self { done: 0 }))
    }

    /// Whatever it works on takes a tenth of a second.
    #[enter]
    fn entered(&mut self, _from: State, to: State) -> Entered<Self> {
        match to {
            State::Idle => Entered::keep(),
            State::Busy { .. } => {
                Entered::keep().state_timeout(Duration::from_millis(100), {{Name}}Timeout::Finish)
            }
        }
    }

    /// Works `on` this, now or when it is idle again.
    #[cast]
    fn work(&mut self, state: State, on: String) -> Step<Self> {
        match state {
            State::Idle => Step::to(State::Busy { on }),
            State::Busy { .. } => Step::keep().postpone(),
        }
    }

    /// Answers with how much was done, when it is idle.
    #[call]
    fn done(&mut self, state: State) -> Step<Self, u64> {
        match state {
            State::Idle => Step::keep().reply(self.done),
            State::Busy { .. } => Step::keep().postpone(),
        }
    }

    /// The time of the state is over.
    #[timeout]
    fn finish(&mut self, _state: State) -> Step<Self> {
        self.done += 1;
        Step::to(State::Idle)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[otp::test]
    async fn one_thing_is_done_after_the_other() {
        let machine = {{Name}}::start_link().await.unwrap();
        machine.work("this".into());
        assert_eq!(machine.done().await.unwrap(), 1);
        machine.work("that".into());
        assert_eq!(machine.done().await.unwrap(), 2);
    }
}
