//! `otp_sources`: the function by which `cargo otp` asks a library for its Erlang half. It is called without a VM.

use std::ffi::c_void;
use std::slice;

use crate::library::generate::{self, Source};
use crate::process::panic::caught;

/// What `otp::application!` puts into a library, under the name `otp_sources`.
pub type Asked = unsafe extern "C" fn(*mut Request);

/// The number of this form of asking; a library that has another one was built with another version of `otp`.
pub const FORM: u32 = 2;

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
    /// Is called instead when there can be none: the context, and why, in UTF-8.
    pub refuse: unsafe extern "C" fn(context: *mut c_void, why: *const u8, usize),
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
    let sources = match caught(|| generate::sources(&native)) {
        Ok(sources) => sources.map_err(|clash| clash.to_string()),
        Err(panic) => Err(format!("the library panics when it is asked for its Erlang half: {}", panic.message)),
    };
    let sources = match sources {
        Ok(sources) => sources,
        // SAFETY: the asker's function, with its context, and a text that lives through the call.
        Err(why) => return unsafe { (request.refuse)(request.context, why.as_ptr(), why.len()) },
    };
    for source in sources {
        let (name, text) = (source.file.as_bytes(), source.text.as_bytes());
        // SAFETY: the asker's function, with its context, and texts that live through the call.
        unsafe { (request.emit)(request.context, name.as_ptr(), name.len(), text.as_ptr(), text.len()) };
    }
}

/// All files of the Erlang half of a library, whose native module will be called `native`.
///
/// # Errors
/// When the library has another form of answering, or refuses, in words.
///
/// # Safety
/// `asked` is what `otp::application!` put into a library, which stays loaded meanwhile.
pub unsafe fn sources(asked: Asked, native: &str) -> Result<Vec<Source>, String> {
    let mut answer: Answer = Ok(Vec::new());
    let mut request = Request {
        form: FORM,
        native: native.as_ptr(),
        native_length: native.len(),
        emit,
        refuse,
        context: (&raw mut answer).cast(),
    };
    // SAFETY: a request of this form; the context is what `emit` takes it for, and lives through the call.
    unsafe { asked(&raw mut request) };
    if request.form != FORM {
        return Err(format!(
            "the library was built with another version of kizami-otp than {}: use the same",
            env!("CARGO_PKG_VERSION")
        ));
    }
    answer
}

type Answer = Result<Vec<Source>, String>;

unsafe extern "C" fn emit(
    context: *mut c_void,
    name: *const u8,
    name_length: usize,
    text: *const u8,
    text_length: usize,
) {
    // SAFETY: `sources` passes its own answer as the context, and the library texts of these lengths.
    let (answer, file, text) =
        unsafe { (&mut *context.cast::<Answer>(), owned(name, name_length), owned(text, text_length)) };
    if let Ok(sources) = answer {
        sources.push(Source { file, text });
    }
}

unsafe extern "C" fn refuse(context: *mut c_void, why: *const u8, length: usize) {
    // SAFETY: as for `emit`.
    unsafe { *context.cast::<Answer>() = Err(owned(why, length)) };
}

/// # Safety
/// There are so many bytes there.
unsafe fn owned(text: *const u8, length: usize) -> String {
    // SAFETY: the caller's promise.
    String::from_utf8_lossy(unsafe { slice::from_raw_parts(text, length) }).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    unsafe extern "C" fn of_another_version(request: *mut Request) {
        // SAFETY: `sources` passes its request.
        unsafe { (*request).form = FORM - 1 };
    }

    unsafe extern "C" fn refusing(request: *mut Request) {
        let why = "a reason";
        // SAFETY: as above; the text lives through the call.
        unsafe { ((*request).refuse)((*request).context, why.as_ptr(), why.len()) };
    }

    unsafe extern "C" fn answering(request: *mut Request) {
        // SAFETY: as above.
        unsafe { answer(request) };
    }

    #[test]
    fn a_library_answers_or_says_why_not() {
        let asked: [Asked; 3] = [of_another_version, refusing, answering];
        // SAFETY: they take a request as `application!`'s function does.
        let [other, refused, all] = asked.map(|asked| unsafe { sources(asked, "one_native") });
        assert!(other.is_err_and(|why| why.contains("another version of kizami-otp")));
        assert_eq!(refused, Err("a reason".into()));
        assert!(all.is_ok_and(|sources| sources.iter().any(|source| source.file == "one_native_wait.erl")));
    }
}
