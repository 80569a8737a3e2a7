//! A job: what is asked for, and where it is told how it went.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use node::output::Output;
use node::sys::Errno;
use plain::{Arguments, report};

pub struct Job<'a> {
    pub arguments: &'a Arguments,
    line: usize,
}

impl<'a> Job<'a> {
    pub fn new(arguments: &'a Arguments, line: usize) -> Self {
        Self { arguments, line }
    }

    /// The open line to the lab.
    pub fn line(&self) -> usize {
        self.line
    }

    pub fn number(&self, name: &str) -> Result<u64, String> {
        self.arguments.number(name)
    }

    /// Room for samples, there before the first is taken.
    pub fn room(&self, samples: u64) -> Result<Vec<u64>, String> {
        let mut room = Vec::new();
        let reserved = usize::try_from(samples).map(|samples| room.try_reserve_exact(samples));
        match reserved {
            Ok(Ok(())) => Ok(room),
            _ => Err(format!("no piece of memory is large enough for {samples} samples of 8 bytes: ask for fewer")),
        }
    }

    pub fn ready(&self) {
        report::ready(&mut Output::to(self.line));
    }

    pub fn fact(&self, name: &str, value: u64) {
        report::fact(&mut Output::to(self.line), name, value);
    }

    /// Tells the samples of the only part, and that it is over.
    pub fn done(&self, samples: &[u64]) {
        let mut out = Output::to(self.line);
        report::samples(&mut out, 0, samples);
        report::done(&mut out);
    }
}

/// For `map_err`: what was tried.
pub fn doing(what: &str) -> impl FnOnce(Errno) -> String {
    move |why| format!("could not {what}: {why}")
}
