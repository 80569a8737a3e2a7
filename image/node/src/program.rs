//! What a program is: its words, and what comes of them.

use alloc::format;
use alloc::string::String;

use crate::eprintln;
use crate::sys::Errno;

/// A program that a user types.
#[derive(Debug)]
pub struct Program {
    pub name: &'static str,
    /// The words that it takes behind its name.
    pub usage: &'static str,
    pub about: &'static str,
    pub work: fn(&[&str]) -> Result<(), Failure>,
}

/// Why a program did not do what it should.
#[derive(Debug, PartialEq, Eq)]
pub enum Failure {
    /// Its words are none that it takes.
    Usage,
    /// A sentence.
    Told(String),
    /// It says no more: its output has said all.
    Status(u8),
}

impl From<String> for Failure {
    fn from(why: String) -> Self {
        Self::Told(why)
    }
}

/// For `map_err`: on what it was tried.
pub fn on(what: &str) -> impl FnOnce(Errno) -> Failure {
    move |why| Failure::Told(format!("{what}: {why}"))
}

impl Program {
    /// Runs it with all its words, the first of which is its name: its status.
    pub fn run(&self, words: &[&str]) -> u8 {
        match (self.work)(words.get(1..).unwrap_or(&[])) {
            Ok(()) => 0,
            Err(Failure::Status(status)) => status,
            Err(Failure::Told(why)) => {
                eprintln!("{}: {why}", self.name);
                1
            }
            Err(Failure::Usage) => {
                eprintln!("usage: {} {}", self.name, self.usage);
                2
            }
        }
    }
}

/// Programs in lists, in the order in which they are shown.
#[derive(Debug, Clone, Copy)]
pub struct Programs(pub &'static [&'static [Program]]);

impl Programs {
    pub fn all(self) -> impl Iterator<Item = &'static Program> {
        self.0.iter().flat_map(|programs| programs.iter())
    }

    /// The one of that name.
    pub fn find(self, name: &str) -> Option<&'static Program> {
        self.all().find(|program| program.name == name)
    }
}
