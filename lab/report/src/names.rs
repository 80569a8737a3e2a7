//! The workloads, parameters and columns that decisions and deadlines know by name. Every other part of the report takes any
//! workload as it comes.

/// Wake-ups from a periodic timer, which decisions are about, and its parameters.
pub const WAKEUP: &str = "wakeup";
/// From one wake-up to the next. A thread of several has its own, as the fact [`INTERVAL_FACT`].
pub const INTERVAL: &str = "interval";
pub const INTERVAL_FACT: &str = "interval_ns";
/// Whether periods that passed are left out.
pub const MODE: &str = "mode";
pub const SKIP: &str = "skip";

/// Background loads, which are asked for as a setting is.
pub const LOAD: &str = "load";

/// Workloads whose samples are how late something was, or for how long it was held up: a deadline is drawn in their figures.
pub const LATENCIES: [&str; 4] = [WAKEUP, "os-latency", "clock-gap", "timerlat"];

/// Environments that are another tool's measurement of the host: nothing that a system could be built on.
pub const TOOLS: [&str; 1] = ["cyclictest"];

/// One row a start: nanoseconds from the start of the program that starts the environment to the first sample.
pub const BOOT: &str = "boot";
pub const BOOT_TOTAL: &str = "total";

/// One row a start, in bytes: memory of all processes on the host that serve it, memory in use as the environment sees it, and
/// what must be on disk.
pub const FOOTPRINT: &str = "footprint";
pub const FOOTPRINT_HOST: &str = "host";
pub const FOOTPRINT_GUEST: &str = "guest";
pub const FOOTPRINT_DISK: &str = "disk";
