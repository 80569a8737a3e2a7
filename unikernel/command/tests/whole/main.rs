//! The command, the monitors and guests, as a user has them: guests are built by `unikernel build` and run by `unikernel run`.

mod cuts;
mod disks;
mod guests;
mod kills;
mod machines;
mod rules;
mod support;
mod syncs;
