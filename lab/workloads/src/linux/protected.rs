//! A network of this thread's own, in which everything between two addresses is protected by IPsec. Policies hold for all that a
//! network has: those of the machine would hold for every other program on it, too.

use std::net::IpAddr;
use std::os::fd::AsRawFd;
use std::path::Path;

use node::netlink::{self, Suite};
use node::sys::Errno;

use crate::bench::Failure;

/// What says that datagrams to the machine itself need no protection, by IPv4.
const EXEMPT: [&str; 2] = ["/proc/sys/net/ipv4/conf/lo/disable_xfrm", "/proc/sys/net/ipv4/conf/lo/disable_policy"];

/// Where the image of a guest has what its kernel needs for that, in the order in which it is loaded.
const MODULES: &str = "/lib/ipsec";

/// Loads what the kernel of a guest has for IPsec in files; elsewhere there are none. Says which it did not take: a source of random numbers
/// that finds its machine too regular, as an emulated one is, is one of several.
fn load_modules() -> String {
    let Ok(entries) = std::fs::read_dir(MODULES) else { return String::new() };
    let mut files: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    files.sort();
    let load = |path: &Path| {
        let file = std::fs::File::open(path)?;
        // SAFETY: an open file, and a text with its end.
        match unsafe { libc::syscall(libc::SYS_finit_module, file.as_raw_fd(), c"".as_ptr(), 0) } {
            0 => Ok(()),
            _ => Err(std::io::Error::last_os_error()),
        }
    };
    let refused = files.iter().filter_map(|path| {
        let why = load(path).err().filter(|why| why.raw_os_error() != Some(libc::EEXIST))?;
        Some(format!("; {} was not loaded: {why}", path.display()))
    });
    refused.collect()
}

/// Moves this thread to a network of its own, where what goes to `here` is protected by `suite`.
///
/// # Errors
/// When the kernel has no ESP or not that cipher, or the rights are missing.
pub(super) fn protected(here: IpAddr, suite: &str) -> Result<(), Failure> {
    let Some(suite) = Suite::named(suite) else {
        return Err(Failure::Impossible(format!("ipsec={suite} is unknown here")));
    };
    let refused = load_modules();
    // SAFETY: what this thread opens from now on is in the other network; no memory is concerned.
    if unsafe { libc::unshare(libc::CLONE_NEWNET) } != 0 {
        return Err(Failure::last_os("have a network of its own for IPsec, which takes root (CAP_SYS_ADMIN)"));
    }
    let told = |doing: &str, why: Errno| Failure::Os {
        doing: doing.to_owned(),
        source: std::io::Error::from_raw_os_error(why.0 as i32),
    };
    netlink::up("lo", true).map_err(|why| told("switch the loopback device on", why))?;
    for file in EXEMPT.into_iter().filter(|_| here.is_ipv4()) {
        std::fs::write(file, "0").map_err(Failure::os(format!("write {file}")))?;
    }
    netlink::protect(here, here, suite).map_err(|why| match why {
        Errno::EPROTONOSUPPORT | Errno::ENOENT | Errno::ENOSYS => Failure::Impossible(format!(
            "the kernel here has no ESP, or not that cipher ({why}{refused}): the environment qemu has a kernel of its own that does"
        )),
        why => told("tell the kernel of IPsec", why),
    })
}
