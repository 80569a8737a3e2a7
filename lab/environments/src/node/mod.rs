//! Linux on a board without an MMU, in QEMU: a kernel of its own, built from sources for it, in 8 MB of memory.
//!
//! Each trial starts the board anew, from its flash, and time is counted by instructions: the same trial gives the same samples, to the
//! nanosecond, on any machine. What to do lies in the flash behind the first files. The board reports on its second serial line; its
//! first is the console.

mod follow;
mod job;
mod start;

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, PoisonError};

use image::board::{self, Board, FirstFiles, Flash, Kernels, Source};
use kizami_settings::{Scope, Setting, Settings};
use kizami_workloads::{Machine, Params, Part, Workload};

use crate::environment::{Environment, Job, Place};
use crate::error::Error;
use crate::launch::Started;
use crate::locate;

/// The board, of those in the folder of boards beside this program.
const BOARD: &str = "mps2-an385";
const BOARDS: &str = "boards";

/// The programs of the board.
const NODE: &str = "board/node";
const PROBE: &str = "board/kizami-node-probe";

/// What the board's first process does. How many processes there may be the kernel reckons by the memory, as if each had one of its own:
/// here the memory itself is to be the limit.
const INIT: &[u8] = b"\
mount devtmpfs dev /dev
mount proc proc /proc
mount sysfs sys /sys
echo 1000 > /proc/sys/kernel/threads-max
ip link set lo up
probe
probe ended $?
poweroff
";

/// Of the two kernels, the one that takes more memory itself has room for eight groups of 10 and 10.
const MOST_PROCESSES: u64 = 160;

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

/// The flash without a job, and the kernel in it with its symbols.
#[derive(Debug, Clone)]
struct Made {
    flash: Flash,
    symbols: PathBuf,
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

/// The settings of a wire to a second board.
const WIRE: &str = "wire";
const WIRE_DELAY: &str = "wire_delay";

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
        match (settings.get(WIRE), settings.get(WIRE_DELAY), settings.get(job::PROFILE)) {
            (None | Some("off"), Some(_), _) => no(WIRE_DELAY, "there is no wire: wire=10Mbit lays one"),
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
    fn tried(&self, _: &Settings, _: &AtomicBool) -> Result<(), String> {
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
        let made = self.made().map_err(Error::Unusable)?;
        let board = described().map_err(Error::Unusable)?;
        start::start(&start::Machine { board: &board, made: &made }, job, place)
    }
}

impl Node {
    /// Its kernel is built if need be.
    fn made(&self) -> Result<Made, String> {
        let mut kept = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(made) = &*kept {
            return Ok(made.clone());
        }
        let board = described()?;
        let kind = board.folder.join("../common").join(self.kind);
        let folder = board::kept();
        let kernels = Kernels { folder: &folder, tell: |sentence| eprintln!("  {sentence}") };
        let made = Source::installed().and_then(|source| {
            let built = board::build(&board, &source, &kind, &kernels)?;
            let probe = locate::ours(PROBE).map_err(|why| image::Error::Form { path: PROBE.into(), why })?;
            let node = locate::ours(NODE).map_err(|why| image::Error::Form { path: NODE.into(), why })?;
            let more = [("bin/probe".to_owned(), probe)];
            let flash = Flash::new(&board, &built, &FirstFiles { node: &node, init: INIT, more: &more }.packed()?)?;
            // Unpacking itself is most of what a kernel does until the first process, and nothing of it is measured.
            let flash = flash.going_on_at(&board, board::entry(&built.symbols)?)?;
            Ok(Made { flash, symbols: built.symbols })
        });
        let made = made.map_err(|why| why.to_string())?;
        Ok(kept.insert(made).clone())
    }
}

fn described() -> Result<Board, String> {
    let boards: Option<PathBuf> = locate::folder(BOARDS);
    let folder = boards.ok_or("the boards are not beside this program: ./x puts the folder image/boards there")?.join(BOARD);
    Board::read(&folder).map_err(|why| why.to_string())
}
