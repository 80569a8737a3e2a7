//! The name of the native module, which is that of the library's file, and the modules named after it.

use std::sync::OnceLock;

static NAME: OnceLock<String> = OnceLock::new();

/// Notes the name, and gives that which was noted first.
pub(crate) fn is_called(name: &str) -> &'static str {
    NAME.get_or_init(|| name.to_owned())
}

/// The name.
pub(crate) fn own() -> &'static str {
    NAME.get().map_or("", String::as_str)
}

/// The name of the module `what` of the Erlang half, of this build.
pub(crate) fn part(what: &str) -> String {
    format!("{}_{what}", own())
}
