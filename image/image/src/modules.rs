//! Kernel modules: which files the wanted ones need, in the order in which they have to be loaded.
//!
//! A kernel package has no `modules.dep`: depmod makes that when the package is installed. So what a module needs is read where depmod
//! reads it, in the section `.modinfo` of its file (`depends=`, `softdep=pre:`). What the kernel has in itself stands in
//! `modules.builtin`. Names are written with `-` or `_` alike.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use object::{Object, ObjectSection};

use crate::error::Error;

/// The modules of a kernel package.
#[derive(Debug)]
pub struct Modules {
    files: BTreeMap<String, PathBuf>,
    built_in: BTreeSet<String>,
}

/// A module, as the kernel takes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Module {
    pub name: String,
    /// An ELF file, not compressed.
    pub content: Vec<u8>,
}

impl Modules {
    /// Those in `folder`, which is `lib/modules/VERSION` of a package.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn of(folder: &Path) -> Result<Self, Error> {
        let mut files = BTreeMap::new();
        let mut folders = vec![folder.to_owned()];
        while let Some(next) = folders.pop() {
            for entry in fs::read_dir(&next).map_err(Error::io("read", &next))? {
                let entry = entry.map_err(Error::io("read", &next))?;
                let path = entry.path();
                if entry.file_type().map_err(Error::io("look at", &path))?.is_dir() {
                    folders.push(path);
                } else if let Some(name) = name_of(&path) {
                    files.insert(name, path);
                }
            }
        }
        let list = folder.join("modules.builtin");
        let text = match fs::read_to_string(&list) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => String::new(),
            text => text.map_err(Error::io("read", &list))?,
        };
        let built_in = text.lines().filter_map(|line| name_of(Path::new(line))).collect();
        Ok(Self { files, built_in })
    }

    /// The wanted modules and all that they need, each after what it needs, none twice.
    ///
    /// # Errors
    /// When the kernel has no such module, or its file cannot be read.
    pub fn in_order(&self, wanted: &[String]) -> Result<Vec<Module>, Error> {
        let mut order = Order { modules: self, loaded: Vec::new(), begun: BTreeSet::new() };
        for name in wanted {
            order.append(&plain(name), None)?;
        }
        Ok(order.loaded)
    }

    /// The module of this name, else one that has it as an alias, as an algorithm is wanted (`crypto-crc32c`): among those whose names
    /// begin with it, which its variants' do, and the one for every processor (`crc32c_generic`) before others.
    fn that_is(&self, name: &str) -> Option<&str> {
        if let Some((name, _)) = self.files.get_key_value(name) {
            return Some(name);
        }
        let has_it = |path: &Path| {
            let needs = read(path).ok().and_then(|content| needs(&content).ok());
            needs.is_some_and(|needs| needs.aliases.iter().any(|alias| alias == name))
        };
        let algorithm = name.strip_prefix("crypto_").unwrap_or(name);
        let variants = self.files.iter().filter(|(other, path)| other.starts_with(algorithm) && has_it(path));
        variants.map(|(other, _)| other.as_str()).max_by_key(|other| other.ends_with("_generic"))
    }

    fn similar(&self, name: &str) -> Option<String> {
        let near = self.files.keys().map(|known| (strsim::jaro_winkler(known, name), known));
        let best = near.filter(|(likeness, _)| *likeness > 0.85).max_by(|a, b| a.0.total_cmp(&b.0));
        best.map(|(_, known)| known.clone())
    }
}

struct Order<'a> {
    modules: &'a Modules,
    loaded: Vec<Module>,
    /// Those that are loaded, or wait for what they need: a circle ends there.
    begun: BTreeSet<String>,
}

impl Order<'_> {
    fn append(&mut self, name: &str, for_whom: Option<&str>) -> Result<(), Error> {
        if self.modules.built_in.contains(name) || !self.begun.insert(name.to_owned()) {
            return Ok(());
        }
        let Some(path) = self.modules.files.get(name) else {
            let (name, similar) = (name.to_owned(), self.modules.similar(name));
            return Err(Error::NoModule { name, for_whom: for_whom.map(str::to_owned), similar });
        };
        let content = read(path)?;
        let needs = needs(&content).map_err(|why| Error::Form { path: path.clone(), why })?;
        // What is only wanted is loaded where there is such a module.
        for wanted in needs.before.iter().filter_map(|wanted| self.modules.that_is(wanted)) {
            self.append(wanted, Some(name))?;
        }
        for needed in &needs.depends {
            self.append(needed, Some(name))?;
        }
        self.loaded.push(Module { name: name.to_owned(), content });
        Ok(())
    }
}

/// The file's content, whatever it is compressed with.
fn read(path: &Path) -> Result<Vec<u8>, Error> {
    let bytes = fs::read(path).map_err(Error::io("read", path))?;
    match path.extension().and_then(|ending| ending.to_str()) {
        Some("xz") => {
            let mut content = Vec::new();
            let unpacked = lzma_rs::xz_decompress(&mut bytes.as_slice(), &mut content);
            unpacked.map_err(|e| Error::Form { path: path.to_owned(), why: e.to_string() })?;
            Ok(content)
        }
        Some("ko") => Ok(bytes),
        _ => Err(Error::Form { path: path.to_owned(), why: "it is compressed in a way that is not known here".into() }),
    }
}

/// What a module says of others, and what it is called beside its name.
#[derive(Debug, Default, PartialEq, Eq)]
struct Needs {
    depends: Vec<String>,
    before: Vec<String>,
    aliases: Vec<String>,
}

fn needs(content: &[u8]) -> Result<Needs, String> {
    let file = object::File::parse(content).map_err(|e| e.to_string())?;
    let section = file.section_by_name(".modinfo").ok_or("it has no section .modinfo")?;
    Ok(said(section.data().map_err(|e| e.to_string())?))
}

/// `key=value`, each with a NUL behind it.
fn said(modinfo: &[u8]) -> Needs {
    let mut needs = Needs::default();
    for entry in modinfo.split(|byte| *byte == 0) {
        let text = String::from_utf8_lossy(entry);
        match text.split_once('=') {
            Some(("depends", names)) => {
                needs.depends.extend(names.split(',').filter(|name| !name.is_empty()).map(plain));
            }
            Some(("softdep", words)) => {
                let words = words.split_whitespace().skip_while(|word| *word != "pre:").skip(1);
                needs.before.extend(words.take_while(|word| *word != "post:").map(plain));
            }
            Some(("alias", name)) => needs.aliases.push(plain(name)),
            _ => {}
        }
    }
    needs
}

/// `kernel/drivers/net/virtio_net.ko.xz` is `virtio_net`; what is no module has no name.
fn name_of(path: &Path) -> Option<String> {
    let file = path.file_name()?.to_str()?;
    let (name, ending) = file.split_once(".ko")?;
    (ending.is_empty() || ending.starts_with('.')).then(|| plain(name))
}

fn plain(name: &str) -> String {
    name.replace('-', "_")
}

#[cfg(test)]
mod tests {
    use object::write::Object as New;
    use object::{Architecture, BinaryFormat, Endianness, SectionKind};

    use super::*;

    /// A module file that says this of others.
    fn module(modinfo: &str) -> Vec<u8> {
        let mut file = New::new(BinaryFormat::Elf, Architecture::X86_64, Endianness::Little);
        let section = file.add_section(Vec::new(), b".modinfo".to_vec(), SectionKind::Other);
        file.set_section_data(section, modinfo.as_bytes().to_vec(), 1);
        file.write().expect("an ELF file")
    }

    fn package() -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        fs::create_dir_all(folder.path().join("kernel/fs")).expect("a folder");
        let files = [
            ("virtio", ""),
            ("virtio_ring", "license=GPL\0depends=virtio\0"),
            ("virtio-pci", "depends=virtio_legacy,virtio-ring,virtio\0"),
            ("virtio_legacy", "depends=\0"),
            ("fs/ext4", "depends=crc16,squashfs\0softdep=pre: crc32c crypto-sha256 not-there post: virtio\0"),
            ("crc16", ""),
            ("crc32c", ""),
            ("sha256-generic", "alias=crypto-sha256\0alias=sha256\0"),
            ("sha256-ssse3", "alias=crypto-sha256\0"),
            ("sha256-other", ""),
            ("a", "depends=b\0"),
            ("b", "depends=a\0"),
            ("broken", "depends=gone\0"),
        ];
        for (name, modinfo) in files {
            let path = folder.path().join("kernel").join(name).with_extension("ko");
            fs::write(path, module(modinfo)).expect("a file");
        }
        fs::write(folder.path().join("kernel/text.ko"), "text").expect("a file");
        fs::write(folder.path().join("modules.builtin"), "kernel/fs/squashfs.ko\n").expect("a file");
        folder
    }

    fn in_order(wanted: &[&str]) -> Result<Vec<String>, String> {
        let folder = package();
        let wanted: Vec<String> = wanted.iter().map(|name| (*name).to_owned()).collect();
        let modules = Modules::of(folder.path()).expect("a package");
        let order = modules.in_order(&wanted).map_err(|e| e.to_string())?;
        Ok(order.into_iter().map(|module| module.name).collect())
    }

    #[test]
    fn each_comes_after_what_it_needs_and_once() {
        let order = in_order(&["virtio-pci", "virtio_ring", "ext4"]).expect("an order");
        assert_eq!(
            order,
            ["virtio_legacy", "virtio", "virtio_ring", "virtio_pci", "crc32c", "sha256_generic", "crc16", "ext4"]
        );
        assert_eq!(in_order(&["squashfs"]), Ok(Vec::new()), "it is built in");
        assert_eq!(in_order(&["a"]).expect("an order"), ["b", "a"]);
    }

    #[test]
    fn a_module_that_there_is_not_is_named_with_one_that_is_like_it() {
        let error = in_order(&["virtio_pc"]).expect_err("no such module");
        assert!(error.contains("virtio_pc") && error.contains("did you mean virtio_pci?"), "{error}");
        let error = in_order(&["broken"]).expect_err("no such module");
        assert!(error.contains("gone") && error.contains("broken needs"), "{error}");
        assert!(in_order(&["text"]).expect_err("no module").contains("text.ko"));
    }
}
