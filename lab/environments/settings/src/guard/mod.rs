//! The guard: changes settings of the whole machine, and restores them however the run ends.
//!
//! One mechanism serves every end of a run. Before the first change, the old value goes to a journal on disk, and a
//! guard process is started that restores the values of the journal as soon as the lab has ended ([`main`]). At a
//! normal end the lab starts the same restoration and waits for it. If the guard is killed too, [`recover`] restores
//! the values at the next start. Nothing is started as long as no setting is to be changed.

mod child;
mod journal;

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use kizami_recording::folder::Effective;
use kizami_recording::quantity::Quantity;

use crate::root::{Root, words};
use crate::setting::Scope;
use crate::settings::Settings;
use crate::system::{self, Cgroup, Latency, Nested};

pub use child::main;
pub use journal::recover;
use journal::{Journal, Unavailable};

/// The first argument of a guard process; the journal follows. A program that engages a guard calls [`main`] for it
/// before it does anything else.
pub const ARGUMENT: &str = "restore-guard";

/// The guard of a run: the settings that the run has changed, and the process that restores them.
#[derive(Debug)]
pub struct Guard {
    root: Root,
    exe: PathBuf,
    live: Option<Live>,
    latency: Option<io::Result<Latency>>,
}

/// What there is from the first change on.
#[derive(Debug)]
struct Live {
    journal: Journal,
    child: Child,
    /// Closed to tell the guard that it is time.
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    /// Each file that was ever changed: its setting and what is written to bring it back.
    originals: BTreeMap<String, (&'static str, String)>,
    /// The control groups of this trial: those that were made, and those that the work has to join.
    made: Vec<PathBuf>,
    to_join: Vec<PathBuf>,
    groups_made: u32,
}

const CGROUP_DEPTH: &str = "cgroup_depth";

/// Why knobs could not be changed: setting and sentence.
type Refusals = Vec<(&'static str, String)>;

impl Guard {
    /// Applies what `settings` ask of the machine and reads back every knob of it. `exe` is the program that becomes the
    /// guard, see [`ARGUMENT`].
    pub fn engage(root: &Root, exe: &Path, settings: &Settings) -> (Self, Vec<(String, Effective)>) {
        let mut guard = Self { root: root.clone(), exe: exe.to_owned(), live: None, latency: None };
        let effective = guard.change(settings);
        (guard, effective)
    }

    /// The same for the next trial. A knob that `settings` do not mention goes back to what it was at first.
    pub fn change(&mut self, settings: &Settings) -> Vec<(String, Effective)> {
        let groups = self.change_groups(settings);
        let settings = settings.of(Scope::System);
        let mut refused = Refusals::new();
        self.change_files(&settings, &mut refused);
        let latency = settings.number("cpu_dma_latency", Quantity::Time);
        // The old limit is given up first, or it would hold beside a weaker new one.
        self.latency = None;
        self.latency = latency.map(|ns| Latency::hold(&self.root, ns));
        let mut effective = system::read(&self.root, &settings, &refused);
        let latency = system::latency(&self.root, latency, self.latency.as_ref());
        effective.push(("cpu_dma_latency".to_owned(), latency));
        effective.extend(groups);
        effective
    }

    /// The control groups that the work has to join for `memory_limit` and `cgroup_depth` to hold, see
    /// [`InChild::joining`](crate::process::InChild::joining).
    pub fn cgroups(&self) -> &[PathBuf] {
        self.live.as_ref().map_or(&[], |live| &live.to_join)
    }

    /// Restores everything.
    ///
    /// # Errors
    /// A sentence for the user, when something could not be restored: what, why, and the command that does it.
    pub fn release(mut self) -> Result<(), String> {
        self.restore()
    }

    fn restore(&mut self) -> Result<(), String> {
        self.latency = None;
        let Some(Live { journal, mut child, stdin, mut stdout, .. }) = self.live.take() else { return Ok(()) };
        drop(stdin);
        let mut said = String::new();
        // What it said is only for the message; its exit status decides.
        let _ = stdout.read_to_string(&mut said);
        match child.wait() {
            Ok(status) if status.success() => Ok(()),
            Ok(status) if status.code().is_some() => Err(said.trim().replace('\n', "; ")),
            // It was killed. Its work remains, and the lab still holds the journal.
            _ => {
                let restored = journal::restore(journal.path());
                if restored.problems.is_empty() { Ok(()) } else { Err(restored.problems.join("; ")) }
            }
        }
    }

    fn live(&mut self) -> Result<&mut Live, String> {
        if self.live.is_none() {
            self.live = Some(Live::start(&self.root, &self.exe)?);
        }
        self.live.as_mut().ok_or_else(|| "there is no guard".to_owned())
    }

    fn change_files(&mut self, settings: &Settings, refused: &mut Refusals) {
        let root = self.root.clone();
        let mut wanted: BTreeMap<String, (&'static str, String)> = BTreeMap::new();
        for name in system::FILE_KNOBS.iter().copied() {
            let Some(value) = settings.get(name) else { continue };
            let files = system::files(&root, name);
            if files.is_empty() {
                refused.push((name, system::missing(name).to_owned()));
            }
            wanted.extend(files.into_iter().map(|file| {
                let text = system::encode(name, value, &file);
                (file, (name, text))
            }));
        }
        if let Some(live) = &self.live {
            let back = live.originals.iter().filter(|(file, _)| !wanted.contains_key(*file));
            let back: Vec<_> = back.map(|(file, to)| (file.clone(), to.clone())).collect();
            wanted.extend(back);
        }
        for (file, (name, text)) in wanted {
            if let Err(why) = self.change_file(&root, name, &file, &text) {
                refused.push((name, why));
            }
        }
    }

    fn change_file(&mut self, root: &Root, name: &'static str, file: &str, text: &str) -> Result<(), String> {
        let shown = root.shown(file);
        let now = || match system::value(root, name, file) {
            Ok(value) => Ok(system::encode(name, &value, file)),
            Err(e) => Err(format!("{}: reading {shown}", words(&e))),
        };
        if now()? == text {
            return Ok(());
        }
        let live = self.live()?;
        // Read again: the guard's start may have restored what an earlier run left behind.
        let now = now()?;
        if !live.originals.contains_key(file) {
            live.journal.value(name, &root.path(file), &now)?;
            live.originals.insert(file.to_owned(), (name, now));
        }
        root.write(file, text).map_err(|e| {
            let hint = match e.kind() {
                io::ErrorKind::PermissionDenied => " (it takes root)",
                io::ErrorKind::InvalidInput if name == "rt_runtime" => {
                    " (it cannot be less than control groups were promised in cpu.rt_runtime_us)"
                }
                io::ErrorKind::InvalidInput => " (this kernel does not take the value)",
                _ => "",
            };
            format!("{}: writing {text} to {shown}{hint}", words(&e))
        })
    }

    /// Every trial gets groups of its own, so that nothing of the one before counts.
    fn change_groups(&mut self, settings: &Settings) -> Vec<(String, Effective)> {
        if let Some(live) = &mut self.live {
            live.to_join.clear();
            // One that stays is tried again when everything is restored, and told then.
            live.made.drain(..).for_each(|group| drop(system::remove_cgroup(&group)));
        }
        let refused = |value: String, why| Effective { value, as_requested: false, why };
        let limit = match settings.number("memory_limit", Quantity::Size) {
            None => Effective { value: "none".to_owned(), as_requested: true, why: String::new() },
            Some(bytes) => self.limit_memory(bytes).unwrap_or_else(|why| refused("none".to_owned(), why)),
        };
        let mut effective = vec![("memory_limit".to_owned(), limit)];
        // What was made is read back of who has joined it.
        if let Some(depth) = settings.get(CGROUP_DEPTH).and_then(|depth| depth.parse().ok())
            && let Err(why) = self.nest(depth)
        {
            let depth = system::limits_of(&self.root, std::process::id()).depth;
            effective.push((CGROUP_DEPTH.to_owned(), refused(depth.unwrap_or_else(|_| "unknown".to_owned()), why)));
        }
        effective
    }

    fn limit_memory(&mut self, bytes: u64) -> Result<Effective, String> {
        let root = self.root.clone();
        let live = self.live()?;
        let cgroup = Cgroup::place(&root, &live.next_group())?;
        live.prepare(&cgroup.folder)?;
        cgroup.make(bytes)?;
        let effective = cgroup.effective(bytes);
        live.to_join.push(cgroup.folder);
        Ok(effective)
    }

    fn nest(&mut self, depth: usize) -> Result<(), String> {
        let root = self.root.clone();
        let live = self.live()?;
        let nested = Nested::place(&root, &live.next_group(), depth)?;
        if nested.version == 2 && !live.to_join.is_empty() {
            return Err(
                "the memory of this trial is limited by a group of its own, and in version 2 a process is in one alone"
                    .into(),
            );
        }
        nested.outermost.iter().try_for_each(|group| live.prepare(group))?;
        nested.make()?;
        live.to_join.extend(nested.innermost);
        Ok(())
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        // Whoever wants to know calls `release`.
        let _ = self.restore();
    }
}

impl Live {
    fn next_group(&mut self) -> String {
        self.groups_made += 1;
        format!("{}-{}", std::process::id(), self.groups_made)
    }

    /// Before the control group `folder` is made.
    fn prepare(&mut self, folder: &Path) -> Result<(), String> {
        self.journal.cgroup(folder)?;
        self.made.push(folder.to_owned());
        Ok(())
    }

    fn start(root: &Root, exe: &Path) -> Result<Self, String> {
        let journal = Journal::begin(root).map_err(|unavailable| match unavailable {
            Unavailable::Taken(pid) => {
                let who = pid.map_or_else(|| "another run".to_owned(), |pid| format!("another run (process {pid})"));
                format!("{who} has changed settings of this machine: wait until it ends")
            }
            Unavailable::Broken(why) => why,
        })?;
        let failed = |why: String| format!("the guard that would restore it cannot be started: {why}");
        let mut command = Command::new(exe);
        command.arg(ARGUMENT).arg(journal.path());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().map_err(|e| failed(format!("{}: {}", exe.display(), words(&e))))?;
        let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(failed("its pipes are missing".to_owned()));
        };
        let mut stdout = BufReader::new(stdout);
        let mut said = String::new();
        // Nothing may be changed before it is out of reach of the terminal's signals and holds the journal.
        let answer = stdout.read_line(&mut said);
        if answer.is_err() || said.trim() != child::READY {
            drop(stdin);
            let _ = child.kill().and_then(|()| child.wait());
            return Err(failed(format!("{} said {said:?}", exe.display())));
        }
        Ok(Self {
            journal,
            child,
            stdin,
            stdout,
            originals: BTreeMap::new(),
            made: Vec::new(),
            to_join: Vec::new(),
            groups_made: 0,
        })
    }
}
