//! Progress of a run: one bar for all trials, and the current measurement.
//!
//! The remaining time comes from the expected times of the trials, corrected by the real times of those that have
//! ended. Without a terminal, the progress is one line a trial.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use kizami_recording::foreign::printable;

use crate::style::line;

/// Thousandths of all work.
const WHOLE: u64 = 1000;

pub struct Progress {
    bar: ProgressBar,
    terminal: bool,
    begun: Instant,
    expected: f64,
    done: f64,
    current: f64,
    trials: usize,
    trial: usize,
}

impl Progress {
    /// For `trials` trials that are expected to take `expected` seconds together.
    pub fn new(trials: usize, expected: f64) -> Self {
        let bar = ProgressBar::with_draw_target(Some(WHOLE), ProgressDrawTarget::stderr_with_hz(5));
        let style = ProgressStyle::with_template("{bar:28.cyan/dim} {prefix:>9} {wide_msg}");
        if let Ok(style) = style {
            bar.set_style(style.progress_chars("━╸─"));
        }
        let terminal = !bar.is_hidden();
        Self {
            bar,
            terminal,
            begun: Instant::now(),
            expected: expected.max(0.1),
            done: 0.0,
            current: 0.0,
            trials,
            trial: 0,
        }
    }

    /// There are `trials` now, of which those that were added are expected to take `seconds`.
    pub fn more(&mut self, trials: usize, seconds: f64) {
        self.trials = trials;
        self.expected += seconds;
    }

    /// The next trial begins; it is expected to take `seconds`.
    pub fn begin(&mut self, what: &str, seconds: f64) {
        self.trial += 1;
        self.current = seconds;
        if self.terminal {
            self.bar.set_message(format!("{}/{} {}", self.trial, self.trials, printable(what)));
        } else {
            line(&format!("[{}/{}] {what}", self.trial, self.trials));
        }
        self.update(0.0);
    }

    /// The share of the current trial that is done.
    pub fn update(&mut self, share: f64) {
        let done = (self.done + self.current * share) / self.expected;
        self.bar.set_position((done * WHOLE as f64) as u64);
        // Until something was learned, the expectation is all there is.
        let elapsed = self.begun.elapsed().as_secs_f64();
        let pace = if done > 0.05 { elapsed / (done * self.expected) } else { 1.0 };
        let left = (self.expected * (1.0 - done) * pace).max(0.0);
        self.bar.set_prefix(left_in_words(left));
    }

    pub fn end(&mut self) {
        self.done += self.current;
        self.current = 0.0;
        self.update(0.0);
    }

    /// A line above the bar.
    pub fn say(&self, text: &str) {
        if self.terminal {
            self.bar.suspend(|| line(text));
        } else {
            line(text);
        }
    }

    /// Removes the bar; gives how long it all took.
    pub fn finish(self) -> Duration {
        self.bar.finish_and_clear();
        self.begun.elapsed()
    }
}

fn left_in_words(seconds: f64) -> String {
    let seconds = seconds.round() as u64;
    match seconds {
        0..=99 => format!("{seconds} s left"),
        100..=5999 => format!("{}:{:02} left", seconds / 60, seconds % 60),
        _ => format!("{:.1} h left", seconds as f64 / 3600.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_left_fits_its_column() {
        for seconds in [0.0, 9.6, 99.0, 100.0, 5999.0, 6000.0, 90_000.0] {
            let words = left_in_words(seconds);
            assert!(words.len() <= 11, "{words}");
        }
        assert_eq!(left_in_words(125.0), "2:05 left");
    }
}
