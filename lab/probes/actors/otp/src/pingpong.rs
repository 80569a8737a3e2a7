//! Ping-pong: two actors and one message.

use std::time::Instant;

use otp::{Address, Init, Mailbox, Server, gen_server};

use crate::program::{Params, Parts, check, failed, whole};

/// Has the ball, or waits for it.
#[derive(Debug)]
pub struct Player {
    main: Address<u64>,
    other: Option<Server<Player>>,
    received: u64,
}

#[gen_server]
impl Player {
    fn init(main: Address<u64>, other: Option<Server<Player>>) -> Init<Self> {
        Ok(Player { main, other, received: 0 })
    }

    #[cast]
    fn meet(&mut self, other: Server<Player>) {
        self.other = Some(other);
    }

    #[cast]
    fn ball(&mut self, count: u64) {
        self.received += 1;
        match &self.other {
            Some(other) if count > 0 => other.ball(count - 1),
            _ => self.main.send(&self.received),
        }
    }
}

pub(crate) async fn run(params: &Params) -> Result<Parts, String> {
    let n = params.number("n")?;
    let began = Instant::now();
    let mut main = Mailbox::new().await.map_err(failed)?;
    let ping = Player::start_link(main.address(), None).await.map_err(failed)?;
    let pong = Player::start_link(main.address(), Some(ping.clone())).await.map_err(failed)?;
    ping.meet(pong);
    ping.ball(n);
    let received: u64 = main.receive().await.map_err(failed)?;
    let parts = whole(began);
    check("what the last one received", &received, &(n / 2 + 1))?;
    Ok(parts)
}
