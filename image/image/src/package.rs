//! Packages of Debian, unpacked and not installed: none of their scripts runs, and nothing of the system changes.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::error::Error;

/// Unpacks a package (`.deb`) into `folder`, which is made; what was unpacked there before stays.
///
/// # Errors
/// When dpkg-deb does not unpack it.
pub fn unpack(package: &Path, folder: &Path) -> Result<(), Error> {
    let failed = |why: String| Error::Tool { name: "dpkg-deb".into(), package: "dpkg".into(), why };
    fs::create_dir_all(folder).map_err(Error::io("make the folder", folder))?;
    let mut command = Command::new("dpkg-deb");
    command.arg("--extract").arg(package).arg(folder).stdin(Stdio::null());
    let output = command.output();
    let output = output.map_err(|e| failed(format!("cannot be started to unpack {}: {e}", package.display())))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        return Err(failed(format!("does not unpack {}: {said}", package.display())));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_package_is_refused_with_what_dpkg_says() {
        let folder = tempfile::tempdir().expect("a folder");
        let package = folder.path().join("x.deb");
        fs::write(&package, "text").expect("a file");
        let error = unpack(&package, &folder.path().join("there")).expect_err("no package").to_string();
        assert!(error.contains("dpkg-deb") && error.contains("x.deb"), "{error}");
    }
}
