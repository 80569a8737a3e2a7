//! The definition of every setting, one entry each. All code that lists, checks or explains settings reads this list.

use kizami_recording::quantity::Quantity;

use crate::beam;
use crate::kind::{Kind, OFF};
use crate::policy;

/// The reach of a setting, which decides where it is applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// The probe applies it to itself, or gets it between fork and exec.
    Process,
    /// The whole machine has it; changed and restored by a [`Guard`](crate::Guard).
    System,
    /// The Erlang VM has it.
    Beam,
    /// The engine of a container applies it.
    Container,
    /// It is of the layer around the work, a container or a virtual machine.
    Layer,
    /// A virtual machine is started with it.
    Machine,
    /// A unikernel is started with it.
    Unikernel,
    /// A board is emulated with it.
    Board,
}

impl Scope {
    /// Whose settings these are, in words.
    pub fn whose(self) -> &'static str {
        match self {
            Self::Process => "a process",
            Self::System => "the whole machine",
            Self::Beam => "the Erlang VM",
            Self::Container => "a container",
            Self::Layer => "a container or a virtual machine",
            Self::Machine => "a virtual machine",
            Self::Unikernel => "a unikernel",
            Self::Board => "an emulated board",
        }
    }
}

/// The definition of a setting.
#[derive(Debug)]
pub struct Setting {
    /// The name in studies, on the command line and in recordings.
    pub name: &'static str,
    /// What it does, in a sentence.
    pub about: &'static str,
    /// What is accepted, for help.
    pub values: &'static str,
    pub scope: Scope,
    /// How it is applied and how it is read back.
    pub how: &'static str,
    pub(crate) kind: Kind,
}

impl Setting {
    /// What stands between several values: something that no value has in it.
    pub fn separator(&self) -> char {
        if matches!(self.kind, Kind::Words) { ';' } else { ',' }
    }

    /// Values to offer where one is to be chosen: all of a choice, the usual ones of a policy; none where it is a number or a
    /// text of its own.
    pub fn choices(&self) -> Vec<String> {
        let words: &[&str] = match self.kind {
            Kind::Policy => &["other", "batch", "idle", "fifo:80", "rr:80"],
            Kind::Choice(choices) => choices,
            Kind::NumberOrOff { .. } => &[OFF],
            Kind::Cpus
            | Kind::Integer { .. }
            | Kind::Number { .. }
            | Kind::Processors
            | Kind::Words
            | Kind::VmFlags => &[],
        };
        words.iter().map(|word| (*word).to_owned()).collect()
    }
}

const TRUE_FALSE: Kind = Kind::Choice(&["true", "false"]);
const US: u64 = 1_000;
/// The largest signed 32-bit number of microseconds, which is what the kernel takes.
const MOST_US: u64 = 2_147_483_647 * US;
const COUNT: Quantity = Quantity::Count;

/// Every knob, in the order in which they are listed to users.
pub static SETTINGS: &[Setting] = &[
    Setting {
        name: "policy",
        about: "Which threads the kernel runs first; under deadline, threads that are started are of policy other",
        values: policy::VALUES,
        scope: Scope::Process,
        how: "sched_setattr(2), read back with sched_getattr(2)",
        kind: Kind::Policy,
    },
    Setting {
        name: "nice",
        about: "The share of processor time among threads of an ordinary policy; lower is more",
        values: "-20 to 19",
        scope: Scope::Process,
        how: "setpriority(2), read back with getpriority(2)",
        kind: Kind::Integer { least: -20, most: 19 },
    },
    Setting {
        name: "affinity",
        about: "The processors that the work may run on",
        values: "a list such as 0,2-3",
        scope: Scope::Process,
        how: "sched_setaffinity(2), read back with sched_getaffinity(2)",
        kind: Kind::Cpus,
    },
    Setting {
        name: "lock_memory",
        about: "Keeps all memory in RAM and mapped, so that no page fault delays the work",
        values: "true or false",
        scope: Scope::Process,
        how: "mlockall(2), read back from VmLck in /proc/PID/status",
        kind: TRUE_FALSE,
    },
    Setting {
        name: "timer_slack",
        about: "How much later than asked the kernel may wake a thread of an ordinary policy",
        values: "a time from 1ns to 10s",
        scope: Scope::Process,
        how: "prctl(PR_SET_TIMERSLACK), read back with prctl(PR_GET_TIMERSLACK)",
        kind: Kind::Number { quantity: Quantity::Time, least: 1, most: 10_000_000_000, step: 1 },
    },
    Setting {
        name: "governor",
        about: "How the kernel chooses the frequency of every processor",
        values: "performance, powersave, ondemand, conservative, schedutil or userspace, where the machine has it",
        scope: Scope::System,
        how: "/sys/devices/system/cpu/cpufreq/policy*/scaling_governor",
        kind: Kind::Choice(&["performance", "powersave", "ondemand", "conservative", "schedutil", "userspace"]),
    },
    Setting {
        name: "turbo",
        about: "Whether a processor may run faster than its nominal frequency while heat and power allow",
        values: "on or off",
        scope: Scope::System,
        how: "/sys/devices/system/cpu/intel_pstate/no_turbo or /sys/devices/system/cpu/cpufreq/boost",
        kind: Kind::Choice(&["on", "off"]),
    },
    Setting {
        name: "cpu_dma_latency",
        about: "The longest time that an idle processor may take to wake: 0 keeps it out of every sleeping state",
        values: "a time in whole us, such as 0us",
        scope: Scope::System,
        how: "/dev/cpu_dma_latency, held open for the run and read back",
        kind: Kind::Number { quantity: Quantity::Time, least: 0, most: MOST_US, step: US },
    },
    Setting {
        name: "rt_runtime",
        about: "How much of each second real-time threads may use before the kernel throttles them",
        values: "a time in whole us, such as 950ms, or off",
        scope: Scope::System,
        how: "/proc/sys/kernel/sched_rt_runtime_us; what is in force is measured with a busy real-time thread",
        kind: Kind::NumberOrOff { quantity: Quantity::Time, least: 0, most: MOST_US, step: US },
    },
    Setting {
        name: "thp",
        about: "Where the kernel uses huge pages on its own, which stops a thread while they are put together",
        values: "always, madvise or never",
        scope: Scope::System,
        how: "/sys/kernel/mm/transparent_hugepage/enabled",
        kind: Kind::Choice(&["always", "madvise", "never"]),
    },
    Setting {
        name: "memory_limit",
        about: "How much memory the work may use, swap included, before the kernel ends it",
        values: "a size of at least 1MiB",
        scope: Scope::System,
        how: "a memory cgroup (version 1 or 2) made for the trial, read back from its limit",
        kind: Kind::Number { quantity: Quantity::Size, least: 1 << 20, most: 1 << 50, step: 4096 },
    },
    Setting {
        name: "files_on",
        about: "Where the files of the work lie in a container or a virtual machine",
        values: "in a container overlay (its own layer above an image), bind (a folder of the host) or tmpfs (memory); \
                 in a virtual machine tmpfs or disk (a file of the host)",
        scope: Scope::Layer,
        how: "a mount of the container or of the guest, read back from its mountinfo",
        kind: Kind::Choice(&["overlay", "bind", "tmpfs", "disk"]),
    },
    Setting {
        name: "network",
        about: "Where the other half of tcp, udp and net-rtt is: within the layer too, or on the host, over a link out of it",
        values: "loopback (within it), link (interfaces of the host's kernel, which takes root: veth to a container, tap to a virtual \
                 machine) or, out of a virtual machine, user (a network within QEMU)",
        scope: Scope::Layer,
        how: "interfaces of the kernel or options of QEMU, read back from the interfaces there and what QEMU's process has opened",
        kind: Kind::Choice(&["loopback", "link", "user"]),
    },
    Setting {
        name: "seccomp",
        about: "Whether each system call in a container passes the filter of its engine",
        values: "on, where the engine has a filter, or off",
        scope: Scope::Container,
        how: "an option of the engine, read back from /proc/PID/status",
        kind: Kind::Choice(&["on", "off"]),
    },
    Setting {
        name: "init",
        about: "Whether the first process of a container is another one, which waits for the work's program",
        values: "on, as with docker --init and by itself in bwrap, or off, as by itself in runc, docker and podman",
        scope: Scope::Container,
        how: "bwrap --as-pid-1, elsewhere the probe as a parent of the probe, read back from /proc/PID/status",
        kind: Kind::Choice(&["on", "off"]),
    },
    Setting {
        name: "cpu_limit",
        about: "How much time of processors a container may use, before the kernel stops it until the next 100 ms",
        values: "a number of processors such as 0.5",
        scope: Scope::Container,
        how: "the quota of its control group, read back from there",
        kind: Kind::Processors,
    },
    Setting {
        name: "cpuset",
        about: "The processors that a container may run on; affinity chooses among them",
        values: "a list such as 0,2-3",
        scope: Scope::Container,
        how: "the cpuset of its control group, read back from there",
        kind: Kind::Cpus,
    },
    Setting {
        name: "cgroup_depth",
        about: "How many control groups deep a container lies, or on the host the process itself; each takes time whenever a process in \
                it sleeps or wakes",
        values: "a whole number from 1 to 8",
        scope: Scope::Container,
        how: "the path of its control group, read back from /proc/PID/cgroup",
        kind: Kind::Integer { least: 1, most: 8 },
    },
    Setting {
        name: "accel",
        about: "Whether a virtual machine runs on the processor (kvm) or is emulated (tcg)",
        values: "kvm or tcg; without it, kvm where a kernel comes up with it",
        scope: Scope::Machine,
        how: "an option of QEMU, read back from its monitor",
        kind: Kind::Choice(&["kvm", "tcg"]),
    },
    Setting {
        name: "machine",
        about: "The board that a virtual machine is",
        values: "pc (1996, with PCI), q35 (2009, with PCI Express), microvm (without a bus, for a fast start) or virt (arm64; ./x setup arm64)",
        scope: Scope::Machine,
        how: "an option of QEMU, read back in the guest from what its firmware says",
        kind: Kind::Choice(&["pc", "q35", "microvm", "virt"]),
    },
    Setting {
        name: "vm_cpus",
        about: "How many processors a virtual machine has",
        values: "1 to 256",
        scope: Scope::Machine,
        how: "an option of QEMU, read back in the guest",
        kind: Kind::Integer { least: 1, most: 256 },
    },
    Setting {
        name: "vm_memory",
        about: "How much memory a virtual machine has",
        values: "a size of at least 64MiB",
        scope: Scope::Machine,
        how: "an option of QEMU, read back from its monitor",
        kind: Kind::Number { quantity: Quantity::Size, least: 64 << 20, most: 1 << 46, step: 1 << 20 },
    },
    Setting {
        name: "vm_kernel",
        about: "Which of Debian's kernels a virtual machine boots",
        values: "cloud (built for virtual machines), rt (PREEMPT_RT) or ordinary (built for any machine)",
        scope: Scope::Machine,
        how: "an option of QEMU, read back in the guest from the kernel's release; its preemption is read there too",
        kind: Kind::Choice(&["cloud", "rt", "ordinary"]),
    },
    Setting {
        name: "disk_cache",
        about: "How writes to a virtual machine's disk (files_on=disk) reach the host's, as QEMU names it",
        values: "writeback (the host's page cache, written out by a flush), none (past that cache), writethrough or \
                 directsync (the same two, each write to the end), or unsafe (flushes do nothing)",
        scope: Scope::Machine,
        how: "an option of QEMU, read back from its monitor; the guest says how it sees the disk's cache (write_cache)",
        kind: Kind::Choice(&["writeback", "none", "writethrough", "directsync", "unsafe"]),
    },
    Setting {
        name: "device_interface",
        about: "How a unikernel asks its block device",
        values: "blocks (a call for each block of 512 bytes), calls (one for each request), or rings (of requests in memory)",
        scope: Scope::Unikernel,
        how: "an option of its monitor, as the guest was told",
        kind: Kind::Choice(&["blocks", "calls", "rings"]),
    },
    Setting {
        name: "device_engine",
        about: "With device_interface=rings: how the monitor does what is asked",
        values: "auto (io_uring past the page cache, where the system has it, and plain else), plain (one request after the other) or io_uring",
        scope: Scope::Unikernel,
        how: "an option of its monitor, read back from the files that this has open",
        kind: Kind::Choice(&["auto", "plain", "io_uring"]),
    },
    Setting {
        name: "device_poll",
        about: "With device_interface=rings: how long each side looks for what the other does before it sleeps",
        values: "a time from 0us to 1s, in whole microseconds",
        scope: Scope::Unikernel,
        how: "an option of its monitor, as the guest was told",
        kind: Kind::Number { quantity: Quantity::Time, least: 0, most: 1_000_000_000, step: US },
    },
    Setting {
        name: "device_sync",
        about: "What a flush of a unikernel's block device does, as QEMU names it",
        values: "writeback (writes out what was written), writethrough (nothing: each write is to the end), unsafe (nothing ever)",
        scope: Scope::Unikernel,
        how: "an option of its monitor, as the guest was told",
        kind: Kind::Choice(&["writeback", "writethrough", "unsafe"]),
    },
    Setting {
        name: "disk_engine",
        about: "By which calls QEMU reads and writes the file of a virtual machine's disk",
        values: "threads, native (io_submit; only past the page cache) or io_uring",
        scope: Scope::Machine,
        how: "an option of QEMU, read back from what its process has opened and mapped",
        kind: Kind::Choice(&["threads", "native", "io_uring"]),
    },
    Setting {
        name: "disk_size",
        about: "How large a virtual machine's disk is; its file takes as much room as was written",
        values: "a size from 16MiB to 1TiB",
        scope: Scope::Machine,
        how: "the size of its file, read back from QEMU's monitor",
        kind: Kind::Number { quantity: Quantity::Size, least: 16 << 20, most: 1 << 40, step: 1 << 20 },
    },
    Setting {
        name: "kernel_args",
        about: "More words on the command line of a guest's kernel: preempt=full, isolcpus=1, nohz_full=1, …",
        values: "words as in kernel-parameters.txt; several values with ; between them",
        scope: Scope::Machine,
        how: "an option of QEMU, read back in the guest from /proc/cmdline",
        kind: Kind::Words,
    },
    Setting {
        name: "icount",
        about: "Whether an emulated machine counts time by its instructions, each 2^N ns: then the same run gives the same times",
        values: "off, or N from 0 to 10",
        scope: Scope::Machine,
        how: "an option of QEMU; the times of two runs show it",
        kind: Kind::NumberOrOff { quantity: Quantity::Count, least: 0, most: 10, step: 1 },
    },
    Setting {
        name: "profile",
        about: "Whether instructions are counted by the functions of the kernel that take them, and by their callers",
        values: "on or off",
        scope: Scope::Board,
        how: "a plugin of QEMU counts; what it counted stands beside the time that was measured",
        kind: Kind::Choice(&["on", "off"]),
    },
    Setting {
        name: "wire",
        about: "Whether the other half of a network workload is on a second board, at the end of a wire of that rate",
        values: "off, or a rate from 10kbit to 10Gbit",
        scope: Scope::Board,
        how: "the lab carries the frames between the two; what its queue of 64 KiB had no room for is counted (lost_on_wire)",
        kind: Kind::NumberOrOff { quantity: Quantity::Rate, least: 10_000, most: 10_000_000_000, step: 1 },
    },
    Setting {
        name: "wire_delay",
        about: "How long a frame is under way on that wire, beyond the time of its bits",
        values: "a time up to 10s",
        scope: Scope::Board,
        how: "as wire",
        kind: Kind::Number { quantity: Quantity::Time, least: 0, most: 10_000_000_000, step: 1 },
    },
    Setting {
        name: "fullsweep_after",
        about: "After how many minor collections an Erlang process collects all of its heap",
        values: "a whole number; 0 does it every time, 65535 is the VM's own and the most it can hold",
        scope: Scope::Beam,
        how: "an option of spawn_opt, read back with process_info",
        kind: Kind::Number { quantity: COUNT, least: 0, most: 1 << 30, step: 1 },
    },
    Setting {
        name: "min_heap_size",
        about: "The least heap of an Erlang process, in words; 233 is the VM's own",
        values: "a whole number of words; the VM rounds it up",
        scope: Scope::Beam,
        how: "an option of spawn_opt, read back with process_info",
        kind: Kind::Number { quantity: COUNT, least: 0, most: 1 << 30, step: 1 },
    },
    Setting {
        name: "priority",
        about: "Which Erlang processes a scheduler of the VM runs first",
        values: "low, normal or high",
        scope: Scope::Beam,
        how: "an option of spawn_opt, read back with process_info",
        kind: Kind::Choice(&["low", "normal", "high"]),
    },
    Setting {
        name: "message_queue_data",
        about: "Whether messages that wait are part of the heap that is collected",
        values: "on_heap or off_heap",
        scope: Scope::Beam,
        how: "an option of spawn_opt, read back with process_info",
        kind: Kind::Choice(&["on_heap", "off_heap"]),
    },
    Setting {
        name: "vm_flags",
        about: "Flags of the Erlang VM: how many schedulers, bound to which processors, how long they wait busily, …",
        values: beam::VALUES,
        scope: Scope::Beam,
        how: "the command line of erl(1); schedulers and their binding are read back with erlang:system_info",
        kind: Kind::VmFlags,
    },
];

/// The knob that is called `name`.
pub fn find(name: &str) -> Option<&'static Setting> {
    SETTINGS.iter().find(|s| s.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_name_is_there_once_and_can_be_a_bare_key_of_toml() {
        let names: BTreeSet<_> = SETTINGS.iter().map(|s| s.name).collect();
        assert_eq!(names.len(), SETTINGS.len());
        for name in names {
            assert!(name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'), "{name}");
        }
    }

    #[test]
    fn a_choice_says_all_of_its_values_in_its_help() {
        for setting in SETTINGS {
            if let Kind::Choice(choices) = setting.kind {
                assert!(choices.iter().all(|c| setting.values.contains(c)), "{}", setting.name);
            }
        }
    }
}
