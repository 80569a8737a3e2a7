//! A virtual machine that runs: booted once, then paused between the probes that it runs.
//!
//! The lab reaches the guest by a port, over which messages go in frames, and by memory that both have mapped. When the
//! machine is gone, in whatever way, the port ends: nothing waits for what cannot come.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use kizami_protocol::frames::{Decoder, Encoder, Received};
use kizami_protocol::{FromGuest, Report, ToGuest, VERSION};

use kizami_workloads::clock_ns;

use super::qmp::Control;
use crate::error::Error;
use crate::launch::{Running, Started};

const LOOK: Duration = Duration::from_millis(20);

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
    /// By the guest's clock, what `time` is by this machine's: later by as long as the message took.
    pub(super) fn there(&self, time: i64) -> i64 {
        self.now - (self.heard - time)
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
    /// The port has ended, and why.
    over: Option<String>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
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
    /// The monitor; the machine ends with it.
    monitor: Started,
    control: Option<Control>,
    port: UnixStream,
    encoder: Encoder,
    shared: Arc<Shared>,
}

impl Session {
    /// A machine whose `monitor` was started, with its ends of the port and of the control.
    pub(super) fn new(monitor: Started, port: UnixStream, control: UnixStream) -> Result<Self, Error> {
        let shared = Arc::new(Shared::default());
        let reader = port.try_clone().map_err(Error::os("copy the port of the guest"))?;
        let for_reader = Arc::clone(&shared);
        thread::spawn(move || read(reader, &for_reader));
        let control = Control::new(control).ok();
        Ok(Self { monitor, control, port, encoder: Encoder::default(), shared })
    }

    /// Lets the machine run for the first time: when that was, by this machine's clock. A monitor that is gone says why later.
    pub(super) fn begin(&mut self) -> i64 {
        let _ = self.control("cont");
        clock_ns() as i64
    }

    /// Waits until the agent is up, for at most `limit`.
    pub(super) fn boot(&mut self, limit: Duration, interrupt: &AtomicBool) -> Result<Hello, Error> {
        let said = |state: &State| match (&state.hello, &state.over) {
            (Some(hello), _) => Some(Ok(hello.clone())),
            (None, Some(why)) => Some(Err(why.clone())),
            _ => None,
        };
        match self.shared.wait(limit, interrupt, said) {
            Some(Ok(hello)) => Ok(hello),
            _ if interrupt.load(Ordering::Relaxed) => Err(Error::Unusable("interrupted while the guest booted".into())),
            Some(Err(why)) => Err(Error::Unusable(format!("the guest did not come up: {why}{}", self.last_words()))),
            None => {
                let limit = limit.as_secs();
                Err(Error::Unusable(format!("the guest did not come up within {limit} s{}", self.last_words())))
            }
        }
    }

    /// Whether it can run another probe.
    pub(super) fn is_alive(&self) -> bool {
        self.control.is_some() && self.shared.lock().over.is_none()
    }

    /// What the console and the monitor said last, as a part of a sentence.
    fn last_words(&mut self) -> String {
        let how = self.monitor.end(LOOK);
        let said = telling(&self.monitor.error_output());
        let said = if said.is_empty() { "nothing was said".to_owned() } else { format!("it said: {said}") };
        format!(" (the monitor {how}; {said})")
    }

    /// Lets the machine run, and asks it for a probe. The reports of that come on the receiver.
    pub(super) fn start(&mut self, asked: &ToGuest) -> Result<Receiver<Result<Report, String>>, Error> {
        let (sender, reports) = channel();
        {
            let mut state = self.shared.lock();
            if let Some(why) = &state.over {
                return Err(Error::Unusable(format!("the guest is gone: {why}")));
            }
            (state.reports, state.ended) = (Some(sender), None);
        }
        self.control("cont")?;
        self.say(asked)?;
        Ok(reports)
    }

    /// What the monitor says of itself: the part `field` of its answer to `command`.
    pub(super) fn ask(&mut self, command: &str, field: &str) -> Option<serde_json::Value> {
        self.control.as_mut()?.command(command).ok()?.get(field).cloned()
    }

    pub(super) fn pause(&mut self) -> Result<(), Error> {
        self.control("stop")
    }

    fn control(&mut self, command: &str) -> Result<(), Error> {
        let control = self.control.as_mut().ok_or_else(|| Error::Unusable("the monitor does not answer".into()))?;
        let done = control.command(command);
        if done.is_err() {
            self.control = None;
        }
        done.map(drop).map_err(Error::os(format!("tell the monitor to {command}")))
    }

    fn say(&mut self, message: &ToGuest) -> Result<(), Error> {
        let content = serde_json::to_vec(message).map_err(|e| Error::Unusable(e.to_string()))?;
        let frame = self.encoder.frame(&content).map_err(Error::Unusable)?;
        self.port.write_all(&frame).map_err(Error::os("write to the guest"))
    }

    /// The machine is not used any more.
    fn kill(&mut self) {
        self.control = None;
        self.monitor.signal(libc::SIGKILL);
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
        self.session().monitor.process()
    }

    fn signal(&self, signal: i32) {
        let mut session = self.session();
        if signal == libc::SIGKILL {
            session.kill();
        } else {
            // One that is gone has ended its reports too.
            let _ = session.say(&ToGuest::Stop {});
        }
    }

    fn end(&mut self, grace: Duration) -> String {
        let mut session = self.session();
        let shared = Arc::clone(&session.shared);
        let never = AtomicBool::new(false);
        let ended = shared.wait(grace.max(Duration::from_secs(1)), &never, |state| match (&state.ended, &state.over) {
            (Some((how, _)), _) => Some(Ok(how.clone())),
            (None, Some(why)) => Some(Err(why.clone())),
            _ => None,
        });
        match ended {
            Some(Ok(how)) => {
                if session.is_alive() && session.pause().is_err() {
                    session.kill();
                }
                how
            }
            Some(Err(why)) => {
                session.control = None;
                format!("ended with its machine: {why}{}", session.last_words())
            }
            None => {
                session.kill();
                "did not end, and its machine was ended".into()
            }
        }
    }

    fn said(&self) -> String {
        let session = self.session();
        let state = session.shared.lock();
        state.ended.as_ref().map(|(_, said)| said.clone()).unwrap_or_default()
    }
}

/// Of what a console said: the line on which a kernel says why it ends, else the last lines.
fn telling(console: &str) -> String {
    // `[    5.301539] Kernel panic - …`
    let bare = |line: &str| match line.trim().split_once("] ") {
        Some((time, rest)) if time.starts_with('[') => rest.trim().to_owned(),
        _ => line.trim().to_owned(),
    };
    let lines: Vec<String> = console.lines().map(bare).filter(|line| !line.is_empty()).collect();
    match lines.iter().find(|line| line.contains("Kernel panic") || line.contains("Out of memory")) {
        Some(why) => why.clone(),
        None => lines[lines.len().saturating_sub(3)..].join(" / "),
    }
}

/// Reads the port until it ends.
fn read(mut port: UnixStream, shared: &Shared) {
    let mut decoder = Decoder::default();
    let mut piece = [0; 16 << 10];
    let why = loop {
        match port.read(&mut piece) {
            Ok(0) => break "the machine ended".to_owned(),
            Ok(read) => decoder.push(&piece[..read]),
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
            Err(e) => break format!("the port cannot be read: {e}"),
        }
        if let Some(why) = take(&mut decoder, shared) {
            break why;
        }
    };
    let mut state = shared.lock();
    state.over = Some(why);
    state.reports = None;
    shared.changed.notify_all();
}

/// Takes what is whole; why the guest cannot be listened to any more, if it is so.
fn take(decoder: &mut Decoder, shared: &Shared) -> Option<String> {
    while let Some(received) = decoder.received() {
        let message = match received {
            Received::Frame(content) => serde_json::from_slice::<FromGuest>(&content),
            Received::Lost(frames) => return Some(format!("{frames} messages of the guest were lost")),
        };
        let mut state = shared.lock();
        match message {
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

    #[test]
    fn of_a_console_the_reason_is_told() {
        let console = "[    5.2] Run /nothing as init\n[    5.3] Kernel panic - not syncing: No working init found.\n\
                       [    5.3] Call Trace:\n[    5.3]  </TASK>\n";
        assert_eq!(telling(console), "Kernel panic - not syncing: No working init found.");
        assert_eq!(telling("a\n\nb\nc\nd\n"), "b / c / d");
        assert_eq!(telling(""), "");
    }
}
