//! Contexts: from where a service is called (a task or a handler), and on which processor, as far as the types know.
//!
//! A task or a handler is given a context, a value of no size, and passes it to every service. Checks whose result the
//! type of the context implies are not compiled in. Code that does not know its context, such as a C function, passes
//! [`Anywhere`], and the service checks.

use core::marker::PhantomData;

/// Where an object or a piece of code lives, as far as it is known when the program is compiled.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Known {
    /// Used by every processor.
    Shared,
    /// Used by one processor only.
    Pinned(usize),
    /// The program will see.
    Later,
}

/// Who may use an object: every processor, or one.
///
/// An object of one processor costs no lock between processors, and no question which processor this is.
pub trait Domain: Copy + 'static {
    /// What is known of it.
    const KNOWN: Known;
    /// The processor, if it is one.
    fn place(self) -> Option<usize>;
    /// The same as a value; only [`Placed`] has something to say.
    const SELF: Self;
}

/// Used by every processor.
#[derive(Clone, Copy)]
pub struct Shared;

/// Used only by processor `P`, counted from 0.
#[derive(Clone, Copy)]
pub struct Pinned<const P: usize>;

/// One of the two, by number: what the C interface has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Placed(pub Option<u8>);

impl Placed {
    /// The domain of what is pinned to that processor, or of what is shared.
    pub(crate) fn place(pinned: Option<usize>) -> Self {
        Placed(pinned.map(|place| place as u8))
    }

    /// What the types know, as a number.
    pub const fn of<D: Domain>() -> Self {
        match D::KNOWN {
            Known::Pinned(place) => Placed(Some(place as u8)),
            _ => Placed(None),
        }
    }
}

impl Domain for Shared {
    const KNOWN: Known = Known::Shared;
    const SELF: Self = Shared;

    #[inline(always)]
    fn place(self) -> Option<usize> {
        None
    }
}

impl<const P: usize> Domain for Pinned<P> {
    const KNOWN: Known = Known::Pinned(P);
    const SELF: Self = Pinned;

    #[inline(always)]
    fn place(self) -> Option<usize> {
        Some(P)
    }
}

impl Domain for Placed {
    const KNOWN: Known = Known::Later;
    const SELF: Self = Placed(None);

    #[inline(always)]
    fn place(self) -> Option<usize> {
        self.0.map(usize::from)
    }
}

/// What kind of code calls.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A task.
    Task,
    /// An interrupt service, the handler of a notification or of an exception.
    Handler,
    /// The service will see.
    Unknown,
}

/// What a service asks of the context that it is called in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Needs {
    /// Nothing: dis_int, unl_spn.
    Nothing,
    /// That the processor is not locked: sig_sem.
    Unlocked,
    /// That besides it is a task that calls: pol_sem.
    Task,
    /// That besides this task may give way: wai_sem.
    Dispatching,
}

/// From where a service is called.
pub trait Context: Copy {
    /// By what.
    const KIND: Kind;
    /// On which processor.
    const PLACE: Known;
    /// What the calling task belongs to, as far as the types know.
    type Domain: Domain;
    /// What the calling task belongs to. `of_running` looks at the task that runs, where the types do not know.
    fn domain(self, of_running: fn() -> Placed) -> Self::Domain;
}

/// The code of a task; `D` is the task's.
#[derive(Clone, Copy)]
pub struct InTask<D>(PhantomData<(D, *mut ())>);

/// The code of a handler; `D` says for which processor it was written.
#[derive(Clone, Copy)]
pub struct InHandler<D>(PhantomData<(D, *mut ())>);

/// Code that does not know from where it is called.
#[derive(Clone, Copy)]
pub struct Anywhere;

impl<D> InTask<D> {
    /// # Safety
    /// The code that uses it is that of a task of this domain.
    pub const unsafe fn assume() -> Self {
        InTask(PhantomData)
    }
}

impl<D> InHandler<D> {
    /// # Safety
    /// The code that uses it is that of a handler that runs only where the domain says.
    pub const unsafe fn assume() -> Self {
        InHandler(PhantomData)
    }
}

impl<D: Domain> Context for InTask<D> {
    const KIND: Kind = Kind::Task;
    const PLACE: Known = D::KNOWN;
    type Domain = D;

    #[inline(always)]
    fn domain(self, _: fn() -> Placed) -> D {
        D::SELF
    }
}

impl<D: Domain> Context for InHandler<D> {
    const KIND: Kind = Kind::Handler;
    const PLACE: Known = D::KNOWN;
    type Domain = D;

    #[inline(always)]
    fn domain(self, _: fn() -> Placed) -> D {
        D::SELF
    }
}

impl Context for Anywhere {
    const KIND: Kind = Kind::Unknown;
    const PLACE: Known = Known::Later;
    type Domain = Placed;

    #[inline(always)]
    fn domain(self, of_running: fn() -> Placed) -> Placed {
        of_running()
    }
}
