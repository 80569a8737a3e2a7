//! Creation of actors.

use std::time::Instant;

use otp::{Address, Init, Mailbox, Pool, Server, Tree, gen_server, one_for_one, pool, supervisor};

use crate::program::{Params, Parts, check, failed, nanoseconds};

/// Tells that it is there.
#[derive(Debug)]
pub struct Newborn;

#[gen_server]
impl Newborn {
    fn init(collector: Server<Collector>) -> Init<Self> {
        collector.started(Server::own());
        Ok(Newborn)
    }
}

/// Hears of each.
#[derive(Debug)]
pub struct Collector {
    main: Address<usize>,
    wanted: usize,
    started: Vec<Server<Newborn>>,
}

#[gen_server]
impl Collector {
    fn init(main: Address<usize>, wanted: usize) -> Init<Self> {
        Ok(Collector { main, wanted, started: Vec::new() })
    }

    #[cast]
    fn started(&mut self, child: Server<Newborn>) {
        self.started.push(child);
        if self.started.len() == self.wanted {
            self.main.send(&self.started.len());
        }
    }
}

/// The supervisor of them.
#[supervisor(module = "newborns")]
pub fn newborns() -> Tree {
    one_for_one().child(pool::<Newborn>().name("nursery").temporary())
}

pub(crate) async fn run(params: &Params) -> Result<Parts, String> {
    let p = usize::try_from(params.number("p")?).map_err(failed)?;
    let before = resident()?;
    let began = Instant::now();
    let mut main = Mailbox::new().await.map_err(failed)?;
    let collector = Collector::start_link(main.address(), p).await.map_err(failed)?;
    otp::erlang::apply::<otp::Any>("newborns", "start_link", ()).await.map_err(failed)?;
    let newborns = Pool::<Newborn>::named("nursery");
    newborns.spawn_all((0..p).map(|_| collector.clone()));
    let started: usize = main.receive().await.map_err(failed)?;
    let took = nanoseconds(began);
    check("how many have started", &started, &p)?;
    let memory = resident()?.saturating_sub(before) / p as u64;
    Ok(vec![vec![took], vec![memory]])
}

/// The memory of this VM that is resident, in bytes.
fn resident() -> Result<u64, String> {
    let status = std::fs::read_to_string("/proc/self/status").map_err(failed)?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).ok_or("no VmRSS in /proc/self/status")?;
    let kilobytes: u64 = line.trim().trim_end_matches(" kB").parse().map_err(failed)?;
    Ok(kilobytes * 1024)
}
