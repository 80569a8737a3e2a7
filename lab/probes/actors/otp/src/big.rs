//! Big: all-to-all messages.

use std::time::Instant;

use otp::{Address, Init, Mailbox, Server, gen_server};

use crate::program::{Params, Parts, check, failed, whole};

/// Sends to all others and hears from all others: its messages wait off the heap, where many senders are not in each other's way.
#[derive(Debug)]
pub struct BigWorker {
    parent: Server<BigParent>,
    index: u64,
    /// What it still waits for: its own round of sending and a message of each other.
    more: u64,
    senders: u64,
}

#[gen_server(off_heap)]
impl BigWorker {
    fn init(parent: Server<BigParent>, index: u64, others: u64) -> Init<Self> {
        Ok(BigWorker { parent, index, more: others + 1, senders: 0 })
    }

    #[cast]
    fn everybody(&mut self, all: Vec<Server<BigWorker>>) {
        let own = Server::own();
        all.iter().filter(|worker| **worker != own).for_each(|worker| worker.from(self.index));
        self.had();
    }

    #[cast]
    fn from(&mut self, sender: u64) {
        self.senders += sender;
        self.had();
    }

    fn had(&mut self) {
        self.more -= 1;
        if self.more == 0 {
            self.parent.had(self.index, self.senders);
        }
    }
}

/// Makes them.
#[derive(Debug)]
pub struct BigParent {
    main: Address<Vec<(u64, u64)>>,
    workers: u64,
    reports: Vec<(u64, u64)>,
}

#[gen_server]
impl BigParent {
    fn init(main: Address<Vec<(u64, u64)>>, workers: u64) -> Init<Self> {
        Ok(BigParent { main, workers, reports: Vec::new() })
    }

    #[after_init]
    async fn make(&mut self) {
        let own = Server::<BigParent>::own();
        let mut workers = Vec::new();
        for index in 0..self.workers {
            workers.push(BigWorker::start_link(own.clone(), index, self.workers - 1).await.expect("a worker starts"));
        }
        for worker in &workers {
            worker.everybody(workers.clone());
        }
    }

    #[cast]
    fn had(&mut self, index: u64, senders: u64) {
        self.reports.push((index, senders));
        if self.reports.len() as u64 == self.workers {
            self.main.send(&self.reports);
        }
    }
}

pub(crate) async fn run(params: &Params) -> Result<Parts, String> {
    let p = params.number("p")?;
    let began = Instant::now();
    let mut main = Mailbox::new().await.map_err(failed)?;
    BigParent::start_link(main.address(), p).await.map_err(failed)?;
    let reports: Vec<(u64, u64)> = main.receive().await.map_err(failed)?;
    let parts = whole(began);
    check("how many reported", &(reports.len() as u64), &p)?;
    for (index, senders) in reports {
        check("the sum of the senders", &senders, &(p * (p - 1) / 2 - index))?;
    }
    Ok(parts)
}
