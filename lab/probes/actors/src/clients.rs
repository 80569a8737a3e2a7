//! Clients of a server, for the systems whose requests are futures.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use crate::program::{check, nanoseconds};

/// Asks one after the other, and times each.
pub async fn timed<F>(asks: u64, ask: impl Fn(u64) -> F) -> Result<Vec<u64>, String>
where
    F: Future<Output = Result<u64, String>>,
{
    let mut samples = Vec::with_capacity(asks as usize);
    for request in 0..asks {
        let begun = Instant::now();
        let reply = ask(request).await?;
        samples.push(nanoseconds(begun.elapsed()));
        check("the reply", reply, request + 1)?;
    }
    Ok(samples)
}

/// Asks one after the other until it is told to stop.
pub async fn untimed<F>(stop: Arc<AtomicBool>, ask: impl Fn(u64) -> F) -> Result<(), String>
where
    F: Future<Output = Result<u64, String>>,
{
    let mut request = 0;
    while !stop.load(Ordering::Relaxed) {
        check("the reply", ask(request).await?, request + 1)?;
        request += 1;
    }
    Ok(())
}

/// Kills an actor again and again; `incarnation` asks whoever is there now which one it is, and fails while there is none.
pub async fn recoveries<C, I>(
    crashes: u64,
    crash: impl Fn() -> C,
    incarnation: impl Fn() -> I,
) -> Result<Vec<u64>, String>
where
    C: Future<Output = Result<(), String>>,
    I: Future<Output = Result<u64, String>>,
{
    let mut samples = Vec::with_capacity(crashes as usize);
    check("the first incarnation", incarnation().await?, 0)?;
    for wanted in 1..=crashes {
        let begun = Instant::now();
        crash().await?;
        loop {
            match incarnation().await {
                Ok(number) if number + 1 == wanted => {}
                Ok(number) => {
                    samples.push(nanoseconds(begun.elapsed()));
                    check("the incarnation that answers", number, wanted)?;
                    break;
                }
                Err(_) => {}
            }
            tokio::task::yield_now().await;
        }
    }
    Ok(samples)
}
