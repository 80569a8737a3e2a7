//! What a kernel says of its memory, in its own words: the texts of /proc/meminfo and /proc/slabinfo.

/// The columns of a row of meminfo, and how they follow from the file.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Split {
    total: u64,
    free: u64,
    buffers: u64,
    cached: u64,
    slab: u64,
    /// KernelStack, PageTables, SecPageTables and Percpu. Not VmallocUsed, which contains the stacks once more.
    kernel: u64,
}

impl Split {
    pub fn of(text: &[u8]) -> Self {
        let mut split = Self::default();
        for line in text.split(|b| *b == b'\n') {
            let Some(colon) = line.iter().position(|b| *b == b':') else { continue };
            let bytes = || word_number(&line[colon + 1..]) * 1024;
            match &line[..colon] {
                b"MemTotal" => split.total = bytes(),
                b"MemFree" => split.free = bytes(),
                b"Buffers" => split.buffers = bytes(),
                b"Cached" => split.cached = bytes(),
                b"Slab" => split.slab = bytes(),
                b"KernelStack" | b"PageTables" | b"SecPageTables" | b"Percpu" => split.kernel += bytes(),
                _ => {}
            }
        }
        split
    }

    /// `other` is what is left of all memory: the pages of programs, and what the kernel takes without accounting it.
    pub fn columns(&self) -> [u64; 6] {
        let named = self.free + self.buffers + self.cached + self.slab + self.kernel;
        let other = self.total.saturating_sub(named);
        [self.free, self.buffers, self.cached, self.slab, self.kernel, other]
    }
}

/// The number that `text` begins with, after spaces; zero when there is none.
pub fn word_number(text: &[u8]) -> u64 {
    let digits = text.iter().skip_while(|b| **b == b' ').take_while(|b| b.is_ascii_digit());
    digits.fold(0, |number, digit| number * 10 + u64::from(digit - b'0'))
}

/// The caches in the text of slabinfo, where a page has so many bytes: name, and the bytes of all slabs.
pub fn slab_lines(text: &[u8], page: u64) -> impl Iterator<Item = (&[u8], u64)> {
    // name <active_objs> <num_objs> <objsize> <objperslab> <pagesperslab> : tunables … : slabdata <active> <num> <shared>
    text.split(|b| *b == b'\n').filter_map(move |line| {
        let mut words = line.split(|b| *b == b' ').filter(|word| !word.is_empty());
        let name = words.next().filter(|name| *name != b"#" && *name != b"slabinfo")?;
        let pages = words.nth(4).map(word_number)?;
        let slabs = words.skip_while(|word| *word != b"slabdata").nth(2).map(word_number)?;
        Some((name, slabs * pages * page))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_memory_is_in_one_column_or_another() {
        let text = b"MemTotal:       1000 kB\nMemFree:         400 kB\nMemAvailable:    900 kB\nBuffers:          10 kB\n\
                     Cached:          200 kB\nSwapCached:        7 kB\nSlab:             50 kB\nKernelStack:       4 kB\n\
                     PageTables:        6 kB\nPercpu:            2 kB\n";
        let columns = Split::of(text).columns();
        assert_eq!(columns, [400, 10, 200, 50, 12, 328].map(|kib| kib * 1024));
        assert_eq!(columns.iter().sum::<u64>(), 1000 * 1024);
    }

    #[test]
    fn slabs_are_counted_in_bytes_of_whole_slabs() {
        let text = b"slabinfo - version: 2.1\n\
            # name            <active_objs> <num_objs> <objsize> <objperslab> <pagesperslab> : tunables <limit>\n\
            bio-312               12     12    320   12    1 : tunables    0    0    0 : slabdata      1      1      0\n\
            kmalloc-8k            40     44   8192    4    8 : tunables    0    0    0 : slabdata     10     11      0\n\
            broken 1 2\n";
        let mut lines = slab_lines(text, 4096);
        assert_eq!(lines.next(), Some((&b"bio-312"[..], 4096)));
        assert_eq!(lines.next(), Some((&b"kmalloc-8k"[..], 88 * 4096)));
        assert_eq!(lines.next(), None);
    }
}
