//! Programs that change something.

use alloc::format;

use super::seconds::seconds;
use crate::program::{Failure, Program, on};
use crate::sys::process::{self, End};
use crate::sys::{files, signals, time};
use crate::{print, println};

pub static PROGRAMS: &[Program] = &[
    Program { name: "echo", usage: "[WORD…]", about: "says the words", work: echo },
    Program { name: "mkdir", usage: "FOLDER…", about: "makes folders", work: |words| each(words, files::folder) },
    Program {
        name: "rm",
        usage: "FILE…",
        about: "removes files, and folders that are empty",
        work: |words| each(words, files::remove),
    },
    Program { name: "mount", usage: "[TYPE SOURCE FOLDER]", about: "mounts, or shows what is mounted", work: mount },
    Program {
        name: "umount",
        usage: "FOLDER…",
        about: "takes away what is mounted",
        work: |words| each(words, files::unmount),
    },
    Program { name: "sleep", usage: "SECONDS", about: "waits, such as 0.5", work: sleep },
    Program {
        name: "kill", usage: "[-SIGNAL] PROCESS…", about: "ends processes, or sends another signal", work: kill
    },
    Program { name: "poweroff", usage: "", about: "ends the machine", work: |words| end(words, End::Off) },
    Program { name: "reboot", usage: "", about: "begins the machine anew", work: |words| end(words, End::Again) },
];

fn echo(words: &[&str]) -> Result<(), Failure> {
    for (index, word) in words.iter().enumerate() {
        print!("{}{word}", if index > 0 { " " } else { "" });
    }
    println!();
    Ok(())
}

fn each(words: &[&str], work: fn(&str) -> crate::sys::Result<()>) -> Result<(), Failure> {
    if words.is_empty() {
        return Err(Failure::Usage);
    }
    words.iter().try_for_each(|word| work(word).map_err(on(word)))
}

fn mount(words: &[&str]) -> Result<(), Failure> {
    match words {
        [] => {
            print!("{}", files::text("/proc/mounts").map_err(on("/proc/mounts"))?);
            Ok(())
        }
        [kind, source, target] => {
            files::folder(target).map_err(on(target))?;
            files::mount(kind, source, target).map_err(on(target))
        }
        _ => Err(Failure::Usage),
    }
}

fn sleep(words: &[&str]) -> Result<(), Failure> {
    let [text] = words else { return Err(Failure::Usage) };
    let ns = seconds(text).ok_or_else(|| format!("{text} is no number of seconds, such as 0.5"))?;
    time::sleep(ns).map_err(|why| Failure::Told(format!("{why}")))
}

fn kill(words: &[&str]) -> Result<(), Failure> {
    let number = |word: &str| word.parse::<u32>().map_err(|_| Failure::Told(format!("{word} is no number")));
    let (signal, processes) = match words {
        [signal, rest @ ..] if signal.starts_with('-') => (number(&signal[1..])?, rest),
        processes => (signals::SIGTERM, processes),
    };
    if processes.is_empty() {
        return Err(Failure::Usage);
    }
    processes.iter().try_for_each(|process| signals::send(number(process)? as usize, signal).map_err(on(process)))
}

fn end(words: &[&str], how: End) -> Result<(), Failure> {
    let [] = words else { return Err(Failure::Usage) };
    process::end_machine(how).map_err(on("the machine"))
}
