//! A kernel, as a package of Debian has it: unpacked, not installed.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::package::unpack;

/// Where a package has the modules, each version in a folder of its own. From Debian 14 on the kernel lies there too.
const MODULES: [&str; 2] = ["lib/modules", "usr/lib/modules"];

/// The kernel of an unpacked package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kernel {
    /// Such as `6.1.0-38-cloud-amd64`.
    pub version: String,
    /// What a boot loader starts.
    pub image: PathBuf,
    /// `lib/modules/VERSION` or `usr/lib/modules/VERSION`.
    pub modules: PathBuf,
}

impl Kernel {
    /// The kernel in a folder into which a package was unpacked.
    ///
    /// # Errors
    /// When there is none there, or several.
    pub fn in_folder(folder: &Path) -> Result<Self, Error> {
        let mut found = Vec::new();
        for name in names(&folder.join("boot"))? {
            if let Some(version) = name.strip_prefix("vmlinuz-") {
                let places = MODULES.map(|place| folder.join(place).join(version));
                let modules = places.iter().find(|place| place.is_dir()).unwrap_or(&places[0]);
                let image = folder.join("boot").join(&name);
                found.push(Self { version: version.to_owned(), image, modules: modules.clone() });
            }
        }
        for place in MODULES.map(|place| folder.join(place)) {
            for version in names(&place)? {
                let modules = place.join(&version);
                let image = modules.join("vmlinuz");
                // Where /lib is a link to /usr/lib, both are one place.
                let known = found.iter().any(|kernel| kernel.version == version);
                if image.is_file() && !known {
                    found.push(Self { version, image, modules });
                }
            }
        }
        let versions: Vec<_> = found.iter().map(|kernel| kernel.version.clone()).collect();
        let why = match (found.pop(), versions.len()) {
            (Some(kernel), 1) => return Ok(kernel),
            (None, _) => {
                "it has no boot/vmlinuz-VERSION and no usr/lib/modules/VERSION/vmlinuz: is it a kernel package? \
                          linux-image-cloud-amd64 and the like only name one, and from Debian 14 on the packages that \
                          these name are empty: linux-base-VERSION, linux-binary-VERSION and linux-modules-VERSION, \
                          unpacked into one folder, are a kernel"
                    .into()
            }
            (Some(_), _) => format!("it has several kernels: {}", versions.join(", ")),
        };
        Err(Error::Form { path: folder.to_owned(), why })
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

/// The names in a folder, none if it is not there.
fn names(folder: &Path) -> Result<Vec<String>, Error> {
    let entries = match fs::read_dir(folder) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(Error::io("read", folder))?,
    };
    let names = entries.map(|entry| Ok(entry.map_err(Error::io("read", folder))?.file_name().into_string().ok()));
    names.filter_map(Result::transpose).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_that_lies_with_its_modules_is_found() {
        let folder = tempfile::tempdir().expect("a folder");
        let modules = folder.path().join("usr/lib/modules/7.2.13+deb14-cloud-amd64");
        fs::create_dir_all(&modules).expect("a folder");
        assert!(Kernel::in_folder(folder.path()).expect_err("no kernel").to_string().contains("linux-binary-VERSION"));
        fs::write(modules.join("vmlinuz"), "").expect("a file");
        let expected = Kernel {
            version: "7.2.13+deb14-cloud-amd64".into(),
            image: modules.join("vmlinuz"),
            modules: modules.clone(),
        };
        assert_eq!(Kernel::in_folder(folder.path()).expect("a kernel"), expected);
        std::os::unix::fs::symlink("usr/lib", folder.path().join("lib")).expect("a link");
        assert_eq!(Kernel::in_folder(folder.path()).expect("still one").version, expected.version);
    }

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
