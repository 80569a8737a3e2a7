//! Facts of the machine, under the names of a recording: everything that a latency may depend on.
//!
//! A fact that this machine does not provide is left out.

use std::collections::BTreeMap;
use std::process::Command;

use crate::root::{Root, field};
use crate::system;

/// Parameters of the kernel's command line that decide about latency. See kernel-parameters.txt.
const RELEVANT: &[&str] = &[
    "isolcpus",
    "nohz_full",
    "nohz",
    "rcu_nocbs",
    "rcu_nocb_poll",
    "irqaffinity",
    "mitigations",
    "idle",
    "processor.max_cstate",
    "intel_idle.max_cstate",
    "intel_pstate",
    "amd_pstate",
    "cpufreq.default_governor",
    "cpuidle.governor",
    "nosmt",
    "preempt",
    "threadirqs",
    "skew_tick",
    "clocksource",
    "tsc",
    "nmi_watchdog",
    "nowatchdog",
    "nosoftlockup",
    "transparent_hugepage",
    "maxcpus",
];

/// Describes the machine.
pub fn describe(root: &Root) -> BTreeMap<String, String> {
    let mut facts = BTreeMap::new();
    let mut fact = |name: &str, value: Option<String>| {
        if let Some(value) = value.map(|v| v.trim().to_owned()).filter(|v| !v.is_empty()) {
            facts.insert(name.to_owned(), value);
        }
    };
    let cpuinfo = root.get("proc/cpuinfo").unwrap_or_default();
    let status = root.get("proc/self/status").unwrap_or_default();
    fact("kernel", root.get("proc/sys/kernel/osrelease"));
    fact("kernel_version", root.get("proc/sys/kernel/version"));
    fact("preemption", Some(preemption(root).to_owned()));
    fact("realtime_kernel", Some(is_realtime(root).to_string()));
    fact("architecture", architecture(root));
    fact("processor", processor(root, &cpuinfo));
    fact("cpus_online", root.get("sys/devices/system/cpu/online"));
    fact("cpus_allowed", field(&status, "Cpus_allowed_list").map(str::to_owned));
    fact("cpus_isolated", root.get("sys/devices/system/cpu/isolated"));
    fact("smt", root.get("sys/devices/system/cpu/smt/control"));
    fact("memory", root.get("proc/meminfo").and_then(|m| field(&m, "MemTotal").map(str::to_owned)));
    fact("swap", root.get("proc/meminfo").and_then(|m| field(&m, "SwapTotal").map(str::to_owned)));
    fact("clock_source", root.get("sys/devices/system/clocksource/clocksource0/current_clocksource"));
    fact("virtualization", Some(virtualization(root).unwrap_or_else(|| "none".to_owned())));
    fact("hypervisor", hypervisor(root));
    fact("guest_type", guest_type(root));
    fact("container", container(root));
    fact("command_line", Some(relevant_parameters(&root.get("proc/cmdline").unwrap_or_default())));
    fact("distribution", distribution(root));
    fact("frequency_driver", first_policy(root, "scaling_driver"));
    fact("governors_available", first_policy(root, "scaling_available_governors"));
    fact("idle_driver", root.get("sys/devices/system/cpu/cpuidle/current_driver"));
    fact("idle_governor", root.get("sys/devices/system/cpu/cpuidle/current_governor"));
    fact("cgroups", cgroup_version(root).map(str::to_owned));
    facts
}

/// Whether the kernel was built with PREEMPT_RT.
pub fn is_realtime(root: &Root) -> bool {
    root.get("sys/kernel/realtime").as_deref() == Some("1")
        || root.get("proc/sys/kernel/version").is_some_and(|v| v.contains("PREEMPT_RT") || v.contains("PREEMPT RT"))
}

/// The preemption model in force: `rt`, `full`, `lazy`, `voluntary`, `none`, or `dynamic` where the kernel can switch
/// and nothing tells to what.
pub fn preemption(root: &Root) -> &'static str {
    if is_realtime(root) {
        return "rt";
    }
    let version = root.get("proc/sys/kernel/version").unwrap_or_default();
    if !version.contains("PREEMPT_DYNAMIC") {
        // Without the word, the version is the same for none and voluntary; the worse is assumed.
        let built = if version.contains("PREEMPT") { "full" } else { "none" };
        return built_as(root).unwrap_or(built);
    }
    let model = |text: &str| MODELS.iter().map(|(model, _)| *model).find(|m| *m == text);
    // The debug file marks the chosen one with parentheses.
    let switched = root.get("sys/kernel/debug/sched/preempt").unwrap_or_default();
    let switched = switched.split_whitespace().find_map(|word| model(word.strip_prefix('(')?.strip_suffix(')')?));
    let parameter = root.get("proc/cmdline").unwrap_or_default();
    let parameter = parameter.split_whitespace().find_map(|word| model(word.strip_prefix("preempt=")?));
    switched.or(parameter).or_else(|| built_as(root)).unwrap_or("dynamic")
}

const MODELS: &[(&str, &str)] = &[
    ("full", "CONFIG_PREEMPT=y"),
    ("lazy", "CONFIG_PREEMPT_LAZY=y"),
    ("voluntary", "CONFIG_PREEMPT_VOLUNTARY=y"),
    ("none", "CONFIG_PREEMPT_NONE=y"),
];

/// The model that the kernel was built with; one that can switch starts with it.
fn built_as(root: &Root) -> Option<&'static str> {
    let release = root.get("proc/sys/kernel/osrelease")?;
    let places = [format!("boot/config-{release}"), format!("lib/modules/{release}/config")];
    let config = places.iter().find_map(|place| root.get(place)).or_else(|| {
        let packed = root.path("proc/config.gz");
        let unpacked = packed.exists().then(|| Command::new("gzip").arg("-dc").arg(packed).output())?.ok()?;
        String::from_utf8(unpacked.stdout).ok()
    })?;
    MODELS.iter().find(|(_, line)| config.lines().any(|l| l == *line)).map(|(model, _)| *model)
}

/// The relevant parameters of a kernel's command line, in its order.
pub fn relevant_parameters(command_line: &str) -> String {
    let name = |word: &str| word.split('=').next().unwrap_or(word).to_owned();
    let relevant = command_line.split_whitespace().filter(|word| RELEVANT.contains(&name(word).as_str()));
    relevant.collect::<Vec<_>>().join(" ")
}

fn architecture(root: &Root) -> Option<String> {
    let recorded = root.get("proc/sys/kernel/arch");
    recorded.or_else(|| root.is_machine().then(|| std::env::consts::ARCH.to_owned()))
}

fn processor(root: &Root, cpuinfo: &str) -> Option<String> {
    let named = ["model name", "cpu model", "Processor", "uarch", "cpu"];
    let name = named.iter().find_map(|key| field(cpuinfo, key)).map(str::to_owned);
    let board = root.get("proc/device-tree/model").or_else(|| field(cpuinfo, "Model").map(str::to_owned));
    match (name, board) {
        (Some(name), Some(board)) => Some(format!("{name} ({board})")),
        (name, board) => name.or(board),
    }
}

fn distribution(root: &Root) -> Option<String> {
    let release = root.get("etc/os-release").or_else(|| root.get("usr/lib/os-release"))?;
    let name = release.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="))?;
    Some(name.trim_matches('"').to_owned())
}

fn first_policy(root: &Root, file: &str) -> Option<String> {
    let policies = root.list(system::CPUFREQ);
    policies
        .iter()
        .filter(|p| p.starts_with("policy"))
        .find_map(|p| root.get(&format!("{}/{p}/{file}", system::CPUFREQ)))
}

/// The hypervisor under this machine, or `None` when it shows no sign of one.
pub fn virtualization(root: &Root) -> Option<String> {
    if let Some(kind) = root.get("sys/hypervisor/type") {
        return Some(kind);
    }
    let dmi = |file: &str| root.get(&format!("sys/class/dmi/id/{file}")).unwrap_or_default();
    let dmi = format!("{} {} {}", dmi("sys_vendor"), dmi("product_name"), dmi("bios_vendor"));
    let by_name = [
        ("QEMU", "qemu"),
        ("KVM", "kvm"),
        ("Amazon EC2", "amazon"),
        ("Google Compute Engine", "google"),
        ("VMware", "vmware"),
        ("VirtualBox", "virtualbox"),
        ("Hyper-V", "hyper-v"),
        ("Virtual Machine", "hyper-v"),
        ("Xen", "xen"),
        ("Parallels", "parallels"),
        ("BHYVE", "bhyve"),
        ("OpenStack", "openstack"),
    ];
    let by_dmi = by_name.iter().find(|(sign, _)| dmi.contains(sign)).map(|(_, name)| (*name).to_owned());
    let cpuinfo = root.get("proc/cpuinfo").unwrap_or_default();
    let flagged = field(&cpuinfo, "flags").is_some_and(|flags| flags.split(' ').any(|f| f == "hypervisor"));
    let clocks = root.get("sys/devices/system/clocksource/clocksource0/available_clocksource").unwrap_or_default();
    let by_clock = [("kvm-clock", "kvm"), ("hyperv", "hyper-v"), ("xen", "xen")];
    let by_clock = by_clock.iter().find(|(clock, _)| clocks.contains(clock)).map(|(_, name)| (*name).to_owned());
    let by_tree = root.get("proc/device-tree/hypervisor/compatible").map(|c| c.replace('\0', " "));
    // Bare-metal machines of a cloud carry its name too; they have no flag, which only x86 has.
    let x86 = cpuinfo.contains("vendor_id");
    if x86 && !flagged {
        return None;
    }
    by_dmi.or(by_clock).or(by_tree).or_else(|| flagged.then(|| "unknown".to_owned()))
}

/// What the hypervisor says that it is, such as `xen 4.17.5`. See Documentation/ABI/stable/sysfs-hypervisor-xen.
fn hypervisor(root: &Root) -> Option<String> {
    let kind = root.get("sys/hypervisor/type")?;
    let part = |name: &str| root.get(&format!("sys/hypervisor/version/{name}")).unwrap_or_default().trim().to_owned();
    Some(format!("{} {}.{}{}", kind.trim(), part("major"), part("minor"), part("extra")))
}

/// How Xen runs this machine: `PV`, `HVM` or `PVH`; and whether it is the domain that controls the others.
fn guest_type(root: &Root) -> Option<String> {
    let kind = root.get("sys/hypervisor/guest_type")?.trim().to_owned();
    let controls = root.get("proc/xen/capabilities").is_some_and(|can| can.contains("control_d"));
    Some(if controls { format!("{kind}, control domain") } else { kind })
}

/// The container that this process is in, if it shows.
pub fn container(root: &Root) -> Option<String> {
    if root.exists(".dockerenv") {
        return Some("docker".to_owned());
    }
    if root.exists("run/.containerenv") {
        return Some("podman".to_owned());
    }
    root.get("run/systemd/container").or_else(|| {
        let of_init = root.get("proc/1/environ")?;
        of_init.split('\0').find_map(|v| v.strip_prefix("container=")).map(str::to_owned)
    })
}

/// `1`, `2`, or `1 and 2` where both are mounted.
pub fn cgroup_version(root: &Root) -> Option<&'static str> {
    let mounts = root.get("proc/self/mountinfo")?;
    let kinds: Vec<_> = mounts.lines().filter_map(|line| line.split_once(" - ")?.1.split(' ').next()).collect();
    match (kinds.contains(&"cgroup"), kinds.contains(&"cgroup2")) {
        (true, true) => Some("1 and 2"),
        (true, false) => Some("1"),
        (false, true) => Some("2"),
        (false, false) => None,
    }
}
