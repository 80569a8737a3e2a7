//! The commands, one file each, with the arguments of the command and its work. `build` has a folder beside this one, because
//! other commands begin with a build.

pub(crate) mod add;
pub(crate) mod console;
pub(crate) mod doc;
pub(crate) mod info;
pub(crate) mod new;
pub(crate) mod release;
pub(crate) mod run;
mod templates;
pub(crate) mod test;
pub(crate) mod upgrade;
