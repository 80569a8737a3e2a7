//! Control groups within each other, made for one trial, for what it takes to lie in them: the scheduler keeps its accounts of every
//! group above a process whenever that sleeps or wakes. See the kernel's cgroup-v1/cpuacct.rst, cgroup-v2.rst and accounting/psi.rst.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::cgroup::{Group, PREFIX};
use crate::root::{Root, words, write_existing};

/// Those that keep such accounts. In version 1 each may have a hierarchy of its own, and pressure, which is no controller there, is
/// kept in a hierarchy of version 2 beside them.
const ACCOUNTS: [&str; 3] = ["cpu", "cpuacct", "pressure"];
const HANDED_DOWN: &str = "cgroup.subtree_control";

/// A place for such groups.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Nested {
    /// The outermost group, in each hierarchy: the lab's to remove.
    pub(crate) outermost: Vec<PathBuf>,
    /// The innermost, for the work to join.
    pub(crate) innermost: Vec<PathBuf>,
    pub(crate) version: u8,
}

impl Nested {
    /// Where such groups may be made, `depth` of them below the one that all processes are in at first; nothing is made yet.
    pub(crate) fn place(root: &Root, name: &str, depth: usize) -> Result<Self, String> {
        let cpu = Group::of(root, "self", ACCOUNTS[0])?;
        let mut tops = vec![cpu.top];
        if cpu.version == 1 {
            let others = ACCOUNTS[1..].iter().filter_map(|controller| Group::of(root, "self", controller).ok());
            tops.extend(others.map(|group| group.top));
            tops.dedup();
        } else if !hands_down(&tops[0]) {
            return Err(format!("{} does not hand cpu down", tops[0].join(HANDED_DOWN).display()));
        }
        let outermost: Vec<_> = tops.iter().map(|top| top.join(format!("{PREFIX}{name}"))).collect();
        let within = |group: &PathBuf| (2..=depth).fold(group.clone(), |group, depth| group.join(depth.to_string()));
        Ok(Self { innermost: outermost.iter().map(within).collect(), outermost, version: cpu.version })
    }

    pub(crate) fn make(&self) -> Result<(), String> {
        for (outermost, innermost) in self.outermost.iter().zip(&self.innermost) {
            let failed = |e: io::Error| format!("{}: making the control group {}", words(&e), innermost.display());
            fs::create_dir(outermost).and_then(|()| fs::create_dir_all(innermost)).map_err(failed)?;
            let above = innermost.ancestors().skip(1).take_while(|group| group.starts_with(outermost));
            let above: Vec<_> = above.filter(|_| self.version == 2).collect();
            above
                .iter()
                .rev()
                .try_for_each(|group| write_existing(&group.join(HANDED_DOWN), "+cpu"))
                .map_err(failed)?;
        }
        Ok(())
    }
}

fn hands_down(group: &Path) -> bool {
    let handed = fs::read_to_string(group.join(HANDED_DOWN)).unwrap_or_default();
    handed.split_whitespace().any(|controller| controller == ACCOUNTS[0])
}

#[cfg(test)]
mod tests {
    use super::super::testing::tree;
    use super::*;

    #[test]
    fn in_version_1_they_are_made_in_each_hierarchy_that_keeps_an_account() {
        let (root, folder) = tree(
            "nested-first",
            &[
                (
                    "proc/self/mountinfo",
                    "30 20 0:26 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n\
                     31 20 0:27 / /sys/fs/cgroup/cpuacct rw - cgroup cgroup rw,cpuacct\n\
                     32 20 0:28 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n",
                ),
                ("proc/self/cgroup", "4:cpuacct:/\n3:cpu:/work\n0::/\n"),
                ("sys/fs/cgroup/cpu/cgroup.procs", ""),
                ("sys/fs/cgroup/cpuacct/cgroup.procs", ""),
                ("sys/fs/cgroup/unified/cgroup.procs", ""),
            ],
        );
        let nested = Nested::place(&root, "1", 3).expect("a place");
        let within = |hierarchy: &str, group: &str| folder.join("sys/fs/cgroup").join(hierarchy).join(group);
        let hierarchies = ["cpu", "cpuacct", "unified"];
        assert_eq!(nested.innermost, hierarchies.map(|hierarchy| within(hierarchy, "kizami-1/2/3")));
        assert_eq!(nested.outermost, hierarchies.map(|hierarchy| within(hierarchy, "kizami-1")));
        nested.make().expect("they are made");
        assert!(nested.innermost.iter().all(|group| group.is_dir()));
        assert!(nested.make().is_err(), "a group that is there already is another's");
        fs::remove_dir_all(folder).expect("a clean end");
    }

    #[test]
    fn two_controllers_of_one_hierarchy_have_one_group() {
        let (root, folder) = tree(
            "nested-both",
            &[
                ("proc/self/mountinfo", "30 20 0:26 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"),
                ("proc/self/cgroup", "3:cpu,cpuacct:/\n"),
            ],
        );
        let nested = Nested::place(&root, "1", 1).expect("a place");
        assert_eq!(nested.innermost, [folder.join("sys/fs/cgroup/cpu,cpuacct/kizami-1")]);
        fs::remove_dir_all(folder).expect("a clean end");
    }

    #[test]
    fn in_version_2_each_but_the_innermost_hands_the_controller_down() {
        let (root, folder) = tree(
            "nested-second",
            &[
                ("proc/self/mountinfo", "31 20 0:27 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"),
                ("proc/self/cgroup", "0::/user.slice\n"),
                ("sys/fs/cgroup/cgroup.subtree_control", "memory pids\n"),
            ],
        );
        let why = Nested::place(&root, "1", 2).unwrap_err();
        assert!(why.ends_with("cgroup.subtree_control does not hand cpu down"), "{why}");
        fs::write(folder.join("sys/fs/cgroup/cgroup.subtree_control"), "cpu memory pids\n").expect("a file");
        let nested = Nested::place(&root, "1", 2).expect("a place");
        assert_eq!(nested.innermost, [folder.join("sys/fs/cgroup/kizami-1/2")]);
        fs::remove_dir_all(folder).expect("a clean end");
    }
}
