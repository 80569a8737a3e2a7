//! Small bootable Linux images: from a kernel package of Debian and static programs, or, for a small board, with a kernel built from
//! sources.

pub mod board;
pub mod cpio;
mod error;
mod image;
mod kernel;
mod libraries;
mod modules;
mod package;
mod recipe;

pub use error::Error;
pub use image::{Initramfs, Pack, Recipe, Size};
pub use init::{Plan, Step};
pub use kernel::Kernel;
pub use libraries::Root;
pub use modules::{Module, Modules};
pub use package::unpack;
