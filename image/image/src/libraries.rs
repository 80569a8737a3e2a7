//! Programs that need libraries, with all that they need, out of one folder: the root that unpacked packages make.
//!
//! What a program needs is read where the dynamic linker reads it: the interpreter that its file names (`PT_INTERP`), and
//! the libraries (`DT_NEEDED`), of which each may need others. All of them are taken from the folder, never from the machine
//! on which the image is made, so that the same packages make the same image everywhere. A file stands in the image at the
//! path at which the linker looks for it: links are followed, and not copied. Paths that a file gives to the linker itself
//! (`DT_RUNPATH`) are not looked at, as Debian's policy has none.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use object::elf::{DT_NEEDED, PT_INTERP};
use object::read::elf::{Dyn, ElfFile64, FileHeader, ProgramHeader};
use object::{Endianness, StringTable};

use crate::error::Error;

/// Where Debian's dynamic linker looks, for each architecture `*-linux-gnu`.
const FOLDERS: [&str; 4] = ["lib/*", "usr/lib/*", "lib", "usr/lib"];

/// Programs out of a folder of unpacked packages.
#[derive(Debug, Clone)]
pub struct Root {
    pub folder: PathBuf,
    /// Paths from the folder, such as `usr/bin/python3`. A library that is opened by name while a program runs is named here
    /// too: nothing in the program's file tells of it.
    pub programs: Vec<String>,
}

/// What a file says of others.
#[derive(Debug, Default, PartialEq, Eq)]
struct Needs {
    interpreter: Option<String>,
    libraries: Vec<String>,
}

impl Root {
    /// The programs and all that they need, by their paths in the image.
    ///
    /// # Errors
    /// When one of them is not there.
    pub fn files(&self) -> Result<BTreeMap<String, Vec<u8>>, Error> {
        let folders = self.folders()?;
        let mut files = BTreeMap::new();
        let mut wanted: Vec<(String, Option<String>)> =
            self.programs.iter().map(|path| (path.trim_start_matches('/').to_owned(), None)).collect();
        while let Some((path, for_whom)) = wanted.pop() {
            if files.contains_key(&path) {
                continue;
            }
            let at = self.at(&path);
            let content = fs::read(&at).map_err(|source| match for_whom {
                Some(whom) => Error::Form { path: at.clone(), why: format!("{whom} needs it: {source}") },
                None => Error::Io { doing: "read", path: at.clone(), source },
            })?;
            let needs = needs(&content).map_err(|why| Error::Form { path: at, why })?;
            if let Some(interpreter) = needs.interpreter {
                wanted.push((interpreter.trim_start_matches('/').to_owned(), Some(path.clone())));
            }
            for library in needs.libraries {
                let places = folders.iter().map(|folder| format!("{folder}/{library}"));
                let found = places.into_iter().find(|place| self.folder.join(place).is_file());
                let place = found.ok_or_else(|| Error::Form {
                    path: self.folder.clone(),
                    why: format!("no package in it has {library}, and {path} needs it"),
                })?;
                wanted.push((place, Some(path.clone())));
            }
            files.insert(path, content);
        }
        Ok(files)
    }

    /// Where a file of the image lies: where folders such as /lib64 are links into /usr, a package may have it there.
    fn at(&self, path: &str) -> PathBuf {
        let [at, merged] = [self.folder.join(path), self.folder.join("usr").join(path)];
        if !at.exists() && merged.exists() { merged } else { at }
    }

    /// The folders in which libraries may be, from the root.
    fn folders(&self) -> Result<Vec<String>, Error> {
        let mut folders = Vec::new();
        for pattern in FOLDERS {
            let Some(above) = pattern.strip_suffix("/*") else {
                folders.push(pattern.to_owned());
                continue;
            };
            let Ok(entries) = fs::read_dir(self.folder.join(above)) else { continue };
            for entry in entries {
                let name = entry.map_err(Error::io("read", &self.folder))?.file_name();
                folders.extend(name.to_str().filter(|n| n.ends_with("-linux-gnu")).map(|n| format!("{above}/{n}")));
            }
        }
        folders.sort();
        Ok(folders)
    }
}

/// Whether it is a program that names an interpreter for its libraries.
pub(crate) fn is_dynamic(content: &[u8]) -> bool {
    needs(content).is_ok_and(|needs| needs.interpreter.is_some())
}

/// What is no ELF file needs nothing.
fn needs(content: &[u8]) -> Result<Needs, String> {
    if !content.starts_with(b"\x7fELF") {
        return Ok(Needs::default());
    }
    let read = || -> object::Result<Needs> {
        let file = ElfFile64::<Endianness>::parse(content)?;
        let endian = file.endian();
        let mut needs = Needs::default();
        for header in file.elf_program_headers() {
            if header.p_type(endian) == PT_INTERP {
                let path = header.data(endian, content).unwrap_or_default();
                let path = path.split(|byte| *byte == 0).next().unwrap_or_default();
                needs.interpreter = Some(String::from_utf8_lossy(path).into_owned());
            }
        }
        let sections = file.elf_header().sections(endian, content)?;
        let Some((entries, strings)) = sections.dynamic(endian, content)? else { return Ok(needs) };
        let names: StringTable<'_> = sections.strings(endian, content, strings)?;
        for entry in entries.iter().filter(|entry| entry.tag32(endian) == Some(DT_NEEDED)) {
            let name = entry.string(endian, names)?;
            needs.libraries.push(String::from_utf8_lossy(name).into_owned());
        }
        Ok(needs)
    };
    read().map_err(|e| format!("what it needs cannot be read: {e}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder with this test as a program, and texts for what it needs; without the library that is called `missing`.
    fn root(missing: &str) -> (tempfile::TempDir, Needs) {
        let folder = tempfile::tempdir().expect("a folder");
        let program = fs::read(std::env::current_exe().expect("a path")).expect("a file");
        let needs = needs(&program).expect("an ELF file");
        let put = |path: &str, content: &[u8]| {
            let at = folder.path().join(path.trim_start_matches('/'));
            fs::create_dir_all(at.parent().expect("a folder")).expect("a folder");
            fs::write(at, content).expect("a file");
        };
        put("usr/bin/program", &program);
        put(needs.interpreter.as_deref().expect("it is dynamic"), b"interpreter");
        for library in needs.libraries.iter().filter(|library| *library != missing) {
            put(&format!("usr/lib/some-linux-gnu/{library}"), b"library");
        }
        put("usr/lib/some-linux-gnu/opened-later.so", b"library");
        (folder, needs)
    }

    fn files(folder: &tempfile::TempDir, programs: &[&str]) -> Result<Vec<String>, String> {
        let programs = programs.iter().map(|path| (*path).to_owned()).collect();
        let files = Root { folder: folder.path().to_owned(), programs }.files();
        files.map(|files| files.into_keys().collect()).map_err(|e| e.to_string())
    }

    #[test]
    fn a_program_comes_with_its_interpreter_and_its_libraries() {
        let (folder, needs) = root("");
        assert!(needs.libraries.iter().any(|library| library.starts_with("libc.so")), "{needs:?}");
        let files =
            files(&folder, &["usr/bin/program", "/usr/lib/some-linux-gnu/opened-later.so"]).expect("all is there");
        let interpreter = needs.interpreter.expect("it is dynamic");
        // The interpreter may be one of the libraries as well, and is then in the folder twice.
        for path in ["usr/bin/program", "usr/lib/some-linux-gnu/opened-later.so", interpreter.trim_start_matches('/')] {
            assert!(files.contains(&path.to_owned()), "{path}: {files:?}");
        }
        for library in &needs.libraries {
            assert!(files.contains(&format!("usr/lib/some-linux-gnu/{library}")), "{library}: {files:?}");
        }
    }

    /// Debian 13 has the linker in /usr/lib64, to which /lib64 is a link where packages are installed.
    #[test]
    fn a_file_that_a_package_has_in_usr_is_found_where_programs_look_for_it() {
        let (folder, needs) = root("");
        let interpreter = needs.interpreter.expect("it is dynamic");
        let interpreter = interpreter.trim_start_matches('/');
        let merged = folder.path().join("usr").join(interpreter);
        fs::create_dir_all(merged.parent().expect("a folder")).expect("a folder");
        fs::rename(folder.path().join(interpreter), merged).expect("moved");
        let files = files(&folder, &["usr/bin/program"]).expect("all is there");
        assert!(files.contains(&interpreter.to_owned()), "{files:?}");
    }

    #[test]
    fn what_is_missing_is_named_with_what_needs_it() {
        let (_, needs) = root("");
        let library = &needs.libraries[0];
        let (folder, _) = root(library);
        let why = files(&folder, &["usr/bin/program"]).expect_err("a library is missing");
        assert!(why.contains(library) && why.contains("usr/bin/program needs it"), "{why}");
        assert!(files(&folder, &["usr/bin/other"]).expect_err("no such program").contains("usr/bin/other"));
    }
}
