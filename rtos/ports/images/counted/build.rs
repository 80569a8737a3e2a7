//! Linker scripts: where each program lies in its board's memory.

include!("../place.rs");

fn main() {
    place("", &["uni", "multi", "multi1", "nolocks", "noids", "neither"]);
}
