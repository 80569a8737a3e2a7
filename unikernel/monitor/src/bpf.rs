//! Filters of system calls: programs of the kernel's classic BPF, which see the number of a call and its arguments, 32 bits at a time.

use std::collections::HashMap;
use std::io;

/// What the kernel reads of an instruction.
pub(crate) type Instruction = libc::sock_filter;

/// Offsets in `struct seccomp_data`.
pub(crate) const NUMBER: u32 = 0;
pub(crate) const ARCHITECTURE: u32 = 4;
pub(crate) const fn low(argument: u32) -> u32 {
    16 + 8 * argument
}
pub(crate) const fn high(argument: u32) -> u32 {
    low(argument) + 4
}

pub(crate) const AUDIT_ARCH_X86_64: u32 = 0xc000_003e;

pub(crate) const LOAD: u16 = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
pub(crate) const STORE: u16 = libc::BPF_ST as u16;
pub(crate) const LOAD_STORED: u16 = (libc::BPF_LD | libc::BPF_W | libc::BPF_MEM) as u16;
pub(crate) const LOAD_X_STORED: u16 = (libc::BPF_LDX | libc::BPF_W | libc::BPF_MEM) as u16;
pub(crate) const ADD_X: u16 = (libc::BPF_ALU | libc::BPF_ADD | libc::BPF_X) as u16;
pub(crate) const ADD: u16 = (libc::BPF_ALU | libc::BPF_ADD | libc::BPF_K) as u16;
pub(crate) const GO: u16 = (libc::BPF_JMP | libc::BPF_JA) as u16;
pub(crate) const IF_EQUAL: u16 = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
pub(crate) const IF_ABOVE: u16 = (libc::BPF_JMP | libc::BPF_JGT | libc::BPF_K) as u16;
pub(crate) const IF_NOT_BELOW_X: u16 = (libc::BPF_JMP | libc::BPF_JGE | libc::BPF_X) as u16;
pub(crate) const RETURN: u16 = (libc::BPF_RET | libc::BPF_K) as u16;

/// A place in the program that is not known yet.
pub(crate) type Label = u32;

/// A program while it is written. Jumps that are taken go to labels, through a jump of their own that reaches any distance.
#[derive(Default)]
pub(crate) struct Assembler {
    out: Vec<Instruction>,
    labels: HashMap<Label, usize>,
    jumps: Vec<(usize, Label)>,
    next: Label,
}

impl Assembler {
    pub fn label(&mut self) -> Label {
        self.next += 1;
        self.next
    }

    pub fn here(&mut self, label: Label) {
        self.labels.insert(label, self.out.len());
    }

    pub fn push(&mut self, code: u16, k: u32) {
        self.out.push(Instruction { code, jt: 0, jf: 0, k });
    }

    pub fn go(&mut self, to: Label) {
        self.jumps.push((self.out.len(), to));
        self.push(GO, 0);
    }

    /// Goes there if the condition holds, and on if not.
    pub fn go_if(&mut self, condition: u16, k: u32, to: Label) {
        self.out.push(Instruction { code: condition, jt: 0, jf: 1, k });
        self.go(to);
    }

    /// Goes there if the condition does not hold, and on if it does.
    pub fn go_unless(&mut self, condition: u16, k: u32, to: Label) {
        self.out.push(Instruction { code: condition, jt: 1, jf: 0, k });
        self.go(to);
    }

    pub fn finish(mut self) -> Vec<Instruction> {
        for (at, label) in self.jumps {
            self.out[at].k = (self.labels[&label] - at - 1) as u32;
        }
        self.out
    }
}

/// A call that may be made: with any arguments, or if the lower half of one of them is one of these.
pub(crate) struct Rule {
    pub call: i64,
    pub only: Option<(u32, Vec<u32>)>,
}

impl Rule {
    pub fn any(call: i64) -> Self {
        Self { call, only: None }
    }

    pub fn only(call: i64, argument: u32, values: impl IntoIterator<Item = u32>) -> Self {
        Self { call, only: Some((argument, values.into_iter().collect())) }
    }
}

/// A filter that lets these calls through; of others the caller is told that it may not.
pub(crate) fn of_rules(rules: &[Rule]) -> Vec<Instruction> {
    let mut asm = Assembler::default();
    let (allow, refuse) = (asm.label(), asm.label());
    asm.push(LOAD, ARCHITECTURE);
    asm.go_unless(IF_EQUAL, AUDIT_ARCH_X86_64, refuse);
    asm.push(LOAD, NUMBER);
    for Rule { call, only } in rules {
        let Some((argument, values)) = only else {
            asm.go_if(IF_EQUAL, *call as u32, allow);
            continue;
        };
        let next = asm.label();
        asm.go_unless(IF_EQUAL, *call as u32, next);
        asm.push(LOAD, low(*argument));
        values.iter().for_each(|value| asm.go_if(IF_EQUAL, *value, allow));
        asm.go(refuse);
        asm.here(next);
    }
    asm.here(refuse);
    asm.push(RETURN, libc::SECCOMP_RET_ERRNO | libc::EPERM as u32);
    asm.here(allow);
    asm.push(RETURN, libc::SECCOMP_RET_ALLOW);
    asm.finish()
}

/// Sets a filter for this thread, which cannot be taken away.
pub(crate) fn install(filter: &[Instruction]) -> io::Result<()> {
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_ptr().cast_mut() };
    // SAFETY: the kernel copies the program, which is there for the call.
    let done = unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
            && libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, 0, &raw const program) == 0
    };
    if done { Ok(()) } else { Err(io::Error::last_os_error()) }
}
