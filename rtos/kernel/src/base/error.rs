//! The ITRON error codes.
//!
//! A service gives `Result<T, Error>`. `Error` is never zero, so that a `Result<(), Error>` is one register, and that
//! register is what C calls `ER`: zero is E_OK.

use core::fmt;
use core::num::NonZeroI32;

/// Why a service did nothing. The codes are those of the ITRON specification, generation 3.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct Error(NonZeroI32);

macro_rules! codes {
    ($($name:ident = $code:literal, $itron:literal, $means:literal;)*) => {
        impl Error {
            $(
                #[doc = concat!($itron, ": ", $means, ".")]
                pub const $name: Error = Error(NonZeroI32::new($code).unwrap());
            )*

            /// The name of the code in the ITRON specification, and what it means.
            fn words(self) -> (&'static str, &'static str) {
                match self.0.get() {
                    $($code => ($itron, $means),)*
                    _ => ("an error", "not a code of the specification"),
                }
            }
        }
    };
}

codes! {
    SYS = -5, "E_SYS", "an internal error";
    NOSPT = -9, "E_NOSPT", "not supported here";
    RSFN = -10, "E_RSFN", "no such function";
    RSATR = -11, "E_RSATR", "no such attribute";
    PAR = -17, "E_PAR", "a value out of its range";
    ID = -18, "E_ID", "no object has this number";
    CTX = -25, "E_CTX", "not from this context";
    MACV = -26, "E_MACV", "no right to this memory";
    OACV = -27, "E_OACV", "no right to this object from here";
    ILUSE = -28, "E_ILUSE", "not to be used so";
    NOMEM = -33, "E_NOMEM", "no memory";
    NOID = -34, "E_NOID", "no number left";
    NORES = -35, "E_NORES", "no resource left";
    OBJ = -41, "E_OBJ", "not in this state of the object";
    NOEXS = -42, "E_NOEXS", "no such object yet";
    QOVR = -43, "E_QOVR", "queued already";
    RLWAI = -49, "E_RLWAI", "released from waiting by force";
    TMOUT = -50, "E_TMOUT", "not in time";
    DLT = -51, "E_DLT", "what was waited for was initialised";
    CLS = -52, "E_CLS", "what was waited for was closed";
    RASTER = -53, "E_RASTER", "the task is requested to terminate";
    WBLK = -57, "E_WBLK", "will wait";
    BOVR = -58, "E_BOVR", "the buffer overflowed";
    COMM = -65, "E_COMM", "an error of communication";
}

impl Error {
    /// The code as C has it: a negative number.
    pub const fn code(self) -> i32 {
        self.0.get()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, means) = self.words();
        write!(out, "{name} ({}): {means}", self.0)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.words().0)
    }
}

impl core::error::Error for Error {}

/// What a service gives as C has it.
pub fn code(result: Result<(), Error>) -> i32 {
    match result {
        Ok(()) => 0,
        Err(error) => error.code(),
    }
}
