//! Facts of recorded machines.

mod common;

use std::collections::BTreeMap;

use kizami_settings::{Root, host};

fn describe(tree: &str) -> BTreeMap<String, String> {
    host::describe(&Root::tree(common::recorded(tree)))
}

#[test]
fn a_board_with_a_real_time_kernel_is_described() {
    let pi = describe("pi");
    assert_eq!(pi["preemption"], "rt");
    assert_eq!(pi["realtime_kernel"], "true");
    assert_eq!(pi["architecture"], "aarch64");
    assert_eq!(pi["processor"], "Raspberry Pi 3 Model B Plus Rev 1.3");
    assert_eq!(pi["cpus_online"], "0-3");
    assert_eq!(pi["cpus_allowed"], "0-2");
    assert_eq!(pi["cpus_isolated"], "3");
    assert_eq!(pi["virtualization"], "none");
    assert_eq!(pi["command_line"], "isolcpus=3");
    assert_eq!(pi["frequency_driver"], "cpufreq-dt");
    assert_eq!(pi["cgroups"], "2");
    assert!(!pi.contains_key("container"));
}

#[test]
fn a_server_is_described_without_the_secrets_of_its_command_line() {
    let server = describe("server");
    assert_eq!(server["preemption"], "voluntary");
    assert_eq!(server["realtime_kernel"], "false");
    assert_eq!(server["command_line"], "isolcpus=managed_irq,domain,2-3 nohz_full=2-3 rcu_nocbs=2-3 mitigations=off");
    assert_eq!(server["clock_source"], "hpet");
    assert_eq!(server["virtualization"], "none", "bare metal of a cloud carries the cloud's name and no hypervisor");
    assert!(!format!("{server:?}").contains("secret"));
}

#[test]
fn a_container_that_shows_little_is_described_as_far_as_it_goes() {
    let container = describe("container");
    assert_eq!(container["container"], "docker");
    assert_eq!(container["virtualization"], "unknown");
    assert_eq!(container["preemption"], "none");
    assert!(!container.contains_key("clock_source"));
}

#[test]
fn a_domain_of_xen_tells_its_hypervisor_and_whether_it_controls_others() {
    let tree = common::Folder::new();
    let put = |path: &str, text: &str| {
        let at = tree.0.join(path);
        std::fs::create_dir_all(at.parent().expect("a folder")).expect("a folder");
        std::fs::write(at, text).expect("a file");
    };
    let of_version = [("major", "4\n"), ("minor", "17\n"), ("extra", ".7\n")];
    put("sys/hypervisor/type", "xen\n");
    put("sys/hypervisor/guest_type", "PV\n");
    of_version.iter().for_each(|(part, text)| put(&format!("sys/hypervisor/version/{part}"), text));
    let facts = || host::describe(&Root::tree(tree.0.clone()));
    assert_eq!((&*facts()["hypervisor"], &*facts()["guest_type"]), ("xen 4.17.7", "PV"));
    put("proc/xen/capabilities", "control_d\n");
    assert_eq!(facts()["guest_type"], "PV, control domain");
    assert!(!describe("server").contains_key("hypervisor"));
}

#[test]
fn an_empty_tree_is_no_reason_to_fail() {
    let facts = host::describe(&Root::tree(common::recorded("no-such-machine")));
    assert_eq!(facts["preemption"], "none");
}

#[test]
fn this_machine_tells_its_kernel_and_processors() {
    let facts = host::describe(&Root::machine());
    for fact in ["kernel", "cpus_allowed", "memory", "architecture"] {
        assert!(facts.contains_key(fact), "{fact}: {facts:?}");
    }
}
