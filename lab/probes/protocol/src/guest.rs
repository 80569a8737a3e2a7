//! What the lab and the agent in a virtual machine say to each other, one message in a frame, as JSON.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::messages::{Report, Request};

/// Raised with every change of these messages: an agent of another version is refused.
pub const VERSION: u32 = 8;

/// From the lab.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ToGuest {
    /// Starts a probe. The clock of the guest is set first. Without `parts` the arena lies in the memory that the machine
    /// was given; otherwise the agent makes one with room for these columns and rows, and sends the rows. Where the machine has a link
    /// out of it, that end of it gets `address`, of which so many bits name the network.
    Start {
        request: Box<Request>,
        address: Option<(Ipv4Addr, u8)>,
        unix_nanoseconds: u64,
        parts: Option<Vec<(usize, u64)>>,
    },
    /// The probe should end early.
    Stop {},
    /// Is it there? It answers with [`FromGuest::Here`].
    AreYouThere {},
    /// To the agent in the first domain of Xen: creates another. What the agent in that and the lab say to each other goes through a port
    /// of the first domain, byte for byte.
    Domain(Domain),
}

/// A domain that is to be created by another, with paths and devices of that.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Domain {
    pub name: String,
    pub kernel: PathBuf,
    pub initramfs: PathBuf,
    /// The words for its kernel.
    pub kernel_args: String,
    /// Its memory.
    pub mebibytes: u64,
    pub cpus: usize,
    /// The device that is its disk.
    pub disk: Option<String>,
}

/// From the agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FromGuest {
    /// It is up.
    Hello {
        version: u32,
        /// The processors on which a probe may run.
        cpus: Vec<usize>,
        /// Whether the memory for arenas was found.
        shared: bool,
        /// When its first process began, when the agent began, and now: nanoseconds of its CLOCK_MONOTONIC. Nothing is known of
        /// an init that does not say it.
        init: Option<i64>,
        agent: i64,
        now: i64,
        /// What the machine is, by the names under which a recording describes one.
        facts: BTreeMap<String, String>,
    },
    /// It was asked whether it is there.
    Here {},
    /// What the probe reports.
    Report(Report),
    /// The probe has ended: how, in words, and the end of what it wrote to its standard error.
    Ended { how: String, said: String },
    /// The other domain comes up, and is in this phase of it.
    Phase { phase: String },
    /// There is no other domain, or none any more: why, and the end of what its console and the tools said.
    Gone { why: String, said: String },
}
