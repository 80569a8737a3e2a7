//! Mailboxes: messages of a type of one's own within a callback, and the address that they are sent to.

use std::fmt;
use std::marker::PhantomData;

use crate::atom;
use crate::data::{Any, Carry, Data, Malformed};
use crate::nif::{Env, Term};
use crate::process::send::post;
use crate::process::turn::try_turn;
use crate::waiting::erlang::{Raised, apply};
use crate::waiting::order::Wait;

/// Where messages of the type `T` come in while a callback waits for them. They are received past whatever else lies in the
/// queue of the process. It is for one callback: what comes after it was dropped is dropped too.
#[derive(Debug)]
pub struct Mailbox<T> {
    address: Address<T>,
}

impl<T: Data + Send + 'static> Mailbox<T> {
    /// A new one.
    ///
    /// # Errors
    /// None that is known: whatever the VM says to `erlang:alias/0`.
    pub async fn new() -> Result<Self, Raised> {
        Ok(Self { address: Address { alias: apply("erlang", "alias", ()).await?, _message: PhantomData } })
    }

    /// Where to send to. From Erlang: `Address ! {Address, Message}`.
    pub fn address(&self) -> Address<T> {
        self.address.clone()
    }

    /// The next message.
    ///
    /// # Errors
    /// When what came is of another type.
    pub async fn receive(&mut self) -> Result<T, Malformed> {
        let alias = self.address.alias.clone();
        let wait = Wait::new(
            move |env, turn, number| turn.order(env, atom!("mailbox"), &[number.encode(env), alias.encode(env)]),
            |event| event.tuple().ok_or_else(|| Malformed::expected("a message"))?.element(1),
        );
        wait.await
    }
}

impl<T> Drop for Mailbox<T> {
    fn drop(&mut self) {
        try_turn(|env, turn| turn.order(env, atom!("close"), &[self.address.alias.encode(env)]));
    }
}

/// Where a [`Mailbox`] is reached, from any process of any node.
pub struct Address<T> {
    alias: Any,
    _message: PhantomData<fn(T)>,
}

impl<T> Clone for Address<T> {
    fn clone(&self) -> Self {
        Self { alias: self.alias.clone(), _message: PhantomData }
    }
}

impl<T> fmt::Debug for Address<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Address").field(&self.alias).finish()
    }
}

impl<T: Data> Address<T> {
    /// Sends `message`, from a process or from any thread; to nobody when the mailbox is gone.
    pub fn send(&self, message: &T) {
        post(|env| {
            let alias = self.alias.encode(env);
            [alias, env.tuple(&[alias.raw(), message.encode(env).raw()])]
        });
    }
}

impl<T> Carry for Address<T> {
    fn carry<'a>(&self, env: Env<'a>) -> Term<'a> {
        self.encode(env)
    }

    fn carried(term: Term<'_>) -> Result<Self, Malformed> {
        Self::decode(term)
    }
}

impl<T> Data for Address<T> {
    fn encode<'a>(&self, env: Env<'a>) -> Term<'a> {
        self.alias.encode(env)
    }

    fn decode(term: Term<'_>) -> Result<Self, Malformed> {
        if !term.is_reference() {
            return Err(Malformed::expected("the address of a mailbox"));
        }
        Ok(Self { alias: Any::keep(term), _message: PhantomData })
    }

    fn erlang_type() -> String {
        "reference()".into()
    }
}
