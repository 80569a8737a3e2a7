//! Time: waiting for a while, limits, and messages that come later.

use std::fmt;
use std::future::Future;
use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::Duration;

use crate::address::Pid;
use crate::atom;
use crate::data::Data;
use crate::reason::milliseconds;
use crate::vm::turn;
use crate::waiting::{Wait, number};

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
