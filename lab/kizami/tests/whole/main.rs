//! The whole program, as its user has it: real runs, and everything that can go wrong with one.
//!
//! Each test has a folder of its own and the machine to itself, because it measures for real. None of them judges a time;
//! limits are only there so that a program that hangs becomes a failure. Tests that need root or a tool name themselves
//! in the file `$KIZAMI_SKIPPED` when they cannot run.

mod crash;
mod damage;
mod disk;
mod happy;
mod harness;
mod interrupt;
mod namespace;
mod rights;
mod turns;
mod usage;
