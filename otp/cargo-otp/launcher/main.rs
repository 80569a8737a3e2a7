//! Starts a release.
fn main() {}
