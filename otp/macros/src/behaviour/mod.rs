//! The shared part of the attributes `gen_server`, `gen_statem` and `gen_event`: a block of callbacks, read into a model.

mod api;
mod method;
mod model;
mod problems;
mod text;

pub(crate) use api::{api, arm, asked, carried, description, show, shown};
pub(crate) use method::{Method, Role, Scheduler, role};
pub(crate) use model::{Model, Shape, expand, module_given};
pub(crate) use problems::Problems;
#[cfg(test)]
pub(crate) use problems::said;
pub(crate) use text::{arguments, described, module, names, plain, snake, split, there_are};
