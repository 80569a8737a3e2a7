//! The partner of network workloads, outside of the environment that is measured: a process on the host, at the other end of a link
//! out of that.

use std::net::{IpAddr, SocketAddr};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

use kizami_protocol::Report;
use kizami_settings::process::InChild;
use kizami_settings::{Scope, Settings};

use crate::environment::Job;
use crate::error::Error;
use crate::launch::{self, Started};
use crate::locate::{self, LINUX_PROBE};

/// How long it may take to begin.
const PATIENCE: Duration = Duration::from_secs(10);
const LOOK: Duration = Duration::from_millis(100);

/// Whether the workload of `job` has another half, which can be done outside.
pub(crate) fn has(job: &Job) -> bool {
    kizami_workloads::linux::partner::has(job.workload())
}

/// Starts it for `job`, listening at `address`; it ends when what is given here is dropped. It has the policy and the priority that
/// the probe has, and not its processors: those are of another machine.
pub(crate) fn start(job: &Job, address: IpAddr, interrupt: &AtomicBool) -> Result<(Started, SocketAddr), Error> {
    let mut command = Command::new(locate::ours(LINUX_PROBE).map_err(Error::Unusable)?);
    command.args(["partner", &address.to_string()]);
    let settings: Settings = job.settings.of(Scope::Process).without("affinity");
    let settings = InChild::new(&settings);
    let started =
        launch::start(command, launch::Input::Piped, &[], Box::new(launch::report_lines), move || settings.apply())?;
    let begun = Instant::now();
    let mut port = None;
    let why = loop {
        match started.reports.recv_timeout(LOOK) {
            Ok(Ok(Report::Fact { value, .. })) => port = Some(value as u16),
            Ok(Ok(Report::Ready {})) => match port {
                Some(port) => return Ok((started, SocketAddr::new(address, port))),
                None => break "it does not say where it listens".to_owned(),
            },
            Ok(Ok(Report::Failed { why }) | Err(why)) => break why,
            Ok(Ok(_)) => {}
            Err(RecvTimeoutError::Disconnected) => break format!("it ended; it said: {}", started.error_output()),
            Err(RecvTimeoutError::Timeout) if interrupt.load(Ordering::Relaxed) => break "interrupted".into(),
            Err(RecvTimeoutError::Timeout) if begun.elapsed() > PATIENCE => {
                break format!("it did nothing for {} s", PATIENCE.as_secs());
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
    };
    Err(Error::Unusable(format!("the partner on the host, at {address}, could not begin: {why}")))
}
