//! A guest that runs: booted once, then paused with its machine between the probes that it runs.
//!
//! The lab reaches the guest by a port, over which messages go in frames, and by memory that both may have mapped. When the
//! machine is gone, in whatever way, the port ends: nothing waits for what cannot come. A machine may have two guests, each
//! with a port: then one is the domain that Xen's first domain has started, and tells of.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use kizami_protocol::frames::{Decoder, Encoder, Received};
use kizami_protocol::{FromGuest, MachineStart, Report, Start, ToGuest, VERSION};
use kizami_recording::folder::Effective;
use kizami_workloads::clock_ns;

use super::monitor::{Monitor, telling};
use super::quiet::{Next, Quiet, TO_ANSWER};
use crate::error::Error;
use crate::launch::Running;

const LOOK: Duration = Duration::from_millis(20);
/// Why nothing comes from a port whose other end is closed.
const ENDED: &str = "the machine ended";

/// What the agent said when it was up.
#[derive(Debug, Clone)]
pub(super) struct Hello {
    pub cpus: Vec<usize>,
    pub shared: bool,
    pub facts: BTreeMap<String, String>,
    /// When its first process began, when the agent began, and when the agent said so: by the guest's clock.
    pub init: Option<i64>,
    pub agent: i64,
    pub now: i64,
    /// When that was heard here, by this machine's.
    pub heard: i64,
}

impl Hello {
    /// The start of the guest, by its own clock: began here at `began`, and ran its machine's first instruction at `runs`. An init
    /// that says nothing of itself began when the agent did.
    pub(super) fn start(&self, began: i64, runs: i64) -> Start {
        let init = self.init.unwrap_or(self.agent);
        let machine = MachineStart { runs: self.there(runs), init, agent: self.agent };
        Start { began: self.there(began), machine: Some(machine) }
    }

    /// By the guest's clock, what `time` is by this machine's: later by as long as the message took.
    fn there(&self, time: i64) -> i64 {
        self.now - (self.heard - time)
    }

    /// What is in force in every trial of this guest.
    pub(super) fn told(&self) -> Vec<(String, Effective)> {
        let names = ["kernel", "preemption", "clock_source", "hypervisor", "guest_type", "write_cache"];
        let found = names.into_iter().filter_map(|name| Some((name.to_owned(), self.facts.get(name)?.clone())));
        let found = found.filter(|(_, value)| !value.is_empty());
        found.map(|(name, value)| (name, Effective { value, as_requested: true, why: "of the guest".into() })).collect()
    }

    /// Where the files of the work lie, as the setting of that name says it: on a device, or in memory.
    pub(super) fn files_on(&self) -> Option<String> {
        let on_device = self.facts.get("files_source")?.starts_with("/dev/");
        if on_device { Some("disk".to_owned()) } else { self.facts.get("files_system").cloned() }
    }

    /// Its kernel, in words.
    pub(super) fn in_words(&self) -> String {
        let fact = |name: &str| self.facts.get(name).map_or("", String::as_str);
        let [kernel, preemption, clock] = ["kernel", "preemption", "clock_source"].map(fact);
        format!("Linux {kernel}, preemption {preemption}, clock source {clock}")
    }
}

/// What the thread that reads the port leaves.
#[derive(Default)]
struct State {
    hello: Option<Hello>,
    /// Where the reports of the probe that runs go.
    reports: Option<Sender<Result<Report, String>>>,
    /// How the last probe ended, and what it said.
    ended: Option<(String, String)>,
    /// How far a domain that is started has come.
    phase: Option<String>,
    /// Messages so far.
    heard: u64,
    /// The port has ended, and why.
    over: Option<String>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    /// What is kept of the domain that this guest starts.
    domain: OnceLock<Arc<Shared>>,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Nothing comes from the port any more.
    fn end(&self, why: String) {
        let mut state = self.lock();
        state.over.get_or_insert(why);
        state.reports = None;
        self.changed.notify_all();
    }

    /// Waits until `found` finds something, for at most `limit`, or until `interrupt` is raised.
    fn wait<T>(&self, limit: Duration, interrupt: &AtomicBool, found: impl Fn(&State) -> Option<T>) -> Option<T> {
        let begun = Instant::now();
        let mut state = self.lock();
        loop {
            if let Some(found) = found(&state) {
                return Some(found);
            }
            if begun.elapsed() > limit || interrupt.load(Ordering::Relaxed) {
                return None;
            }
            state = self.changed.wait_timeout(state, LOOK).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

/// See the module.
pub(super) struct Session {
    monitor: Arc<Mutex<Monitor>>,
    port: UnixStream,
    encoder: Encoder,
    shared: Arc<Shared>,
    quiet: Quiet,
}

impl Session {
    /// A guest of the machine that `monitor` makes, with the lab's end of its port.
    pub(super) fn new(monitor: &Arc<Mutex<Monitor>>, port: UnixStream) -> Result<Self, Error> {
        let shared = Arc::new(Shared::default());
        let reader = port.try_clone().map_err(Error::os("copy the port of the guest"))?;
        let for_reader = Arc::clone(&shared);
        thread::spawn(move || read(reader, &for_reader));
        let quiet = Quiet::new(0, Instant::now());
        Ok(Self { monitor: Arc::clone(monitor), port, encoder: Encoder::default(), shared, quiet })
    }

    pub(super) fn monitor(&self) -> MutexGuard<'_, Monitor> {
        self.monitor.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets the machine run for the first time: when that was, by this machine's clock. A monitor that is gone says why later.
    pub(super) fn begin(&mut self) -> i64 {
        let _ = self.monitor().tell("cont");
        clock_ns() as i64
    }

    /// Asks this guest to start `domain`, as `asked`; it tells of that from here on.
    pub(super) fn start_domain(&mut self, domain: &Self, asked: &ToGuest) -> Result<(), Error> {
        // It is asked once in the life of a machine.
        let _ = self.shared.domain.set(Arc::clone(&domain.shared));
        self.monitor().tell("cont")?;
        self.say(asked)
    }

    /// Waits until the agent is up, for at most `limit`. Where it is not told how far a guest has come, `phase_of` the console
    /// tells.
    pub(super) fn boot(
        &mut self,
        limit: Duration,
        interrupt: &AtomicBool,
        phase_of: impl Fn(&str) -> Option<&str>,
    ) -> Result<Hello, Error> {
        let said = |state: &State| match (&state.hello, &state.over) {
            (Some(hello), _) => Some(Ok(hello.clone())),
            (None, Some(why)) => Some(Err(why.clone())),
            _ => None,
        };
        let came = self.shared.wait(limit, interrupt, said);
        let failed = match came {
            Some(Ok(hello)) => return Ok(hello),
            _ if interrupt.load(Ordering::Relaxed) => {
                return Err(Error::Unusable("interrupted while it booted".into()));
            }
            Some(Err(why)) => why,
            None => format!("not within {} s", limit.as_secs()),
        };
        let told = self.shared.lock().phase.clone();
        // What the console and the monitor said last is of the first guest, and says nothing of a domain that ended by itself.
        let of_first = told.is_none() || failed == ENDED;
        let phase = told.or_else(|| phase_of(&self.monitor().console()).map(str::to_owned));
        let phase = phase.map_or_else(String::new, |phase| format!(", in the phase of {phase}"));
        let words = if of_first { self.monitor().last_words() } else { String::new() };
        self.monitor().kill();
        Err(Error::Unusable(format!("the guest did not come up{phase}: {failed}{words}")))
    }

    /// Whether it can run another probe.
    pub(super) fn is_alive(&self) -> bool {
        let mut monitor = self.monitor();
        self.shared.lock().over.is_none() && monitor.is_alive() && monitor.trouble().is_none()
    }

    /// Lets the machine run, and asks it for a probe. The reports of that come on the receiver.
    pub(super) fn start(&mut self, asked: &ToGuest) -> Result<Receiver<Result<Report, String>>, Error> {
        let (sender, reports) = channel();
        {
            let mut state = self.shared.lock();
            self.quiet = Quiet::new(state.heard, Instant::now());
            if let Some(why) = &state.over {
                return Err(Error::Unusable(format!("the guest is gone: {why}")));
            }
            (state.reports, state.ended) = (Some(sender), None);
        }
        self.monitor().tell("cont")?;
        self.say(asked)?;
        Ok(reports)
    }

    /// Why its probe can be given up, if it answers nothing any more.
    fn hangs(&mut self) -> Option<String> {
        let heard = self.shared.lock().heard;
        match self.quiet.next(heard, Instant::now()) {
            Next::Listen => None,
            Next::Ask => {
                // One that is gone ends its port, and that tells why.
                let _ = self.say(&ToGuest::AreYouThere {});
                None
            }
            Next::GiveUp => {
                let said = telling(&self.monitor().console());
                let said = if said.is_empty() { said } else { format!("; it said last: {said}") };
                Some(format!("the guest hangs: it has answered nothing for {} s{said}", TO_ANSWER.as_secs()))
            }
        }
    }

    pub(super) fn pause(&self) -> Result<(), Error> {
        self.monitor().tell("stop")
    }

    fn say(&mut self, message: &ToGuest) -> Result<(), Error> {
        let content = serde_json::to_vec(message).map_err(|e| Error::Unusable(e.to_string()))?;
        let frame = self.encoder.frame(&content).map_err(Error::Unusable)?;
        self.port.write_all(&frame).map_err(Error::os("write to the guest"))
    }
}

/// A probe in a machine that other probes use after it.
pub(super) struct InGuest(pub(super) Arc<Mutex<Session>>);

impl InGuest {
    fn session(&self) -> MutexGuard<'_, Session> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Running for InGuest {
    fn process(&self) -> u32 {
        self.session().monitor().process()
    }

    fn signal(&self, signal: i32) {
        let mut session = self.session();
        if signal == libc::SIGKILL {
            session.monitor().kill();
        } else {
            // One that is gone has ended its reports too.
            let _ = session.say(&ToGuest::Stop {});
        }
    }

    fn hangs(&mut self) -> Option<String> {
        self.session().hangs()
    }

    fn end(&mut self, grace: Duration) -> String {
        let session = self.session();
        let shared = Arc::clone(&session.shared);
        let never = AtomicBool::new(false);
        let ended = shared.wait(grace.max(Duration::from_secs(1)), &never, |state| match (&state.ended, &state.over) {
            (Some((how, _)), _) => Some(Ok(how.clone())),
            (None, Some(why)) => Some(Err(why.clone())),
            _ => None,
        });
        match ended {
            Some(Ok(how)) => {
                if !session.is_alive() || session.pause().is_err() {
                    session.monitor().kill();
                }
                how
            }
            Some(Err(why)) => {
                format!("ended with its machine: {why}{}", session.monitor().last_words())
            }
            None => {
                session.monitor().kill();
                "did not end, and its machine was ended".into()
            }
        }
    }

    fn trouble(&self) -> Option<String> {
        self.session().monitor().trouble()
    }

    fn said(&self) -> String {
        let session = self.session();
        let state = session.shared.lock();
        state.ended.as_ref().map(|(_, said)| said.clone()).unwrap_or_default()
    }
}

/// Reads the port until it ends.
fn read(mut port: UnixStream, shared: &Shared) {
    let mut decoder = Decoder::default();
    let mut piece = [0; 16 << 10];
    let why = loop {
        match port.read(&mut piece) {
            Ok(0) => break ENDED.to_owned(),
            Ok(read) => decoder.push(&piece[..read]),
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
            Err(e) => break format!("the port cannot be read: {e}"),
        }
        if let Some(why) = take(&mut decoder, shared) {
            break why;
        }
    };
    shared.end(why);
}

/// Takes what is whole; why the guest cannot be listened to any more, if it is so.
fn take(decoder: &mut Decoder, shared: &Shared) -> Option<String> {
    while let Some(received) = decoder.received() {
        let message = match received {
            Received::Frame(content) => serde_json::from_slice::<FromGuest>(&content),
            Received::Lost(frames) => return Some(format!("{frames} messages of the guest were lost")),
        };
        let mut state = shared.lock();
        state.heard += 1;
        match message {
            Ok(FromGuest::Here {}) => {}
            Ok(FromGuest::Hello { version, .. }) if version != VERSION => {
                return Some(format!("its agent speaks version {version} of the protocol, and the lab {VERSION}"));
            }
            Ok(FromGuest::Hello { cpus, shared, facts, init, agent, now, .. }) => {
                state.hello = Some(Hello { cpus, shared, facts, init, agent, now, heard: clock_ns() as i64 });
            }
            Ok(FromGuest::Report(report)) => {
                // Nobody listens any more to a probe that was given up.
                let _ = state.reports.as_ref().map(|reports| reports.send(Ok(report)));
            }
            Ok(FromGuest::Ended { how, said }) => {
                state.ended = Some((how, said));
                state.reports = None;
            }
            Ok(FromGuest::Phase { phase }) => {
                if let Some(domain) = shared.domain.get() {
                    domain.lock().phase = Some(phase);
                }
            }
            Ok(FromGuest::Gone { why, said }) => {
                if let Some(domain) = shared.domain.get() {
                    let said = telling(&said);
                    domain.end(if said.is_empty() { why } else { format!("{why}; it said: {said}") });
                }
            }
            Err(e) => return Some(format!("what the guest says cannot be understood: {e}")),
        }
        shared.changed.notify_all();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use kizami_protocol::frames::MOST;

    /// A guest of this test, at whose port anything can be said; and what the lab makes of it.
    fn heard(said: &[u8]) -> (Option<String>, bool, Vec<Report>) {
        let shared = Shared::default();
        let (sender, reports) = channel();
        shared.lock().reports = Some(sender);
        let (ours, mut theirs) = UnixStream::pair().expect("sockets");
        let said = said.to_vec();
        let guest = thread::spawn(move || drop(theirs.write_all(&said)));
        read(ours, &shared);
        guest.join().expect("it ends");
        let state = shared.lock();
        (state.over.clone(), state.hello.is_some(), reports.try_iter().filter_map(Result::ok).collect())
    }

    fn framed(encoder: &mut Encoder, message: &FromGuest) -> Vec<u8> {
        encoder.frame(&serde_json::to_vec(message).expect("JSON")).expect("it fits")
    }

    fn hello(version: u32) -> FromGuest {
        let (facts, init) = (BTreeMap::new(), None);
        FromGuest::Hello { version, cpus: vec![0], shared: true, facts, init, agent: 1, now: 2 }
    }

    #[test]
    fn what_a_guest_says_is_heard_between_what_its_kernel_prints() {
        let mut encoder = Encoder::default();
        let mut said = b"[    1.0] booting\n".to_vec();
        said.extend(framed(&mut encoder, &hello(VERSION)));
        said.extend(b"[    1.2] random: crng init done\n");
        said.extend(framed(&mut encoder, &FromGuest::Report(Report::Ready {})));
        let (over, hello, reports) = heard(&said);
        assert_eq!((hello, reports), (true, vec![Report::Ready {}]));
        assert_eq!(over.as_deref(), Some("the machine ended"));
    }

    #[test]
    fn what_the_first_domain_tells_of_another_ends_what_waits_for_that() {
        let (first, domain) = (Shared::default(), Arc::new(Shared::default()));
        first.domain.set(Arc::clone(&domain)).unwrap_or_else(|_| panic!("it is the first"));
        let (ours, mut theirs) = UnixStream::pair().expect("sockets");
        let mut encoder = Encoder::default();
        let phase = FromGuest::Phase { phase: "the domain's kernel".into() };
        let said = "[    1.5] Kernel panic - not syncing: no memory\n[    1.6] Call Trace:\n".to_owned();
        let gone = FromGuest::Gone { why: "the domain ended".into(), said };
        for message in [phase, gone] {
            theirs.write_all(&framed(&mut encoder, &message)).expect("written");
        }
        drop(theirs);
        read(ours, &first);
        let state = domain.lock();
        assert_eq!(state.phase.as_deref(), Some("the domain's kernel"));
        assert_eq!(state.over.as_deref(), Some("the domain ended; it said: Kernel panic - not syncing: no memory"));
        assert_eq!(first.lock().over.as_deref(), Some("the machine ended"));
    }

    #[test]
    fn garbage_another_version_and_a_lost_message_end_it_with_the_reason() {
        let garbage: Vec<u8> = (0..3_000_000u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
        assert_eq!(heard(&garbage).0.as_deref(), Some("the machine ended"));

        let other = framed(&mut Encoder::default(), &hello(VERSION + 1));
        let (over, hello_heard, _) = heard(&other);
        assert!(!hello_heard && over.is_some_and(|why| why.contains("version")));

        let mut encoder = Encoder::default();
        let first = framed(&mut encoder, &hello(VERSION));
        drop(framed(&mut encoder, &FromGuest::Report(Report::Ready {})));
        let third = framed(&mut encoder, &FromGuest::Report(Report::Done {}));
        let (over, _, reports) = heard(&[first, third].concat());
        assert!(reports.is_empty() && over.is_some_and(|why| why.contains("1 messages of the guest were lost")));

        let nonsense = Encoder::default().frame(&vec![b'['; MOST]).expect("it fits");
        assert!(heard(&nonsense).0.is_some_and(|why| why.contains("cannot be understood")));
    }
}
