//! The filter of system calls: which the guest may make, and with what arguments.
//!
//! It is a program of the kernel's classic BPF, which sees the number of the call and its arguments, 32 bits at a time. That a request
//! lies within its disk is computed here: the offset plus the length, with the carry.

use unikernel_abi::{Device, Durability};

use crate::bpf::*;

/// The filter of a guest with these devices, or with these two events: one to be told and one to be waited for. What it does not let through
/// is not done: the process is told by a signal, whose handler ends it.
pub(super) fn of(devices: &[Device], events: Option<(u32, u32)>) -> Vec<Instruction> {
    let mut asm = Assembler::default();
    let (allow, refuse, kill) = (asm.label(), asm.label(), asm.label());
    asm.push(LOAD, ARCHITECTURE);
    asm.go_unless(IF_EQUAL, AUDIT_ARCH_X86_64, kill);
    asm.push(LOAD, NUMBER);
    let [read, write, flush, console, wait] = [(); 5].map(|()| asm.label());
    let calls = [
        (libc::SYS_pread64, read),
        (libc::SYS_pwrite64, write),
        (libc::SYS_fdatasync, flush),
        (libc::SYS_write, console),
        (libc::SYS_read, wait),
        (libc::SYS_clock_gettime, allow),
        (libc::SYS_exit_group, allow),
    ];
    for (number, to) in calls {
        asm.go_if(IF_EQUAL, number as u32, to);
    }
    asm.go(refuse);

    asm.here(console);
    asm.push(LOAD, low(0));
    asm.go_if(IF_EQUAL, 1, allow);
    asm.go_if(IF_EQUAL, 2, allow);
    if let Some((tell, _)) = events {
        asm.go_if(IF_EQUAL, tell, allow);
    }
    asm.go(refuse);

    asm.here(wait);
    asm.push(LOAD, low(0));
    if let Some((_, wait)) = events {
        asm.go_if(IF_EQUAL, wait, allow);
    }
    asm.go(refuse);

    asm.here(flush);
    asm.push(LOAD, low(0));
    for device in devices.iter().filter(|device| device.durability == Durability::Writeback as u32) {
        asm.go_if(IF_EQUAL, device.handle, allow);
    }
    asm.go(refuse);

    let bounds: Vec<Label> = devices.iter().map(|_| asm.label()).collect();
    for (call, writes) in [(read, false), (write, true)] {
        asm.here(call);
        asm.push(LOAD, low(0));
        for (device, bound) in devices.iter().zip(&bounds).filter(|(device, _)| !writes || device.read_only == 0) {
            asm.go_if(IF_EQUAL, device.handle, *bound);
            if writes && device.durable_handle != device.handle {
                asm.go_if(IF_EQUAL, device.durable_handle, *bound);
            }
        }
        asm.go(refuse);
    }
    for (device, bound) in devices.iter().zip(bounds) {
        asm.here(bound);
        within(&mut asm, device, allow, refuse);
    }

    asm.here(allow);
    asm.push(RETURN, libc::SECCOMP_RET_ALLOW);
    asm.here(refuse);
    asm.push(RETURN, libc::SECCOMP_RET_TRAP);
    asm.here(kill);
    asm.push(RETURN, libc::SECCOMP_RET_KILL_PROCESS);
    asm.finish()
}

/// Whether a request (length: the third argument, offset: the fourth) lies within a device.
fn within(asm: &mut Assembler, device: &Device, allow: Label, refuse: Label) {
    let end = device.blocks * u64::from(device.block_size);
    let (end_high, end_low) = ((end >> 32) as u32, end as u32);
    let (no_carry, compare) = (asm.label(), asm.label());
    asm.push(LOAD, high(2));
    asm.go_unless(IF_EQUAL, 0, refuse);
    asm.push(LOAD, low(2));
    asm.go_if(IF_ABOVE, device.most_bytes as u32, refuse);
    // The lower half of the end of the request, and whether it is carried over.
    asm.push(STORE, 0);
    asm.push(LOAD_X_STORED, 0);
    asm.push(LOAD, low(3));
    asm.push(ADD_X, 0);
    asm.push(STORE, 1);
    asm.go_if(IF_NOT_BELOW_X, 0, no_carry);
    asm.push(LOAD, high(3));
    // One that would wrap is as far from any end as it can be.
    asm.go_if(IF_EQUAL, u32::MAX, refuse);
    asm.push(ADD, 1);
    asm.go(compare);
    asm.here(no_carry);
    asm.push(LOAD, high(3));
    asm.here(compare);
    asm.go_if(IF_ABOVE, end_high, refuse);
    asm.go_unless(IF_EQUAL, end_high, allow);
    asm.push(LOAD_STORED, 1);
    asm.go_if(IF_ABOVE, end_low, refuse);
    asm.go(allow);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The kernel's machine, for the instructions that are used here.
    fn run(program: &[Instruction], call: i64, arguments: [u64; 6]) -> u32 {
        let mut data = [0u8; 64];
        data[..4].copy_from_slice(&(call as u32).to_le_bytes());
        data[4..8].copy_from_slice(&AUDIT_ARCH_X86_64.to_le_bytes());
        for (n, argument) in arguments.iter().enumerate() {
            data[16 + 8 * n..24 + 8 * n].copy_from_slice(&argument.to_le_bytes());
        }
        let (mut a, mut x, mut memory, mut at) = (0u32, 0u32, [0u32; 16], 0);
        loop {
            let Instruction { code, jt, jf, k } = program[at];
            at += 1;
            let jump = |condition: bool| usize::from(if condition { jt } else { jf });
            match code {
                LOAD => a = u32::from_le_bytes(data[k as usize..k as usize + 4].try_into().unwrap()),
                STORE => memory[k as usize] = a,
                LOAD_STORED => a = memory[k as usize],
                LOAD_X_STORED => x = memory[k as usize],
                ADD_X => a = a.wrapping_add(x),
                ADD => a = a.wrapping_add(k),
                GO => at += k as usize,
                IF_EQUAL => at += jump(a == k),
                IF_ABOVE => at += jump(a > k),
                IF_NOT_BELOW_X => at += jump(a >= x),
                RETURN => return k,
                _ => unreachable!("{code}"),
            }
        }
    }

    fn device(handle: u32, bytes: u64, read_only: bool, durability: Durability) -> Device {
        Device {
            name: [0; 24],
            handle,
            durable_handle: handle + 1,
            durability: durability as u32,
            block_size: 512,
            read_only: read_only.into(),
            alignment: 1,
            blocks: bytes / 512,
            most_bytes: 1 << 30,
            rings: 0,
            poll_ns: 0,
        }
    }

    #[test]
    fn a_request_is_let_through_if_it_lies_within_its_device() {
        let sizes = [512, 4096, (1 << 32) - 512, 1 << 32, (1 << 32) + 512, 5 << 32, 1 << 45, (1 << 45) + 1024];
        for bytes in sizes {
            let filter = of(&[device(7, bytes, false, Durability::Writeback)], None);
            let around = |place: u64| (0..5).map(move |n| place.wrapping_add(n).wrapping_sub(2));
            let places = [0, 512, 1 << 30, (1 << 32) - 512, 1 << 32, bytes - 512, bytes, bytes / 2, u64::MAX];
            for offset in places.into_iter().flat_map(around) {
                for len in [0, 1, 512, 1 << 30, 1 << 32, u64::MAX, bytes, bytes.wrapping_sub(offset)]
                    .into_iter()
                    .flat_map(around)
                {
                    let fits = len <= 1 << 30 && offset.checked_add(len).is_some_and(|end| end <= bytes);
                    for call in [libc::SYS_pread64, libc::SYS_pwrite64] {
                        let verdict = run(&filter, call, [7, 0x10_0000, len, offset, 0, 0]);
                        let expected = if fits { libc::SECCOMP_RET_ALLOW } else { libc::SECCOMP_RET_TRAP };
                        assert_eq!(verdict, expected, "{len} at {offset} of {bytes}");
                    }
                }
            }
        }
    }

    #[test]
    fn each_device_is_what_it_was_given_as() {
        let filter = of(
            &[
                device(3, 4096, false, Durability::Writeback),
                device(5, 8192, true, Durability::Writeback),
                device(9, 4096, false, Durability::Unsafe),
            ],
            None,
        );
        let allowed =
            |call, handle, offset| run(&filter, call, [handle, 0, 512, offset, 0, 0]) == libc::SECCOMP_RET_ALLOW;
        let (read, write, flush) = (libc::SYS_pread64, libc::SYS_pwrite64, libc::SYS_fdatasync);
        assert!([3, 5, 9].iter().all(|handle| allowed(read, *handle, 0)));
        assert!([3, 4, 9, 10].iter().all(|handle| allowed(write, *handle, 0)));
        assert!(![0, 1, 2, 5, 6, 7, 8, 11].iter().any(|handle| allowed(write, *handle, 0)));
        assert!(allowed(read, 5, 7680) && !allowed(read, 3, 7680) && !allowed(read, 4, 0));
        assert!([3, 5].iter().all(|handle| allowed(flush, *handle, 0)));
        assert!(![0, 4, 9, 10].iter().any(|handle| allowed(flush, *handle, 0)));
        // The kernel looks at the lower half of a descriptor only.
        assert!(allowed(write, 1 << 32 | 3, 0));
    }

    #[test]
    fn every_other_call_is_refused() {
        let filter = of(&[device(3, 4096, false, Durability::Writeback)], None);
        let allowed: Vec<i64> =
            (0..1024).filter(|call| run(&filter, *call, [1, 0, 0, 0, 0, 0]) == libc::SECCOMP_RET_ALLOW).collect();
        assert_eq!(allowed, [libc::SYS_write, libc::SYS_clock_gettime, libc::SYS_exit_group]);
        let sixteen: Vec<_> = (0..16).map(|n| device(3 + 2 * n, 1 << 40, false, Durability::Writeback)).collect();
        assert!(of(&sixteen, None).len() < 1000);
        let filter = of(&[], Some((5, 6)));
        let allowed = |call, file| run(&filter, call, [file, 0, 8, 0, 0, 0]) == libc::SECCOMP_RET_ALLOW;
        assert!((0..10).all(|file| allowed(libc::SYS_write, file) == [1, 2, 5].contains(&file)));
        assert!((0..10).all(|file| allowed(libc::SYS_read, file) == (file == 6)));
    }
}
