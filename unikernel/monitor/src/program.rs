//! A program: an ELF file whose parts are where they may be.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use object::Endianness;
use object::elf;
use object::read::elf::{ElfFile64, FileHeader as _, ProgramHeader as _};
use object::read::{Object as _, ObjectSymbol as _};
use unikernel_abi::manifest::{self, Manifest};
use unikernel_abi::{IMAGE, MOST_DEVICES, PAGE, VERSION};

/// No program is larger.
const LARGEST: u64 = 1 << 30;

/// A program that can be run.
#[derive(Debug)]
pub struct Program {
    path: PathBuf,
    bytes: Vec<u8>,
    entry: u64,
    segments: Vec<Segment>,
    devices: Vec<String>,
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
        let len = file.metadata().map_err(unreadable)?.len();
        if len > LARGEST {
            return Err(ProgramError::NotOne(path.to_owned(), "larger than any program"));
        }
        let bytes = std::fs::read(path).map_err(unreadable)?;
        Self::read(path.to_owned(), bytes)
    }

    fn read(path: PathBuf, bytes: Vec<u8>) -> Result<Self, ProgramError> {
        let not_one = |what| ProgramError::NotOne(path.clone(), what);
        let malformed = |what: &str| ProgramError::Malformed(path.clone(), what.to_owned());
        let elf = ElfFile64::<Endianness>::parse(&*bytes).map_err(|_| not_one("no ELF file of 64 bits"))?;
        let (endian, header) = (elf.endian(), elf.elf_header());
        if header.e_machine(endian) != elf::EM_X86_64 {
            return Err(not_one("for another kind of processor"));
        }
        let content = note(&elf).ok_or_else(|| not_one("a program for another system: it has no manifest"))?;
        let manifest = Manifest::read(content).ok_or_else(|| malformed("its manifest is not understood"))?;
        if manifest.version != VERSION {
            return Err(ProgramError::Version(path, manifest.version));
        }
        let devices: Vec<String> = manifest.devices().map(str::to_owned).collect();
        if devices.len() > MOST_DEVICES || (1..devices.len()).any(|n| devices[..n].contains(&devices[n])) {
            return Err(malformed("its manifest names too many devices, or one twice"));
        }
        if header.e_type(endian) != elf::ET_EXEC {
            return Err(malformed("it is not linked to a fixed address"));
        }
        let mut segments = Vec::new();
        for header in elf.elf_program_headers() {
            match header.p_type(endian) {
                elf::PT_LOAD if header.p_memsz(endian) > 0 => {
                    let segment = segment(header, endian, bytes.len() as u64).map_err(malformed)?;
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
        Ok(Self { path, entry, segments, devices, bytes })
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

    /// What the file has of a segment.
    pub(crate) fn content(&self, segment: &Segment) -> &[u8] {
        // That it has so much was checked.
        &self.bytes[segment.offset as usize..(segment.offset + segment.in_file) as usize]
    }

    /// The function in which that address lies, and how far behind its beginning.
    pub fn function_at(&self, address: u64) -> Option<(String, u64)> {
        let elf = ElfFile64::<Endianness>::parse(&*self.bytes).ok()?;
        let functions = elf.symbols().filter(|symbol| symbol.kind() == object::SymbolKind::Text);
        let around = functions.filter(|symbol| {
            let behind = symbol.address().saturating_add(symbol.size().max(1));
            (symbol.address()..behind).contains(&address)
        });
        let symbol = around.last()?;
        Some((symbol.name().ok()?.to_owned(), address - symbol.address()))
    }
}

/// The content of the note that is the manifest.
fn note<'a>(elf: &ElfFile64<'a, Endianness>) -> Option<&'a [u8]> {
    let endian = elf.endian();
    elf.elf_program_headers().iter().find_map(|header| {
        let mut notes = header.notes(endian, elf.data()).ok()??;
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
