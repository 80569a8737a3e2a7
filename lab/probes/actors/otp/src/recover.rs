//! Recovery: the time from a panic to the first answer of the next incarnation.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use otp::{Init, Server, Tree, gen_server, one_for_one, supervisor, worker};

use crate::program::{Params, Parts, check, failed, nanoseconds};

static BIRTHS: AtomicU64 = AtomicU64::new(0);

/// Dies when it is told to.
#[derive(Debug)]
pub struct Mortal {
    incarnation: u64,
}

#[gen_server]
impl Mortal {
    fn init() -> Init<Self> {
        Ok(Mortal { incarnation: BIRTHS.fetch_add(1, Ordering::Relaxed) })
    }

    #[call]
    fn who(&mut self) -> u64 {
        self.incarnation
    }

    #[cast]
    fn die(&mut self) {
        panic!("it was told to die");
    }
}

/// Starts it anew as often as it dies.
#[supervisor(module = "mortals")]
pub fn mortals(crashes: u32) -> Tree {
    one_for_one().intensity(crashes + 1, Duration::from_secs(3600)).child(worker::<Mortal>(()).name("mortal"))
}

pub(crate) async fn run(params: &Params) -> Result<Parts, String> {
    let crashes = params.number("crashes")?;
    let crashes_of_tree = u32::try_from(crashes).map_err(failed)?;
    otp::erlang::apply::<otp::Any>("mortals", "start_link", (crashes_of_tree,)).await.map_err(failed)?;
    let mortal = Server::<Mortal>::named("mortal");
    check("the first incarnation", &mortal.who().await.map_err(failed)?, &0)?;
    let mut samples = Vec::new();
    for wanted in 1..=crashes {
        let began = Instant::now();
        mortal.die();
        // Until somebody answers who is not the one that was killed.
        let answers = loop {
            match mortal.who().without_limit().await {
                Ok(answer) if answer != wanted - 1 => break answer,
                _ => otp::yield_now().await,
            }
        };
        samples.push(nanoseconds(began));
        check("the incarnation that answers", &answers, &wanted)?;
    }
    Ok(vec![samples])
}
