//! Lists of processors as the kernel writes them: `0,2-3`.

use crate::syscalls;

/// Processors that a list may name: what a `cpu_set_t` holds.
pub const MOST: usize = syscalls::MOST_CPUS;

/// The processors that the calling thread may run on.
///
/// Empty only if the kernel has more than [`MOST`].
pub fn allowed() -> Vec<usize> {
    syscalls::affinity(0).unwrap_or_default()
}

/// Reads a list; the result is in order and without repetition. An empty text is an empty list.
///
/// # Errors
/// A sentence that says what was expected.
pub fn parse(text: &str) -> Result<Vec<usize>, String> {
    let wrong = || format!("{text:?} is not a list of processors, such as 0,2-3");
    let mut cpus = Vec::new();
    for range in text.trim().split(',').map(str::trim).filter(|_| !text.trim().is_empty()) {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let first: usize = first.trim().parse().map_err(|_| wrong())?;
        let last: usize = last.trim().parse().map_err(|_| wrong())?;
        if first > last {
            return Err(wrong());
        }
        if last >= MOST {
            return Err(format!("{last} in {text:?} is no processor: they go up to {}", MOST - 1));
        }
        cpus.extend(first..=last);
    }
    cpus.sort_unstable();
    cpus.dedup();
    Ok(cpus)
}

/// Writes a list that is in order.
pub fn write(cpus: &[usize]) -> String {
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    for cpu in cpus {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == *cpu => *last = *cpu,
            _ => ranges.push((*cpu, *cpu)),
        }
    }
    let ranges = ranges.iter().map(|(a, b)| if a == b { a.to_string() } else { format!("{a}-{b}") });
    ranges.collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_read_and_written_in_its_shortest_form() {
        for (text, shortest) in [("0", "0"), ("3,1-2,2", "1-3"), ("0, 2 - 3", "0,2-3"), ("", ""), ("0-1023", "0-1023")]
        {
            assert_eq!(parse(text).map(|cpus| write(&cpus)).as_deref(), Ok(shortest), "{text:?}");
        }
    }

    #[test]
    fn what_is_no_list_is_refused() {
        for text in ["a", "1-", "-1", "3-1", "1024", "0-99999999999", "1,,2", ","] {
            assert!(parse(text).is_err(), "{text:?}");
        }
    }
}
