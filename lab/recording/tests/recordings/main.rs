//! Promises of a recording, tested through the public API: no measured sample is lost, and no altered data is taken for
//! measured.

mod damage;
mod disk_full;
mod foreign;
mod formats;
mod golden;
mod hostile;
mod killed;
mod measured;
mod others;
mod round_trip;
mod support;
