//! The kernel's function that tells the time, which is in the memory of every process.

use std::io;
use std::ops::Range;

use object::Endianness;
use object::read::elf::ElfFile64;
use object::read::{Object as _, ObjectSymbol as _};

/// Where it lies.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Vdso {
    /// The pages that have to stay: the code and the data that it reads. Empty if there are none.
    pub pages: Range<u64>,
    /// The address of `clock_gettime`; 0 if there is none.
    pub clock_gettime: u64,
}

pub(super) fn find() -> io::Result<Vdso> {
    let maps = std::fs::read_to_string("/proc/self/maps")?;
    let Some(pages) = pages(&maps) else { return Ok(Vdso::default()) };
    // SAFETY: it asks for a number.
    let start = unsafe { libc::getauxval(libc::AT_SYSINFO_EHDR) };
    if !pages.contains(&start) {
        return Ok(Vdso::default());
    }
    // SAFETY: these pages are the kernel's library, in every process and for as long as it runs, and nobody writes to them.
    let library = unsafe { std::slice::from_raw_parts(start as *const u8, (pages.end - start) as usize) };
    let function = clock_gettime(library).map(|offset| start + offset).filter(|function| pages.contains(function));
    Ok(function.map_or_else(Vdso::default, |clock_gettime| Vdso { pages, clock_gettime }))
}

/// Where the function is in the library.
fn clock_gettime(library: &[u8]) -> Option<u64> {
    let elf = ElfFile64::<Endianness>::parse(library).ok()?;
    let mut symbols = elf.dynamic_symbols();
    symbols.find(|symbol| symbol.name() == Ok("__vdso_clock_gettime")).map(|symbol| symbol.address())
}

/// From the first to the last page of the kernel's that follow each other.
fn pages(maps: &str) -> Option<Range<u64>> {
    let mut all: Option<Range<u64>> = None;
    for line in maps.lines().filter(|line| line.ends_with("[vdso]") || line.contains("[vvar")) {
        let (range, _) = line.split_once(' ')?;
        let (start, end) = range.split_once('-')?;
        let (start, end) = (u64::from_str_radix(start, 16).ok()?, u64::from_str_radix(end, 16).ok()?);
        all = match all {
            None => Some(start..end),
            Some(before) if before.end == start => Some(before.start..end),
            Some(_) => return None,
        };
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pages_are_those_that_follow_each_other() {
        let maps = "7ffe0000-7ffe1000 rw-p 0 00:00 0 [stack]\n7fff1000-7fff5000 r--p 0 00:00 0 [vvar]\n\
            7fff5000-7fff6000 r--p 0 00:00 0 [vvar_vclock]\n7fff6000-7fff8000 r-xp 0 00:00 0 [vdso]\n";
        assert_eq!(pages(maps), Some(0x7fff_1000..0x7fff_8000));
        assert_eq!(pages("00400000-00500000 r-xp 0 00:00 0 /bin/sh\n"), None);
        assert_eq!(
            pages(&maps.replace("7fff6000-7fff8000", "7fff7000-7fff8000")),
            None,
            "a page is missing between them"
        );
    }

    #[test]
    fn this_process_has_it() {
        let vdso = find().unwrap();
        assert!(vdso.pages.contains(&vdso.clock_gettime), "{vdso:?}");
    }
}
