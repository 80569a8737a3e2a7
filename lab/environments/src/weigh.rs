//! What serves a probe, weighed from this machine: the memory of its processes, and the files that they have mapped.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use kizami_workloads::resident;

use crate::launch::ServedBy;

/// In bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Weight {
    pub memory: u64,
    pub disk: u64,
}

/// The engine under Docker's daemon, which some systems start by itself.
const UNDER_DAEMON: &str = "containerd";

/// Weighs what serves the probe that runs as `process`, a child of the lab.
///
/// # Errors
/// When something that takes part cannot be seen: a sentence.
pub(crate) fn weigh(process: u32, served_by: &ServedBy) -> Result<Weight, String> {
    let all = Processes::now().map_err(|e| format!("the processes of this machine cannot be listed: {e}"))?;
    let probe = served_by.probe.get().copied();
    let daemon = served_by.daemon.as_deref().map(number_in).transpose()?;
    let mut serving = all.below(process);
    if let Some(probe) = probe {
        serving.extend(all.below(probe));
        serving.extend(all.above(probe));
    }
    if let Some(daemon) = daemon {
        serving.extend(all.below(daemon));
        serving.extend(all.named(UNDER_DAEMON));
    }
    let (mut memory, mut disk) = (0, 0);
    let mut seen = BTreeSet::new();
    let mut add = |about: fs::Metadata| {
        let new = about.is_file() && seen.insert((about.dev(), about.ino()));
        disk += if new { about.len() } else { 0 };
    };
    for number in serving {
        let (share, files) = match taken_by(number) {
            Ok(taken) => taken,
            // One that came and went, as a helper of a monitor does, takes nothing. These three have to be there.
            Err(_) if ![Some(process), probe, daemon].contains(&Some(number)) && has_ended(number) => continue,
            Err(e) => return Err(format!("what the process {number} takes cannot be read: {e}")),
        };
        memory += share;
        // What was removed since, or lies in no folder, is no file on the disk.
        files.iter().filter_map(|path| fs::metadata(path).ok()).for_each(&mut add);
    }
    for file in &served_by.files {
        add(fs::metadata(file).map_err(|e| format!("{}: {e}", file.display()))?);
    }
    Ok(Weight { memory, disk })
}

fn number_in(file: &Path) -> Result<u32, String> {
    let wrong = |why: String| format!("the daemon's memory cannot be counted: {}: {why}", file.display());
    let text = fs::read_to_string(file).map_err(|e| wrong(e.to_string()))?;
    text.trim().parse().map_err(|_| wrong("holds no number of a process".into()))
}

/// The memory that a process takes, and the files that it has mapped.
fn taken_by(number: u32) -> io::Result<(u64, BTreeSet<PathBuf>)> {
    Ok((resident::proportional_share(&number.to_string())?, mapped(number)?))
}

/// Whether there is no such process any more, or it is at its end and has given its memory back.
fn has_ended(number: u32) -> bool {
    // In pages: `2210 340 290 12 0 151 0`.
    fs::read_to_string(format!("/proc/{number}/statm")).map_or(true, |sizes| sizes.starts_with("0 "))
}

/// The files that a process has mapped, by paths that lead to them from here.
fn mapped(number: u32) -> io::Result<BTreeSet<PathBuf>> {
    let maps = fs::read_to_string(format!("/proc/{number}/maps"))?;
    let root = format!("/proc/{number}/root");
    // `7f0c..-7f0d.. r-xp 00000000 fe:00 1234      /usr/lib/…`
    let path = |line: &str| line.find('/').map(|at| PathBuf::from(format!("{root}{}", &line[at..])));
    Ok(maps.lines().filter_map(path).collect())
}

/// The processes of this machine, with the parent of each.
struct Processes(BTreeMap<u32, (u32, String)>);

impl Processes {
    fn now() -> io::Result<Self> {
        let mut all = BTreeMap::new();
        for entry in fs::read_dir("/proc")? {
            let Some(number) = entry?.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
            // One that has ended meanwhile serves nobody.
            let Ok(stat) = fs::read_to_string(format!("/proc/{number}/stat")) else { continue };
            all.extend(parent_and_name(&stat).map(|about| (number, about)));
        }
        Ok(Self(all))
    }

    fn parent(&self, number: u32) -> Option<u32> {
        self.0.get(&number).map(|(parent, _)| *parent)
    }

    /// This one, and all that it and its children started.
    fn below(&self, number: u32) -> BTreeSet<u32> {
        let is_below = |&other: &u32| {
            let mut at = Some(other);
            while at.is_some_and(|at| at != number) {
                at = at.and_then(|at| self.parent(at));
            }
            at.is_some()
        };
        self.0.keys().copied().filter(is_below).collect()
    }

    /// Its parents, but not the first process of the machine, and not the lab and whoever started that.
    fn above(&self, number: u32) -> BTreeSet<u32> {
        let line = |number| std::iter::successors(self.parent(number), |&at| self.parent(at)).take_while(|at| *at > 1);
        let own: BTreeSet<u32> = [std::process::id()].into_iter().chain(line(std::process::id())).collect();
        line(number).filter(|number| !own.contains(number)).collect()
    }

    fn named<'a>(&'a self, name: &'a str) -> impl Iterator<Item = u32> + 'a {
        self.0.iter().filter(move |(_, about)| about.1 == name).map(|(number, _)| *number)
    }
}

/// Of `1234 (a name) S 1 …`, where the name may hold anything.
fn parent_and_name(stat: &str) -> Option<(u32, String)> {
    let (before, after) = stat.rsplit_once(") ")?;
    let (_, name) = before.split_once(" (")?;
    let parent = after.split(' ').nth(1)?.parse().ok()?;
    Some((parent, name.to_owned()))
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    fn machine() -> Processes {
        let own = std::process::id();
        let process = |number, parent, name: &str| (number, (parent, name.to_owned()));
        Processes(BTreeMap::from([
            process(1, 0, "init"),
            process(own, 1, "kizami"),
            process(4_000_001, own, "docker"),
            process(4_000_002, 1, "shim"),
            process(4_000_003, 4_000_002, "probe"),
            process(4_000_004, 4_000_003, "helper"),
            process(4_000_005, 1, "containerd"),
        ]))
    }

    #[test]
    fn what_serves_is_below_the_child_and_about_the_probe() {
        let all = machine();
        assert_eq!(all.below(4_000_002), BTreeSet::from([4_000_002, 4_000_003, 4_000_004]));
        assert_eq!(all.below(4_000_001), BTreeSet::from([4_000_001]));
        assert_eq!(all.above(4_000_004), BTreeSet::from([4_000_002, 4_000_003]));
        assert_eq!(all.above(4_000_001), BTreeSet::new(), "the lab serves nobody");
        assert_eq!(all.named("containerd").collect::<Vec<_>>(), [4_000_005]);
        assert_eq!(all.below(9_999_999), BTreeSet::new());
    }

    #[test]
    fn a_name_may_hold_anything() {
        assert_eq!(parent_and_name("12 (a) S (b)) R 7 12 12 0"), Some((7, "a) S (b)".to_owned())));
        assert_eq!(parent_and_name("12 (a"), None);
    }

    #[test]
    fn this_process_takes_memory_and_has_a_program() {
        let own = weigh(std::process::id(), &ServedBy::default()).expect("it can be seen");
        let program = fs::metadata(std::env::current_exe().expect("a program")).expect("a file").len();
        assert!(own.memory > 64 << 10 && own.disk >= program, "{own:?}");
        let gone = ServedBy { daemon: Some("/nowhere/pid".into()), ..ServedBy::default() };
        assert!(weigh(std::process::id(), &gone).is_err_and(|why| why.contains("/nowhere/pid")));
    }

    #[test]
    fn one_that_has_ended_takes_nothing_and_is_missed_only_where_it_is_needed() {
        let mut ended = Command::new("true").spawn().expect("true starts");
        let number = ended.id();
        while !has_ended(number) {
            std::thread::yield_now();
        }
        // It is below this process, and it can be listed, until its end is heard.
        assert!(taken_by(number).is_err());
        assert!(weigh(std::process::id(), &ServedBy::default()).is_ok());
        assert!(weigh(number, &ServedBy::default()).is_err_and(|why| why.contains(&number.to_string())));
        ended.wait().expect("it has ended");
        assert!(has_ended(number) && !has_ended(std::process::id()));
    }
}
