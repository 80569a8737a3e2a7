//! Readiness of a socket: awaiting it, and the messages that report it.

use std::io;

use crate::atom;
use crate::data::{Any, Data, Malformed};
use crate::nif::{Atom, Env, Term};
use crate::process::turn::{Turn, try_turn, turn};
use crate::waiting::order::Wait;
use crate::waiting::poll::descriptor::{Again, Descriptor, Kind, Readiness};

/// Waits until the socket is ready. It is not said to be by a stale message: each wait has a reference of its own, and one that is
/// given up takes its message away.
pub(super) async fn ready(socket: &Descriptor, what: Readiness) -> io::Result<()> {
    let mut asked = turn(|env, _| {
        let reference = env.new_reference();
        let message = env.tuple(&[reference.raw(), atom!("ready").raw(env)]);
        socket.select(env, what, env.own_pid(), message)?;
        Ok::<_, io::Error>(Asked { socket, what, reference: Any::keep(reference), came: false })
    })?;
    let reference = asked.reference.clone();
    let ask = move |env: Env<'_>, turn: &Turn, number: u64| {
        turn.order(env, atom!("mailbox"), &[number.encode(env), reference.encode(env)]);
    };
    Wait::new(ask, |_| ()).await;
    asked.came = true;
    Ok(())
}

/// A wait that is not over.
struct Asked<'a> {
    socket: &'a Descriptor,
    what: Readiness,
    reference: Any,
    came: bool,
}

impl Drop for Asked<'_> {
    fn drop(&mut self) {
        if self.came {
            return;
        }
        try_turn(|env, turn| {
            self.socket.cancel(env, self.what);
            // It may have come already.
            turn.order(env, atom!("close"), &[self.reference.encode(env)]);
        });
    }
}

/// Has the VM send `{Tag, Number}` to this process when the socket is ready.
pub(super) fn notify(socket: &Descriptor, what: Readiness, number: u64) -> io::Result<()> {
    turn(|env, _| {
        let message = match what {
            Readiness::Read => Readable { socket: number }.encode(env),
            Readiness::Write => Writable { socket: number }.encode(env),
        };
        socket.select(env, what, env.own_pid(), message)
    })
}

/// `{Tag, Descriptor, Number}`, for another build.
pub(super) fn carry<'a>(tag: &Atom, socket: &Descriptor, number: u64, env: Env<'a>) -> Term<'a> {
    env.tuple(&[tag.raw(env), socket.carry(env).raw(), number.encode(env).raw()])
}

/// The socket that another build has, and its number, by which messages on their way name it.
pub(super) fn carried(tag: &Atom, term: Term<'_>) -> Result<(Descriptor, u64), Malformed> {
    let [_, socket, number] = term.tagged(tag).ok_or_else(|| Malformed::expected("a socket of another build"))?;
    let number = u64::decode(number)?;
    let socket = Descriptor::carried(socket, Kind::Socket, |env| Again::AsBefore {
        read: Readable { socket: number }.encode(env),
        write: Writable { socket: number }.encode(env),
    })?;
    Ok((socket, number))
}

macro_rules! message {
    ($(#[$about:meta])* $name:ident, $tag:literal, $expected:literal) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct $name {
            /// The number of the socket, which no other of this VM has: `TcpStream::number`. A message may be on its way when its
            /// socket is dropped.
            pub socket: u64,
        }

        impl Data for $name {
            fn encode<'a>(&self, env: Env<'a>) -> Term<'a> {
                env.tuple(&[atom!($tag).raw(env), self.socket.encode(env).raw()])
            }

            fn decode(term: Term<'_>) -> Result<Self, Malformed> {
                match term.tuple().and_then(|tuple| tuple.array()) {
                    Some([tag, socket]) if tag.is(atom!($tag)) => Ok(Self { socket: u64::decode(socket)? }),
                    _ => Err(Malformed::expected($expected)),
                }
            }

            fn erlang_type() -> String {
                concat!("{'", $tag, "', non_neg_integer()}").into()
            }
        }
    };
}

message! {
    /// There is something to read, or to accept, or the other side has ended: for an `#[info]`, once for each `notify_readable`.
    Readable, "$otp_readable", "a socket that can be read"
}

message! {
    /// There is room to write, or the other side has ended: for an `#[info]`, once for each `notify_writable`.
    Writable, "$otp_writable", "a socket that can be written to"
}
