//! Programs that look around.

use alloc::format;
use alloc::string::String;

use linux_raw_sys::general::__NR_uname;
use linux_raw_sys::system::new_utsname;

use crate::program::{Failure, Program, on};
use crate::sys::files::{self, Fd, O_RDONLY};
use crate::sys::{process, time};
use crate::{print, println};

pub static PROGRAMS: &[Program] = &[
    Program { name: "ls", usage: "[FOLDER…]", about: "what stands in folders", work: ls },
    Program { name: "cat", usage: "[FILE…]", about: "the contents of files, or of what is typed", work: cat },
    Program { name: "hexdump", usage: "FILE", about: "the bytes of a file", work: hexdump },
    Program { name: "free", usage: "", about: "the memory: all, free, and where it is", work: free },
    Program { name: "ps", usage: "", about: "the processes", work: ps },
    Program { name: "uptime", usage: "", about: "how long the machine has been up", work: uptime },
    Program { name: "uname", usage: "", about: "the kernel and the machine", work: uname },
    Program { name: "dmesg", usage: "", about: "what the kernel has said", work: dmesg },
];

fn ls(words: &[&str]) -> Result<(), Failure> {
    for folder in if words.is_empty() { &["."] } else { words } {
        let mut found = files::names(folder).map_err(on(folder))?;
        found.sort();
        for (name, is_folder) in found {
            let path = format!("{folder}/{name}");
            match files::about(&path) {
                Ok((mode, _)) if is_folder => println!("{:03o} {:>9} {name}/", mode & 0o777, ""),
                Ok((mode, bytes)) => println!("{:03o} {bytes:>9} {name}", mode & 0o777),
                Err(_) => println!("  ? {:>9} {name}", "?"),
            }
        }
    }
    Ok(())
}

fn cat(words: &[&str]) -> Result<(), Failure> {
    for file in words {
        let open = Fd::open(file, O_RDONLY).map_err(on(file))?;
        copy(open.number()).map_err(on(file))?;
    }
    if words.is_empty() { copy(0).map_err(on("what is typed")) } else { Ok(()) }
}

fn copy(from: usize) -> crate::sys::Result<()> {
    let mut piece = [0; 512];
    loop {
        match files::read(from, &mut piece)? {
            0 => return Ok(()),
            read => files::write_all(1, &piece[..read])?,
        }
    }
}

fn hexdump(words: &[&str]) -> Result<(), Failure> {
    let [file] = words else { return Err(Failure::Usage) };
    let bytes = files::contents(file).map_err(on(file))?;
    for (row, bytes) in bytes.chunks(16).enumerate() {
        print!("{:08x} ", row * 16);
        for byte in bytes {
            print!(" {byte:02x}");
        }
        let letters: String =
            bytes.iter().map(|byte| if byte.is_ascii_graphic() { char::from(*byte) } else { '.' }).collect();
        println!("{:width$}  {letters}", "", width = (16 - bytes.len()) * 3);
    }
    Ok(())
}

fn free(words: &[&str]) -> Result<(), Failure> {
    let [] = words else { return Err(Failure::Usage) };
    let text = files::text("/proc/meminfo").map_err(on("/proc/meminfo"))?;
    let shown = ["MemTotal", "MemFree", "MemAvailable", "Buffers", "Cached", "Slab", "KernelStack"];
    for line in text.lines().filter(|line| line.split(':').next().is_some_and(|name| shown.contains(&name))) {
        println!("{line}");
    }
    Ok(())
}

fn ps(words: &[&str]) -> Result<(), Failure> {
    let [] = words else { return Err(Failure::Usage) };
    let mut all = process::all().map_err(on("/proc"))?;
    all.sort_unstable();
    println!("  PID  PPID STATE NAME");
    for (number, name) in all {
        let status = files::text(&format!("/proc/{number}/status")).unwrap_or_default();
        let of = |field: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':'));
            line.map(str::trim).unwrap_or("?").split(' ').next().unwrap_or("?")
        };
        println!("{number:5} {:>5} {:5} {name}", of("PPid"), of("State"));
    }
    Ok(())
}

fn uptime(words: &[&str]) -> Result<(), Failure> {
    let [] = words else { return Err(Failure::Usage) };
    let ms = time::now() / 1_000_000;
    println!("{}.{:03} s since the kernel began", ms / 1000, ms % 1000);
    Ok(())
}

fn uname(words: &[&str]) -> Result<(), Failure> {
    let [] = words else { return Err(Failure::Usage) };
    let mut about = core::mem::MaybeUninit::<new_utsname>::zeroed();
    // SAFETY: room for the answer.
    unsafe { crate::sys::call(__NR_uname, [about.as_mut_ptr() as usize, 0, 0, 0, 0, 0]) }.map_err(on("uname"))?;
    // SAFETY: zeroes are valid texts, and the call filled them.
    let about = unsafe { about.assume_init() };
    let text = |letters: &[core::ffi::c_char]| -> String {
        letters.iter().take_while(|letter| **letter != 0).map(|letter| char::from(*letter as u8)).collect()
    };
    let [system, node, release, version, machine] =
        [&about.sysname, &about.nodename, &about.release, &about.version, &about.machine].map(|field| text(field));
    println!("{system} {node} {release} {version} {machine}");
    Ok(())
}

fn dmesg(words: &[&str]) -> Result<(), Failure> {
    let [] = words else { return Err(Failure::Usage) };
    files::write_all(1, &process::kernel_log().map_err(on("the log"))?).map_err(on("the log"))
}
