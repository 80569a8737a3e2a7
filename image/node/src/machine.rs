//! All programs of a machine, and which of them a process is.

use alloc::format;

use crate::program::{Failure, Program, Programs, on};
use crate::programs::{change, ip, look, ping, udp};
use crate::sys::{files, process, time};
use crate::{eprintln, init, println, shell};

/// In the order of `help`.
static ALL: Programs = Programs(&[look::PROGRAMS, change::PROGRAMS, ip::PROGRAMS, ping::PROGRAMS, udp::PROGRAMS, OWN]);

/// Those that know of others.
static OWN: &[Program] = &[
    Program { name: "time", usage: "COMMAND…", about: "how long a command of this program takes", work: time_of },
    Program {
        name: "sh",
        usage: "[-c COMMANDS | FILE]",
        about: "this shell: words, 'quotes', |, <, >, >>, &, ;, $?, $NAME, NAME=, cd, exit",
        work: sh,
    },
    Program { name: "help", usage: "[COMMAND]", about: "this", work: help },
];

/// The first process, or the program that the words name, or a shell: its status.
pub fn main(words: &[&str]) -> i32 {
    if process::id() == 1 {
        init::run(ALL);
    }
    let base = |word: &&str| word.rsplit('/').next().and_then(|name| ALL.find(name));
    // By what this is started as, or, as the program of its own name, by the word behind that.
    let (program, words) = match words.first().and_then(base) {
        Some(program) => (Some(program), words),
        None => (words.get(1).and_then(base), words.get(1..).unwrap_or(&[])),
    };
    match (program, words) {
        (Some(program), words) => {
            process::name(program.name);
            i32::from(program.run(words))
        }
        (None, []) => i32::from(shell::interactive(ALL)),
        (None, [name, ..]) => {
            eprintln!("{name}: there is no such command; `help` names them");
            127
        }
    }
}

fn sh(words: &[&str]) -> Result<(), Failure> {
    let status = match words {
        [] => shell::interactive(ALL),
        ["-c", text] => shell::script(ALL, text),
        [file] => shell::script(ALL, &files::text(file).map_err(on(file))?),
        _ => return Err(Failure::Usage),
    };
    if status == 0 { Ok(()) } else { Err(Failure::Status(status)) }
}

fn help(words: &[&str]) -> Result<(), Failure> {
    match words {
        [] => {
            for program in ALL.all() {
                println!("{:8} {}", program.name, program.about);
            }
            println!("\n`help COMMAND` shows its words.");
        }
        [name] => {
            let program = ALL.find(name).ok_or_else(|| format!("there is no command {name}"))?;
            println!("{} {}\n\n{}", program.name, program.usage, program.about);
        }
        _ => return Err(Failure::Usage),
    }
    Ok(())
}

fn time_of(words: &[&str]) -> Result<(), Failure> {
    let [name, ..] = words else { return Err(Failure::Usage) };
    let program = ALL.find(name).ok_or_else(|| format!("there is no command {name} in this program"))?;
    let begun = time::now();
    let status = program.run(words);
    println!("{} us", (time::now() - begun) / 1000);
    if status == 0 { Ok(()) } else { Err(Failure::Status(status)) }
}
