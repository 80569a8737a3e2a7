//! The memory that processes take, and a machine: what the kernel says of it in /proc, in bytes.

use std::fs;
use std::io;

/// The memory of a process (`self`, or a number), each page that it shares with others counted in parts (PSS).
///
/// # Errors
/// When there is none of that number, it is somebody else's, or the kernel does not say it (before Linux 4.14).
pub fn proportional_share(process: &str) -> io::Result<u64> {
    field(&format!("/proc/{process}/smaps_rollup"), "Pss:")
}

/// What the kernel does not call available, of the memory that it manages.
///
/// # Errors
/// When the kernel does not say it.
pub fn in_use() -> io::Result<u64> {
    let of = |name| field("/proc/meminfo", name);
    Ok(of("MemTotal:")?.saturating_sub(of("MemAvailable:")?))
}

fn field(file: &str, name: &str) -> io::Result<u64> {
    let text = fs::read_to_string(file).map_err(|e| io::Error::new(e.kind(), format!("{file}: {e}")))?;
    kibibytes(&text, name).ok_or_else(|| io::Error::other(format!("{file} has no {name}")))
}

fn kibibytes(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_read_by_their_whole_name() {
        let text = "Rss:  8 kB\nPss:                 812 kB\nPss_Dirty:   4 kB\nSwap: 18446744073709551615 kB\n";
        assert_eq!(kibibytes(text, "Pss:"), Some(812 << 10));
        assert_eq!(kibibytes(text, "Shared:"), None);
        assert_eq!(kibibytes(text, "Swap:"), None, "more than there can be");
    }

    #[test]
    fn this_process_takes_memory_and_the_machine_more() {
        let own = proportional_share("self").expect("the kernel says it");
        assert!(own > 64 << 10 && own < in_use().expect("the kernel says it"), "{own}");
        assert!(proportional_share("0").is_err());
    }
}
