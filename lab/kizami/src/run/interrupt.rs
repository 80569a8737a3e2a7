//! Ctrl-C and similar signals: the first asks for an orderly end, the second ends the program at once.
//!
//! In both cases no process and no changed setting stays behind: probes die with the lab, and the guard restores the
//! settings.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;

use crate::exit;

/// Raised when the user wants an end.
#[derive(Debug, Clone)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Listens from now on.
    ///
    /// # Errors
    /// When the system refuses handlers.
    pub fn listen() -> io::Result<Self> {
        let raised = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            // In this order: a second signal finds the flag raised, the first one does not.
            flag::register_conditional_shutdown(signal, i32::from(exit::INTERRUPTED), Arc::clone(&raised))?;
            flag::register(signal, Arc::clone(&raised))?;
        }
        Ok(Self(raised))
    }

    pub fn raised(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    pub fn flag(&self) -> &AtomicBool {
        &self.0
    }
}
