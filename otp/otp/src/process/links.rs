//! Monitors, links, exit signals and registered names.

use crate::atom;
use crate::data::{Carry, Data, Malformed};
use crate::nif::{Env, Term};
use crate::process::address::{Pid, To};
use crate::process::number::number;
use crate::process::reason::Reason;
use crate::process::turn::turn;

/// A watch over a process: its end comes as a [`Down`] to an `#[info]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Monitor(u64);

impl Monitor {
    /// Watches `process`, which is a [`Pid`], a [`Server`](crate::Server) or anything else that stands for a process. When it is
    /// not there, that is told at once.
    pub fn of(process: &impl Data) -> Self {
        let number = number();
        turn(|env, turn| turn.order(env, atom!("monitor"), &[number.encode(env), process.encode(env)]));
        Self(number)
    }

    /// Watches no longer; no [`Down`] of it comes after this.
    pub fn cancel(self) {
        turn(|env, turn| turn.order(env, atom!("demonitor"), &[self.0.encode(env)]));
    }
}

/// What it watches is watched in the next build too.
impl Carry for Monitor {
    fn carry<'a>(&self, env: Env<'a>) -> Term<'a> {
        env.tuple(&[atom!("$otp_monitor").raw(env), self.0.encode(env).raw()])
    }

    fn carried(term: Term<'_>) -> Result<Self, Malformed> {
        let [_, number] = term.tagged(atom!("$otp_monitor")).ok_or_else(|| Malformed::expected("a monitor"))?;
        u64::decode(number).map(Self)
    }
}

crate::carry_as_data!(Down, Exit);

/// A process that was watched has ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Down {
    /// The watch; `None` for one that was set by other means.
    pub monitor: Option<Monitor>,
    /// The process, or its name where it was watched by that: it is equal to the `Pid` that was watched.
    pub process: Pid,
    pub reason: Reason,
}

impl Data for Down {
    fn encode<'a>(&self, env: Env<'a>) -> Term<'a> {
        let (process, reason) = (self.process.encode(env), self.reason.encode(env));
        let down = atom!("DOWN").raw(env);
        let tag = self.monitor.as_ref().map_or(down, |monitor| env.tuple(&[down, monitor.0.encode(env).raw()]).raw());
        env.tuple(&[tag, env.new_reference().raw(), atom!("process").raw(env), process.raw(), reason.raw()])
    }

    /// `{'DOWN', Ref, process, Process, Reason}`, or with `{'DOWN', Number}` as its tag.
    fn decode(term: Term<'_>) -> Result<Self, Malformed> {
        let malformed = || Malformed::expected("the end of a watched process");
        let [tag, _, kind, process, reason] = term.tuple().and_then(|tuple| tuple.array()).ok_or_else(malformed)?;
        let monitor = match tag.tuple().and_then(|tag| tag.array()) {
            Some([tag, number]) if tag.is(atom!("DOWN")) => Some(Monitor(u64::decode(number)?)),
            None if tag.is(atom!("DOWN")) => None,
            _ => return Err(malformed()),
        };
        if !kind.is(atom!("process")) {
            return Err(malformed());
        }
        Ok(Self { monitor, process: Pid(To::decode(process)?), reason: Reason::decode(reason)? })
    }

    fn erlang_type() -> String {
        "{'DOWN' | {'DOWN', non_neg_integer()}, reference(), process, pid() | {atom(), node()}, term()}".into()
    }
}

/// A linked process has ended. Who has an `#[info]` for this is told, and goes on.
#[derive(Clone, Debug, PartialEq)]
pub struct Exit {
    pub process: Pid,
    pub reason: Reason,
}

/// `{'EXIT', Pid, Reason}`.
impl Data for Exit {
    fn encode<'a>(&self, env: Env<'a>) -> Term<'a> {
        let (process, reason) = (self.process.encode(env), self.reason.encode(env));
        env.tuple(&[atom!("EXIT").raw(env), process.raw(), reason.raw()])
    }

    fn decode(term: Term<'_>) -> Result<Self, Malformed> {
        match term.tuple().and_then(|tuple| tuple.array()) {
            Some([tag, process, reason]) if tag.is(atom!("EXIT")) => {
                Ok(Self { process: Pid::decode(process)?, reason: Reason::decode(reason)? })
            }
            _ => Err(Malformed::expected("the end of a linked process")),
        }
    }

    fn erlang_type() -> String {
        "{'EXIT', pid(), term()}".into()
    }
}

/// Links this process with another: the end of one that is not normal ends the other too.
pub fn link(process: &Pid) {
    order("link", &[process]);
}

/// Takes a link away.
pub fn unlink(process: &Pid) {
    order("unlink", &[process]);
}

/// Ends another process with this reason, as a link would: one that traps exits is told instead.
pub fn exit(process: &Pid, reason: &Reason) {
    turn(|env, turn| {
        let arguments = env.list(&[process.encode(env).raw(), reason.encode(env).raw()]);
        turn.order(env, atom!("do"), &[atom!("exit").term(env), arguments]);
    });
}

/// Ends another process whatever it does.
pub fn kill(process: &Pid) {
    turn(|env, turn| {
        let arguments = env.list(&[process.encode(env).raw(), atom!("kill").raw(env)]);
        turn.order(env, atom!("do"), &[atom!("exit").term(env), arguments]);
    });
}

/// Gives this process a name on its node. It ends with a `badarg` when the name is taken.
pub fn register(name: &str) {
    turn(|env, turn| {
        let arguments = env.list(&[env.atom(name).raw(), Pid::own().encode(env).raw()]);
        turn.order(env, atom!("do"), &[atom!("register").term(env), arguments]);
    });
}

/// Orders a function of the module erlang, of processes.
fn order(function: &str, processes: &[&Pid]) {
    turn(|env, turn| {
        let arguments: Vec<_> = processes.iter().map(|process| process.encode(env).raw()).collect();
        turn.order(env, atom!("do"), &[env.atom(function), env.list(&arguments)]);
    });
}
