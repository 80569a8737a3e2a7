//! Passes the build profile to the probe as an environment variable: the profile belongs to the figures, and cargo
//! provides it only to build scripts.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // target/PROFILE/build/PACKAGE/out
    let out = std::env::var("OUT_DIR").unwrap_or_default();
    let profile = std::path::Path::new(&out).ancestors().nth(3).and_then(|path| path.file_name());
    let profile = profile.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    println!("cargo::rustc-env=KIZAMI_PROFILE={profile}");
}
