//! What a recording promises, through the public API: nothing measured is lost, nothing changed is taken for measured.

mod damage;
mod disk_full;
mod foreign;
mod formats;
mod golden;
mod hostile;
mod killed;
mod measured;
mod round_trip;
mod support;
