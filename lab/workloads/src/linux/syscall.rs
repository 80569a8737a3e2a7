//! System calls with next to no work: the cost of the call itself.

use std::ffi::CString;
use std::fs::File;
use std::hint::black_box;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;

use rustix::fs::{Mode, OFlags};

use crate::os::sys::{self, Via};
use crate::bench::{Bench, Failure};
use crate::linux::via::{VIA, via};
use crate::spec::{Kind, Param, Params, Part, Workload};

pub static WORKLOAD: Workload = Workload {
    name: "syscall",
    title: "cheapest system calls",
    about: "Makes the same call over and over and times batches of it; the sample is the time of a batch, so that the two \
            clock readings weigh little. getppid does nothing but enter and leave the kernel; read takes one byte from /dev/zero, write puts one \
            into /dev/null, stat asks for a file by its path, fstat by its descriptor, and open-close opens a file and \
            closes it again, which counts as one operation. The file is an empty one in the probe's scratch folder and \
            its path, whose length counts for stat and open-close, is resolved from the root. Each call's result is \
            checked, which is one comparison in the figure, as is the loop. Not in the figure: the first touch of the \
            file, and any disk: all of it is in memory.",
    reference: "perf bench syscall basic, lmbench lat_syscall",
    params: &[
        Param {
            name: "op",
            about: "which call",
            kind: Kind::Choice(&["getppid", "read", "write", "stat", "fstat", "open-close"]),
            default: "getppid",
        },
        VIA,
        Param { name: "batch", about: "calls that one sample times", kind: Kind::count(1, 10_000), default: "1000" },
        Param { name: "samples", about: "how many batches", kind: Kind::count(1, 100_000_000), default: "2000" },
    ],
    parts: |params, _| vec![Part::times(params.number("samples")).operations(params.number("batch"))],
    seconds: |params| {
        let each = match params.choice("op") {
            "getppid" | "read" | "write" => 0.15e-6,
            "stat" | "fstat" => 0.5e-6,
            _ => 1.5e-6,
        };
        (params.number("samples") * params.number("batch")) as f64 * each
    },
    linux: Some(run),
    beam: None,
};

fn run(params: &Params, bench: &mut Bench<'_>) -> Result<(), Failure> {
    let path = bench.scratch().join("file");
    let file = File::create(&path).map_err(Failure::os(format!("create {}", path.display())))?;
    let name = CString::new(path.as_os_str().as_bytes())
        .map_err(|_| Failure::Impossible(format!("{} cannot be the name of a file", path.display())))?;
    let device = |path: &str, write: bool| {
        let opened = File::options().read(!write).write(write).open(path);
        opened.map_err(Failure::os(format!("open {path}")))
    };
    let mut byte = [0u8; 1];
    let via = via(params);
    match (params.choice("op"), via) {
        ("getppid", Via::Library) => batches(params, bench, || {
            // SAFETY: asks for a number.
            black_box(unsafe { libc::getppid() });
            Ok(())
        }),
        ("getppid", Via::Direct) => batches(params, bench, || {
            // No parent is an answer too: it may be in another namespace.
            let _ = rustix::process::getppid();
            Ok(())
        }),
        ("read", _) => {
            let zero = device("/dev/zero", false)?;
            batches(params, bench, || sys::read(via, zero.as_raw_fd(), &mut byte).map(drop))
        }
        ("write", _) => {
            let null = device("/dev/null", true)?;
            batches(params, bench, || sys::write(via, null.as_raw_fd(), &byte).map(drop))
        }
        ("stat", Via::Library) => {
            let mut about = MaybeUninit::<libc::stat>::uninit();
            // SAFETY: a path that ends with a zero, and room for the answer.
            batches(params, bench, || sys::checked(unsafe { libc::stat(name.as_ptr(), about.as_mut_ptr()) }))
        }
        ("stat", Via::Direct) => batches(params, bench, || Ok(rustix::fs::stat(name.as_c_str()).map(drop)?)),
        ("fstat", Via::Library) => {
            let mut about = MaybeUninit::<libc::stat>::uninit();
            // SAFETY: a descriptor of ours, and room for the answer.
            batches(params, bench, || sys::checked(unsafe { libc::fstat(file.as_raw_fd(), about.as_mut_ptr()) }))
        }
        ("fstat", Via::Direct) => batches(params, bench, || Ok(rustix::fs::fstat(&file).map(drop)?)),
        (_, Via::Library) => batches(params, bench, || {
            // SAFETY: a path that ends with a zero; what was opened is closed once.
            unsafe {
                let fd = libc::open(name.as_ptr(), libc::O_RDONLY);
                sys::checked(fd)?;
                sys::checked(libc::close(fd))
            }
        }),
        // Closed when it is dropped.
        (_, Via::Direct) => batches(params, bench, || {
            Ok(rustix::fs::open(name.as_c_str(), OFlags::RDONLY, Mode::empty()).map(drop)?)
        }),
    }
}

/// The measurement for one `call`.
fn batches(
    params: &Params,
    bench: &mut Bench<'_>,
    mut call: impl FnMut() -> io::Result<()>,
) -> Result<(), Failure> {
    let mut recorder = bench.recorder(0)?;
    let (samples, batch) = (params.number("samples"), params.number("batch"));
    let done: io::Result<()> = bench.window(|bench| {
        for _ in 0..samples {
            let time = sys::time_batch(batch, &mut call)?;
            recorder.push(time);
            if bench.stopped() {
                break;
            }
        }
        Ok(())
    });
    done.map_err(Failure::os(format!("make the system call {}", params.choice("op"))))
}
