// Linker scripts for the programs in this folder. The build scripts include this file.

/// Tells the linker where each program lies in its board's memory.
fn place(prefix: &str, models: &[&str]) {
    println!("cargo:rerun-if-changed=../place.rs");
    let out = std::env::var("OUT_DIR").expect("cargo sets it");
    for (port, feature) in [("m33", "M33"), ("a9", "A9"), ("rp2040", "RP2040")] {
        if std::env::var_os(format!("CARGO_FEATURE_{feature}")).is_none() {
            continue;
        }
        for model in models {
            let path = format!("{out}/{model}-{port}.x");
            std::fs::write(&path, script(port, model)).expect("cargo's folder can be written");
            println!("cargo:rustc-link-arg-bin={prefix}{model}-{port}=-T{path}");
        }
    }
}

/// The same for one program alone.
#[allow(dead_code)]
fn place_one(program: &str, port: &str, model: &str) {
    let out = std::env::var("OUT_DIR").expect("cargo sets it");
    let path = format!("{out}/{program}.x");
    std::fs::write(&path, script(port, model)).expect("cargo's folder can be written");
    println!("cargo:rustc-link-arg=-T{path}");
}

/// The board's memory, and the rest of the script, which its port has.
fn script(port: &str, model: &str) -> String {
    let memory = match (port, model) {
        // All in one memory, which the port's script names.
        ("a9", _) => return "INCLUDE cortex-a9.x\n".to_string(),
        ("rp2040", _) => "FLASH : ORIGIN = 0x10000000, LENGTH = 2M  RAM : ORIGIN = 0x20000000, LENGTH = 256K",
        // MPS2 AN505, and Musca-B1.
        (_, "uni") => "FLASH : ORIGIN = 0x10000000, LENGTH = 4M  RAM : ORIGIN = 0x38000000, LENGTH = 512K",
        _ => "FLASH : ORIGIN = 0x10000000, LENGTH = 4M  RAM : ORIGIN = 0x30000000, LENGTH = 128K",
    };
    format!("MEMORY {{ {memory} }}\nINCLUDE m-profile.x\n")
}
