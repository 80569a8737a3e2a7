//! `footprint`: what the board itself takes of its memory and of its flash, with IPsec in use and this probe in it.

use alloc::string::String;

use kizami_workloads::portable::memory::Split;
use node::netlink::{self, Suite};
use node::output::Output;
use node::sys::files;
use plain::report;

use crate::job::{Job, doing};

pub fn footprint(job: &Job<'_>) -> Result<(), String> {
    let (memory, flash) = (job.number("memory")?, job.number("flash")?);
    let here = core::net::Ipv6Addr::LOCALHOST.into();
    netlink::protect(here, here, Suite::CbcSha1).map_err(doing("protect ::1"))?;
    job.ready();
    let text = files::contents("/proc/meminfo").map_err(doing("read /proc/meminfo"))?;
    let [free, ..] = Split::of(&text).columns();
    // The board is the machine that serves the probe, and the one that it sees from inside.
    let taken = memory.saturating_sub(free);
    let mut out = Output::to(job.line());
    report::rows(&mut out, 0, core::iter::once(&[taken, taken, flash][..]));
    job.end(&mut out);
    Ok(())
}
