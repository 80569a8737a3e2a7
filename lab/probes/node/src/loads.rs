//! Loads: processes that keep the board busy beside what is measured, until the machine ends.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::net::Ipv4Addr;
use core::sync::atomic::{AtomicU32, Ordering};

use node::output::Output;
use node::sys::{Errno, Fd, files};
use plain::{Arguments, report};

use crate::job::doing;
use crate::network;
use crate::partner::Partner;

/// What a sender sends in one call. An operation of the network's load on Linux is 64 KiB received, and here, too.
const CHUNK: usize = 4 << 10;
const OPERATION: u32 = 64 << 10;
/// An operation of the processor's load: so many rounds.
const ROUNDS: u32 = 100_000;

struct Load {
    name: &'static str,
    done: &'static AtomicU32,
    /// How much of what is counted is an operation.
    operation: u32,
    _processes: Vec<Partner>,
    _sockets: Vec<Fd>,
}

/// Those that a job asks for.
#[derive(Default)]
pub struct Loads(Vec<Load>);

impl Loads {
    /// Starts them, and waits until each has done something.
    pub fn start(arguments: &Arguments) -> Result<Self, String> {
        let names = arguments.0.iter().filter_map(|word| word.strip_prefix("load="));
        let loads: Vec<Load> = names
            .map(|name| match name {
                "cpu" => cpu(),
                "network" => network(),
                other => Err(format!("this probe does not know the load {other:?}")),
            })
            .collect::<Result<_, String>>()?;
        for load in &loads {
            while load.done.load(Ordering::Relaxed) == 0 {
                let _ = node::sys::time::sleep(1_000_000);
            }
        }
        Ok(Self(loads))
    }

    /// Says what each did. Those of one that did nothing would be figures of an idle machine.
    pub fn say(&self, out: &mut Output) {
        if self.0.is_empty() {
            return;
        }
        let (mut names, mut idle) = (String::new(), String::new());
        for load in &self.0 {
            let operations = load.done.load(Ordering::Relaxed) / load.operation;
            report::fact(out, &format!("load_{}_operations", load.name), operations.into());
            let separator = if names.is_empty() { "" } else { "+" };
            names.push_str(separator);
            names.push_str(load.name);
            if operations == 0 {
                idle.push_str(&format!("{} did nothing; ", load.name));
            }
        }
        report::effective(out, "load", &names, idle.is_empty(), idle.trim_end_matches("; "));
    }
}

fn cpu() -> Result<Load, String> {
    static DONE: AtomicU32 = AtomicU32::new(0);
    let process = Partner::start(|| {
        loop {
            DONE.fetch_add(1, Ordering::Relaxed);
        }
    })?;
    Ok(Load { name: "cpu", done: &DONE, operation: ROUNDS, _processes: alloc::vec![process], _sockets: Vec::new() })
}

fn network() -> Result<Load, String> {
    static DONE: AtomicU32 = AtomicU32::new(0);
    let (one, other) = network::streams(Ipv4Addr::LOCALHOST.into()).map_err(doing("connect the network's load"))?;
    let (from, to, sent, mut received) =
        (one.number(), other.number(), alloc::vec![1u8; CHUNK], alloc::vec![0u8; CHUNK]);
    let status = |done: Result<(), Errno>| done.map_or_else(|why| why.0 as i32, |()| 0);
    let receiver = Partner::start(move || {
        status(network::forever(|| {
            let bytes = files::read(to, &mut received)?;
            DONE.fetch_add(bytes as u32, Ordering::Relaxed);
            Ok(())
        }))
    })?;
    let sender = Partner::start(move || status(network::forever(|| files::write(from, &sent).map(drop))))?;
    let processes = alloc::vec![receiver, sender];
    Ok(Load {
        name: "network",
        done: &DONE,
        operation: OPERATION,
        _processes: processes,
        _sockets: alloc::vec![one, other],
    })
}
