//! Asking a library for its Erlang half: the library is loaded, and the function that `otp::application!` has put there is
//! called.

use std::path::Path;

use anyhow::{Context, Error, Result, bail};
use otp::ask::{self, Asked};
use otp::generate::Source;

/// All files of the Erlang half of `library`, whose native module will be called `native`.
pub(crate) fn sources(library: &Path, native: &str) -> Result<Vec<Source>> {
    // SAFETY: the library was just compiled from the user's own sources; loading it runs what those run at the start of any
    // program of theirs. It stays loaded until all that was copied out of it is copied.
    let loaded =
        unsafe { libloading::Library::new(library) }.with_context(|| format!("cannot load {}", library.display()))?;
    // SAFETY: `application!` gives the function of this name this type.
    let asked = unsafe { loaded.get::<Asked>(b"otp_sources\0") };
    let Ok(asked) = asked else {
        bail!(
            "this library is no application: write `otp::application!(root);` into its lib.rs, where root is the function of \
               its supervisor"
        )
    };
    // SAFETY: as above.
    unsafe { ask::sources(*asked, native) }.map_err(Error::msg)
}
