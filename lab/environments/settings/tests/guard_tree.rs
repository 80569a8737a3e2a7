//! The guard on recorded trees of machines: changes, restoration, refusals.

mod common;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

use common::{Folder, hold};
use kizami_recording::folder::Effective;
use kizami_settings::{Guard, Root, Settings, guard};

fn settings(pairs: &[(&str, &str)]) -> Settings {
    let given: BTreeMap<_, _> = pairs.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
    Settings::new(&given).expect("valid settings")
}

fn of<'a>(report: &'a [(String, Effective)], name: &str) -> &'a Effective {
    &report.iter().find(|(knob, _)| knob == name).unwrap_or_else(|| panic!("{name} is reported")).1
}

fn governor(tree: &Path, policy: u32) -> String {
    let file = tree.join(format!("sys/devices/system/cpu/cpufreq/policy{policy}/scaling_governor"));
    fs::read_to_string(file).expect("a governor").trim().to_owned()
}

fn journal(tree: &Path) -> std::path::PathBuf {
    tree.join("run/kizami/changes.journal")
}

#[test]
fn each_trial_has_its_own_settings_and_the_end_has_the_first() {
    let tree = Folder::of_tree("server");
    let root = Root::tree(&tree.0);
    let (mut guard, report) = Guard::engage(&root, &hold(), &settings(&[]));
    assert!(!journal(&tree.0).exists(), "nothing was changed yet");
    let mixed = of(&report, "governor");
    assert_eq!((mixed.value.as_str(), mixed.as_requested), ("performance, powersave", true));
    assert_eq!(of(&report, "turbo").value, "on");
    assert_eq!(of(&report, "rt_runtime").value, "off");
    assert_eq!(of(&report, "thp").value, "always");

    let report = guard.change(&settings(&[("governor", "powersave"), ("turbo", "off"), ("rt_runtime", "900ms")]));
    assert!(report.iter().all(|(_, e)| e.as_requested), "{report:?}");
    assert_eq!(of(&report, "governor").value, "powersave");
    let report = guard.change(&settings(&[("governor", "performance")]));
    assert_eq!(of(&report, "governor").value, "performance");
    assert_eq!(of(&report, "turbo").value, "on", "what is not mentioned goes back");
    assert_eq!(of(&report, "rt_runtime").value, "off");
    let report = guard.change(&settings(&[]));
    assert_eq!(of(&report, "governor").value, "performance, powersave");
    guard.change(&settings(&[("governor", "powersave")]));
    guard.release().expect("everything can be restored");
    let governors: Vec<_> = (0..8).map(|policy| governor(&tree.0, policy)).collect();
    assert_eq!(governors, [vec!["performance"; 4], vec!["powersave"; 4]].concat());
    assert!(!journal(&tree.0).exists());
}

#[test]
fn a_guard_that_is_dropped_restores_too() {
    let tree = Folder::of_tree("pi");
    let (guard, _) = Guard::engage(&Root::tree(&tree.0), &hold(), &settings(&[("governor", "performance")]));
    assert_eq!(governor(&tree.0, 0), "performance");
    drop(guard);
    assert_eq!(governor(&tree.0, 0), "ondemand");
}

#[test]
fn what_the_machine_does_not_have_is_refused_with_the_reason() {
    let tree = Folder::of_tree("container");
    let asked = [("governor", "performance"), ("turbo", "off"), ("cpu_dma_latency", "0"), ("memory_limit", "64MiB")];
    let (guard, report) = Guard::engage(&Root::tree(&tree.0), &hold(), &settings(&asked));
    for (name, _) in asked {
        let effective = of(&report, name);
        assert_eq!((effective.value.as_str(), effective.as_requested), ("none", false), "{name}");
        assert!(!effective.why.is_empty(), "{name}");
    }
    assert!(of(&report, "thp").as_requested, "nothing was asked");
    guard.release().expect("nothing was changed");
}

#[test]
fn a_value_that_cannot_be_written_is_refused_and_leaves_the_rest() {
    let tree = Folder::of_tree("pi");
    // A folder in the place of the file: reading works on no user's machine, root's included.
    let thp = tree.0.join("sys/kernel/mm/transparent_hugepage/enabled");
    fs::remove_file(&thp).expect("the file");
    fs::create_dir(&thp).expect("a folder");
    let asked = settings(&[("thp", "never"), ("governor", "performance")]);
    let (guard, report) = Guard::engage(&Root::tree(&tree.0), &hold(), &asked);
    let thp = of(&report, "thp");
    assert!(!thp.as_requested && thp.why.contains("/sys/kernel/mm/transparent_hugepage/enabled"), "{thp:?}");
    assert!(of(&report, "governor").as_requested);
    guard.release().expect("the governor can be restored");
}

#[test]
fn a_guard_that_cannot_be_started_means_that_nothing_is_changed() {
    let tree = Folder::of_tree("pi");
    let asked = settings(&[("governor", "performance")]);
    for exe in ["/no/such/program", "/bin/true"] {
        let (guard, report) = Guard::engage(&Root::tree(&tree.0), Path::new(exe), &asked);
        let refused = of(&report, "governor");
        assert!(!refused.as_requested && refused.why.contains("cannot be started"), "{refused:?}");
        assert_eq!(governor(&tree.0, 0), "ondemand");
        guard.release().expect("nothing was changed");
    }
}

#[test]
fn a_process_that_another_thread_starts_does_not_keep_the_machine_taken() {
    let tree = Folder::of_tree("pi");
    let asked = settings(&[("governor", "performance")]);
    let done = AtomicBool::new(false);
    std::thread::scope(|threads| {
        threads.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                Command::new("/bin/true").status().expect("a process");
            }
        });
        let taken = (0..300).find_map(|_| {
            let (_, report) = Guard::engage(&Root::tree(&tree.0), Path::new("/no/such/program"), &asked);
            let why = of(&report, "governor").why.clone();
            (!why.contains("cannot be started")).then_some(why)
        });
        done.store(true, Ordering::Relaxed);
        assert_eq!(taken, None);
    });
}

#[test]
fn a_second_run_is_told_that_the_first_has_the_machine() {
    let tree = Folder::of_tree("pi");
    let root = Root::tree(&tree.0);
    let (first, _) = Guard::engage(&root, &hold(), &settings(&[("governor", "performance")]));
    assert!(guard::recover(&root).is_empty(), "the first is at work, so nothing is to be recovered");
    let (second, report) = Guard::engage(&root, &hold(), &settings(&[("governor", "powersave")]));
    let refused = of(&report, "governor");
    let who = format!("process {}", std::process::id());
    assert!(!refused.as_requested && refused.why.contains(&who), "{refused:?}");
    assert_eq!(governor(&tree.0, 0), "performance");
    second.release().expect("it changed nothing");
    assert_eq!(governor(&tree.0, 0), "performance", "the end of the second leaves the first alone");
    first.release().expect("the first restores");
    assert_eq!(governor(&tree.0, 0), "ondemand");
}

fn left_behind(tree: &Path, boot: &str, cut: &str) {
    let folder = tree.join("run/kizami");
    fs::create_dir(&folder).expect("the state folder");
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).expect("our folder");
    let file = tree.join("sys/devices/system/cpu/cpufreq/policy0/scaling_governor");
    fs::write(&file, "performance\n").expect("the governor");
    let boot = format!(r#"{{"boot":{{"id":"{boot}","pid":1}}}}"#);
    let value = format!(r#"{{"value":{{"setting":"governor","file":{file:?},"value":"ondemand"}}}}"#);
    fs::write(journal(tree), format!("{boot}\n{value}\n{cut}")).expect("a journal");
}

/// The boot id in the recorded tree.
const BOOT: &str = "5b1f6a0a-1111-4f4e-9a9e-7d2b8f0c0001";

#[test]
fn what_was_left_behind_is_restored_even_if_the_journals_end_was_cut_off() {
    let tree = Folder::of_tree("pi");
    left_behind(&tree.0, BOOT, r#"{"value":{"setting":"thp","fi"#);
    let restored = guard::recover(&Root::tree(&tree.0));
    assert_eq!(restored.len(), 1);
    assert!(restored[0].contains("governor is ondemand again"), "{restored:?}");
    assert_eq!(governor(&tree.0, 0), "ondemand");
    assert!(!journal(&tree.0).exists());
}

#[test]
fn the_next_change_restores_what_was_left_behind_before_it_looks_at_the_old_value() {
    let tree = Folder::of_tree("pi");
    left_behind(&tree.0, BOOT, "");
    let (guard, report) = Guard::engage(&Root::tree(&tree.0), &hold(), &settings(&[("governor", "powersave")]));
    assert_eq!(of(&report, "governor").value, "powersave");
    guard.release().expect("it can be restored");
    assert_eq!(governor(&tree.0, 0), "ondemand");
}

#[test]
fn what_is_older_than_the_machines_start_is_forgotten() {
    let tree = Folder::of_tree("pi");
    left_behind(&tree.0, "another-boot", "");
    assert!(guard::recover(&Root::tree(&tree.0)).is_empty());
    assert_eq!(governor(&tree.0, 0), "performance", "somebody chose it since");
    assert!(!journal(&tree.0).exists());
}

#[test]
fn a_state_folder_that_others_could_write_is_not_believed() {
    let tree = Folder::of_tree("pi");
    left_behind(&tree.0, BOOT, "");
    fs::set_permissions(tree.0.join("run/kizami"), fs::Permissions::from_mode(0o777)).expect("our folder");
    let why = guard::recover(&Root::tree(&tree.0)).join("");
    assert!(why.contains("belongs to this user alone"), "{why}");
    assert_eq!(governor(&tree.0, 0), "performance");

    let elsewhere = Folder::new();
    fs::remove_dir_all(tree.0.join("run/kizami")).expect("our folder");
    std::os::unix::fs::symlink(&elsewhere.0, tree.0.join("run/kizami")).expect("a link");
    let (guard, report) = Guard::engage(&Root::tree(&tree.0), &hold(), &settings(&[("governor", "powersave")]));
    assert!(of(&report, "governor").why.contains("belongs to this user alone"), "{report:?}");
    guard.release().expect("nothing was changed");
}
