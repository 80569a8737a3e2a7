//! Instructions and cycles of services on boards.

use kizami_recording::folder::{Column, Unit};

use super::services::{MODEL, SERVICES, with};
use crate::spec::{Kind, Param, Params, Part, Workload};

/// How often each service is called.
const TIMES: u64 = 20;

pub static INSTRUCTIONS: Workload = Workload {
    name: "rtos-instructions",
    title: "instructions of the services of the real-time kernel",
    about: "Counts, in an emulator, the instructions from the call of each service to the first of the task that runs \
            because of it, where the name ends in switch, or to its return. act_remote is of a task of the other processor; \
            on one processor that task runs, and ends, before it returns. The call is one of Rust, with a typed handle; it \
            holds the two to four instructions that lead to and from a function. A sample is one passage: they are all the \
            same unless another processor or an interrupt came in between.",
    reference: "",
    params: &[COUNTED, MODEL],
    parts: |params, _| parts(params, Column::new("instructions", Unit::Instructions)),
    seconds,
    linux: None,
    beam: None,
};

pub static CYCLES: Workload = Workload {
    name: "rtos-cycles",
    title: "cycles of the services of the real-time kernel",
    about: "The same passages as those of rtos-instructions, in cycles of the processor, where the emulator counts them.",
    reference: "",
    params: &[COUNTED, MODEL],
    parts: |params, _| parts(params, Column::new("cycles", Unit::Cycles)),
    seconds,
    linux: None,
    beam: None,
};

/// Which services are recorded; the program calls all of them.
const COUNTED: Param = Param {
    name: "service",
    about: "which service, or all",
    kind: Kind::Choice(&with(SERVICES, "all")),
    default: "all",
};

fn parts(params: &Params, column: Column) -> Vec<Part> {
    let wanted = params.choice("service");
    let part = |name: &&str| Part {
        name: (*name).to_owned(),
        columns: vec![column.clone()],
        rows: 2 * TIMES,
        operations: 1,
        cold_rows: 0,
    };
    SERVICES.iter().filter(|name| wanted == "all" || **name == wanted).map(part).collect()
}

fn seconds(_: &Params) -> f64 {
    4.0
}
