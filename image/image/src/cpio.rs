//! The archive that a kernel unpacks into its first root file system: cpio in the form `newc`
//! (Documentation/driver-api/early-userspace/buffer-format.rst of Linux).
//!
//! The same entries make the same bytes: they are written in the order of their paths, with numbers counted from one, owned by root, and
//! with no time. Folders that a path needs and nobody added are made.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Write};

/// What stands at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry {
    Folder {
        mode: u32,
    },
    File {
        mode: u32,
        content: Vec<u8>,
    },
    Link {
        target: String,
    },
    /// A character device.
    Device {
        mode: u32,
        major: u32,
        minor: u32,
    },
}

/// Why a path cannot be in an archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BadPath {
    /// It has no name in it, or one that leads elsewhere.
    Form(String),
    Twice(String),
    /// Something that is no folder stands where it needs one.
    Below {
        path: String,
        parent: String,
    },
    TooLarge(String),
}

impl fmt::Display for BadPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Form(path) => write!(
                f,
                "{path:?} is no path in an image: write the names from its root, such as bin/probe, without . and .."
            ),
            Self::Twice(path) => write!(f, "{path} is in the image twice, with different contents"),
            Self::Below { path, parent } => write!(f, "{path} cannot be in the image: {parent} is no folder"),
            Self::TooLarge(path) => write!(f, "{path} is larger than an archive of this form can hold (4 GiB)"),
        }
    }
}

impl std::error::Error for BadPath {}

/// The entries of an archive, by their paths from the root, without a slash at the beginning.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Archive(BTreeMap<String, Entry>);

impl Archive {
    /// Adds an entry, and the folders that it stands in.
    ///
    /// # Errors
    /// When there cannot be such a path. The same entry may be added again.
    pub fn add(&mut self, path: &str, entry: Entry) -> Result<(), BadPath> {
        let path = path.trim_start_matches('/');
        let names: Vec<&str> = path.split('/').collect();
        if names.iter().any(|name| name.is_empty() || *name == "." || *name == ".." || name.contains('\0')) {
            return Err(BadPath::Form(path.to_owned()));
        }
        if let Entry::File { content, .. } = &entry
            && u32::try_from(content.len()).is_err()
        {
            return Err(BadPath::TooLarge(path.to_owned()));
        }
        for depth in 1..names.len() {
            let parent = names[..depth].join("/");
            match self.0.get(&parent) {
                None => drop(self.0.insert(parent, Entry::Folder { mode: 0o755 })),
                Some(Entry::Folder { .. }) => {}
                Some(_) => return Err(BadPath::Below { path: path.to_owned(), parent }),
            }
        }
        match self.0.get(path) {
            None => drop(self.0.insert(path.to_owned(), entry)),
            // One that was made for something below it gets the mode that is asked for.
            Some(Entry::Folder { .. }) if matches!(entry, Entry::Folder { .. }) => {
                self.0.insert(path.to_owned(), entry);
            }
            Some(there) if *there == entry => {}
            Some(_) => return Err(BadPath::Twice(path.to_owned())),
        }
        Ok(())
    }

    pub fn entries(&self) -> impl Iterator<Item = (&str, &Entry)> {
        self.0.iter().map(|(path, entry)| (path.as_str(), entry))
    }

    /// Writes the archive.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        for (number, (path, entry)) in (1..).zip(&self.0) {
            let (mode, content, device) = match entry {
                Entry::Folder { mode } => (0o040_000 | mode, &[][..], (0, 0)),
                Entry::File { mode, content } => (0o100_000 | mode, content.as_slice(), (0, 0)),
                Entry::Link { target } => (0o120_777, target.as_bytes(), (0, 0)),
                Entry::Device { mode, major, minor } => (0o020_000 | mode, &[][..], (*major, *minor)),
            };
            let links = if matches!(entry, Entry::Folder { .. }) { 2 } else { 1 };
            member(out, number, path, (mode, links), content, device)?;
        }
        member(out, 0, "TRAILER!!!", (0, 1), &[], (0, 0))
    }
}

/// One member: a header of 110 characters, the name, the content, each filled up to a multiple of four.
fn member(
    out: &mut impl Write,
    number: u32,
    name: &str,
    (mode, links): (u32, u32),
    content: &[u8],
    (major, minor): (u32, u32),
) -> io::Result<()> {
    let (owner, group, time, of_device) = (0u32, 0u32, 0u32, 0u32);
    let (size, name_size, checksum) = (content.len() as u32, name.len() as u32 + 1, 0u32);
    let fields =
        [number, mode, owner, group, links, time, size, of_device, of_device, major, minor, name_size, checksum];
    out.write_all(b"070701")?;
    for field in fields {
        write!(out, "{field:08X}")?;
    }
    out.write_all(name.as_bytes())?;
    out.write_all(&[0; 4][..1 + (4 - (HEADER + name.len() + 1) % 4) % 4])?;
    out.write_all(content)?;
    out.write_all(&[0; 4][..(4 - content.len() % 4) % 4])
}

const HEADER: usize = 110;

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    fn file(content: &str) -> Entry {
        Entry::File { mode: 0o755, content: content.as_bytes().to_vec() }
    }

    fn written(archive: &Archive) -> Vec<u8> {
        let mut bytes = Vec::new();
        archive.write(&mut bytes).expect("memory takes it");
        bytes
    }

    fn example() -> Archive {
        let mut archive = Archive::default();
        archive.add("bin/probe", file("four")).expect("a path");
        archive.add("/bin/sh", Entry::Link { target: "probe".into() }).expect("a path");
        archive.add("dev/console", Entry::Device { mode: 0o600, major: 5, minor: 1 }).expect("a path");
        archive.add("etc/x", file("odd.")).expect("a path");
        archive.add("init", file("12345")).expect("a path");
        archive
    }

    #[test]
    fn what_is_below_comes_after_its_folder_and_lengths_are_multiples_of_four() {
        let archive = example();
        let paths: Vec<_> = archive.entries().map(|(path, _)| path).collect();
        assert_eq!(paths, ["bin", "bin/probe", "bin/sh", "dev", "dev/console", "etc", "etc/x", "init"]);
        let bytes = written(&archive);
        assert!(bytes.len().is_multiple_of(4));
        assert!(bytes.starts_with(b"07070100000001000041ED"), "a folder with mode 755 is the first");
    }

    #[test]
    fn the_order_in_which_entries_are_added_makes_no_difference() {
        let mut other = Archive::default();
        let all = example();
        let mut entries: Vec<_> = all.entries().collect();
        entries.reverse();
        for (path, entry) in entries {
            other.add(path, entry.clone()).expect("a path");
        }
        assert_eq!(written(&other), written(&all));
    }

    /// `cpio` of the system reads what this writes, where there is one.
    #[test]
    fn another_program_reads_the_same_names() {
        let Ok(mut cpio) =
            Command::new("cpio").args(["--list", "--quiet"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()
        else {
            if let Some(list) = std::env::var_os("KIZAMI_SKIPPED") {
                let mut list = std::fs::OpenOptions::new().append(true).open(list).expect("the list of ./x");
                writeln!(list, "kizami-image: the archive read by another program: no cpio").expect("it is written");
            }
            return;
        };
        let bytes = written(&example());
        let mut stdin = cpio.stdin.take().expect("a pipe");
        stdin.write_all(&bytes).expect("it reads");
        drop(stdin);
        let names = cpio.wait_with_output().expect("it ends");
        let names = String::from_utf8_lossy(&names.stdout).into_owned();
        assert_eq!(names, "bin\nbin/probe\nbin/sh\ndev\ndev/console\netc\netc/x\ninit\n");
    }

    #[test]
    fn paths_that_lead_elsewhere_and_second_contents_are_refused() {
        let mut archive = example();
        for path in ["", "/", "a//b", "../init", "a/./b", "bin/../init", "a\0b"] {
            assert!(matches!(archive.add(path, file("")), Err(BadPath::Form(_))), "{path:?}");
        }
        assert_eq!(archive.add("init", file("other")), Err(BadPath::Twice("init".into())));
        assert_eq!(archive.add("init", file("12345")), Ok(()));
        let below = BadPath::Below { path: "init/x".into(), parent: "init".into() };
        assert_eq!(archive.add("init/x", file("")), Err(below));
        assert_eq!(archive.add("bin", Entry::Folder { mode: 0o700 }), Ok(()));
    }
}
