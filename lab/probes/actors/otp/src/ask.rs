//! Request and reply under load: one client is timed while other clients ask too.

use std::time::Instant;

use otp::{Init, Server, Task, gen_server};

use crate::program::{Params, Parts, check, failed, nanoseconds};

/// Answers.
#[derive(Debug)]
pub struct Asked;

#[gen_server]
impl Asked {
    fn init() -> Init<Self> {
        Ok(Asked)
    }

    #[call]
    fn successor(&mut self, n: u64) -> u64 {
        n + 1
    }
}

pub(crate) async fn run(params: &Params) -> Result<Parts, String> {
    let (asks, others) = (params.number("asks")?, params.number("others")?);
    let server = Asked::start_link().await.map_err(failed)?;
    for _ in 0..others {
        drop(Task::spawn(ask_on(server.clone())));
    }
    let mut samples = Vec::new();
    for request in 1..=asks {
        let began = Instant::now();
        let reply = server.successor(request).without_limit().await.map_err(failed)?;
        samples.push(nanoseconds(began));
        check("the reply", &reply, &(request + 1))?;
    }
    Ok(vec![samples])
}

async fn ask_on(server: Server<Asked>) {
    while server.successor(1).without_limit().await.is_ok() {}
}
