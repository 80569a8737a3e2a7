//! {{Name}}: a gen_event, which handles the events that are sent to an event manager.

use otp::{Data, Init, gen_event};

/// Something that happened.
#[derive(Clone, Debug, Data, PartialEq)]
pub enum {{Name}}Event {
    Began,
    Failed { why: String },
}

/// Remembers what failed.
#[derive(Data)]
pub struct {{Name}} {
    failures: Vec<String>,
}

#[gen_event]
impl {{Name}} {
    fn init() -> Init<Self> {
        Ok(Self {
            failures: Vec::new(),
        })
    }

    #[event]
    fn happened(&mut self, event: {{Name}}Event) {
        if let {{Name}}Event::Failed { why } = event {
            self.failures.push(why);
        }
    }

    /// Why something failed, the first time first.
    #[call]
    fn failures(&mut self) -> Vec<String> {
        self.failures.clone()
    }
}

#[cfg(test)]
mod tests {
    use otp::EventManager;

    use super::*;

    #[otp::test]
    async fn failures_are_remembered() {
        let events = EventManager::<{{Name}}Event>::start_link().await.unwrap();
        let handler = events.add_handler::<{{Name}}>(()).await.unwrap();
        events.notify({{Name}}Event::Began);
        events.notify({{Name}}Event::Failed {
            why: "no power".into(),
        });
        assert_eq!(handler.failures().await.unwrap(), ["no power"]);
    }
}
