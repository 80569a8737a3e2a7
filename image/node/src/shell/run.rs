//! Doing what a line says.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use linux_raw_sys::general::F_DUPFD_CLOEXEC;

use super::line::{Command, Stage, parse};
use crate::program::{Program, Programs};
use crate::sys::files::{self, Fd, O_APPEND, O_CREAT, O_RDONLY, O_TRUNC, O_WRONLY};
use crate::sys::process::{self, Ending};
use crate::sys::{Errno, signals};
use crate::{eprintln, print};

/// This program, for what is started of it.
const ITSELF: &str = "/proc/self/exe";

/// Where programs in files are looked for by name.
const FOLDERS: [&str; 2] = ["/bin/", "/sbin/"];

/// Longer than any line that somebody types.
const LINE: usize = 1024;

/// A status, and a sentence that says why.
type Wrong = (u8, String);

/// The state of a shell.
#[derive(Debug)]
pub struct Shell {
    /// Those that are in this program.
    programs: Programs,
    /// Of the last command.
    status: u8,
    values: Vec<(String, String)>,
    leaves: bool,
}

/// Reads commands from the standard input until it ends; with a prompt where that is a terminal.
pub fn interactive(programs: Programs) -> u8 {
    signals::listen();
    let mut shell = Shell::new(programs);
    let mut typed = Vec::new();
    let mut piece = [0; LINE];
    let prompts = is_terminal();
    while !shell.leaves {
        shell.reap();
        if prompts {
            print!("{} # ", folder());
        }
        let line = loop {
            if let Some(end) = typed.iter().position(|byte| *byte == b'\n') {
                break Some(typed.drain(..=end).collect::<Vec<u8>>());
            }
            match files::read(0, &mut piece) {
                Ok(0) if typed.is_empty() => break None,
                Ok(0) => break Some(core::mem::take(&mut typed)),
                Ok(read) => typed.extend_from_slice(&piece[..read]),
                Err(Errno::EINTR) => {
                    typed.clear();
                    break Some(b"\n".to_vec());
                }
                Err(_) => break None,
            }
        };
        let Some(line) = line else { break };
        if signals::interrupted() {
            print!("\n");
        }
        shell.line(&String::from_utf8_lossy(&line));
    }
    shell.status
}

/// Does the commands of a text: the status of the last.
pub fn script(programs: Programs, text: &str) -> u8 {
    signals::listen();
    let mut shell = Shell::new(programs);
    for line in text.lines() {
        if shell.leaves {
            break;
        }
        shell.line(line);
    }
    shell.status
}

fn is_terminal() -> bool {
    let mut settings = [0u8; 64];
    let input = core::mem::ManuallyDrop::new(Fd::of(0));
    // SAFETY: room for the settings of a terminal, which have 36 bytes.
    unsafe { input.ioctl(linux_raw_sys::ioctl::TCGETS, settings.as_mut_ptr() as usize) }.is_ok()
}

/// Where this process is.
fn folder() -> String {
    let mut name = [0u8; 256];
    // SAFETY: room for a name, as long as we say.
    let length = unsafe {
        crate::sys::call(linux_raw_sys::general::__NR_getcwd, [name.as_mut_ptr() as usize, name.len(), 0, 0, 0, 0])
    };
    let length = length.unwrap_or(0).saturating_sub(1);
    String::from_utf8_lossy(&name[..length]).into_owned()
}

impl Shell {
    pub fn new(programs: Programs) -> Self {
        Self { programs, status: 0, values: Vec::new(), leaves: false }
    }

    /// Does a line.
    pub fn line(&mut self, text: &str) {
        let mut at = 0;
        while let Some(command) = self.read(text, at) {
            self.status = self.command(&command).unwrap_or_else(|(status, why)| {
                eprintln!("{why}");
                status
            });
            if self.leaves || signals::interrupted() {
                break;
            }
            at += 1;
        }
    }

    /// The command of a line with that number. The line is read anew for each, since one may change what the next means.
    fn read(&mut self, text: &str, number: usize) -> Option<Command> {
        let value = |name: &str| match name {
            "?" => self.status.to_string(),
            name => {
                self.values.iter().find(|(other, _)| other == name).map(|(_, value)| value.clone()).unwrap_or_default()
            }
        };
        match parse(text, value) {
            Ok(line) => line.0.into_iter().nth(number),
            Err(why) => {
                eprintln!("{why}");
                self.status = 2;
                None
            }
        }
    }

    fn command(&mut self, command: &Command) -> Result<u8, Wrong> {
        let last = command.stages.len() - 1;
        let (mut input, mut started) = (None, Vec::new());
        for stage in &command.stages[..last] {
            let (read, write) = files::pipe().map_err(|why| (1, format!("there is no pipe: {why}")))?;
            started.push(start(self.programs, stage, input.take(), Some(write))?);
            input = Some(read);
        }
        let stage = &command.stages[last];
        let found = self.programs.find(&stage.words[0]);
        let status = match found {
            Some(program) if !command.behind => self.within(program, stage, input.as_ref())?,
            _ => {
                if !command.behind
                    && let Some(status) = self.own(stage)?
                {
                    return Ok(status);
                }
                let child = start(self.programs, stage, input, None)?;
                if command.behind {
                    eprintln!("[{child}]");
                    return Ok(0);
                }
                wait_for(child)
            }
        };
        for child in started {
            wait_for(child);
        }
        Ok(status)
    }

    /// What only a shell itself can do: its status, if it is that.
    fn own(&mut self, stage: &Stage) -> Result<Option<u8>, Wrong> {
        let words: Vec<&str> = stage.words.iter().map(String::as_str).collect();
        match &words[..] {
            ["exit", status @ ..] => {
                self.leaves = true;
                return Ok(Some(status.first().and_then(|status| status.parse().ok()).unwrap_or(self.status)));
            }
            ["cd", folder @ ..] => {
                let folder = folder.first().copied().unwrap_or("/");
                let mut name = String::from(folder);
                name.push('\0');
                // SAFETY: a text that ends with a zero.
                unsafe {
                    crate::sys::call(linux_raw_sys::general::__NR_chdir, [name.as_ptr() as usize, 0, 0, 0, 0, 0])
                }
                .map_err(|why| (1, format!("cd {folder}: {why}")))?;
            }
            [assignment] if assignment.split_once('=').is_some_and(|(name, _)| is_name(name)) => {
                if let Some((name, value)) = assignment.split_once('=') {
                    self.values.retain(|(other, _)| other != name);
                    self.values.push((name.into(), value.into()));
                }
            }
            _ => return Ok(None),
        }
        Ok(Some(0))
    }

    /// Does a program of this one, with its files in place of the terminal meanwhile.
    fn within(&mut self, program: &Program, stage: &Stage, pipe: Option<&Fd>) -> Result<u8, Wrong> {
        let (input, output) = opened(stage)?;
        let kept = [(0, input.as_ref().or(pipe)), (1, output.as_ref())];
        let kept: Vec<(usize, Fd)> = kept
            .into_iter()
            .filter_map(|(number, replacement)| Some((number, replacement?)))
            .map(|(number, replacement)| {
                // One above the streams.
                let kept = files::fcntl(number, F_DUPFD_CLOEXEC, 10).map(Fd::of)?;
                replacement.also(number)?;
                Ok((number, kept))
            })
            .collect::<crate::sys::Result<_>>()
            .map_err(|why| (1, format!("the streams cannot be changed: {why}")))?;
        let words: Vec<&str> = stage.words.iter().map(String::as_str).collect();
        let done = program.run(&words);
        for (number, kept) in kept {
            // It was open as this number before.
            let _ = kept.also(number);
        }
        Ok(done)
    }

    /// Takes in what has ended in the background.
    fn reap(&self) {
        while let Ok(Some((child, ending))) = process::wait(None, false) {
            eprintln!("[{child}] {}", told(ending));
        }
    }
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|letter| letter.is_alphanumeric() || letter == '_')
}

fn told(ending: Ending) -> String {
    match ending {
        Ending::Status(status) => format!("ended with status {status}"),
        Ending::Signal(signal) => format!("was ended by signal {signal}"),
    }
}

fn wait_for(child: usize) -> u8 {
    loop {
        match process::wait(Some(child), true) {
            Ok(Some((_, Ending::Status(status)))) => return status,
            Ok(Some((_, ending @ Ending::Signal(signal)))) => {
                eprintln!("[{child}] {}", told(ending));
                return 128 + signal;
            }
            // The child has the interruption as well.
            Err(Errno::EINTR) => {}
            _ => return 1,
        }
    }
}

/// The files in place of its streams.
fn opened(stage: &Stage) -> Result<(Option<Fd>, Option<Fd>), Wrong> {
    let open = |name: &str, flags| Fd::open(name, flags).map_err(|why| (1, format!("{name}: {why}")));
    let input = stage.input.as_deref().map(|name| open(name, O_RDONLY)).transpose()?;
    let output = stage
        .output
        .as_ref()
        .map(|(name, adds)| open(name, O_WRONLY | O_CREAT | if *adds { O_APPEND } else { O_TRUNC }));
    Ok((input, output.transpose()?))
}

/// Starts a stage as a process.
fn start(programs: Programs, stage: &Stage, pipe: Option<Fd>, to: Option<Fd>) -> Result<usize, Wrong> {
    let (input, output) = opened(stage)?;
    let words: Vec<&str> = stage.words.iter().map(String::as_str).collect();
    let name = words[0];
    let places: Vec<String> = if programs.find(name).is_some() {
        alloc::vec![ITSELF.into()]
    } else if name.contains('/') {
        alloc::vec![name.into()]
    } else {
        FOLDERS.iter().map(|folder| format!("{folder}{name}")).collect()
    };
    let streams = [input.as_ref().or(pipe.as_ref()), output.as_ref().or(to.as_ref()), None];
    let mut why = Errno::ENOENT;
    for path in &places {
        let program = process::Program { path, words: &words, environment: &[], streams, leads: false };
        match process::spawn(&program) {
            Ok(child) => return Ok(child),
            Err(Errno::ENOENT) => {}
            Err(other) => {
                why = other;
                break;
            }
        }
    }
    Err(match why {
        Errno::ENOENT if !name.contains('/') => (127, format!("{name}: there is no such command; `help` names them")),
        Errno::ENOMEM => {
            (126, format!("{name}: no piece of memory is large enough for it (`free` says how much there is)"))
        }
        why => (126, format!("{name}: {why}")),
    })
}
