//! The steps of a plan, done one after the other.

use std::io;

use crate::plan::{Plan, Step};
use crate::system::{Ending, System};

/// Does what `plan` says. The caller ends the machine.
pub fn run(plan: &Plan, system: &mut impl System) -> Ending {
    let mut ending = Ending::None;
    for step in &plan.0 {
        let done = match step {
            Step::Run { program, arguments } => match system.run(program, arguments) {
                Ok(ended) => {
                    ending = ended;
                    Ok(())
                }
                Err(e) => {
                    ending = Ending::None;
                    Err(e)
                }
            },
            other => prepare(other, system),
        };
        if let Err(e) = done {
            system.say(&format!("could not {step}: {e}"));
        }
    }
    ending
}

fn prepare(step: &Step, system: &mut impl System) -> io::Result<()> {
    match step {
        Step::Mount { kind, source, target } => {
            system.folder(target)?;
            system.mount(kind, source, target)
        }
        Step::Module { file } => system.module(file),
        Step::Up { interface } => system.up(interface),
        Step::Address { interface, address, bits } => {
            system.address(interface, *address, *bits)?;
            system.up(interface)
        }
        Step::Name { name } => system.name(name),
        Step::Output { file } => system.output(file),
        Step::Run { .. } => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    /// Writes down what is asked of the kernel. What stands in `fails` it cannot do.
    #[derive(Default)]
    struct Trace {
        calls: Vec<String>,
        fails: Vec<&'static str>,
    }

    impl Trace {
        fn call(&mut self, call: String) -> io::Result<()> {
            let fails = self.fails.contains(&call.as_str());
            self.calls.push(call);
            if fails { Err(io::Error::from_raw_os_error(libc::ENOENT)) } else { Ok(()) }
        }
    }

    impl System for Trace {
        fn folder(&mut self, path: &str) -> io::Result<()> {
            self.call(format!("mkdir {path}"))
        }
        fn mount(&mut self, kind: &str, source: &str, target: &str) -> io::Result<()> {
            self.call(format!("mount {kind} {source} {target}"))
        }
        fn module(&mut self, file: &str) -> io::Result<()> {
            self.call(format!("finit_module {file}"))
        }
        fn up(&mut self, interface: &str) -> io::Result<()> {
            self.call(format!("SIOCSIFFLAGS {interface}"))
        }
        fn address(&mut self, interface: &str, address: Ipv4Addr, bits: u8) -> io::Result<()> {
            self.call(format!("SIOCSIFADDR {interface} {address}/{bits}"))
        }
        fn name(&mut self, name: &str) -> io::Result<()> {
            self.call(format!("sethostname {name}"))
        }
        fn output(&mut self, file: &str) -> io::Result<()> {
            self.call(format!("open {file}"))
        }
        fn run(&mut self, program: &str, arguments: &[String]) -> io::Result<Ending> {
            self.call(format!("exec {program} {}", arguments.join(" "))).map(|()| Ending::Status(3))
        }
        fn say(&mut self, sentence: &str) {
            self.calls.push(format!("say {sentence}"));
        }
    }

    const PLAN: &str = "mount proc proc /proc\nmodule /m.ko\naddress eth0 10.0.2.15/24\nup lo\nname n\noutput /dev/hvc0\nrun /bin/probe guest\n";

    fn traced(fails: &[&'static str]) -> (Ending, Vec<String>) {
        let mut trace = Trace { fails: fails.to_vec(), ..Trace::default() };
        let ending = run(&Plan::parse(PLAN).expect("a plan"), &mut trace);
        (ending, trace.calls)
    }

    #[test]
    fn the_steps_are_done_in_their_order() {
        let expected = [
            "mkdir /proc",
            "mount proc proc /proc",
            "finit_module /m.ko",
            "SIOCSIFADDR eth0 10.0.2.15/24",
            "SIOCSIFFLAGS eth0",
            "SIOCSIFFLAGS lo",
            "sethostname n",
            "open /dev/hvc0",
            "exec /bin/probe guest",
        ];
        assert_eq!(traced(&[]), (Ending::Status(3), expected.map(str::to_owned).to_vec()));
    }

    #[test]
    fn a_step_that_fails_is_told_and_the_next_is_done() {
        let (ending, calls) = traced(&["finit_module /m.ko", "SIOCSIFADDR eth0 10.0.2.15/24"]);
        let told = calls.iter().filter(|call| call.starts_with("say could not ")).count();
        assert_eq!((ending, told), (Ending::Status(3), 2), "{calls:?}");
        assert!(calls.contains(&"exec /bin/probe guest".to_owned()));
        assert!(!calls.contains(&"SIOCSIFFLAGS eth0".to_owned()), "it has no address");
    }

    #[test]
    fn without_its_program_the_machine_has_no_status() {
        let (ending, calls) = traced(&["exec /bin/probe guest"]);
        assert_eq!(ending, Ending::None);
        assert!(calls.last().is_some_and(|call| call.starts_with("say could not run /bin/probe guest: ")));
    }
}
