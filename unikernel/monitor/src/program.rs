//! A program: an ELF file whose parts are where they may be.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use object::Endianness;
use object::elf::{self, FileHeader64};
use object::read::elf::{ElfFile64, FileHeader as _, ProgramHeader as _};
use object::read::{Object as _, ObjectSymbol as _, ReadCache, ReadRef};
use unikernel_abi::manifest::{self, Manifest};
use unikernel_abi::{IMAGE, MOST_DEVICES, PAGE, VERSION};

/// No program is larger.
const LARGEST: u64 = 1 << 30;
/// Nor has one more parts, or more notes: what is read of a file is bounded before it is read.
const MOST_PARTS: u16 = 64;
const LONGEST_NOTES: u64 = 64 << 10;

/// A program that can be run. Of its file only what is run was read: the names of its functions, and what a debugger wants, are most of it.
#[derive(Debug)]
pub struct Program {
    path: PathBuf,
    file: File,
    entry: u64,
    segments: Vec<Segment>,
    /// What the file has of each segment.
    contents: Vec<Vec<u8>>,
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
        let headers = Headers::read(path, &ReadCache::new(&file), len)?;
        let contents = headers.segments.iter().map(|segment| {
            let mut content = vec![0; segment.in_file as usize];
            file.read_exact_at(&mut content, segment.offset).map(|()| content)
        });
        let contents = contents.collect::<io::Result<_>>().map_err(unreadable)?;
        let Headers { entry, segments, devices } = headers;
        Ok(Self { path: path.to_owned(), file, entry, segments, contents, devices })
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

    /// Where in memory what the file has of it belongs.
    pub(crate) fn contents(&self) -> impl Iterator<Item = (u64, &[u8])> {
        self.segments.iter().zip(&self.contents).map(|(segment, content)| (segment.start, &**content))
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
        let len = self.file.metadata().ok()?.len().min(LARGEST);
        let mut bytes = vec![0; len as usize];
        self.file.read_exact_at(&mut bytes, 0).ok()?;
        let is_still = |(segment, content): (&Segment, &Vec<u8>)| {
            bytes.get(segment.offset as usize..).is_some_and(|behind| behind.starts_with(content))
        };
        self.segments.iter().zip(&self.contents).all(is_still).then_some(bytes)
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
