//! The linker script: where the program lies in the board's memory.

fn main() {
    println!("cargo:rerun-if-changed=board.x");
    println!("cargo:rustc-link-arg=-T{}/board.x", std::env::var("CARGO_MANIFEST_DIR").expect("cargo sets it"));
}
