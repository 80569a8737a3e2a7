//! Small boards: a kernel built from sources for one, and the flash that it starts from.
//!
//! A board is a folder with `board.toml`. [`Board`] is what stands in it, [`build`] makes the kernel, which is kept, and [`Flash`] puts
//! kernel, device tree and first files where the board looks for them. [`functions`] is for who follows what the kernel does.

mod build;
mod description;
mod files;
mod flash;
mod source;
mod symbols;
mod tree;

pub use build::{Built, Kernels, build, kept};
pub use description::Board;
pub use files::{FirstFiles, one_more};
pub use flash::Flash;
pub use source::Source;
pub use symbols::{entry, functions};
