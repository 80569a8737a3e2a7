//! The root of a machine's files: `/`, or a folder that holds a recorded tree of another machine.
//!
//! Paths are written without their first slash (`proc/cpuinfo`), so that joining can never leave the tree by accident.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The variable that names a recorded tree to use instead of this machine.
pub const VARIABLE: &str = "KIZAMI_ROOT";

/// The folder below which the files of a machine are found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Root(PathBuf);

impl Root {
    /// This machine.
    pub fn machine() -> Self {
        Self(PathBuf::from("/"))
    }

    /// A recorded tree.
    pub fn tree(folder: impl Into<PathBuf>) -> Self {
        Self(folder.into())
    }

    /// The tree that `KIZAMI_ROOT` names, or this machine.
    pub fn from_environment() -> Self {
        std::env::var_os(VARIABLE).filter(|v| !v.is_empty()).map_or_else(Self::machine, Self::tree)
    }

    /// Whether this is the machine that the program runs on, which can be asked more than its files say.
    pub fn is_machine(&self) -> bool {
        self.0 == Path::new("/")
    }

    pub fn path(&self, file: &str) -> PathBuf {
        self.0.join(file.trim_start_matches('/'))
    }

    /// How `file` is called on the machine that it belongs to, for messages and commands.
    pub fn shown(&self, file: &str) -> String {
        format!("/{}", file.trim_start_matches('/'))
    }

    /// The text of `file` without white space around it.
    ///
    /// # Errors
    /// Those of reading a file.
    pub fn read(&self, file: &str) -> io::Result<String> {
        // Not read_to_string: a device-tree name or a command line need not be UTF-8.
        Ok(String::from_utf8_lossy(&fs::read(self.path(file))?).trim_matches(['\0', ' ', '\n', '\t']).to_owned())
    }

    /// The same, where it does not matter why there is none.
    pub fn get(&self, file: &str) -> Option<String> {
        self.read(file).ok()
    }

    pub fn exists(&self, file: &str) -> bool {
        self.path(file).exists()
    }

    /// Writes `value` in one system call, as the files of the kernel expect, and never creates one.
    ///
    /// # Errors
    /// Those of opening and of writing; the kernel's refusal of a value is one.
    pub fn write(&self, file: &str, value: &str) -> io::Result<()> {
        write_existing(&self.path(file), value)
    }

    /// The names in `folder`, numbers in the order of numbers; none when it is not there.
    pub fn list(&self, folder: &str) -> Vec<String> {
        let entries = fs::read_dir(self.path(folder)).into_iter().flatten().flatten();
        let mut names: Vec<_> = entries.filter_map(|e| e.file_name().into_string().ok()).collect();
        names.sort_by_cached_key(|name| {
            let digits = name.find(|c: char| c.is_ascii_digit()).unwrap_or(name.len());
            (name[..digits].to_owned(), name[digits..].parse::<u64>().unwrap_or(u64::MAX), name.clone())
        });
        names
    }
}

pub(crate) fn write_existing(path: &Path, value: &str) -> io::Result<()> {
    // On a recorded tree the old content must not stay behind a shorter new one; the kernel's files ignore truncation.
    OpenOptions::new().write(true).truncate(true).open(path)?.write_all(value.as_bytes())
}

/// The first value of a `name : value` or `name: value` line of a file such as `/proc/cpuinfo` or `/proc/self/status`.
pub fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.lines().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        (key.trim() == name).then(|| value.trim())
    })
}

/// The error of a system call in words, to stand in a sentence: without its number and its capital letter.
pub fn words(error: &io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or(&text);
    let (first, rest) = text.split_at(text.chars().next().map_or(0, char::len_utf8));
    first.to_lowercase() + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_listed_with_numbers_in_their_order() {
        let folder = tempdir();
        for name in ["cpu10", "cpu2", "cpuidle", "cpu0"] {
            fs::create_dir(folder.join(name)).expect("a folder");
        }
        assert_eq!(Root::tree(&folder).list("."), ["cpu0", "cpu2", "cpu10", "cpuidle"]);
        fs::remove_dir_all(folder).expect("our folder");
    }

    #[test]
    fn a_write_replaces_what_was_there_and_creates_nothing() {
        let folder = tempdir();
        fs::write(folder.join("governor"), "performance\n").expect("a file");
        let root = Root::tree(&folder);
        root.write("governor", "schedutil").expect("it exists");
        assert_eq!(root.get("governor").as_deref(), Some("schedutil"));
        assert!(root.write("missing", "1").is_err());
        assert!(!folder.join("missing").exists());
        fs::remove_dir_all(folder).expect("our folder");
    }

    #[test]
    fn a_field_is_found_whatever_stands_around_its_colon() {
        assert_eq!(field("processor\t: 0\nmodel name\t: A: B\n", "model name"), Some("A: B"));
        assert_eq!(field("VmLck:\t     12 kB\n", "VmLck"), Some("12 kB"));
        assert_eq!(field("VmLck:\t     12 kB\n", "Vm"), None);
    }

    #[test]
    fn an_error_can_stand_in_a_sentence() {
        assert_eq!(words(&io::Error::from_raw_os_error(libc::EPERM)), "operation not permitted");
        assert_eq!(words(&io::Error::other("it takes CAP_SYS_NICE")), "it takes CAP_SYS_NICE");
    }

    fn tempdir() -> PathBuf {
        use std::sync::atomic::{AtomicU32, Ordering};
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("kizami-root-{}-{count}", std::process::id()));
        fs::create_dir(&folder).expect("a folder of our own");
        folder
    }
}
