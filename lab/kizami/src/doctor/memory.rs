//! Checks of memory: swap and transparent huge pages.

use kizami_settings::{Root, field, system};

use super::finding::{Finding, Verdict};

pub fn checks(root: &Root) -> Vec<Finding> {
    vec![swap(root), huge_pages(root)]
}

fn swap(root: &Root) -> Finding {
    const CHECK: &str = "swap";
    let meminfo = root.get("proc/meminfo").unwrap_or_default();
    let kib = |name| field(&meminfo, name).and_then(|v| v.trim_end_matches("kB").trim().parse::<u64>().ok());
    match (kib("SwapTotal"), kib("SwapFree")) {
        (Some(0), _) => Finding::new(CHECK, Verdict::Good, "none", "Memory that is in use stays in RAM."),
        (Some(total), free) => {
            let used = total - free.unwrap_or(total).min(total);
            let found = format!("{} MiB, {} MiB in use", total / 1024, used / 1024);
            let means = "Memory that was not used for a while comes back from disk, which takes milliseconds, unless it \
                         is locked.";
            Finding::new(CHECK, Verdict::Fair, found, means).fix("sudo swapoff -a")
        }
        (None, _) => Finding::new(CHECK, Verdict::Unknown, "unknown", "This system does not tell its memory."),
    }
}

fn huge_pages(root: &Root) -> Finding {
    const CHECK: &str = "huge pages";
    let text = root.get(system::THP);
    match text.as_deref().and_then(system::chosen) {
        Some("always") => {
            let means = "The kernel puts huge pages together on its own and stops a thread while it does.";
            let command = format!("echo madvise | sudo tee {}", root.shown(system::THP));
            Finding::new(CHECK, Verdict::Fair, "always", means).fix(command)
        }
        Some(chosen) => {
            let means = "Programs that do not ask for huge pages are left alone.";
            Finding::new(CHECK, Verdict::Good, chosen, means)
        }
        None => Finding::new(CHECK, Verdict::NotApplicable, "none", "The kernel has no transparent huge pages."),
    }
}
