//! Linux on a board without an MMU, in QEMU: a kernel of its own, built from sources for it, in 8 MB of memory.
//!
//! Each trial starts the board anew, from its flash, and time is counted by instructions: the same trial gives the same samples, to the
//! nanosecond, on any machine. What to do lies in the flash behind the first files. The board reports on its second serial line; its
//! first is the console.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, PoisonError};

use image::board::{self, Board, FirstFiles, Flash, Kernels, Source};
use kizami_recording::folder::Effective;
use kizami_settings::{Setting, Settings};
use kizami_workloads::{Kind, Machine, Params, Workload};

use crate::environment::{Environment, Job, Place};
use crate::error::Error;
use crate::launch::{self, Started};
use crate::locate;

/// The board, of those in the folder of boards beside this program.
const BOARD: &str = "mps2-an385";
const BOARDS: &str = "boards";

/// The programs of the board.
const NODE: &str = "board/node";
const PROBE: &str = "board/kizami-node-probe";

/// What counts the time.
const CLOCK: &str = "icount";
/// Each instruction takes 2^5 = 32 ns: 31 million a second, where the study's ARM7TDMI ran at 55 MHz.
const SHIFT: &str = "5";

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

/// One kind of kernel on it.
#[derive(Debug)]
pub struct Node {
    name: &'static str,
    title: &'static str,
    /// The part of its configuration that makes it one of that kind.
    kind: &'static str,
    /// The flash of this run.
    flash: Mutex<Option<Flash>>,
}

pub static NONE: Node = Node {
    name: "mps2-none",
    title: "Linux on a board without an MMU (Cortex-M3, 8 MB), not preemptible, with a tick of 10 ms",
    kind: "none.config",
    flash: Mutex::new(None),
};
pub static PREEMPT: Node = Node {
    name: "mps2-preempt",
    title: "Linux on a board without an MMU (Cortex-M3, 8 MB), preemptible, with high-resolution timers",
    kind: "preempt.config",
    flash: Mutex::new(None),
};

/// What its probe does.
const DOES: [&str; 9] = ["empty", "syscall", "signal", "pipe-rtt", "fifo-rtt", "ctx-ring", "fcntl-lock", "messages", "os-latency"];

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
        setting.name == CLOCK
    }

    fn machine(&self, _: &Settings, _: &Machine) -> Machine {
        Machine { cpus: vec![0] }
    }

    fn joins_groups_for(&self) -> &'static [&'static str] {
        &[]
    }

    fn starts_first(&self) -> bool {
        true
    }

    /// Builds its kernel, if that was not done before.
    fn tried(&self, _: &Settings, _: &AtomicBool) -> Result<(), String> {
        self.flash().map(drop)
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
        let flash = self.flash().map_err(Error::Unusable)?;
        let job_file = board::one_more("etc/job", words(job).into_bytes()).map_err(|why| Error::Unusable(why.to_string()))?;
        let bytes = flash.with(&job_file).map_err(|room| Error::Unusable(format!("the flash has room for {room} bytes more")))?;
        let file = place.scratch.join("flash.bin");
        fs::write(&file, bytes).map_err(Error::os(format!("write {}", file.display())))?;
        let board = described().map_err(Error::Unusable)?;
        let program = locate::program(&board.qemu.program, &board.qemu.program).map_err(Error::Unusable)?;
        let mut command = Command::new(program);
        command.args(&board.qemu.arguments).args(["-nodefaults", "-no-user-config", "-display", "none", "-no-reboot", "-nic", "user,restrict=on"]);
        let shift = job.settings.get(CLOCK).unwrap_or(SHIFT).to_owned();
        if shift != "off" {
            command.args(["-icount", &format!("shift={shift},sleep=off")]);
        }
        command.args(["-chardev", "file,id=console,path=/dev/stderr", "-serial", "chardev:console", "-serial", "stdio"]);
        let at = board.flash.address;
        command.args(["-device", &format!("loader,file={},addr={at:#x},force-raw=on", file.display())]);
        let mut started = launch::start(command, launch::Input::Empty, &[], Box::new(launch::report_lines), || {})?;
        started.read_back = Some(Box::new(move |_| {
            let why = "an option of QEMU; the same trial gives the same times".to_owned();
            vec![(CLOCK.to_owned(), Effective { value: shift.clone(), as_requested: true, why })]
        }));
        Ok(started)
    }
}

impl Node {
    /// The flash without a job; its kernel is built if need be.
    fn flash(&self) -> Result<Flash, String> {
        let mut kept = self.flash.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(flash) = &*kept {
            return Ok(flash.clone());
        }
        let board = described()?;
        let kind = board.folder.join("../common").join(self.kind);
        let folder = board::kept();
        let kernels = Kernels { folder: &folder, tell: |sentence| eprintln!("  {sentence}") };
        let flash = Source::installed().and_then(|source| {
            let built = board::build(&board, &source, &kind, &kernels)?;
            let probe = locate::ours(PROBE).map_err(|why| image::Error::Form { path: PROBE.into(), why })?;
            let node = locate::ours(NODE).map_err(|why| image::Error::Form { path: NODE.into(), why })?;
            let more = [("bin/probe".to_owned(), probe)];
            Flash::new(&board, &built, &FirstFiles { node: &node, init: INIT, more: &more }.packed()?)
        });
        let flash = flash.map_err(|why| why.to_string())?;
        Ok(kept.insert(flash).clone())
    }
}

fn described() -> Result<Board, String> {
    let boards: Option<PathBuf> = locate::folder(BOARDS);
    let folder = boards.ok_or("the boards are not beside this program: ./x puts the folder image/boards there")?.join(BOARD);
    Board::read(&folder).map_err(|why| why.to_string())
}

/// What the probe is told: a word a line, numbers as such.
fn words(job: &Job) -> String {
    let mut text = format!("workload={}\n", job.workload().name);
    for param in job.workload().params {
        match param.kind {
            Kind::Number { .. } => text.push_str(&format!("{}={}\n", param.name, job.params.number(param.name))),
            Kind::Choice(_) => text.push_str(&format!("{}={}\n", param.name, job.params.choice(param.name))),
        }
    }
    text
}
