//! A domain in which probes are started, whoever created it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use kizami_recording::folder::Effective;
use kizami_settings::Settings;

use super::super::boot::in_force;
use super::super::disk;
use super::super::session::{Hello, Session};
use crate::environment::FILES_ON;

/// How long the domain that is created may take to come up: two programs of a second each, a kernel, and what Xen's tools wait
/// for. On a machine that is emulated and does nothing else that takes 12 s; beside a test suite on both processors it took more than 120.
pub(super) const PATIENCE: Duration = Duration::from_secs(300);
/// Mebibytes of the other domain.
pub(super) const MEMORY: u64 = 512;

/// A domain in which probes are started.
#[derive(Clone)]
pub(super) struct Domain {
    pub session: Arc<Mutex<Session>>,
    pub hello: Hello,
    pub observed: Vec<(String, Effective)>,
}

impl Domain {
    /// One that is up, in a machine as `asked`, with the disk `disk` of that if it has any.
    pub(super) fn up(session: Session, hello: Hello, asked: &Settings, disk: &str) -> Self {
        let mut found = vec![(FILES_ON, hello.files_on())];
        if disk::wanted(asked) {
            found.extend(disk::observed(&mut session.monitor(), disk));
        }
        let observed = in_force(asked, found).into_iter().chain(hello.told()).collect();
        Self { session: Arc::new(Mutex::new(session)), hello, observed }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Session> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn is_alive(&self) -> bool {
        self.lock().is_alive()
    }
}
