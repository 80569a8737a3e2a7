//! What the first process does, as a text: one step a line, in order.
//!
//! ```text
//! # comment
//! mount devtmpfs dev /dev
//! module /lib/modules/00-virtio.ko
//! up lo
//! address eth0 10.0.2.15/24
//! name node-1
//! output /dev/ttyS0
//! run /bin/probe guest
//! ```
//!
//! Who makes an image writes it ([`Plan`] as text), and the process reads it from [`PATH`]. Words are divided by blanks; there is no quoting.

use std::fmt;
use std::net::Ipv4Addr;

/// Where the process finds it in an image.
pub const PATH: &str = "/etc/init.plan";

/// One step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// A file system of this type, from `source`, at `target`, a folder that is made when it is not there.
    Mount { kind: String, source: String, target: String },
    /// Loads the kernel module in a file.
    Module { file: String },
    /// Makes a network interface work.
    Up { interface: String },
    /// Gives it an address, and makes it work.
    Address { interface: String, address: Ipv4Addr, bits: u8 },
    /// The name of the machine.
    Name { name: String },
    /// From here on programs write there; before, they write to the console.
    Output { file: String },
    /// Runs a program to its end. The status of the last one is that of the machine.
    Run { program: String, arguments: Vec<String> },
}

/// The steps, in their order.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Plan(pub Vec<Step>);

/// A line that is no step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoStep {
    /// Counted from one.
    pub line: usize,
    pub why: String,
}

impl fmt::Display for NoStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.why)
    }
}

impl std::error::Error for NoStep {}

impl Plan {
    /// # Errors
    /// The first line that is no step.
    pub fn parse(text: &str) -> Result<Self, NoStep> {
        let mut steps = Vec::new();
        for (number, line) in (1..).zip(text.lines()) {
            let words: Vec<&str> = line.split_whitespace().collect();
            if words.first().is_some_and(|word| !word.starts_with('#')) {
                steps.push(Step::parse(&words).map_err(|why| NoStep { line: number, why })?);
            }
        }
        Ok(Self(steps))
    }
}

impl Step {
    fn parse(words: &[&str]) -> Result<Self, String> {
        let text = |word: &&str| (*word).to_owned();
        match words {
            ["mount", kind, source, target] => {
                Ok(Self::Mount { kind: text(kind), source: text(source), target: text(target) })
            }
            ["module", file] => Ok(Self::Module { file: text(file) }),
            ["up", interface] => Ok(Self::Up { interface: text(interface) }),
            ["address", interface, address] => {
                let wrong = || format!("{address:?} is no address with its bits, such as 10.0.2.15/24");
                let (number, bits) = address.split_once('/').ok_or_else(wrong)?;
                let bits = bits.parse().ok().filter(|bits| *bits <= 32).ok_or_else(wrong)?;
                Ok(Self::Address { interface: text(interface), address: number.parse().map_err(|_| wrong())?, bits })
            }
            ["name", name] => Ok(Self::Name { name: text(name) }),
            ["output", file] => Ok(Self::Output { file: text(file) }),
            ["run", program, arguments @ ..] => {
                Ok(Self::Run { program: text(program), arguments: arguments.iter().map(text).collect() })
            }
            [word, ..] => Err(format!(
                "{word:?} with {} words behind it is no step: there are mount TYPE SOURCE FOLDER, module FILE, up INTERFACE, \
                 address INTERFACE ADDRESS/BITS, name NAME, output FILE and run PROGRAM ARGUMENTS",
                words.len() - 1
            )),
            [] => Err("nothing".to_owned()),
        }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mount { kind, source, target } => write!(f, "mount {kind} {source} {target}"),
            Self::Module { file } => write!(f, "module {file}"),
            Self::Up { interface } => write!(f, "up {interface}"),
            Self::Address { interface, address, bits } => write!(f, "address {interface} {address}/{bits}"),
            Self::Name { name } => write!(f, "name {name}"),
            Self::Output { file } => write!(f, "output {file}"),
            Self::Run { program, arguments } => {
                write!(f, "run {program}")?;
                arguments.iter().try_for_each(|argument| write!(f, " {argument}"))
            }
        }
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|step| writeln!(f, "{step}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "mount devtmpfs dev /dev\nmodule /lib/modules/00-virtio.ko\nup lo\naddress eth0 10.0.2.15/24\n\
                        name node-1\noutput /dev/ttyS0\nrun /bin/probe guest --quiet\nrun /bin/true\n";

    #[test]
    fn a_plan_is_read_as_it_was_written() {
        let plan = Plan::parse(TEXT).expect("a plan");
        assert_eq!(plan.0.len(), 8);
        assert_eq!(plan.to_string(), TEXT);
        let commented = Plan::parse(&format!("# first\n\n  # second\n{}", TEXT.replace(' ', "   "))).expect("a plan");
        assert_eq!(commented, plan);
    }

    #[test]
    fn a_line_that_is_no_step_is_told_with_its_number() {
        for (text, line, said) in [
            ("up lo\nmount proc /proc", 2, "no step"),
            ("run", 1, "no step"),
            ("\n\nfly away", 3, "\"fly\""),
            ("address eth0 10.0.2.15", 1, "with its bits"),
            ("address eth0 10.0.2.15/33", 1, "with its bits"),
            ("address eth0 10.0.2/24", 1, "with its bits"),
        ] {
            let wrong = Plan::parse(text).expect_err(text);
            assert!(wrong.line == line && wrong.why.contains(said), "{wrong}");
        }
    }
}
