//! The command, the monitors and guests, as a user has them: guests are built by `unikernel build` and run by `unikernel run`.

mod disks;
mod guests;
mod kills;
mod rules;
mod support;
