//! `/dev/cpu_dma_latency`: a limit on how long an idle processor may take to wake. See the kernel's
//! pm_qos_interface.rst.
//!
//! The limit holds as long as the file is open, so nothing remains to be restored when the lab ends, in whatever way.
//! The kernel applies the least of all limits that are held.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::FileExt;

use kizami_recording::folder::Effective;
use kizami_recording::quantity::Quantity;

use crate::root::{Root, words};

pub const FILE: &str = "dev/cpu_dma_latency";
/// What the kernel says when nobody holds a limit, in microseconds.
const UNLIMITED: i32 = 2_000_000_000;

/// A limit that is held.
#[derive(Debug)]
pub(crate) struct Latency(File);

impl Latency {
    /// Asks for at most `ns` nanoseconds.
    pub(crate) fn hold(root: &Root, ns: u64) -> io::Result<Self> {
        let mut file = OpenOptions::new().read(true).write(true).open(root.path(FILE))?;
        let us = i32::try_from(ns / 1_000).unwrap_or(i32::MAX);
        file.write_all(&us.to_ne_bytes())?;
        Ok(Self(file))
    }
}

fn read(file: &File) -> io::Result<i32> {
    let mut us = [0; 4];
    file.read_exact_at(&mut us, 0)?;
    Ok(i32::from_ne_bytes(us))
}

/// The limit in force, in microseconds; `None` when there is none.
///
/// # Errors
/// When the file is not there or this user may not read it.
pub fn current(root: &Root) -> io::Result<Option<u64>> {
    let us = read(&File::open(root.path(FILE))?)?;
    Ok(u64::try_from(us).ok().filter(|_| us < UNLIMITED))
}

/// What is in force, compared with what was asked. `held` is our own limit, or why there is none.
pub(crate) fn effective(root: &Root, asked: Option<u64>, held: Option<&io::Result<Latency>>) -> Effective {
    let now = match held {
        Some(Ok(latency)) => read(&latency.0).map(|us| u64::try_from(us).ok().filter(|_| us < UNLIMITED)),
        _ => current(root),
    };
    let value = match &now {
        Ok(Some(us)) => Quantity::Time.write(us * 1_000),
        Ok(None) => "no limit".to_owned(),
        Err(e) if e.kind() == io::ErrorKind::NotFound => "none".to_owned(),
        Err(_) => "unknown".to_owned(),
    };
    let as_requested = match (asked, &now) {
        (None, _) => true,
        // Someone else may hold a stricter limit.
        (Some(ns), Ok(Some(us))) => *us <= ns / 1_000,
        (Some(_), _) => false,
    };
    let why = match (held, &now) {
        (Some(Err(e)), _) | (None, Err(e)) if e.kind() == io::ErrorKind::NotFound => {
            "there is no /dev/cpu_dma_latency here".to_owned()
        }
        (Some(Err(e)), _) => format!("{}: /dev/cpu_dma_latency may be written by root alone", words(e)),
        (_, Err(e)) => format!("it cannot be read: {}", words(e)),
        _ => String::new(),
    };
    Effective { value, as_requested, why }
}
