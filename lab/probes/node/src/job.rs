//! A job: what is asked for, and where it is told how it went.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use node::output::Output;
use node::sys::{Errno, process, time};
use plain::{Arguments, report};

use crate::samples::Samples;

/// Tells something.
type Say = Box<dyn Fn(&mut Output)>;

pub struct Job<'a> {
    pub arguments: &'a Arguments,
    line: usize,
    at_end: Option<Say>,
}

impl<'a> Job<'a> {
    pub fn new(arguments: &'a Arguments, line: usize) -> Self {
        Self { arguments, line, at_end: None }
    }

    /// What is to be told when everything else was.
    pub fn at_end(&mut self, say: impl Fn(&mut Output) + 'static) {
        self.at_end = Some(Box::new(say));
    }

    /// The open line to the lab.
    pub fn line(&self) -> usize {
        self.line
    }

    /// Where instructions are the clock, every start of a job would be the same. Each stands at another place of the tick, so that several
    /// together tell of more than one; and the same starts of two runs are the same.
    pub fn wait_for_its_place(&self) -> Result<(), String> {
        const APART: u64 = 1_234_567;
        let until = time::now() + self.number("trial")? * APART;
        while time::now() < until {}
        Ok(())
    }

    pub fn number(&self, name: &str) -> Result<u64, String> {
        self.arguments.number(name)
    }

    /// Whether its instructions are counted.
    pub fn is_profiled(&self) -> bool {
        self.arguments.text("profile").is_ok_and(|value| value == "on")
    }

    /// Does what is measured, which is so many operations. If it was asked for, who follows the machine's instructions counts those in between:
    /// the call that nobody else makes tells it where that begins and where it ends.
    pub fn window<T>(&self, operations: u64, work: impl FnOnce() -> T) -> T {
        self.ready();
        if !self.is_profiled() {
            return self.paced(work);
        }
        process::processor();
        let begin = time::now();
        let done = work();
        let nanoseconds = time::now() - begin;
        process::processor();
        self.fact("profiled_ns", nanoseconds);
        if let Ok(ns) = self.number("instruction_ns") {
            self.fact("instruction_ns", ns);
        }
        if operations > 0 {
            self.fact("profiled_operations", operations);
        }
        done
    }

    /// Does what a trial is about. Where there is a wire the lab is told of the clock before and after, as the wire has the lab's.
    pub fn paced<T>(&self, work: impl FnOnce() -> T) -> T {
        let wire = self.arguments.text("wire").is_ok();
        let tell = || {
            if wire {
                report::clock(&mut Output::to(self.line), time::now());
            }
        };
        tell();
        let done = work();
        tell();
        done
    }

    /// Room for numbers, in one piece.
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
    pub fn done(&self, samples: &Samples) -> Result<(), String> {
        let mut out = Output::to(self.line);
        samples.say(&mut out)?;
        self.end(&mut out);
        Ok(())
    }

    /// Tells that everything was told.
    pub fn end(&self, out: &mut Output) {
        if let Some(say) = &self.at_end {
            say(out);
        }
        report::done(out);
    }
}

/// For `map_err`: what was tried.
pub fn doing(what: &str) -> impl FnOnce(Errno) -> String {
    move |why| format!("could not {what}: {why}")
}
