//! What the lab and a probe without a standard library say to each other: the probe is told words, `name=value`, with numbers as such;
//! it reports one JSON object a line, as every probe does.
#![cfg_attr(not(test), no_std)]

extern crate alloc;

mod arguments;
pub mod report;

pub use arguments::Arguments;
