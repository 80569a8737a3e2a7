//! Messages on standard error, in the form and the colours of cargo's messages: a word, then its subject.

use std::fmt::Display;
use std::io::Write;
use std::sync::OnceLock;

use anstream::ColorChoice;
use anstyle::{AnsiColor, Style};
use clap::{ArgAction, Args, ValueEnum};

/// How much is told, and whether in colour.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct Output {
    /// Say more; twice for all that cargo can say
    #[arg(short, long, action = ArgAction::Count, global = true)]
    pub(crate) verbose: u8,
    /// Say nothing but errors
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// When to use colour
    #[arg(long, value_name = "WHEN", global = true)]
    pub(crate) color: Option<Colour>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Colour {
    Auto,
    Always,
    Never,
}

static OUTPUT: OnceLock<Output> = OnceLock::new();

/// Is called once, before anything is told.
pub(crate) fn prepare(output: Output) {
    let from_cargo = || std::env::var("CARGO_TERM_COLOR").ok().and_then(|when| Colour::from_str(&when, true).ok());
    match output.color.or_else(from_cargo) {
        Some(Colour::Always) => ColorChoice::Always.write_global(),
        Some(Colour::Never) => ColorChoice::Never.write_global(),
        Some(Colour::Auto) | None => {}
    }
    let _ = OUTPUT.set(output);
}

pub(crate) fn output() -> Output {
    OUTPUT.get().cloned().unwrap_or_default()
}

/// Whether standard output is written in colour.
pub(crate) fn is_coloured() -> bool {
    anstream::AutoStream::choice(&std::io::stdout()) != ColorChoice::Never
}

/// A step of the work, as cargo tells them.
pub(crate) fn step(what: &str, about: impl Display) {
    line(AnsiColor::BrightGreen, what, about);
}

/// Something that takes time and is no step.
pub(crate) fn waits(what: &str, about: impl Display) {
    line(AnsiColor::BrightCyan, what, about);
}

/// A command that is started, shown if the user asked for commands.
pub(crate) fn command(command: &std::process::Command) {
    if output().verbose > 0 {
        step("Running", format_args!("`{command:?}`"));
    }
}

fn line(colour: AnsiColor, what: &str, about: impl Display) {
    if !output().quiet {
        let style = Style::new().bold().fg_color(Some(colour.into()));
        whole(format!("{style}{what:>12}{style:#} {about}\n"));
    }
}

pub(crate) fn warning(about: impl Display) {
    if !output().quiet {
        labelled(AnsiColor::Yellow, "warning", about);
    }
}

/// What to do next.
pub(crate) fn note(about: impl Display) {
    if !output().quiet {
        labelled(AnsiColor::BrightGreen, "note", about);
    }
}

/// An error that was reported already, by a program that this one has run.
#[derive(Debug)]
pub(crate) struct Told;

impl std::fmt::Display for Told {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("it was told above")
    }
}

impl std::error::Error for Told {}

/// An error and what caused it, from the outermost on.
pub(crate) fn error(error: &anyhow::Error) {
    if error.is::<Told>() {
        return;
    }
    labelled(AnsiColor::BrightRed, "error", error);
    let causes: Vec<_> = error.chain().skip(1).collect();
    if !causes.is_empty() {
        let told = causes.iter().map(|cause| format!("  {}\n", cause.to_string().replace('\n', "\n  ")));
        whole(format!("\nCaused by:\n{}", told.collect::<String>()));
    }
}

fn labelled(colour: AnsiColor, what: &str, about: impl Display) {
    let style = Style::new().bold().fg_color(Some(colour.into()));
    whole(format!("{style}{what}{style:#}: {about}\n"));
}

/// In one piece, so that what others write does not come between.
fn whole(text: String) {
    // Who closed standard error does not want to know.
    let _ = anstream::AutoStream::auto(std::io::stderr()).write_all(text.as_bytes());
}
