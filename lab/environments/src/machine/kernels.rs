//! Debian's kernels for guests: packages beside this program, which are not installed. Their names tell them apart.

use std::fs;
use std::path::{Path, PathBuf};

use super::board::Architecture;
use crate::locate;

/// The folder beside this program with the packages.
pub(super) const FOLDER: &str = "kernels";

/// For what a kernel was built, as Debian's packages are named for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flavour {
    /// Virtual machines: no drivers of other machines.
    Cloud,
    /// Real time (PREEMPT_RT).
    Rt,
    /// Any machine. It can be Xen's first domain.
    Ordinary,
}

impl Flavour {
    pub(super) const ALL: [Self; 3] = [Self::Cloud, Self::Rt, Self::Ordinary];

    /// As the setting calls it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Cloud => "cloud",
            Self::Rt => "rt",
            Self::Ordinary => "ordinary",
        }
    }

    pub(super) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|flavour| flavour.name() == name)
    }

    /// The flavour and the architecture of a release, such as `6.1.0-56-rt-amd64` or `6.12.43+deb13-amd64`.
    pub(super) fn of_release(release: &str) -> Option<(Self, &str)> {
        let (version, architecture) = release.rsplit_once('-')?;
        let flavour = match version.rsplit_once('-') {
            Some((_, "cloud")) => Self::Cloud,
            Some((_, "rt")) => Self::Rt,
            _ if version.ends_with(|c: char| c.is_ascii_digit()) => Self::Ordinary,
            _ => return None,
        };
        Some((flavour, architecture))
    }

    /// The newest package of this flavour.
    pub(super) fn package(self, of: &Architecture) -> Result<PathBuf, String> {
        let found = locate::folder(FOLDER).map(|folder| self.newest(of.name, &folder)).transpose()?.flatten();
        found.ok_or_else(|| {
            let infix = if self == Self::Ordinary { String::new() } else { format!("{}-", self.name()) };
            let (name, setup, architecture) = (self.name(), of.setup, of.name);
            format!(
                "there is no {name} kernel for a guest: ./x setup {setup} fetches Debian's linux-image-{infix}{architecture}"
            )
        })
    }

    fn newest(self, architecture: &str, folder: &Path) -> Result<Option<PathBuf>, String> {
        let entries = fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        let is_it = |path: &PathBuf| {
            let release = path.file_name().and_then(|name| release_in(name.to_str()?));
            release.is_some_and(|release| Self::of_release(release) == Some((self, architecture)))
        };
        let packages = entries.flatten().map(|entry| entry.path()).filter(is_it);
        Ok(packages.max_by_key(|path| fs::metadata(path).and_then(|about| about.modified()).ok()))
    }
}

/// The release of the kernel in a package, by its file's name: `linux-image-6.1.0-56-rt-amd64_6.1.192-2_amd64.deb`.
fn release_in(file: &str) -> Option<&str> {
    let (package, _) = file.strip_suffix(".deb")?.split_once('_')?;
    package.strip_prefix("linux-image-")
}

#[cfg(test)]
mod tests {
    use super::super::board::AMD64;
    use super::*;

    #[test]
    fn packages_are_told_apart_by_their_names() {
        let folder = std::env::temp_dir().join(format!("kizami-kernels-{}", std::process::id()));
        fs::create_dir_all(folder.join("xen")).expect("a folder");
        let files = [
            "linux-image-6.1.0-56-cloud-amd64_6.1.192-2_amd64.deb",
            "linux-image-6.1.0-56-rt-amd64_6.1.192-2_amd64.deb",
            "linux-image-6.12.43+deb13-amd64_6.12.43-1_amd64.deb",
            "linux-image-6.1.0-56-cloud-arm64_6.1.192-2_arm64.deb",
            "linux-image-6.1.0-56-amd64-dbg_6.1.192-2_amd64.deb",
            "linux-image-amd64_6.1.192-2_amd64.deb",
        ];
        for file in files {
            fs::write(folder.join(file), "").expect("a file");
        }
        let newest = |flavour: Flavour, architecture| {
            let path = flavour.newest(architecture, &folder).expect("a folder");
            path.map(|path| path.file_name().expect("a name").to_string_lossy().into_owned())
        };
        assert_eq!(Flavour::ALL.map(|flavour| newest(flavour, "amd64")), [0, 1, 2].map(|n| Some(files[n].to_owned())));
        let of_arm = Flavour::ALL.map(|flavour| newest(flavour, "arm64"));
        fs::remove_dir_all(&folder).expect("it is removed");
        assert_eq!(of_arm, [Some(files[3].to_owned()), None, None]);
    }

    #[test]
    fn a_kernel_that_is_not_there_is_named_with_what_brings_it() {
        for (flavour, package) in [(Flavour::Rt, "linux-image-rt-s390x"), (Flavour::Ordinary, "linux-image-s390x")] {
            let nobodys = Architecture { name: "s390x", ..AMD64 };
            let why = flavour.package(&nobodys).expect_err("nobody fetches it");
            assert!(why.contains("./x setup environments") && why.contains(package), "{why}");
        }
    }

    #[test]
    fn every_flavour_is_a_value_of_the_setting() {
        let setting = kizami_settings::find("vm_kernel").expect("it is in the list");
        assert_eq!(setting.choices(), Flavour::ALL.map(Flavour::name));
    }
}
