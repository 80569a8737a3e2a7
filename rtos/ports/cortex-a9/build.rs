//! Lets the linker find `cortex-a9.x`, which a program includes.

fn main() {
    println!("cargo:rerun-if-changed=cortex-a9.x");
    println!("cargo:rustc-link-search={}", env!("CARGO_MANIFEST_DIR"));
}
