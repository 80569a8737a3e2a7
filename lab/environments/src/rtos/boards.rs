//! Boards in an emulator: `rtos-inspect` builds the counted programs, runs them, and reports the cost of each passage.
//!
//! The same program can show these figures instruction by instruction (docs/rtos.md). A trial builds and runs one
//! program, which calls every service. Every trial measures anew, so equal figures in all trials are observed, not
//! assumed.

use std::io::Read;
use std::process::{Command, Stdio};

use kizami_protocol::Report;
use kizami_recording::folder::Unit;
use kizami_settings::Settings;
use kizami_workloads::{Params, Part, Workload, rtos};

use crate::environment::{Environment, Job, Place};
use crate::error::Error;
use crate::launch::{self, Started};
use crate::locate;

const PROGRAM: &str = "rtos-inspect";

/// A board, or for one processor and for two a board each.
#[derive(Debug)]
pub struct Board {
    name: &'static str,
    title: &'static str,
    /// Its name for `rtos-inspect`.
    platform: &'static str,
    /// Whether the emulator counts cycles, and not instructions alone.
    cycles: bool,
    /// Whether QEMU is the emulator.
    qemu: bool,
}

pub static CORTEX_M33: Board = Board {
    name: "rtos-m33",
    title: "the real-time kernel on Cortex-M33 (QEMU: MPS2 AN505, Musca-B1)",
    platform: "m33",
    cycles: false,
    qemu: true,
};
pub static CORTEX_A9: Board = Board {
    name: "rtos-a9",
    title: "the real-time kernel on Cortex-A9 (QEMU: Zynq-7000, RealView PBX-A9)",
    platform: "a9",
    cycles: false,
    qemu: true,
};
pub static RP2040: Board = Board {
    name: "rtos-rp2040",
    title: "the real-time kernel on the RP2040 (rp2040-emu)",
    platform: "rp2040",
    cycles: true,
    qemu: false,
};

impl Environment for Board {
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
        if self.qemu {
            locate::program("qemu-system-arm", "qemu-system-arm")?;
        }
        locate::program("arm-none-eabi-objdump", "binutils-arm-none-eabi")?;
        locate::ours(PROGRAM).map(drop)
    }

    fn does(&self, workload: &Workload) -> bool {
        workload.name == rtos::INSTRUCTIONS.name || (self.cycles && workload.name == rtos::CYCLES.name)
    }

    fn supports(&self, _: &Params) -> Result<(), String> {
        Ok(())
    }

    fn versions(&self) -> Vec<(String, String)> {
        let of = |name: &str| locate::program(name, name).ok().and_then(|path| locate::version(&path, &["--version"]));
        let rustc = of("rustc").map(|version| ("rustc".to_owned(), version));
        let qemu = of("qemu-system-arm").filter(|_| self.qemu).map(|v| ("qemu-system-arm".to_owned(), v));
        rustc.into_iter().chain(qemu).collect()
    }

    fn start(&self, job: &Job, place: &Place<'_>) -> Result<Started, Error> {
        let program = locate::ours(PROGRAM).map_err(Error::Unusable)?;
        let model = job.params.choice("model");
        // Before the trial: how long the compiler takes is no part of it.
        let built = Command::new(&program)
            .args(["build", "counted", self.platform, model])
            .stdin(Stdio::null())
            .output()
            .map_err(Error::os(format!("start {PROGRAM}")))?;
        if !built.status.success() {
            let why = String::from_utf8_lossy(&built.stderr).trim().to_owned();
            return Err(Error::Unusable(format!("the program for {} cannot be built: {why}", self.platform)));
        }
        let mut command = Command::new(&program);
        command.args(["passages", self.platform, model]);
        let parts = place.parts.to_vec();
        let listener: launch::Listener = Box::new(move |mut stream, sender| {
            let _ = sender.send(Ok(Report::Ready {}));
            let mut said = String::new();
            let rows = match stream.read_to_string(&mut said) {
                Ok(_) => rows(&said, &parts),
                Err(e) => Err(format!("what {PROGRAM} says cannot be read: {e}")),
            };
            let reports = match rows {
                Ok(rows) => rows.into_iter().chain([Report::Done {}]).collect(),
                // Without output the exit status and the error output say more than we can.
                Err(_) if said.trim().is_empty() => Vec::new(),
                Err(why) => vec![Report::Failed { why }],
            };
            for report in reports {
                let _ = sender.send(Ok(report));
            }
        });
        launch::start(command, launch::Input::Empty, &[], listener, || {})
    }
}

/// The rows of each part: its lines begin with its name, then instructions, then perhaps cycles.
fn rows(said: &str, parts: &[Part]) -> Result<Vec<Report>, String> {
    let mut rows = vec![Vec::new(); parts.len()];
    for line in said.lines() {
        let mut words = line.split_whitespace();
        let service = words.next().unwrap_or_default();
        if !rtos::SERVICES.contains(&service) {
            return Err(format!("{PROGRAM} counted {service:?}, which the workload does not have"));
        }
        // It counts all, and may have been asked for one.
        let Some(part) = parts.iter().position(|part| part.name == service) else { continue };
        let cycles = parts[part].columns.first().is_some_and(|column| column.unit == Unit::Cycles);
        let figure = words.nth(usize::from(cycles)).and_then(|word| word.parse::<u64>().ok());
        rows[part].push(vec![figure.ok_or_else(|| format!("{PROGRAM} said something unexpected: {line}"))?]);
    }
    if let Some(missing) = rows.iter().position(Vec::is_empty) {
        return Err(format!("{PROGRAM} counted no passage of {}", parts[missing].name));
    }
    Ok(rows.into_iter().enumerate().map(|(part, rows)| Report::Rows { part, rows }).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use kizami_recording::folder::Column;

    fn parts(unit: Unit) -> Vec<Part> {
        let part = |name: &str| Part { columns: vec![Column::new("x", unit)], ..Part::times(40).named(name) };
        ["act_switch", "loc_mtx"].map(part).to_vec()
    }

    #[test]
    fn a_line_is_a_row_of_its_part() {
        let said = "act_switch 79 148\nloc_mtx 41 85\nact_switch 80 150\n";
        let part = |part, rows: &[u64]| Report::Rows { part, rows: rows.iter().map(|row| vec![*row]).collect() };
        assert_eq!(rows(said, &parts(Unit::Instructions)), Ok(vec![part(0, &[79, 80]), part(1, &[41])]));
        assert_eq!(rows(said, &parts(Unit::Cycles)), Ok(vec![part(0, &[148, 150]), part(1, &[85])]));
    }

    #[test]
    fn what_was_not_asked_for_and_what_is_missing_are_told() {
        assert!(rows("act_switch 79\nloc_mtx 41\n", &parts(Unit::Cycles)).is_err());
        assert!(rows("act_switch 79\n", &parts(Unit::Instructions)).is_err_and(|why| why.contains("loc_mtx")));
        assert!(rows("other 79\n", &parts(Unit::Instructions)).is_err_and(|why| why.contains("other")));
    }
}
