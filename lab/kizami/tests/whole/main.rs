//! The whole program, as its user has it: real runs, and everything that can go wrong in one.
//!
//! Each test has a folder of its own and the machine to itself, because it measures for real. No test judges a time;
//! limits exist only so that a program that hangs becomes a failure. Tests that need root or a tool write their names
//! to the file `$KIZAMI_SKIPPED` when they cannot run.

mod containers;
mod crash;
mod damage;
mod decisions;
mod disk;
mod ext4;
mod figures;
mod foreign;
mod happy;
mod harness;
mod hostile;
mod interrupt;
mod machines;
mod namespace;
mod node;
mod rights;
mod starts;
mod statements;
mod turns;
mod unikernels;
mod usage;
mod xen;
mod xen_here;
