//! The common part of the systems on tokio: a runtime with its default configuration, and the channel by which the
//! actors report the end of a program.

use std::future::Future;

use tokio::runtime::Runtime;
use tokio::sync::oneshot;

use crate::program::{Outcome, Program, gone};

/// Runs a program in a task, because a thread outside of the runtime is woken through the operating system.
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

/// The sender of the result to the task that waits for the end of a program.
pub type Done<T> = Option<oneshot::Sender<T>>;

pub fn finish<T>(done: &mut Done<T>, result: T) {
    if let Some(done) = done.take() {
        let _ = done.send(result);
    }
}
