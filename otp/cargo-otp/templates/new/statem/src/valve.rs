//! A valve: closed, open until as much water has flowed as was asked for, or stuck because none flows.

use std::time::Duration;

use otp::{Data, Entered, Init, Step, gen_statem};

/// What a valve does; what only matters while it does that stands with it.
#[derive(Clone, Debug, Data, PartialEq)]
pub enum State {
    Closed,
    /// So many litres are to flow yet.
    Open {
        left: u64,
    },
    /// No water came, and so many litres were not given. Somebody has to look.
    Stuck {
        missing: u64,
    },
}

/// What a valve knows in whatever state.
#[derive(Data)]
pub struct Valve {
    /// How long it waits for water.
    patience: Duration,
    /// The litres that flowed since the start.
    given: u64,
}

#[gen_statem(state = State)]
impl Valve {
    fn init(patience: Duration) -> Init<(State, Self)> {
        Ok((State::Closed, Valve { patience, given: 0 }))
    }

    /// Here it is moved; each litre that flows gives the next one as much time.
    #[enter]
    fn entered(&mut self, from: State, to: State) -> Entered<Self> {
        match to {
            State::Closed => println!("closed"),
            State::Open { .. } => {
                if from == State::Closed {
                    println!("open");
                }
                return Entered::keep().state_timeout(self.patience, ValveTimeout::Dry);
            }
            State::Stuck { missing } => println!("closed: no water, {missing} l are missing"),
        }
        Entered::keep()
    }

    /// Gives so many litres. Who asks while it gives some waits until it has.
    #[call]
    fn give(&mut self, state: State, litres: u64) -> Step<Self, Result<(), String>> {
        match state {
            State::Closed if litres == 0 => Step::keep().reply(Ok(())),
            State::Closed => Step::to(State::Open { left: litres }).reply(Ok(())),
            State::Open { .. } => Step::keep().postpone(),
            State::Stuck { missing } => {
                Step::keep().reply(Err(format!("no water: {missing} l are missing")))
            }
        }
    }

    /// The meter has seen so many litres.
    #[cast]
    fn flowed(&mut self, state: State, litres: u64) -> Step<Self> {
        self.given += litres;
        match state {
            State::Open { left } if left > litres => Step::to(State::Open {
                left: left - litres,
            }),
            State::Open { .. } => Step::to(State::Closed),
            State::Closed | State::Stuck { .. } => Step::keep(),
        }
    }

    /// Somebody has looked, and it may be opened again.
    #[call]
    fn repaired(&mut self, state: State) -> Step<Self, bool> {
        match state {
            State::Stuck { .. } => Step::to(State::Closed).reply(true),
            State::Closed | State::Open { .. } => Step::keep().reply(false),
        }
    }

    /// What it does now.
    #[call]
    fn state(&mut self, state: State) -> State {
        state
    }

    /// All litres that flowed since the start.
    #[call]
    fn given(&mut self, _state: State) -> u64 {
        self.given
    }

    /// It was open for as long as its patience lasts, and no water came.
    #[timeout]
    fn dry(&mut self, state: State) -> Step<Self> {
        match state {
            State::Open { left } => Step::to(State::Stuck { missing: left }),
            State::Closed | State::Stuck { .. } => Step::keep(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn water_counts_until_there_is_enough() {
        let mut valve = Valve {
            patience: Duration::from_secs(1),
            given: 0,
        };
        let step = valve.flowed(State::Open { left: 10 }, 4);
        assert_eq!(step.state(), Some(&State::Open { left: 6 }));
        let step = valve.flowed(State::Open { left: 6 }, 7);
        assert_eq!((step.state(), valve.given), (Some(&State::Closed), 11));
    }

    // As processes: in an Erlang VM.
    #[otp::test]
    async fn it_closes_when_all_has_flowed() {
        let valve = Valve::start_link(Duration::from_secs(60)).await.unwrap();
        assert_eq!(valve.give(5).await.unwrap(), Ok(()));
        valve.flowed(2);
        assert_eq!(valve.state().await.unwrap(), State::Open { left: 3 });
        valve.flowed(3);
        assert_eq!(valve.state().await.unwrap(), State::Closed);
        assert_eq!(valve.given().await.unwrap(), 5);
    }

    #[otp::test]
    async fn who_asks_meanwhile_waits_and_is_told_when_it_is_stuck() {
        let valve = Valve::start_link(Duration::from_millis(20)).await.unwrap();
        assert_eq!(valve.give(5).await.unwrap(), Ok(()));
        assert_eq!(
            valve.give(1).await.unwrap(),
            Err("no water: 5 l are missing".into())
        );
        assert_eq!(valve.state().await.unwrap(), State::Stuck { missing: 5 });
        assert!(valve.repaired().await.unwrap());
        assert_eq!(valve.give(1).await.unwrap(), Ok(()));
    }
}
