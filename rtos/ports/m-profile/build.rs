//! The linker's search path, so that a program's own linker script can include `m-profile.x` after its board's memory.

fn main() {
    println!("cargo:rerun-if-changed=m-profile.x");
    println!("cargo:rustc-link-search={}", env!("CARGO_MANIFEST_DIR"));
}
