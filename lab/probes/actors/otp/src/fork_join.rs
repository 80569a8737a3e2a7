//! Fork-join: one sender and many receivers.

use std::time::Instant;

use otp::{Address, Init, Mailbox, Server, Slice, gen_server};

use crate::program::{Params, Parts, check, failed, whole};

/// Counts what it is given.
#[derive(Debug)]
pub struct Worker {
    parent: Server<JoinParent>,
    wanted: u64,
    count: u64,
}

#[gen_server]
impl Worker {
    fn init(parent: Server<JoinParent>, wanted: u64) -> Init<Self> {
        Ok(Worker { parent, wanted, count: 0 })
    }

    #[cast]
    fn work(&mut self) {
        self.count += 1;
        if self.count == self.wanted {
            self.parent.counted(self.count);
        }
    }
}

/// Gives out the work.
#[derive(Debug)]
pub struct JoinParent {
    main: Address<Vec<u64>>,
    workers: u64,
    each: u64,
    counts: Vec<u64>,
}

#[gen_server]
impl JoinParent {
    fn init(main: Address<Vec<u64>>, workers: u64, each: u64) -> Init<Self> {
        Ok(JoinParent { main, workers, each, counts: Vec::new() })
    }

    #[after_init]
    async fn make(&mut self) {
        let own = Server::<JoinParent>::own();
        let mut workers = Vec::new();
        for _ in 0..self.workers {
            workers.push(Worker::start_link(own.clone(), self.each).await.expect("a worker starts"));
        }
        // Others that share this scheduler have their turns.
        let mut slice = Slice::new();
        for _ in 0..self.each {
            workers.iter().for_each(|worker| worker.work());
            slice.check().await;
        }
    }

    #[cast]
    fn counted(&mut self, count: u64) {
        self.counts.push(count);
        if self.counts.len() as u64 == self.workers {
            self.main.send(&self.counts);
        }
    }
}

pub(crate) async fn run(params: &Params) -> Result<Parts, String> {
    let (p, n) = (params.number("p")?, params.number("n")?);
    let began = Instant::now();
    let mut main = Mailbox::new().await.map_err(failed)?;
    JoinParent::start_link(main.address(), p, n).await.map_err(failed)?;
    let counts: Vec<u64> = main.receive().await.map_err(failed)?;
    let parts = whole(began);
    check("how many reported", &(counts.len() as u64), &p)?;
    check("what the workers counted", &counts.iter().all(|count| *count == n), &true)?;
    Ok(parts)
}
