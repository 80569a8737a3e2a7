//! Statics whose values go from build to build.
//!
//! A hot upgrade loads another library, whose statics begin anew; those of the build before stay, for threads of the user's that
//! go on in it. A static that [`kept!`](crate::kept) makes begins with the value that the static of its name has in the build before. The
//! value is read while all processes of the application are suspended, and before any `#[upgrade]` runs. It goes over as its [`Data`]; a
//! value that the new static does not take refuses the upgrade, like a state.
//!
//! ```
//! otp::kept! {
//!     /// How many there were since the start of the application, whatever the build.
//!     pub static VISITS: u64 = 0;
//! }
//!
//! assert_eq!(VISITS.with(|visits| { *visits += 1; *visits }), 1);
//! ```
//!
//! What is no [`Data`] is made anew: a static of the standard library does that. What has a thread behind it, say a client of a
//! third party, is better in the state of a process, which says what becomes of it.

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::data::{Data, Malformed};
use crate::nif::{Env, Term};

/// A value that goes from build to build; [`kept!`](crate::kept) makes one.
pub struct Kept<T> {
    name: &'static str,
    init: fn() -> T,
    /// None until it is used, or handed over.
    value: Mutex<Option<T>>,
}

impl<T> fmt::Debug for Kept<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kept").field("name", &self.name).finish_non_exhaustive()
    }
}

impl<T> Kept<T> {
    #[doc(hidden)]
    pub const fn new(name: &'static str, init: fn() -> T) -> Self {
        Self { name, init, value: Mutex::new(None) }
    }

    /// Lets `body` have the value, and nobody else meanwhile. Where `body` panics the value is as it has left it.
    pub fn with<R>(&self, body: impl FnOnce(&mut T) -> R) -> R {
        body(self.locked().get_or_insert_with(self.init))
    }

    /// A copy of the value.
    pub fn get(&self) -> T
    where
        T: Clone,
    {
        self.with(|value| value.clone())
    }

    /// Puts another value in its place, and gives the one before.
    pub fn replace(&self, value: T) -> T {
        self.with(|now| std::mem::replace(now, value))
    }

    fn locked(&self) -> MutexGuard<'_, Option<T>> {
        self.value.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A [`Kept`] of whatever type, as upgrades see it.
trait Handed: Sync {
    fn name(&self) -> &'static str;

    /// The value's form; `None` when nobody has used it.
    fn give<'a>(&self, env: Env<'a>) -> Option<Term<'a>>;

    /// # Errors
    /// When it is of another form; then the value is as before.
    fn take(&self, value: Option<Term<'_>>) -> Result<(), Malformed>;
}

impl<T: Data + Send> Handed for Kept<T> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn give<'a>(&self, env: Env<'a>) -> Option<Term<'a>> {
        self.locked().as_ref().map(|value| value.encode(env))
    }

    fn take(&self, value: Option<Term<'_>>) -> Result<(), Malformed> {
        let value = value.map(T::decode).transpose()?;
        *self.locked() = value;
        Ok(())
    }
}

/// An entry of the table of all of them; `kept!` makes it.
#[doc(hidden)]
#[expect(missing_debug_implementations, reason = "only this file looks into it")]
pub struct Entry(&'static dyn Handed);

impl Entry {
    pub const fn new<T: Data + Send>(kept: &'static Kept<T>) -> Self {
        Self(kept)
    }
}

inventory::collect!(Entry);

fn all() -> impl Iterator<Item = &'static dyn Handed> {
    inventory::iter::<Entry>().map(|entry| entry.0)
}

/// `[{Name, Value}]` of all that were used.
pub(crate) fn give(env: Env<'_>) -> Term<'_> {
    let given = all().filter_map(|kept| Some((kept.name().to_owned(), kept.give(env)?)));
    let given = given.map(|(name, value)| env.tuple(&[name.encode(env).raw(), value.raw()]).raw());
    env.list(&given.collect::<Vec<_>>())
}

/// Takes `[{Name, Value}]` of another build, where what is not named begins anew: `{ok, Taken, Names}` with how many were taken and the names
/// that there is no static of, or `{error, Why}`.
pub(crate) fn take<'a>(env: Env<'a>, given: Term<'a>) -> Option<Term<'a>> {
    let (mut values, mut rest) = (Vec::new(), given);
    while let Some((one, others)) = rest.cell() {
        let [name, value] = one.tuple()?.array()?;
        values.push((String::decode(name).ok()?, value));
        rest = others;
    }
    let mut taken: u64 = 0;
    for kept in all() {
        let place = values.iter().position(|(name, _)| name == kept.name());
        let value = place.map(|place| values.swap_remove(place).1);
        taken += u64::from(value.is_some());
        if let Err(wrong) = kept.take(value) {
            let why = format!("the static {} cannot go over: {wrong}", kept.name());
            return Some(env.tuple(&[crate::atom!("error").raw(env), why.encode(env).raw()]));
        }
    }
    let names: Vec<String> = values.into_iter().map(|(name, _)| name).collect();
    Some(env.tuple(&[crate::atom!("ok").raw(env), taken.encode(env).raw(), names.encode(env).raw()]))
}
