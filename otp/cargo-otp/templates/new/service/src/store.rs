//! A store: a stock of something, with limited room.

use otp::{Data, Init, gen_server};

/// Holds a number of things.
#[derive(Data)]
pub struct Store {
    room: u64,
    held: u64,
}

#[gen_server]
impl Store {
    fn init(room: u64) -> Init<Self> {
        if room == 0 {
            return Err("a store without room is of no use".into());
        }
        Ok(Store { room, held: 0 })
    }

    /// Puts `number` in; what the store holds then, or why it does not take them.
    #[call]
    fn put(&mut self, number: u64) -> Result<u64, String> {
        let free = self.room - self.held;
        if number > free {
            return Err(format!("there is room for {free} more"));
        }
        self.held += number;
        Ok(self.held)
    }

    /// Takes `number` out; a store that does not hold as many gives what it has.
    #[call]
    fn take(&mut self, number: u64) -> u64 {
        let taken = number.min(self.held);
        self.held -= taken;
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_takes_what_it_has_room_for() {
        let mut store = Store { room: 10, held: 0 };
        assert_eq!(store.put(7), Ok(7));
        assert_eq!(store.put(4), Err("there is room for 3 more".into()));
        assert_eq!(store.take(20), 7);
        assert_eq!(store.take(1), 0);
    }

    // As a process: in an Erlang VM.
    #[otp::test]
    async fn a_store_without_room_does_not_start() {
        let store = Store::start_link(1).await.unwrap();
        assert_eq!(store.put(1).await.unwrap(), Ok(1));
        assert!(Store::start_link(0).await.is_err());
    }
}
