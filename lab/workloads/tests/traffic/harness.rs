//! A harness that runs a trial in this process as a probe would, until its end or until a test interferes.

use std::collections::BTreeMap;
use std::fs;
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, mpsc};
use std::time::Duration;

use kizami_recording::{Progress, Recorder};
use kizami_workloads::{Bench, Machine, Params, Part, Workload, find};

/// A folder that is removed in the end.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new() -> Self {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("kizami-traffic-{}-{number}", std::process::id()));
        fs::create_dir_all(&path).expect("a folder for the test");
        Self(path)
    }

    pub fn files(&self) -> usize {
        fs::read_dir(&self.0).expect("the folder").count()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// What came of a trial.
pub struct Trial {
    pub parts: Vec<Part>,
    pub rows: Vec<Vec<Vec<u64>>>,
    pub facts: BTreeMap<String, f64>,
    pub effective: BTreeMap<String, (String, bool)>,
    pub failure: Option<String>,
}

impl Trial {
    pub fn part(&self, name: &str) -> &[Vec<u64>] {
        let index = self.parts.iter().position(|part| part.name == name);
        &self.rows[index.unwrap_or_else(|| panic!("there is no part {name:?}"))]
    }

    pub fn column(&self, part: &str, name: &str) -> Vec<u64> {
        let described = self.parts.iter().find(|p| p.name == part).expect("the part");
        let index = described.columns.iter().position(|c| c.name == name).expect("the column");
        self.part(part).iter().map(|row| row[index]).collect()
    }

    pub fn fact(&self, name: &str) -> f64 {
        *self.facts.get(name).unwrap_or_else(|| panic!("there is no fact {name} in {:?}", self.facts))
    }

    /// What every trial that went well promises.
    pub fn went_well(self) -> Self {
        assert_eq!(self.failure, None);
        assert_eq!(self.fact("allocations"), 0.0);
        self
    }
}

/// Memory that processes share, as an arena is.
fn shared<T>(count: usize, make: impl Fn() -> T) -> &'static mut [T] {
    let (protection, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_ANONYMOUS);
    // SAFETY: new memory, as long as it needs to be, aligned to a page, kept for ever, and written before it is given away.
    unsafe {
        let memory = libc::mmap(std::ptr::null_mut(), (count * size_of::<T>()).max(1), protection, flags, -1, 0);
        assert_ne!(memory, libc::MAP_FAILED, "memory that is shared");
        (0..count).for_each(|index| memory.cast::<T>().add(index).write(make()));
        std::slice::from_raw_parts_mut(memory.cast(), count)
    }
}

fn params(workload: &str, given: &[(&str, &str)]) -> (&'static Workload, Params) {
    let workload = find(workload).unwrap_or_else(|| panic!("there is no workload {workload}"));
    let given = given.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    (workload, Params::new(workload, &given).unwrap_or_else(|(_, why)| panic!("{why}")))
}

/// The first part of the trial that runs, for another thread to watch.
static OBSERVED: Mutex<Option<&'static Progress>> = Mutex::new(None);

/// Runs a trial as a probe does, and checks that it leaves no process behind.
pub fn trial_in(folder: &Path, stop: &AtomicBool, workload: &str, given: &[(&str, &str)]) -> Trial {
    trial_with(None, folder, stop, workload, given)
}

/// The same with a partner outside, at that address.
fn trial_with(
    partner: Option<SocketAddr>,
    folder: &Path,
    stop: &AtomicBool,
    workload: &str,
    given: &[(&str, &str)],
) -> Trial {
    let (workload, params) = params(workload, given);
    let parts = (workload.parts)(&params, &Machine::of(vec![0]));
    let progress: &'static [Progress] = shared(parts.len(), Progress::default);
    *OBSERVED.lock().expect("no panic in between") = progress.first();
    let mut cells: Vec<_> = parts.iter().map(|p| shared(p.rows as usize * p.columns.len(), || 1u64)).collect();
    let memory = parts.iter().zip(&mut cells).zip(progress);
    let recorders =
        memory.map(|((part, cells), progress)| Recorder::new(cells, part.columns.len(), progress)).collect();
    let bench = Bench::new(recorders, parts.iter().map(kizami_workloads::Part::column_names).collect(), stop, folder);
    let start = bench.start();
    let mut bench = bench.of_probe(start, partner, |_, _| {});
    let failure = (workload.linux.expect("a Linux workload"))(&params, &mut bench).err().map(|e| e.to_string());
    let facts = bench.facts().iter().cloned().collect();
    let effective = bench.effective_settings().iter();
    let effective = effective.map(|(name, e)| (name.clone(), (e.value.clone(), e.as_requested))).collect();
    drop(bench);
    no_children();
    let rows = parts.iter().zip(&cells).zip(progress).map(|((part, cells), progress)| {
        assert_eq!(progress.dropped(), 0, "part {:?} had no room", part.name);
        cells.chunks(part.columns.len()).take(progress.rows() as usize).map(<[u64]>::to_vec).collect()
    });
    Trial { rows: rows.collect(), parts, facts, effective, failure }
}

pub fn trial(workload: &str, given: &[(&str, &str)]) -> Trial {
    let folder = Folder::new();
    let trial = trial_in(&folder.0, &AtomicBool::new(false), workload, given);
    assert_eq!(folder.files(), 0, "files were left behind");
    trial
}

/// A trial with a partner outside: on a thread of this process, so that what it allocates is counted too.
pub fn trial_outside(workload: &str, given: &[(&str, &str)]) -> Trial {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    let at = listener.local_addr().expect("its address");
    std::thread::spawn(move || kizami_workloads::linux::partner::serve(&listener));
    trial_at(at, workload, given)
}

/// The same where the partner is, or should be, at an address.
pub fn trial_at(partner: SocketAddr, workload: &str, given: &[(&str, &str)]) -> Trial {
    let folder = Folder::new();
    trial_with(Some(partner), &folder.0, &AtomicBool::new(false), workload, given)
}

pub fn no_children() {
    // SAFETY: asks for no status.
    let left = unsafe { libc::waitpid(-1, std::ptr::null_mut(), libc::WNOHANG) };
    assert_eq!(left, -1, "a process was left behind");
}

/// The children of this process, of all its threads, but for the one that watches.
pub fn children() -> Vec<libc::pid_t> {
    let tasks = fs::read_dir("/proc/self/task").expect("own threads").flatten();
    let lists = tasks.filter_map(|task| fs::read_to_string(task.path().join("children")).ok());
    let all = lists.flat_map(|list| list.split_whitespace().map(|pid| pid.parse().expect("a pid")).collect::<Vec<_>>());
    all.filter(|pid| !fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|name| name == "watch\n")).collect()
}

/// What a long trial must have reached before something is done to it.
#[derive(Clone, Copy, PartialEq)]
pub enum Reached {
    Nothing,
    Partners,
    Rows,
}

/// Runs a trial that would take hours in another thread, does `meanwhile` when it has come far enough, and gives what
/// came of it. A trial that does not end fails the test and does not hang it.
pub fn long_trial(
    workload: &'static str,
    given: &'static [(&str, &str)],
    reached: Reached,
    meanwhile: impl FnOnce(&AtomicBool),
) -> Trial {
    let stop: &'static AtomicBool = Box::leak(Box::new(AtomicBool::new(false)));
    *OBSERVED.lock().expect("no panic in between") = None;
    let (send, receive) = mpsc::channel();
    let thread = std::thread::spawn(move || {
        let folder = Folder::new();
        let trial = trial_in(&folder.0, stop, workload, given);
        assert_eq!(folder.files(), 0, "files were left behind");
        let _ = send.send(trial);
    });
    let there_yet = || match reached {
        Reached::Nothing => true,
        Reached::Partners => !children().is_empty(),
        Reached::Rows => OBSERVED.lock().expect("no panic in between").is_some_and(|progress| progress.rows() > 0),
    };
    for _ in 0..2000 {
        if there_yet() {
            break;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(there_yet(), "{workload} does not begin");
    std::thread::sleep(Duration::from_millis(50));
    meanwhile(stop);
    let trial = receive.recv_timeout(Duration::from_secs(30)).expect("the trial ends and leaves nothing behind");
    thread.join().expect("the thread of the trial");
    trial
}

pub fn stopped(workload: &'static str, given: &'static [(&str, &str)], reached: Reached) -> Trial {
    let trial = long_trial(workload, given, reached, |stop| stop.store(true, Ordering::Relaxed));
    assert_eq!(trial.failure, None, "{workload} {given:?}");
    assert!(reached != Reached::Rows || !trial.part("").is_empty(), "rows were lost");
    trial
}

pub fn without_its_partner(workload: &'static str, given: &'static [(&str, &str)]) -> Trial {
    long_trial(workload, given, Reached::Partners, |_| {
        for pid in children() {
            // SAFETY: a child of this process that only its parent, which waits for it, reaps.
            unsafe { libc::kill(pid, libc::SIGKILL) };
        }
    })
}

/// Names what could not be tested, for whoever runs the tests.
pub fn skipped(why: &str) {
    use std::io::Write;
    if let Some(path) = std::env::var_os("KIZAMI_SKIPPED") {
        let file = fs::OpenOptions::new().append(true).create(true).open(path);
        writeln!(file.expect("the list of skipped tests"), "{why}").expect("a line in the list of skipped tests");
    }
}

pub fn is_root() -> bool {
    // SAFETY: asks for a number.
    unsafe { libc::geteuid() == 0 }
}
