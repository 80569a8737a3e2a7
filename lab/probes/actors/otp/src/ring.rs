//! Thread ring: actors in a ring pass a token on.

use std::time::Instant;

use otp::{Address, Init, Mailbox, Server, gen_server};

use crate::program::{Params, Parts, check, failed, whole};

/// One in the ring.
#[derive(Debug)]
pub struct Member {
    parent: Server<RingParent>,
    index: u64,
    next: Option<Server<Member>>,
}

#[gen_server]
impl Member {
    fn init(parent: Server<RingParent>, index: u64, next: Option<Server<Member>>) -> Init<Self> {
        Ok(Member { parent, index, next })
    }

    #[cast]
    fn next(&mut self, next: Server<Member>) {
        self.next = Some(next);
    }

    #[cast]
    fn token(&mut self, count: u64) {
        match &self.next {
            Some(next) if count > 0 => next.token(count - 1),
            _ => self.parent.last(self.index),
        }
    }
}

/// Gives the token to the first.
#[derive(Debug)]
pub struct Starter {
    first: Server<Member>,
}

#[gen_server]
impl Starter {
    fn init(first: Server<Member>) -> Init<Self> {
        Ok(Starter { first })
    }

    #[cast]
    fn start(&mut self, n: u64) {
        self.first.token(n);
    }
}

/// Makes the ring.
#[derive(Debug)]
pub struct RingParent {
    main: Address<u64>,
    members: u64,
    hops: u64,
}

#[gen_server]
impl RingParent {
    fn init(main: Address<u64>, members: u64, hops: u64) -> Init<Self> {
        Ok(RingParent { main, members, hops })
    }

    #[after_init]
    async fn make(&mut self) {
        let own = Server::<RingParent>::own();
        let member = async |index, next| Member::start_link(own.clone(), index, next).await.expect("a member starts");
        let last = member(self.members - 1, None).await;
        let mut first = last.clone();
        for index in (0..self.members - 1).rev() {
            first = member(index, Some(first)).await;
        }
        last.next(first.clone());
        let starter = Starter::start_link(first).await.expect("the starter starts");
        starter.start(self.hops);
    }

    #[cast]
    fn last(&mut self, index: u64) {
        self.main.send(&index);
    }
}

pub(crate) async fn run(params: &Params) -> Result<Parts, String> {
    let (p, n) = (params.number("p")?, params.number("n")?);
    let began = Instant::now();
    let mut main = Mailbox::new().await.map_err(failed)?;
    RingParent::start_link(main.address(), p, n).await.map_err(failed)?;
    let last: u64 = main.receive().await.map_err(failed)?;
    let parts = whole(began);
    check("who had the last message", &last, &(n % p))?;
    Ok(parts)
}
