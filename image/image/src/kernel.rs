//! A kernel, as a package of Debian has it: unpacked, not installed.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::package::unpack;

/// The kernel of an unpacked package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kernel {
    /// Such as `6.1.0-38-cloud-amd64`.
    pub version: String,
    /// What a boot loader starts.
    pub image: PathBuf,
    /// `lib/modules/VERSION`.
    pub modules: PathBuf,
}

impl Kernel {
    /// The kernel in a folder into which a package was unpacked.
    ///
    /// # Errors
    /// When there is none there, or several.
    pub fn in_folder(folder: &Path) -> Result<Self, Error> {
        let boot = folder.join("boot");
        let mut versions = Vec::new();
        for entry in fs::read_dir(&boot).map_err(Error::io("read", &boot))? {
            let name = entry.map_err(Error::io("read", &boot))?.file_name();
            versions.extend(name.to_str().and_then(|name| name.strip_prefix("vmlinuz-")).map(str::to_owned));
        }
        let [version] = versions.as_slice() else {
            let why = match versions.as_slice() {
                [] => "it has no boot/vmlinuz-VERSION: is it a kernel package? linux-image-cloud-amd64 and the like only name one".into(),
                several => format!("it has several kernels: {}", several.join(", ")),
            };
            return Err(Error::Form { path: folder.to_owned(), why });
        };
        let places = ["lib/modules", "usr/lib/modules"].map(|place| folder.join(place).join(version));
        let modules = places.iter().find(|place| place.is_dir()).unwrap_or(&places[0]);
        Ok(Self { version: version.clone(), image: boot.join(format!("vmlinuz-{version}")), modules: modules.clone() })
    }

    /// Unpacks a package (`.deb`) into `folder`, which is made.
    ///
    /// # Errors
    /// When dpkg-deb does not unpack it, or no kernel is in it.
    pub fn unpack(package: &Path, folder: &Path) -> Result<Self, Error> {
        unpack(package, folder)?;
        Self::in_folder(folder)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_one_kernel_of_a_folder_is_found_with_its_modules() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |path: &str| folder.path().join(path);
        fs::create_dir_all(at("boot")).expect("a folder");
        assert!(Kernel::in_folder(folder.path()).expect_err("nothing there").to_string().contains("only name one"));
        fs::write(at("boot/vmlinuz-6.1.0-1-cloud-amd64"), "").expect("a file");
        fs::create_dir_all(at("usr/lib/modules/6.1.0-1-cloud-amd64")).expect("a folder");
        let kernel = Kernel::in_folder(folder.path()).expect("a kernel");
        assert_eq!(kernel.version, "6.1.0-1-cloud-amd64");
        assert_eq!(kernel.modules, at("usr/lib/modules/6.1.0-1-cloud-amd64"));
        fs::write(at("boot/vmlinuz-6.2"), "").expect("a file");
        assert!(Kernel::in_folder(folder.path()).expect_err("two").to_string().contains("several kernels"));
    }
}
