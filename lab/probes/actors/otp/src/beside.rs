//! Wake-up latency of a process while others compute.

use std::hint::black_box;
use std::time::{Duration, Instant};

use otp::time::Interval;
use otp::{Init, Slice, gen_server};

use crate::program::{Params, Parts, failed};

/// Computes until it is ended with who started it.
#[derive(Debug)]
pub struct Computing;

#[gen_server]
impl Computing {
    fn init() -> Init<Self> {
        Ok(Computing)
    }

    #[after_init]
    async fn compute(&mut self) {
        let (mut slice, mut x) = (Slice::new(), 1_u64);
        loop {
            for _ in 0..1000 {
                x = black_box(x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1));
            }
            slice.check().await;
        }
    }
}

pub(crate) async fn run(params: &Params) -> Result<Parts, String> {
    let (wakeups, computing) = (params.number("wakeups")?, params.number("computing")?);
    let period = Duration::from_micros(params.number("period_us")?);
    for _ in 0..computing {
        Computing::start_link().await.map_err(failed)?;
    }
    let mut interval = Interval::every(period).map_err(failed)?;
    let began = Instant::now();
    let (mut samples, mut periods) = (Vec::new(), 0_u32);
    while (samples.len() as u64) < wakeups {
        let over = interval.tick().await;
        let now = Instant::now();
        // Every period that is over was to be woken up at, also those that it slept through.
        for _ in 0..over {
            periods += 1;
            let due = began + period * periods;
            samples.push(u64::try_from(now.saturating_duration_since(due).as_nanos()).unwrap_or(u64::MAX));
        }
    }
    samples.truncate(usize::try_from(wakeups).map_err(failed)?);
    Ok(vec![samples])
}
