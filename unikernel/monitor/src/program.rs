//! A program: an ELF file whose parts are where they may be.

use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use object::Endianness;
use object::elf::{self, FileHeader64};
use object::read::elf::{ElfFile64, FileHeader as _, ProgramHeader as _};
use object::read::{Object as _, ObjectSymbol as _, ReadCache, ReadRef};
use unikernel_abi::manifest::{self, Manifest};
use unikernel_abi::{IMAGE, MOST_DEVICES, PAGE, VERSION};

use crate::memory::Buffer;

/// No program is larger.
const LARGEST: u64 = 1 << 30;
/// Nor has one more parts, or more notes: what is read of a file is bounded before it is read.
const MOST_PARTS: u16 = 64;
const LONGEST_NOTES: u64 = 64 << 10;

/// A program that can be run. Of its file only the beginning was read; what is run is read to where it belongs, and the names of its functions,
/// which are most of it, when they are wanted.
#[derive(Debug)]
pub struct Program {
    path: PathBuf,
    file: File,
    /// Of the file, when it was opened.
    version: Version,
    entry: u64,
    segments: Vec<Segment>,
    devices: Vec<String>,
}

/// What changes of a file when it is written to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Version {
    len: u64,
    written: (i64, i64),
}

impl Version {
    fn of(file: &File) -> io::Result<Self> {
        let about = file.metadata()?;
        Ok(Self { len: about.len(), written: (about.mtime(), about.mtime_nsec()) })
    }
}

/// A part of it in memory. No two of them share a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Segment {
    pub start: u64,
    /// In memory; what the file does not have is zeros.
    pub len: u64,
    /// In the file.
    pub offset: u64,
    pub in_file: u64,
    pub access: Access,
}

/// What may be done with a page. There is none that is written and executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    Write,
    Execute,
}

/// Why a file is no program.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProgramError {
    #[error("{0}: {1}")]
    Unreadable(PathBuf, io::Error),
    #[error("{0} is no unikernel: it is {1}. `unikernel build` makes one of a crate.")]
    NotOne(PathBuf, &'static str),
    #[error("{0} was built for version {1} of the unikernel, and this monitor runs version {VERSION}: build it anew")]
    Version(PathBuf, u32),
    #[error("{0} is a unikernel that cannot be run: {1}")]
    Malformed(PathBuf, String),
}

impl Program {
    /// Reads a file.
    ///
    /// # Errors
    /// If it cannot be read, or is no program that can be run.
    pub fn open(path: &Path) -> Result<Self, ProgramError> {
        let unreadable = |why| ProgramError::Unreadable(path.to_owned(), why);
        let file = File::open(path).map_err(unreadable)?;
        let version = Version::of(&file).map_err(unreadable)?;
        if version.len > LARGEST {
            return Err(ProgramError::NotOne(path.to_owned(), "larger than any program"));
        }
        let Headers { entry, segments, devices } = Headers::read(path, &ReadCache::new(&file), version.len)?;
        Ok(Self { path: path.to_owned(), file, version, entry, segments, devices })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The devices that it has to be given.
    pub fn devices(&self) -> &[String] {
        &self.devices
    }

    /// The bytes of memory that it takes itself.
    pub fn size(&self) -> u64 {
        self.end() - IMAGE
    }

    /// Its parts in memory, each as a line for people.
    pub fn parts(&self) -> impl Iterator<Item = String> + '_ {
        self.segments.iter().map(|Segment { start, len, in_file, access, .. }| {
            let what = match access {
                Access::Read => "constants, only read",
                Access::Write => "data, written",
                Access::Execute => "code, only read and executed",
            };
            format!("{start:#010x} to {:#010x}  {what}, {in_file} bytes of the file", start + len)
        })
    }

    /// The page behind it.
    pub(crate) fn end(&self) -> u64 {
        self.segments.last().map_or(IMAGE, |last| (last.start + last.len).next_multiple_of(PAGE))
    }

    pub(crate) fn entry(&self) -> u64 {
        self.entry
    }

    pub(crate) fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// Reads it to memory, of which `at` says where an address of the guest lies.
    pub(crate) fn load(&self, at: impl Fn(u64, u64) -> Option<Buffer>) -> io::Result<()> {
        for Segment { start, offset, in_file, .. } in &self.segments {
            at(*start, *in_file).ok_or(io::ErrorKind::OutOfMemory)?.fill_from(&self.file, *offset)?;
        }
        Ok(())
    }

    /// The function in which that address lies, and how far behind its beginning.
    pub fn function_at(&self, address: u64) -> Option<(String, u64)> {
        let bytes = self.whole()?;
        let elf = ElfFile64::<Endianness>::parse(&*bytes).ok()?;
        let functions = elf.symbols().filter(|symbol| symbol.kind() == object::SymbolKind::Text);
        let around = functions.filter(|symbol| {
            let behind = symbol.address().saturating_add(symbol.size().max(1));
            (symbol.address()..behind).contains(&address)
        });
        let symbol = around.last()?;
        Some((symbol.name().ok()?.to_owned(), address - symbol.address()))
    }

    /// All of the file, unless it is another program by now.
    fn whole(&self) -> Option<Vec<u8>> {
        let mut bytes = vec![0; self.version.len as usize];
        self.file.read_exact_at(&mut bytes, 0).ok()?;
        (Version::of(&self.file).ok()? == self.version).then_some(bytes)
    }
}

/// What a file says of itself at its beginning.
struct Headers {
    entry: u64,
    segments: Vec<Segment>,
    devices: Vec<String>,
}

impl Headers {
    /// Reads them of a file of so many bytes.
    fn read(path: &Path, file: &ReadCache<&File>, len: u64) -> Result<Self, ProgramError> {
        let not_one = |what| ProgramError::NotOne(path.to_owned(), what);
        let malformed = |what: &str| ProgramError::Malformed(path.to_owned(), what.to_owned());
        let no_elf = |_| not_one("no ELF file of 64 bits");
        let header = FileHeader64::<Endianness>::parse(file).map_err(no_elf)?;
        let endian = header.endian().map_err(no_elf)?;
        if header.e_machine(endian) != elf::EM_X86_64 {
            return Err(not_one("for another kind of processor"));
        }
        if header.e_phnum(endian) > MOST_PARTS {
            return Err(not_one("a program for another system: it has too many parts"));
        }
        let parts = header.program_headers(endian, file).map_err(no_elf)?;
        let content =
            note(parts, endian, file).ok_or_else(|| not_one("a program for another system: it has no manifest"))?;
        let manifest = Manifest::read(content).ok_or_else(|| malformed("its manifest is not understood"))?;
        if manifest.version != VERSION {
            return Err(ProgramError::Version(path.to_owned(), manifest.version));
        }
        let devices: Vec<String> = manifest.devices().map(str::to_owned).collect();
        if devices.len() > MOST_DEVICES || (1..devices.len()).any(|n| devices[..n].contains(&devices[n])) {
            return Err(malformed("its manifest names too many devices, or one twice"));
        }
        if header.e_type(endian) != elf::ET_EXEC {
            return Err(malformed("it is not linked to a fixed address"));
        }
        let mut segments = Vec::new();
        for header in parts {
            match header.p_type(endian) {
                elf::PT_LOAD if header.p_memsz(endian) > 0 => {
                    let segment = segment(header, endian, len).map_err(malformed)?;
                    segments.push(segment);
                }
                elf::PT_INTERP | elf::PT_DYNAMIC => return Err(malformed("it is linked dynamically")),
                elf::PT_TLS => return Err(malformed("it has variables of threads, and there are no threads")),
                _ => {}
            }
        }
        segments.sort_by_key(|segment| segment.start);
        let page_behind = |segment: &Segment| (segment.start + segment.len).next_multiple_of(PAGE);
        if segments.windows(2).any(|pair| page_behind(&pair[0]) > pair[1].start / PAGE * PAGE) {
            return Err(malformed("two of its parts share a page"));
        }
        let entry = header.e_entry(endian);
        let is_code = |segment: &Segment| {
            segment.access == Access::Execute && (segment.start..segment.start + segment.in_file).contains(&entry)
        };
        if !segments.iter().any(is_code) {
            return Err(malformed("it is entered where it has no code"));
        }
        Ok(Self { entry, segments, devices })
    }
}

/// The content of the note that is the manifest.
fn note<'a>(
    parts: &[elf::ProgramHeader64<Endianness>],
    endian: Endianness,
    file: impl ReadRef<'a>,
) -> Option<&'a [u8]> {
    let short = |header: &&elf::ProgramHeader64<_>| header.p_filesz(endian) <= LONGEST_NOTES;
    parts.iter().filter(short).find_map(|header| {
        let mut notes = header.notes(endian, file).ok()??;
        while let Ok(Some(note)) = notes.next() {
            if note.name_bytes() == manifest::OWNER && note.n_type(endian) == manifest::TYPE {
                return Some(note.desc());
            }
        }
        None
    })
}

fn segment(header: &elf::ProgramHeader64<Endianness>, endian: Endianness, file: u64) -> Result<Segment, &'static str> {
    let (start, len) = (header.p_vaddr(endian), header.p_memsz(endian));
    let (offset, in_file) = (header.p_offset(endian), header.p_filesz(endian));
    if start < IMAGE || len > LARGEST || start > IMAGE + LARGEST {
        return Err("a part of it lies where no program may lie");
    }
    if in_file > len || offset.checked_add(in_file).is_none_or(|end| end > file) {
        return Err("a part of it is not in the file");
    }
    let flags = header.p_flags(endian);
    let access = match (flags & elf::PF_W != 0, flags & elf::PF_X != 0) {
        (false, false) => Access::Read,
        (true, false) => Access::Write,
        (false, true) => Access::Execute,
        (true, true) => return Err("a part of it could be written and executed"),
    };
    Ok(Segment { start, len, offset, in_file, access })
}
