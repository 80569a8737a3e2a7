//! Linux on a board without an MMU, in QEMU: a kernel of its own, built from sources for it, in 8 MB of memory.
//!
//! Each trial starts the board anew, from its flash, and time is counted by instructions: the same trial gives the same samples, to the
//! nanosecond, on any machine. What to do lies in the flash behind the first files. The board reports on its second serial line; its
//! first is the console.

mod follow;
mod job;
mod made;
mod pace;
mod start;

use std::sync::{Mutex, PoisonError};

use image::board::Source;
use kizami_settings::{Scope, Setting, Settings};
use kizami_workloads::{Machine, Params, Part, Workload};

use crate::environment::{Environment, Job, Place};
use crate::error::Error;
use crate::launch::Started;
use crate::locate;
use made::{Made, NODE, PROBE, described};

/// Eight groups of 10 and 10 still find room, and what waits in their pipes does not always.
const MOST_PROCESSES: u64 = 140;

/// One kind of kernel on it.
#[derive(Debug)]
pub struct Node {
    name: &'static str,
    title: &'static str,
    /// The part of its configuration that makes it one of that kind.
    kind: &'static str,
    /// What is made once in a run.
    made: Mutex<Option<Made>>,
}

pub static NONE: Node = Node {
    name: "mps2-none",
    title: "Linux on a board without an MMU (Cortex-M3, 8 MB), not preemptible, with a tick of 10 ms",
    kind: "none.config",
    made: Mutex::new(None),
};
pub static PREEMPT: Node = Node {
    name: "mps2-preempt",
    title: "Linux on a board without an MMU (Cortex-M3, 8 MB), preemptible, with high-resolution timers",
    kind: "preempt.config",
    made: Mutex::new(None),
};

pub static FAST: Node = Node {
    name: "mps2-fast",
    title: "Linux on a board without an MMU (Cortex-M3, 8 MB), preemptible, compiled for speed",
    kind: "fast.config",
    made: Mutex::new(None),
};

/// What its probe does.
const DOES: [&str; 12] = [
    "empty", "syscall", "signal", "pipe-rtt", "fifo-rtt", "ctx-ring", "fcntl-lock", "messages", "os-latency", "tcp", "udp", "footprint",
];

impl Environment for Node {
    fn name(&self) -> &'static str {
        self.name
    }

    fn title(&self) -> &'static str {
        self.title
    }

    fn emulated(&self, _: &Settings) -> bool {
        true
    }

    fn available(&self) -> Result<(), String> {
        locate::program("qemu-system-arm", "qemu-system-arm")?;
        let board = described()?;
        locate::program(&format!("{}gcc", board.kernel.compiler), &board.kernel.package)?;
        Source::installed().map_err(|why| why.to_string())?;
        locate::ours(NODE).and_then(|_| locate::ours(PROBE)).map(drop)
    }

    fn lacks(&self) -> Vec<String> {
        vec!["The first run that needs its kernel builds it, which takes minutes; it is kept.".to_owned()]
    }

    fn does(&self, workload: &Workload) -> bool {
        DOES.contains(&workload.name)
    }

    fn supports(&self, params: &Params) -> Result<(), String> {
        let has = |name: &str| params.workload().params.iter().any(|param| param.name == name);
        if has("working_set") && params.number("working_set") != 0 {
            return Err("all memory of the board is of all processes: working_set is 0".into());
        }
        let processes = || params.number("groups") * (params.number("senders") + params.number("receivers"));
        if has("groups") && params.choice("mode") != "grow" && processes() > MOST_PROCESSES {
            let asked = processes();
            return Err(format!(
                "its 8 MB hold {MOST_PROCESSES} processes that pass messages, and {asked} are asked for; mode=grow tells where they end"
            ));
        }
        if has("op") && ["deliver", "fstat"].contains(&params.choice("op")) {
            return Err(format!("the probe of the board does not do op={}", params.choice("op")));
        }
        if has("channel") && (params.choice("channel"), params.choice("tasks")) != ("pipe", "processes") {
            return Err("the probe of the board has channel=pipe with tasks=processes only".into());
        }
        if has("partner") && params.choice("partner") != "process" {
            return Err("the probe of the board has partner=process only".into());
        }
        Ok(())
    }

    fn has(&self, setting: &Setting) -> bool {
        setting.name == job::CLOCK || setting.scope == Scope::Board
    }

    fn machine(&self, _: &Settings, _: &Machine) -> Machine {
        Machine { cpus: vec![0], caches: Some(&job::CACHES) }
    }

    fn takes(&self, settings: &Settings) -> Result<(), (String, String)> {
        let no = |name: &str, why: &str| Err((name.to_owned(), why.to_owned()));
        match (settings.get(job::WIRE), settings.get(job::WIRE_DELAY), settings.get(job::PROFILE)) {
            (None | Some("off"), Some(_), _) => no(job::WIRE_DELAY, "there is no wire: wire=10Mbit lays one"),
            (Some(rate), _, Some("on")) if rate != "off" => {
                no(job::PROFILE, "two boards at a wire are held to this machine's clock, so that instructions are no time: profile=on goes with wire=off")
            }
            _ => Ok(()),
        }
    }

    fn own_loads(&self, _: &Settings) -> Option<&'static [&'static str]> {
        Some(&["cpu", "network"])
    }

    fn joins_groups_for(&self) -> &'static [&'static str] {
        &[]
    }

    fn starts_first(&self) -> bool {
        true
    }

    /// Builds its kernel, if that was not done before.
    fn prepared(&self) -> Result<(), String> {
        self.made().map(drop)
    }

    fn cold_rows(&self, part: &Part) -> u64 {
        // A stream of the board may be one row, in a machine that has just started: all of it.
        if part.columns.iter().any(|column| column.name == "bytes") { 0 } else { part.cold_rows }
    }

    fn starting(&self) -> f64 {
        3.0
    }

    fn versions(&self) -> Vec<(String, String)> {
        let of = |name: &str| locate::program(name, name).ok().and_then(|path| locate::version(&path, &["--version"]));
        let qemu = of("qemu-system-arm").map(|version| ("qemu-system-arm".to_owned(), version));
        let linux = Source::installed().ok().map(|source| ("linux-source".to_owned(), source.version));
        qemu.into_iter().chain(linux).collect()
    }

    fn start(&self, job: &Job, place: &Place<'_>) -> Result<Started, Error> {
        start::start(&self.made().map_err(Error::Unusable)?, job, place)
    }
}

impl Node {
    /// Its kernel is built if need be.
    fn made(&self) -> Result<Made, String> {
        let mut kept = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        match &*kept {
            Some(made) => Ok(made.clone()),
            None => Made::new(self.kind).map(|made| kept.insert(made).clone()),
        }
    }
}
