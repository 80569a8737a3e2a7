//! The monitor of a virtual machine: a child of the lab with a control connection, with which the machine ends.

use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::qmp::Control;
use crate::error::Error;
use crate::keeper::Keeper;
use crate::launch::Started;

/// How long it may take to end by itself, once its machine has.
const GRACE: Duration = Duration::from_millis(20);

/// See the module.
pub(super) struct Monitor {
    /// The machine ends with it.
    child: Started,
    control: Option<Control>,
    /// The folder with the file that is the machine's disk, if it has one.
    disk: Option<PathBuf>,
    /// What ends the machine where it does not end with the child.
    keeper: Option<Keeper>,
}

impl Monitor {
    /// A monitor that was started as `child`, with the lab's end of the control, for a machine whose disk is a file in `disk`.
    pub(super) fn new(child: Started, control: UnixStream, disk: Option<PathBuf>) -> Arc<Mutex<Self>> {
        Arc::new(Mutex::new(Self { child, control: Control::new(control).ok(), disk, keeper: None }))
    }

    /// With what ends the machine where it does not end with the child.
    pub(super) fn keep(&mut self, keeper: Keeper) {
        self.keeper = Some(keeper);
    }

    /// Whether it does what it is told.
    pub(super) fn is_alive(&self) -> bool {
        self.control.is_some()
    }

    /// The number of its process.
    pub(super) fn process(&self) -> u32 {
        self.child.process()
    }

    /// What it says of itself: its answer to `command`.
    pub(super) fn answer(&mut self, command: &str) -> Option<serde_json::Value> {
        self.control.as_mut()?.command(command).ok()
    }

    /// The part `field` of that.
    pub(super) fn ask(&mut self, command: &str, field: &str) -> Option<serde_json::Value> {
        self.answer(command)?.get(field).cloned()
    }

    /// What went wrong with the machine's disk here, under the guest, as a sentence. Such a machine is of no more use: its file
    /// system has a hole that the guest may not know of.
    pub(super) fn trouble(&mut self) -> Option<String> {
        let folder = self.disk.clone()?;
        // What QEMU said before it answers has been read when it has.
        self.answer("query-status")?;
        let (operation, reason) = self.control.as_ref()?.disk_error()?;
        Some(format!(
            "the disk of the machine could not {operation} on this one: {reason} (its file is in the file system of {})",
            folder.display()
        ))
    }

    /// Lets the machine run (`cont`), or stand still (`stop`).
    pub(super) fn tell(&mut self, command: &str) -> Result<(), Error> {
        let control = self.control.as_mut().ok_or_else(|| Error::Unusable("the monitor does not answer".into()))?;
        let done = control.command(command);
        if done.is_err() {
            self.control = None;
        }
        done.map(drop).map_err(Error::os(format!("tell the monitor to {command}")))
    }

    /// The machine is not used any more. When this returns it is gone, and what it had of this machine's disk.
    pub(super) fn kill(&mut self) {
        self.control = None;
        self.child.end(Duration::ZERO);
        self.keeper = None;
    }

    /// What the machine's console said last.
    pub(super) fn console(&self) -> String {
        self.child.error_output()
    }

    /// Ends it; what the console and the monitor said last, as a part of a sentence.
    pub(super) fn last_words(&mut self) -> String {
        self.control = None;
        let how = self.child.end(GRACE);
        self.keeper = None;
        let said = telling(&self.console());
        let said = if said.is_empty() { "nothing was said".to_owned() } else { format!("it said: {said}") };
        format!(" (the monitor {how}; {said})")
    }
}

/// Of what a console said: the line on which a kernel says why it ends, else the last lines.
pub(super) fn telling(console: &str) -> String {
    // `[    5.301539] Kernel panic - …`
    let bare = |line: &str| match line.trim().split_once("] ") {
        Some((time, rest)) if time.starts_with('[') => rest.trim().to_owned(),
        _ => line.trim().to_owned(),
    };
    let lines: Vec<String> = console.lines().map(bare).filter(|line| !line.is_empty()).collect();
    match lines.iter().find(|line| line.contains("Kernel panic") || line.contains("Out of memory")) {
        Some(why) => why.clone(),
        None => lines[lines.len().saturating_sub(3)..].join(" / "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_console_the_reason_is_told() {
        let console = "[    5.2] Run /nothing as init\n[    5.3] Kernel panic - not syncing: No working init found.\n\
                       [    5.3] Call Trace:\n[    5.3]  </TASK>\n";
        assert_eq!(telling(console), "Kernel panic - not syncing: No working init found.");
        assert_eq!(telling("a\n\nb\nc\nd\n"), "b / c / d");
        assert_eq!(telling(""), "");
    }
}
