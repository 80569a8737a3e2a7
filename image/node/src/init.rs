//! The first process: it does what `/etc/init` says, then keeps a shell on the console, and takes in who lost its parent.

use alloc::format;
use alloc::string::String;
use core::convert::Infallible;

use crate::eprintln;
use crate::program::Programs;
use crate::shell;
use crate::sys::files::{self, Fd, O_RDWR};
use crate::sys::process::{self, Ending, Program};
use crate::sys::{Errno, Result, time};

/// Commands for the shell, a line each. One that fails is told, and the next is done: a machine without a network is still of use.
const SCRIPT: &str = "/etc/init";

/// A shell that ends at once is not started again at once.
const PAUSE: u64 = 1_000_000_000;

/// See the module.
pub fn run(programs: Programs) -> ! {
    match files::text(SCRIPT) {
        Ok(text) => drop(shell::script(programs, &text)),
        Err(why) => eprintln!("init: {SCRIPT}: {why}"),
    }
    loop {
        let Err(why) = keep_shell();
        eprintln!("init: there is no shell: {why}");
        let _ = time::sleep(PAUSE);
    }
}

/// Where the console is: the last of those that the kernel writes to, since `/dev/console` itself cannot be a terminal of a session.
fn console() -> Result<Fd> {
    let names = files::text("/sys/class/tty/console/active").unwrap_or_default();
    let name = names.split_whitespace().last().map_or(String::from("/dev/console"), |name| format!("/dev/{name}"));
    Fd::open(&name, O_RDWR).or_else(|_| Fd::open("/dev/console", O_RDWR))
}

fn keep_shell() -> Result<Infallible> {
    let terminal = console()?;
    loop {
        let streams = [Some(&terminal); 3];
        let shell = process::spawn(&Program {
            path: "/proc/self/exe",
            words: &["sh"],
            environment: &[],
            streams,
            leads: true,
        })?;
        let begun = time::now();
        loop {
            match process::wait(None, true) {
                Ok(Some((ended, ending))) if ended == shell => {
                    if let Ending::Signal(signal) = ending {
                        eprintln!("init: the shell was ended by signal {signal}");
                    }
                    break;
                }
                Ok(_) | Err(Errno::EINTR) => {}
                Err(why) => return Err(why),
            }
        }
        if time::now() - begun < PAUSE {
            let _ = time::sleep(PAUSE);
        }
    }
}
