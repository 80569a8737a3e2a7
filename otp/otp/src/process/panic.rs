//! Panics in callbacks: caught, described with their place, and raised as an Erlang exception.

use std::any::Any;
use std::backtrace::{Backtrace, BacktraceStatus};
use std::cell::RefCell;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::data::Data;
use crate::data::brief::cut;
use crate::nif::{Env, Term};
use crate::process::turn::in_call;

/// What a panic said, and where.
#[derive(Debug)]
pub(crate) struct Panic {
    pub(crate) message: String,
    pub(crate) file: String,
    pub(crate) line: u32,
    /// Empty where none is asked for.
    backtrace: String,
}

/// How many bytes of what a panic says are kept: it goes to all who hear of the end of the process.
const MOST_SAID: usize = 64 * 1024;
/// The same for its backtrace, which goes into the log.
const MOST_TRACED: usize = 16 * 1024;

thread_local! {
    /// The last panic on this thread, between its hook and its catcher.
    static LAST: RefCell<Option<Panic>> = const { RefCell::new(None) };
}

impl Panic {
    /// Notes what a panic says for the one who catches it, instead of writing it to the terminal.
    pub(crate) fn hook() {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            // A thread of the user's own has nobody who catches.
            if !in_call() {
                return before(info);
            }
            let (file, line) = info.location().map_or(("", 0), |at| (at.file(), at.line()));
            let backtrace = Backtrace::capture();
            let backtrace = match backtrace.status() {
                BacktraceStatus::Captured if std::env::var("RUST_BACKTRACE").is_ok_and(|asked| asked == "full") => {
                    backtrace.to_string()
                }
                BacktraceStatus::Captured => of_the_user(&backtrace.to_string()),
                _ => String::new(),
            };
            let panic = Panic {
                message: cut(MOST_SAID, said(info.payload())),
                file: file.to_owned(),
                line,
                backtrace: cut(MOST_TRACED, backtrace),
            };
            LAST.set(Some(panic));
        }));
    }

    /// The panic that ended with this value.
    #[cold]
    pub(crate) fn of(payload: Box<dyn Any + Send>) -> Self {
        let panic = LAST.take().unwrap_or_else(|| Panic {
            message: cut(MOST_SAID, said(&*payload)),
            file: String::new(),
            line: 0,
            backtrace: String::new(),
        });
        // The value is somebody else's, and its drop may panic in turn, with another such value: that one is never dropped.
        if let Err(another) = catch_unwind(AssertUnwindSafe(move || drop(payload))) {
            mem::forget(another);
            LAST.take();
        }
        panic
    }

    /// `{panic, Message, File, Line}`, or with the backtrace as a fifth element where one was asked for.
    pub(crate) fn encode<'a>(&self, env: Env<'a>) -> Term<'a> {
        let (message, file) = (env.binary(self.message.as_bytes()), env.binary(self.file.as_bytes()));
        let mut elements =
            vec![crate::atom!("panic").term(env).raw(), message.raw(), file.raw(), self.line.encode(env).raw()];
        if !self.backtrace.is_empty() {
            elements.push(env.binary(self.backtrace.as_bytes()).raw());
        }
        env.tuple(&elements)
    }
}

/// What `body` comes to. Nothing of a panic goes further, also not what comes of dropping its value.
pub(crate) fn caught<R>(body: impl FnOnce() -> R) -> Result<R, Panic> {
    catch_unwind(AssertUnwindSafe(body)).map_err(Panic::of)
}

/// What a panic says.
fn said(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().copied().or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("a panic with a value that is no text").to_owned()
}

/// The folder of the sources of this library, as the compiler names it.
const OWN_SOURCES: &str = file!().split_at(file!().len() - "process/panic.rs".len()).0;

/// The frames of a backtrace without those that every one has: of the panic itself, and of how the VM calls.
fn of_the_user(backtrace: &str) -> String {
    let begins =
        |line: &str| line.trim_start().split_once(": ").is_some_and(|(number, _)| number.parse::<u32>().is_ok());
    let mut frames: Vec<String> = Vec::new();
    for line in backtrace.lines() {
        match frames.last_mut() {
            Some(frame) if !begins(line) => frame.extend(["\n", line]),
            _ => frames.push(line.to_owned()),
        }
    }
    let has = |frame: &String, names: &[&str]| names.iter().any(|name| frame.contains(name));
    let calls = ["otp::process::slab::with", "otp::library::entry::raw"];
    let end = frames.iter().position(|frame| has(frame, &calls)).unwrap_or(frames.len());
    let panics = ["::panicking::", "rust_begin_unwind", "otp::process::panic::"];
    let start = frames[..end].iter().rposition(|frame| has(frame, &panics)).map_or(0, |last| last + 1);
    let ours = |frame: &String| {
        let name = frame.split_once(": ").map_or("", |(_, name)| name);
        // Of a function that became part of another one its name alone is known, and where it is from.
        name.starts_with("otp::") || name.starts_with("<otp::") || frame.contains(OWN_SOURCES)
    };
    let end = frames[start..end].iter().rposition(|frame| !ours(frame)).map_or(end, |last| start + last + 1);
    frames[start..end].join("\n")
}

#[cfg(test)]
mod tests {
    use super::{OWN_SOURCES, of_the_user};

    const WHOLE: &str = "   0: otp::process::panic::Panic::hook::{{closure}}
             at /otp/src/process/panic.rs:39:29
   1: std::panicking::rust_panic_with_hook
   2: core::panicking::panic_fmt
             at /rustc/library/core/src/panicking.rs:80:14
   3: hello::Greeter::greet
             at ./src/lib.rs:23:9
   4: <hello::Greeter as otp::behaviours::server::GenServer>::call
   5: otp::behaviours::server::Hosted<S>::answer
   6: otp::process::slab::with
             at /otp/src/process/slab.rs:182:10
   7: std::panicking::catch_unwind
   8: <unknown>
";

    /// With optimisation, and with lines.
    const INLINED: &str = "   0: otp::process::panic::Panic::hook::{{closure}}
   1: core::panicking::panic_fmt
   2: greet
             at ./src/lib.rs:23:9
   3: receive<hello::Greeter>
             at /otp/FOLDER/behaviours/server.rs:169:13
   4: {closure#0}<2, otp::library::entry::Message>
             at /otp/FOLDER/library/entry.rs:181:65
   5: otp::library::entry::raw
";

    #[test]
    fn a_backtrace_is_that_of_the_user() {
        let own = "   3: hello::Greeter::greet
             at ./src/lib.rs:23:9
   4: <hello::Greeter as otp::behaviours::server::GenServer>::call";
        assert_eq!(of_the_user(WHOLE), own);
        assert_eq!(of_the_user("   0: <unknown>\n"), "   0: <unknown>");
        let inlined = INLINED.replace("FOLDER/", OWN_SOURCES);
        assert_eq!(of_the_user(&inlined), "   2: greet\n             at ./src/lib.rs:23:9");
    }
}
