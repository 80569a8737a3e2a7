//! The programs of a small Linux machine; see the library.
#![cfg_attr(target_os = "none", no_std, no_main)]

#[cfg(target_os = "none")]
node::main!(node::machine::main);

#[cfg(not(target_os = "none"))]
fn main() {
    let words: Vec<String> = std::env::args().collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    std::process::exit(node::machine::main(&words));
}
