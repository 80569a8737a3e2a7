//! What an environment takes of memory and of the disk, with a probe in it that does nothing.
//!
//! The probe tells what it sees from inside, and stays for a moment; the lab looks from outside, adds what lies on the disk, and
//! makes a row of it all.

use std::time::{Duration, Instant};

use kizami_recording::folder::{Column, Unit};

use crate::bench::{Bench, Failure};
use crate::resident;
use crate::spec::{Params, Part, Workload};

/// The fact that tells what is seen from inside.
pub const INSIDE: &str = "memory_inside_bytes";

/// How long the probe stays for the lab to look, which raises the flag when it has.
const STAYS: Duration = Duration::from_secs(3);

pub static WORKLOAD: Workload = Workload {
    name: "footprint",
    title: "memory and disk that an environment takes",
    about: "Starts a probe that does nothing, and records what that takes, in bytes. host: the memory of every process of this \
            machine that serves the environment (a runtime, a daemon, a monitor, the probe itself), each page that several share \
            counted in parts (PSS); of a board, all of its memory that is not free. guest: the memory as it is seen from inside: of a machine with a kernel of its own, all that \
            its kernel does not call available; of an Erlang VM, what it has allocated; otherwise the PSS of the probe. disk: the files that those processes have mapped \
            (programs and their libraries), and of a machine its kernel and its image. Not in the figure: files that are read and not mapped, such as the code of an \
            Erlang VM, the memory of this \
            machine's kernel (namespaces, page tables, the page cache), and what the lab itself takes.",
    reference: "",
    params: &[],
    parts: |_, _| {
        let host = Part { columns: vec![Column::new("host", Unit::Bytes)], ..Part::times(1).cold(0) };
        vec![host.and("guest", Unit::Bytes).and("disk", Unit::Bytes)]
    },
    seconds: |_| 0.2,
    linux: Some(run),
    beam: Some("footprint"),
};

fn run(_: &Params, bench: &mut Bench<'_>) -> Result<(), Failure> {
    let inside = match bench.start().machine {
        Some(_) => resident::in_use(),
        None => resident::proportional_share("self"),
    };
    bench.tell(INSIDE, inside.map_err(Failure::os("read the memory in use"))? as f64);
    let begun = Instant::now();
    while !bench.stopped() && begun.elapsed() < STAYS {
        std::thread::sleep(Duration::from_millis(1));
    }
    Ok(())
}
