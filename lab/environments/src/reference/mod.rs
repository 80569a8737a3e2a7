//! Tools of the field as environments: each does the workload with the same parameters. The output of a tool becomes
//! samples, so that the tool stands in the same tables and comparisons as the other environments.
//!
//! A tool is one file that fills in a [`Tool`](tool::Tool). Its output is foreign: output in an unknown form is a failed trial,
//! whose reason quotes the output.

mod cyclictest;
mod fio;
mod hackbench;
mod iperf3;
mod nuttcp;
mod perf;
mod server;
mod tool;

pub use cyclictest::CYCLICTEST;
pub use fio::FIO;
pub use hackbench::HACKBENCH;
pub use iperf3::IPERF3;
pub use nuttcp::NUTTCP;
pub use perf::PERF;
