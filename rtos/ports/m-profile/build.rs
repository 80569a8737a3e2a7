//! Lets the linker find `m-profile.x`, which a program's own script includes behind its board's memory.

fn main() {
    println!("cargo:rerun-if-changed=m-profile.x");
    println!("cargo:rustc-link-search={}", env!("CARGO_MANIFEST_DIR"));
}
