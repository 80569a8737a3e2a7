//! Timeouts: how long a service may wait.

use crate::base::error::Error;
use crate::base::heap::LONGEST;

/// How long a service may wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Timeout(u32);

impl Timeout {
    /// Until it is woken: TMO_FEVR.
    pub const FOREVER: Timeout = Timeout(u32::MAX);
    /// Not at all: TMO_POL.
    pub const POLL: Timeout = Timeout(0);

    /// That many microseconds; E_PAR above [`LONGEST`].
    pub const fn micros(micros: u32) -> Result<Timeout, Error> {
        if micros <= LONGEST { Ok(Timeout(micros)) } else { Err(Error::PAR) }
    }

    /// That many milliseconds. Does not compile as a constant above an hour and six minutes.
    pub const fn millis(millis: u32) -> Timeout {
        assert!(millis <= LONGEST / 1000, "longer than a service can wait");
        Timeout(millis * 1000)
    }

    /// A C value of type TMO; E_PAR if it is neither a time nor TMO_FEVR nor TMO_POL.
    pub const fn from_tmo(tmo: u32) -> Result<Timeout, Error> {
        if tmo == u32::MAX { Ok(Timeout::FOREVER) } else { Timeout::micros(tmo) }
    }

    #[inline(always)]
    pub(crate) const fn is_poll(self) -> bool {
        self.0 == 0
    }

    /// After how many microseconds the wait ends, if it does.
    #[inline(always)]
    pub(crate) const fn deadline(self) -> Option<u32> {
        if self.0 == u32::MAX { None } else { Some(self.0) }
    }
}
