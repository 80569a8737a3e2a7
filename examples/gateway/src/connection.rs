//! A connection of a device.
//!
//! The connection's process never waits for its socket: a message tells it when there is something to read, and when there is
//! room to write, so it takes casts and calls in between. Everything that the other side can do to it has a limit: long lines,
//! bad lines, answers that are not read, silence.

use std::time::{Duration, Instant};

use otp::net::{Filled, Handed, Lines, Outbox, Readable, TcpStream, Writable};
use otp::time::Timer;
use otp::{Carry, Data, Init, Next, Pid, Server, gen_server};
use tracing::{Instrument as _, Span, info, info_span, warn};

use crate::events::{Asks, REQUEST};
use crate::hub::{Hub, HubApi as _};
use crate::protocol::{LONGEST_LINE, Request, read};

/// How many bytes of answers may wait for a device that does not read them, beside what the kernel takes.
const MOST_WAITING: usize = 16 * 1024;

/// How many lines that are none before the end.
const MOST_WRONG: u32 = 10;

/// The connection of one device.
#[derive(Carry, Debug)]
pub struct Connection {
    stream: TcpStream,
    lines: Lines,
    outbox: Outbox,
    device: Option<String>,
    wrong: u32,
    idle: Duration,
    heard: Instant,
    /// What the log says an event of this connection is about.
    #[otp(anew = span_of(device.as_deref()))]
    span: Span,
}

/// Time to look whether anything was heard.
#[derive(Data, Debug)]
pub struct Silence;

fn span_of(device: Option<&str>) -> Span {
    let span = info_span!("connection", device = tracing::field::Empty);
    if let Some(device) = device {
        span.record("device", device);
    }
    span
}

/// Whether the connection goes on.
enum After {
    Goes,
    Ends,
}

#[gen_server]
impl Connection {
    fn init(stream: Handed, idle: Duration) -> Init<Self> {
        let stream = stream.take().ok_or("the connection is gone")?;
        stream.notify_readable()?;
        Timer::after(idle, &Silence);
        Ok(Connection {
            stream,
            lines: Lines::of_at_most(LONGEST_LINE),
            outbox: Outbox::of_at_most(MOST_WAITING),
            device: None,
            wrong: 0,
            idle,
            heard: Instant::now(),
            span: span_of(None),
        })
    }

    /// Sends the device a line.
    #[cast]
    fn tell(&mut self, line: String) -> Next {
        self.say(&line.replace(['\r', '\n'], " ")).into()
    }

    /// Another connection is this device's now.
    #[cast]
    fn replaced(&mut self) -> Next {
        let _ = self.say("error another connection has said hello by this name");
        Next::stop()
    }

    /// Panics, to see what becomes of the others.
    #[cast]
    fn drill(&mut self) {
        panic!("this is a drill");
    }

    /// The device's name, once it has said it.
    #[call]
    fn device(&mut self) -> Option<String> {
        self.device.clone()
    }

    #[info]
    async fn readable(&mut self, _message: Readable) -> Next {
        match self.lines.fill(&self.stream) {
            Ok(Filled::Some(_)) => self.heard = Instant::now(),
            Ok(Filled::Nothing) => {}
            Ok(Filled::End) | Err(_) => return Next::stop(),
        }
        let span = self.span.clone();
        while let Some(line) = self.lines.next_line() {
            let after = match line.map_err(|_| "the line is too long").and_then(|line| read(&line)) {
                Ok(request) => {
                    let asks = Asks { device: self.device.clone() };
                    REQUEST.follow(|| asks, self.answer(request)).instrument(span.clone()).await
                }
                Err(why) => span.in_scope(|| self.refuse(why)),
            };
            if let After::Ends = after {
                return Next::stop();
            }
        }
        // One piece at a time: others get their turn before the next.
        if self.stream.notify_readable().is_err() { Next::stop() } else { Next::Wait }
    }

    #[info]
    fn writable(&mut self, _message: Writable) -> Next {
        if self.outbox.flush(&self.stream).is_err() { Next::stop() } else { Next::Wait }
    }

    /// A device whose line is cut says nothing of it: one that was not heard of for too long is taken for gone.
    #[info]
    fn silence(&mut self, _look: Silence) -> Next {
        let silent = self.heard.elapsed();
        if silent >= self.idle {
            info!(parent: &self.span, "nothing was heard for too long");
            return Next::stop();
        }
        Timer::after(self.idle - silent, &Silence);
        Next::Wait
    }
}

impl Connection {
    async fn answer(&mut self, request: Request) -> After {
        let hub = Server::<Hub>::named("hub");
        match request {
            Request::Hello(name) => match hub.join(name.clone(), Pid::own()).await {
                Ok(Ok(())) => {
                    self.span.record("device", &name);
                    info!("it says hello");
                    self.device = Some(name);
                    self.say("ok")
                }
                Ok(Err(why)) => self.say(&format!("error {why}")),
                Err(why) => self.say(&format!("error the hub is away: {why}")),
            },
            Request::Reading(key, value) => match &self.device {
                Some(device) => {
                    hub.measured(device.clone(), key, value);
                    self.say("ok")
                }
                None => self.refuse("say hello first"),
            },
            Request::Get(device, key) => match hub.value(device, key).await {
                Ok(Some(value)) => self.say(&value.to_string()),
                Ok(None) => self.say("none"),
                Err(why) => self.say(&format!("error the hub is away: {why}")),
            },
            Request::Devices => match hub.connected().await {
                Ok(devices) => self.say(&devices.join(" ")),
                Err(why) => self.say(&format!("error the hub is away: {why}")),
            },
            Request::Ping => self.say("pong"),
            Request::Quit => {
                let _ = self.say("bye");
                After::Ends
            }
        }
    }

    fn refuse(&mut self, why: &str) -> After {
        self.wrong += 1;
        warn!(wrong = self.wrong, why, "a line is refused");
        match self.say(&format!("error {why}")) {
            After::Goes if self.wrong < MOST_WRONG => After::Goes,
            _ => After::Ends,
        }
    }

    /// Ends with a device that does not read: what it would be told has no place any more.
    fn say(&mut self, line: &str) -> After {
        let put = self.outbox.put(line.as_bytes()).and_then(|()| self.outbox.put(b"\n"));
        if put.is_ok() && self.outbox.flush(&self.stream).is_ok() { After::Goes } else { After::Ends }
    }
}

impl From<After> for Next {
    fn from(after: After) -> Self {
        match after {
            After::Goes => Next::Wait,
            After::Ends => Next::stop(),
        }
    }
}
