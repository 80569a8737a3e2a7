//! The linker's search path, so that a program can include `cortex-a9.x`.

fn main() {
    println!("cargo:rerun-if-changed=cortex-a9.x");
    println!("cargo:rustc-link-search={}", env!("CARGO_MANIFEST_DIR"));
}
