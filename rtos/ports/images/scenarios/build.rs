//! Where each program lies in its board's memory.

fn main() {
    let out = std::env::var("OUT_DIR").expect("cargo sets it");
    let place = |program: &str, script: String| {
        let path = format!("{out}/{program}.x");
        std::fs::write(&path, script).expect("cargo's folder can be written");
        println!("cargo:rustc-link-arg-bin=scenarios-{program}=-T{path}");
    };
    println!("cargo:rerun-if-changed=build.rs");
    if std::env::var_os("CARGO_FEATURE_M33").is_some() {
        for (program, ram, length) in [("uni-m33", "0x38000000", "512K"), ("multi-m33", "0x30000000", "128K")] {
            let script = include_str!("../../cortex-m33/link.x");
            place(
                program,
                format!(
                    "MEMORY {{ FLASH : ORIGIN = 0x10000000, LENGTH = 512K  RAM : ORIGIN = {ram}, LENGTH = {length} }}\n{script}"
                ),
            );
        }
    }
    if std::env::var_os("CARGO_FEATURE_A9").is_some() {
        for program in ["uni-a9", "multi-a9"] {
            place(program, include_str!("../../cortex-a9/link.x").to_string());
        }
    }
    if std::env::var_os("CARGO_FEATURE_RP2040").is_some() {
        for program in ["uni-rp2040", "multi-rp2040"] {
            let script = include_str!("../../rp2040/link.x");
            let memory = "FLASH : ORIGIN = 0x10000000, LENGTH = 2M  RAM : ORIGIN = 0x20000000, LENGTH = 256K";
            place(program, format!("MEMORY {{ {memory} }}\n{script}"));
        }
    }
}
