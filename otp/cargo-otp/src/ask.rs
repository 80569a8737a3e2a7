//! Asks a library for its Erlang half, by loading it and calling what `otp::application!` put there.

use std::ffi::c_void;
use std::path::Path;
use std::slice;

use anyhow::{Context, Result, bail};
use otp::ask::{FORM, Request};
use otp::generate::Source;

/// All files of the Erlang half of `library`, whose native module will be called `native`.
pub(crate) fn sources(library: &Path, native: &str) -> Result<Vec<Source>> {
    // SAFETY: the library was just compiled from the user's own sources; loading it runs what those run at the start of any
    // program of theirs. It stays loaded until all that was copied out of it is copied.
    let loaded =
        unsafe { libloading::Library::new(library) }.with_context(|| format!("cannot load {}", library.display()))?;
    // SAFETY: `application!` gives the function of this name this type.
    let asked = unsafe { loaded.get::<unsafe extern "C" fn(*mut Request)>(b"otp_sources\0") };
    let Ok(asked) = asked else {
        bail!(
            "this library is no application: write `otp::application!(root);` into its lib.rs, where root is the function of \
               its supervisor"
        )
    };
    let mut sources: Vec<Source> = Vec::new();
    let mut request = Request {
        form: FORM,
        native: native.as_ptr(),
        native_length: native.len(),
        emit,
        context: (&raw mut sources).cast(),
    };
    // SAFETY: a request of this form; the context is what `emit` takes it for, and lives through the call.
    unsafe { asked(&raw mut request) };
    if sources.is_empty() {
        bail!(
            "the library was built with another version of kizami-otp than cargo-otp {}: use the same",
            env!("CARGO_PKG_VERSION")
        );
    }
    Ok(sources)
}

unsafe extern "C" fn emit(
    context: *mut c_void,
    name: *const u8,
    name_length: usize,
    text: *const u8,
    text_length: usize,
) {
    // SAFETY: `sources` passes its own list as the context, and the library texts of these lengths.
    let (sources, name, text) = unsafe {
        (
            &mut *context.cast::<Vec<Source>>(),
            slice::from_raw_parts(name, name_length),
            slice::from_raw_parts(text, text_length),
        )
    };
    let owned = |bytes| String::from_utf8_lossy(bytes).into_owned();
    sources.push(Source { file: owned(name), text: owned(text) });
}
