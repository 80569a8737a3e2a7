//! Where each program lies in its board's memory.

fn main() {
    let out = std::env::var("OUT_DIR").unwrap();
    for (board, ram, length) in
        [("scenarios-uni-m33", "0x38000000", "512K"), ("scenarios-multi-m33", "0x30000000", "128K")]
    {
        let script = format!(
            "MEMORY {{ FLASH : ORIGIN = 0x10000000, LENGTH = 512K  RAM : ORIGIN = {ram}, LENGTH = {length} }}\n{}",
            include_str!("../../cortex-m33/link.x")
        );
        let path = format!("{out}/{board}.x");
        std::fs::write(&path, script).unwrap();
        println!("cargo:rustc-link-arg-bin={board}=-T{path}");
    }
}
