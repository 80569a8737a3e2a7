//! Linker scripts: where each program lies in its board's memory.

include!("../place.rs");

fn main() {
    place("scenarios-", &["uni", "multi"]);
    place("overflow-", &["uni", "multi"]);
    place("overflow-handler-", &["uni", "multi"]);
}
