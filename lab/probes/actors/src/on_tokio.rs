//! What the systems on tokio have in common: its runtime as it comes, and how whoever waits outside of the actors hears of the end.

use std::future::Future;

use tokio::runtime::Runtime;
use tokio::sync::oneshot;

use crate::program::{Outcome, Program, gone};

/// Runs a program in a task, because who is not one is woken through the operating system.
pub fn run<F>(program: &Program, run: fn(Program) -> F) -> Result<Outcome, String>
where
    F: Future<Output = Result<Outcome, String>> + Send + 'static,
{
    let runtime = Runtime::new().map_err(|e| format!("could not start tokio's runtime: {e}"))?;
    let workers = runtime.metrics().num_workers();
    let running = run(*program);
    let outcome = runtime.block_on(async move { tokio::spawn(running).await.map_err(gone)? })?;
    Ok(outcome.placed(format!("{workers} worker threads")))
}

/// Whoever waits outside of the actors for the end.
pub type Done<T> = Option<oneshot::Sender<T>>;

pub fn finish<T>(done: &mut Done<T>, result: T) {
    if let Some(done) = done.take() {
        let _ = done.send(result);
    }
}
