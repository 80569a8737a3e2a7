//! Models: one processor ([`Uni`]) or several ([`Multi`]).
//!
//! The kernel is written once. What only several processors need is an [`Only`] in the types: under [`Multi`] it holds
//! a value, under [`Uni`] it has no size and no value, and the compiler removes every use. The other differences
//! between the two are constants of [`Model`]; there is no conditional compilation.

/// A model of the machine that a kernel is built for.
pub trait Model: Sized + 'static {
    /// How many processors the kernel runs on.
    const PROCESSORS: usize;
    /// Whether the giant lock is really taken. Only a measurement switches it off, on a single processor.
    const LOCKS: bool;
    /// Whether a processor asks the hardware which one it is. Only a measurement switches it off, on a single
    /// processor.
    const IDENTITY: bool;
    /// `T` where there is machinery for several processors, nothing where there is not.
    type Only<T: Initial + 'static>: Only<T>;
}

/// Whether something is there, which the type knows.
pub trait Presence: 'static {
    /// Whether it is.
    const IS: bool;
    /// `T` if it is, nothing if not.
    type Only<T: Initial + 'static>: Only<T>;
}

/// It is there.
pub struct With;

/// It is not.
pub struct Without;

impl Presence for With {
    const IS: bool = true;
    type Only<T: Initial + 'static> = Present<T>;
}

impl Presence for Without {
    const IS: bool = false;
    type Only<T: Initial + 'static> = Absent;
}

/// What there is from the start.
pub trait Initial {
    /// The value before the kernel starts.
    const INITIAL: Self;
}

/// Something that is there or is not, which the type knows.
pub trait Only<T>: Sync {
    /// The value before the kernel starts.
    const INITIAL: Self;
    /// What is there.
    fn get(&self) -> Option<&T>;
}

/// One processor. Nothing of the machinery for several is left.
pub struct Uni;

/// `N` processors.
///
/// `LOCKS` and `IDENTITY` can be switched off to measure what they cost, when only one of the processors is started.
pub struct Multi<const N: usize, const LOCKS: bool = true, const IDENTITY: bool = true>;

impl Model for Uni {
    const PROCESSORS: usize = 1;
    const LOCKS: bool = false;
    const IDENTITY: bool = false;
    type Only<T: Initial + 'static> = Absent;
}

impl<const N: usize, const LOCKS: bool, const IDENTITY: bool> Model for Multi<N, LOCKS, IDENTITY> {
    const PROCESSORS: usize = N;
    const LOCKS: bool = LOCKS;
    const IDENTITY: bool = IDENTITY;
    type Only<T: Initial + 'static> = Present<T>;
}

/// Nothing.
pub struct Absent;

impl<T> Only<T> for Absent {
    const INITIAL: Self = Absent;

    #[inline(always)]
    fn get(&self) -> Option<&T> {
        None
    }
}

/// The thing itself.
pub struct Present<T>(T);

// SAFETY: what the kernel keeps so is made of its cells and locks, whose accesses are ordered by the locks.
unsafe impl<T> Sync for Present<T> {}

impl<T: Initial> Only<T> for Present<T> {
    const INITIAL: Self = Present(T::INITIAL);

    #[inline(always)]
    fn get(&self) -> Option<&T> {
        Some(&self.0)
    }
}
