//! Timers: sleeping, limits on a wait, and messages that come later.

use std::fmt;
use std::future::Future;
use std::io;
use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::Duration;

use crate::atom;
use crate::data::{Any, Carry, Data, Malformed};
use crate::nif::{Env, Term};
use crate::process::address::Pid;
use crate::process::number::number;
use crate::process::reason::milliseconds;
use crate::process::turn::{Turn, turn};
use crate::waiting::order::Wait;
use crate::waiting::poll::descriptor::Again;
use crate::waiting::poll::overdue::Message;
use crate::waiting::poll::timer_fd::TimerFd;

/// Waits for a while, in whole milliseconds, at least as long as said.
pub fn sleep(time: Duration) -> Sleep {
    Sleep(Wait::new(
        move |env, turn, number| {
            turn.order(env, atom!("timer"), &[number.encode(env), milliseconds(time).encode(env)]);
        },
        |_| (),
    ))
}

/// A while that is waited for.
#[derive(Debug)]
#[must_use = "nobody waits until it is awaited"]
pub struct Sleep(Wait<()>);

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut std::task::Context<'_>) -> Poll<()> {
        Pin::new(&mut self.0).poll(context)
    }
}

/// The time was over first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Elapsed(pub Duration);

impl fmt::Display for Elapsed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "it did not end within {:?}", self.0)
    }
}

impl std::error::Error for Elapsed {}

/// Waits for `future` no longer than `limit`. What it waited for is given up then: an answer that comes later is dropped.
///
/// # Errors
/// When the time was over first.
pub async fn within<F: Future>(limit: Duration, future: F) -> Result<F::Output, Elapsed> {
    let (mut future, mut over) = (pin!(future), sleep(limit));
    std::future::poll_fn(|context| {
        if let Poll::Ready(value) = future.as_mut().poll(context) {
            return Poll::Ready(Ok(value));
        }
        Pin::new(&mut over).poll(context).map(|()| Err(Elapsed(limit)))
    })
    .await
}

/// A message that is to come.
#[derive(Clone, Debug, PartialEq)]
pub struct Timer(u64);

impl Timer {
    /// Sends this process `message` after `time`, to its `#[info]`.
    pub fn after<T: Data>(time: Duration, message: &T) -> Self {
        Self(ordered(&Pid::own(), time, message))
    }

    /// No such message comes after this, if it has not come before.
    pub fn cancel(self) {
        turn(|env, turn| turn.order(env, atom!("cancel_timer"), &[self.0.encode(env)]));
    }
}

/// Its message comes in the next build.
impl Carry for Timer {
    fn carry<'a>(&self, env: Env<'a>) -> Term<'a> {
        env.tuple(&[atom!("$otp_timer").raw(env), self.0.encode(env).raw()])
    }

    fn carried(term: Term<'_>) -> Result<Self, Malformed> {
        let [_, number] = term.tagged(atom!("$otp_timer")).ok_or_else(|| Malformed::expected("a timer"))?;
        u64::decode(number).map(Self)
    }
}

/// Sends `to` a message after `time`, and that cannot be taken back.
pub fn send_after<T: Data>(to: &Pid, time: Duration, message: &T) {
    ordered(to, time, message);
}

fn ordered<T: Data>(to: &Pid, time: Duration, message: &T) -> u64 {
    let number = number();
    turn(|env, turn| {
        let parts = [number.encode(env), milliseconds(time).encode(env), to.encode(env), message.encode(env)];
        turn.order(env, atom!("send_after"), &parts);
    });
    number
}

/// Sends this process a [`Tick`] every period, as precisely as the kernel's timers are: the VM's own poll set waits for them. It
/// does not drift: each tick is due a whole number of periods after the start, however late those before were taken. Over when
/// it is dropped.
#[derive(Debug)]
pub struct Ticker {
    alarm: TimerFd,
}

impl Ticker {
    /// One whose first tick comes after one period.
    ///
    /// # Errors
    /// When the kernel has no timer left for the VM.
    pub fn every(period: Duration) -> io::Result<Self> {
        let alarm = TimerFd::every(period)?;
        turn(|env, _| alarm.select(env, Message::Tick))?;
        Ok(Self { alarm })
    }
}

/// It goes on in its rhythm, and no period is lost.
impl Carry for Ticker {
    fn carry<'a>(&self, env: Env<'a>) -> Term<'a> {
        self.alarm.carry(atom!("$otp_ticker"), env)
    }

    fn carried(term: Term<'_>) -> Result<Self, Malformed> {
        Ok(Self { alarm: TimerFd::carried(atom!("$otp_ticker"), term, |_| Again::Tick)? })
    }
}

/// A period of a [`Ticker`] is over: for an `#[info]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tick {
    /// How many periods are over since the last tick: more than one where the process was late by that many.
    pub periods: u64,
}

impl Data for Tick {
    fn encode<'a>(&self, env: Env<'a>) -> Term<'a> {
        env.tuple(&[atom!("$otp_tick").raw(env), self.periods.encode(env).raw()])
    }

    fn decode(term: Term<'_>) -> Result<Self, Malformed> {
        match term.tuple().and_then(|tuple| tuple.array()) {
            Some([tag, periods]) if tag.is(atom!("$otp_tick")) => Ok(Self { periods: u64::decode(periods)? }),
            _ => Err(Malformed::expected("a tick")),
        }
    }

    fn erlang_type() -> String {
        "{'$otp_tick', non_neg_integer()}".into()
    }
}

/// Periods that a callback waits for, as precisely as a [`Ticker`]'s.
#[derive(Debug)]
pub struct Interval {
    alarm: TimerFd,
}

/// It goes on in its rhythm, and no period is lost.
impl Carry for Interval {
    fn carry<'a>(&self, env: Env<'a>) -> Term<'a> {
        self.alarm.carry(atom!("$otp_interval"), env)
    }

    fn carried(term: Term<'_>) -> Result<Self, Malformed> {
        Ok(Self { alarm: TimerFd::carried(atom!("$otp_interval"), term, |_| Again::Never)? })
    }
}

impl Interval {
    /// One that begins now.
    ///
    /// # Errors
    /// When the kernel has no timer left for the VM.
    pub fn every(period: Duration) -> io::Result<Self> {
        Ok(Self { alarm: TimerFd::every(period)? })
    }

    /// Waits for the end of the period; how many are over since this was last waited for.
    pub async fn tick(&mut self) -> u64 {
        loop {
            // As a message to a mailbox is: under a reference of its own.
            let message = Message::Awaited(number());
            turn(|env, _| self.alarm.select(env, message)).expect("the VM's poll set takes a timer");
            let timer = turn(|env, _| Any::keep(self.alarm.term(env)));
            let ask = move |env: Env<'_>, turn: &Turn, number: u64| {
                turn.order(env, atom!("mailbox"), &[number.encode(env), timer.encode(env)]);
            };
            Wait::new(ask, |_| ()).await;
            // The message may have come a second time.
            match self.alarm.count() {
                0 => {}
                periods => return periods,
            }
        }
    }
}
