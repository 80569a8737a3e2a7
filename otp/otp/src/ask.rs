//! How `cargo otp` asks a library for its Erlang half: it loads the library and calls `otp_sources`. No VM is needed.

use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::slice;

use crate::generate::{self, Source};

/// What `otp::application!` puts into a library, under the name `otp_sources`.
pub type Asked = unsafe extern "C" fn(*mut Request);

/// The number of this form of asking; a library that has another one was built with another version of `otp`.
pub const FORM: u32 = 1;

/// What is asked, and where the answer goes.
#[repr(C)]
#[derive(Debug)]
pub struct Request {
    /// [`FORM`]; the library writes its own here when it has another.
    pub form: u32,
    /// The name of the native module, in UTF-8.
    pub native: *const u8,
    pub native_length: usize,
    /// Is called once for each file: the context, its name and its text, in UTF-8.
    pub emit: unsafe extern "C" fn(context: *mut c_void, name: *const u8, usize, text: *const u8, usize),
    pub context: *mut c_void,
}

/// Answers a request.
///
/// # Safety
/// `request` must be null or point to a request of this form, whose name has the length that it says, or to one that begins with
/// the number of another form.
pub unsafe fn answer(request: *mut Request) {
    // SAFETY: the caller's promise.
    let (request, native) = unsafe {
        let Some(request) = request.as_mut() else { return };
        if request.form != FORM {
            request.form = FORM;
            return;
        }
        (&*request, slice::from_raw_parts(request.native, request.native_length))
    };
    let native = String::from_utf8_lossy(native);
    // Nothing is emitted when a description panics, which says itself why.
    let Ok(sources) = catch_unwind(AssertUnwindSafe(|| generate::sources(&native))) else { return };
    for source in sources {
        let (name, text) = (source.file.as_bytes(), source.text.as_bytes());
        // SAFETY: the asker's function, with its context, and texts that live through the call.
        unsafe { (request.emit)(request.context, name.as_ptr(), name.len(), text.as_ptr(), text.len()) };
    }
}

/// All files of the Erlang half of a library, whose native module will be called `native`; none when the library has another form of
/// answering.
///
/// # Safety
/// `asked` is what `otp::application!` put into a library, which stays loaded meanwhile.
pub unsafe fn sources(asked: Asked, native: &str) -> Vec<Source> {
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
    sources
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
