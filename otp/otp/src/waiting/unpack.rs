//! Messages of timers, tickers and monitors, unpacked into what the receiver's `#[info]` takes.

use crate::atom;
use crate::data::Data;
use crate::nif::{Env, Term};
use crate::process::turn::Turn;
use crate::waiting::poll::timer_fd::went_off;

/// A message as its receiver is to see it. That of a timer is unpacked; of it, and of the end of a watched process, the Erlang
/// half is told that it has come. That of a ticker says how often it has gone off, and the next one is asked for.
pub(crate) fn unpack<'a>(turn: &Turn, env: Env<'a>, message: Term<'a>) -> Term<'a> {
    let Some(tuple) = message.tuple() else { return message };
    if let Some([tag, timer]) = tuple.array()
        && tag.is(atom!("$otp_tick"))
    {
        return match went_off(env, timer, message) {
            // It is over, or the message has come twice.
            None | Some(0) => atom!("$otp_wake").term(env),
            Some(count) => env.tuple(&[tag.raw(), count.encode(env).raw()]),
        };
    }
    if let Some([tag, number, content]) = tuple.array()
        && tag.is(atom!("$otp_timer"))
    {
        turn.order(env, atom!("forget"), &[number]);
        return content;
    }
    if let Some([tag, _, _, _, _]) = tuple.array()
        && let Some([down, number]) = tag.tuple().and_then(|tag| tag.array())
        && down.is(atom!("DOWN"))
    {
        turn.order(env, atom!("forget"), &[number]);
    }
    message
}
