//! The page tables of a guest, which it cannot see.
//!
//! They lie behind the guest's memory, at physical addresses for which the guest has no virtual ones. What it has is mapped one to one,
//! for code that may not do what a kernel may: the program's parts as they are to be used, the rest as data. The first pages and the page
//! below the stack are not there. Where a part ends within two megabytes the pages are small, elsewhere large.

use unikernel_abi::PAGE;

use crate::program::Access;

const PRESENT: u64 = 1;
const WRITE: u64 = 1 << 1;
const USER: u64 = 1 << 2;
/// The processor sets these when it uses an entry; it finds them set.
const USED: u64 = 1 << 5 | 1 << 6;
const LARGE: u64 = 1 << 7;
const NO_EXECUTE: u64 = 1 << 63;

const LARGE_PAGE: u64 = 2 << 20;
const ENTRIES: usize = 512;

/// A part of memory, and what the guest may do there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Area {
    pub start: u64,
    pub end: u64,
    pub access: Access,
    /// Whether the guest has it, or only the processor for it.
    pub user: bool,
}

/// Page tables for these areas, which do not overlap and whose bounds are those of pages, as the bytes that lie from `at` on. The first table
/// is the one to begin with.
pub(super) fn of(areas: &[Area], at: u64) -> Vec<u8> {
    let mut tables = Tables { at, tables: vec![[0; ENTRIES]] };
    for area in areas {
        let flags = PRESENT
            | USED
            | if area.user { USER } else { 0 }
            | match area.access {
                Access::Read => NO_EXECUTE,
                Access::Write => WRITE | NO_EXECUTE,
                Access::Execute => 0,
            };
        let mut page = area.start;
        while page < area.end {
            let large = page.is_multiple_of(LARGE_PAGE) && page + LARGE_PAGE <= area.end;
            let (level, size) = if large { (1, LARGE_PAGE) } else { (0, PAGE) };
            tables.map(page, level, page | flags | if large { LARGE } else { 0 });
            page += size;
        }
    }
    tables.tables.iter().flatten().flat_map(|entry| entry.to_le_bytes()).collect()
}

struct Tables {
    at: u64,
    tables: Vec<[u64; ENTRIES]>,
}

impl Tables {
    /// Sets the entry of an address in the table of that level: 0 of small pages, 1 of large ones.
    fn map(&mut self, address: u64, level: u32, entry: u64) {
        let index = |level: u32| (address >> (12 + 9 * level)) as usize % ENTRIES;
        let mut table = 0;
        for above in (level + 1..4).rev() {
            if self.tables[table][index(above)] == 0 {
                let below = self.at + self.tables.len() as u64 * PAGE;
                // What may be done is for the last level to say.
                self.tables[table][index(above)] = below | PRESENT | WRITE | USER | USED;
                self.tables.push([0; ENTRIES]);
            }
            let below = self.tables[table][index(above)] & !(PAGE - 1) & !NO_EXECUTE;
            table = ((below - self.at) / PAGE) as usize;
        }
        self.tables[table][index(level)] = entry;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the processor does with an address.
    fn walk(tables: &[u8], at: u64, address: u64) -> Option<(u64, u64)> {
        let entry = |table: u64, index: u64| {
            let offset = (table - at + index * 8) as usize;
            u64::from_le_bytes(tables[offset..offset + 8].try_into().unwrap())
        };
        let mut table = at;
        for level in (0..4).rev() {
            let found = entry(table, address >> (12 + 9 * level) & 511);
            if found & PRESENT == 0 {
                return None;
            }
            if level == 0 || level == 1 && found & LARGE != 0 {
                let size = 1 << (12 + 9 * level);
                return Some(((found & !NO_EXECUTE) / size * size + address % size, found));
            }
            table = found & !0xfff & !NO_EXECUTE;
        }
        None
    }

    #[test]
    fn every_page_is_mapped_to_itself_as_its_area_says_and_no_other_is() {
        let areas = [
            Area { start: 0x1_0000, end: 0x3_0000, access: Access::Read, user: true },
            Area { start: 0x3_0000, end: 0x3_1000, access: Access::Write, user: false },
            Area { start: 0x10_0000, end: 0x52_3000, access: Access::Execute, user: true },
            Area { start: 0x52_3000, end: 0x1234_5000, access: Access::Write, user: true },
            Area { start: 0x3fff_f000, end: 0x4060_0000, access: Access::Write, user: true },
        ];
        let at = 0x8000_0000;
        let tables = of(&areas, at);
        assert!(tables.len() < 20 * 4096, "{}", tables.len());
        for page in (0..0x4100_0000).step_by(0x1000) {
            let area = areas.iter().find(|area| (area.start..area.end).contains(&page));
            let found = walk(&tables, at, page + 5);
            assert_eq!(found.map(|(address, _)| address), area.map(|_| page + 5), "{page:#x}");
            let (Some(area), Some((_, flags))) = (area, found) else { continue };
            let is = (flags & WRITE != 0, flags & NO_EXECUTE == 0, flags & USER != 0);
            assert_eq!(is, (area.access == Access::Write, area.access == Access::Execute, area.user), "{page:#x}");
        }
    }
}
