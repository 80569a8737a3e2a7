//! The state machine of the door: locked until the code is typed, and locked again after a while.

use std::time::Duration;

use otp::{Caller, Data, Entered, EventManager, Init, Step, gen_statem};

use crate::Alarm;

/// Whether the door is open.
#[derive(Clone, Copy, Data, Debug, PartialEq, Eq)]
pub enum DoorState {
    Locked,
    Open,
    /// Nobody gets in for a while, whatever is typed.
    Blocked,
}

const STAYS_OPEN: Duration = Duration::from_millis(200);
const STAYS_BLOCKED: Duration = Duration::from_millis(300);

/// A door with a code lock.
#[derive(Data, Debug)]
pub struct Door {
    code: String,
    typed: String,
    wrong: u32,
    waiting: Vec<Caller<()>>,
}

#[gen_statem(state = DoorState)]
impl Door {
    fn init(code: String) -> Init<(DoorState, Self)> {
        if code.is_empty() || !code.chars().all(|digit| digit.is_ascii_digit()) {
            return Err("a code is made of digits".into());
        }
        Ok((DoorState::Locked, Door { code, typed: String::new(), wrong: 0, waiting: Vec::new() }))
    }

    /// Presses a button. What is pressed while the door is open counts when it is locked again.
    #[cast]
    fn button(&mut self, state: DoorState, digit: u8) -> Step<Self> {
        match state {
            DoorState::Open => Step::keep().postpone(),
            DoorState::Blocked => Step::keep(),
            DoorState::Locked => {
                self.typed += &digit.to_string();
                if self.typed.len() < self.code.len() {
                    return Step::keep();
                }
                if std::mem::take(&mut self.typed) == self.code {
                    self.wrong = 0;
                    return Step::to(DoorState::Open);
                }
                self.wrong += 1;
                if self.wrong < 3 { Step::keep() } else { Step::to(DoorState::Blocked) }
            }
        }
    }

    /// How many digits the code has.
    #[call]
    fn code_length(&mut self, _state: DoorState) -> usize {
        self.code.len()
    }

    /// Answered when the door is open.
    #[call]
    fn wait_until_open(&mut self, state: DoorState, caller: Caller<()>) -> Step<Self> {
        match state {
            DoorState::Open => Step::keep().reply_to(caller, ()),
            DoorState::Locked | DoorState::Blocked => {
                self.waiting.push(caller);
                Step::keep()
            }
        }
    }

    /// A new code, which only who is inside may set.
    #[call]
    fn change_code(&mut self, state: DoorState, code: String) -> Result<(), String> {
        match state {
            DoorState::Open => {
                self.code = code;
                Ok(())
            }
            DoorState::Locked | DoorState::Blocked => Err("the door is not open".to_owned()),
        }
    }

    #[enter]
    fn entered(&mut self, _from: DoorState, to: DoorState) -> Entered<Self> {
        match to {
            DoorState::Locked => Entered::keep(),
            DoorState::Open => {
                let entered = Entered::keep().state_timeout(STAYS_OPEN, DoorTimeout::Relock);
                self.waiting.drain(..).fold(entered, |entered, caller| entered.reply_to(caller, ()))
            }
            DoorState::Blocked => {
                EventManager::named("alarms").notify(Alarm::WrongCode { times: self.wrong });
                self.wrong = 0;
                Entered::keep().state_timeout(STAYS_BLOCKED, DoorTimeout::Relock)
            }
        }
    }

    /// The time of the state is over.
    #[timeout]
    fn relock(&mut self, _state: DoorState) -> Step<Self> {
        Step::to(DoorState::Locked)
    }
}
