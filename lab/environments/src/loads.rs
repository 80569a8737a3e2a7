//! Background loads: processes of the lab that keep the machine busy during a measurement.
//!
//! Each is a probe with the argument `load NAME FOLDER`. It reports `ready` when it works, ends when its standard input
//! ends, and then reports the number of operations that it did, so that a load that did nothing is recognised.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

use kizami_protocol::{Report, Worked};
use kizami_recording::folder::Effective;
use kizami_workloads::loads::Load;

use crate::error::Error;
use crate::launch::{self, Started};
use crate::locate::{self, LINUX_PROBE};

/// How long a load may take to begin or to end.
const PATIENCE: Duration = Duration::from_secs(10);
const LOOK: Duration = Duration::from_millis(100);

pub(crate) struct Running {
    loads: Vec<(&'static Load, Started)>,
}

/// Starts `loads`, and returns when all of them work, or `interrupt` is raised: with an error then.
pub(crate) fn start(loads: &[&'static Load], scratch: &Path, interrupt: &AtomicBool) -> Result<Running, Error> {
    let mut running = Vec::new();
    for load in loads {
        let folder = scratch.join(format!("load-{}", load.name));
        std::fs::create_dir_all(&folder).map_err(Error::os(format!("make the folder {}", folder.display())))?;
        let mut command = Command::new(locate::ours(LINUX_PROBE).map_err(Error::Unusable)?);
        command.args(["load", load.name]).arg(&folder);
        running
            .push((*load, launch::start(command, launch::Input::Piped, &[], Box::new(launch::report_lines), || {})?));
    }
    for (load, started) in &running {
        wait_until_it_works(load, started, interrupt)?;
    }
    Ok(Running { loads: running })
}

fn wait_until_it_works(load: &Load, started: &Started, interrupt: &AtomicBool) -> Result<(), Error> {
    let begun = Instant::now();
    let why = loop {
        match started.reports.recv_timeout(LOOK) {
            Ok(Ok(Report::Ready {})) => return Ok(()),
            Ok(Ok(Report::Failed { why })) => break why,
            Ok(Ok(_)) => {}
            Ok(Err(why)) => break why,
            Err(RecvTimeoutError::Disconnected) => break format!("it ended; it said: {}", started.error_output()),
            Err(RecvTimeoutError::Timeout) if interrupt.load(Ordering::Relaxed) => break "interrupted".into(),
            Err(RecvTimeoutError::Timeout) if begun.elapsed() > PATIENCE => {
                break format!("it did nothing for {} s", PATIENCE.as_secs());
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
    };
    Err(Error::Unusable(format!("the load {} could not begin: {why}", load.name)))
}

impl Running {
    /// Ends the loads: what was in force, and how much each did.
    pub(crate) fn stop(mut self) -> (Effective, BTreeMap<String, f64>) {
        for (_, started) in &mut self.loads {
            drop(started.stdin.take());
        }
        let mut worked = Worked::default();
        for (load, started) in &self.loads {
            let until = Instant::now() + PATIENCE;
            let next = || started.reports.recv_timeout(until.saturating_duration_since(Instant::now())).ok()?.ok();
            worked.add(load.name, std::iter::from_fn(next));
        }
        worked.told()
    }
}
