//! The state of all files: what they are called, how long they are, where they lie.

use alloc::borrow::ToOwned;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use crate::entry::{Entry, is_name};
use crate::layout::PAGE;
use crate::pages::{Pages, Piece};

/// The most bytes of a file.
pub(crate) const LARGEST: u64 = 1 << 44;
const MOST_PAGES: u64 = LARGEST / PAGE as u64;

/// One file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Known {
    pub name: String,
    pub size: u64,
    pub pages: Pages,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Table {
    files: BTreeMap<u32, Known>,
    names: BTreeMap<String, u32>,
    /// Of a snapshot of it.
    bytes: usize,
}

impl Table {
    /// Does what an entry says. The pages that this frees are given to `freed`.
    ///
    /// # Errors
    /// Why it cannot be done, and then nothing is.
    pub fn apply(&mut self, entry: &Entry, freed: impl FnMut(Piece)) -> Result<(), &'static str> {
        match entry {
            Entry::Create { id, name } => {
                if self.files.contains_key(id) || !self.is_free(name) {
                    return Err("a file is created that there is already");
                }
                self.names.insert(name.clone(), *id);
                self.files.insert(*id, Known { name: name.clone(), size: 0, pages: Pages::default() });
                self.bytes += Entry::bytes_of_file(name, 0);
            }
            Entry::Remove { id } => {
                let file = self.files.remove(id).ok_or("a file is removed that there is not")?;
                self.names.remove(&file.name);
                self.bytes -= Entry::bytes_of_file(&file.name, file.pages.count());
                file.pages.pieces().map(|(_, piece)| piece).for_each(freed);
            }
            Entry::Rename { id, name } => {
                if !self.is_free(name) {
                    return Err("a file gets the name of another");
                }
                let file = self.files.get_mut(id).ok_or("a file is renamed that there is not")?;
                self.names.remove(&file.name);
                self.bytes = self.bytes - file.name.len() + name.len();
                name.clone_into(&mut file.name);
                self.names.insert(name.clone(), *id);
            }
            Entry::Size { id, size } => {
                let file = self.files.get_mut(id).ok_or("a file gets a size that there is not")?;
                if *size > LARGEST {
                    return Err("a file is larger than any can be");
                }
                file.size = *size;
            }
            Entry::Map { id, page, at, pages } => {
                let pages = u64::from(*pages);
                // Whether the device has them is seen when all of them are known.
                if at.checked_add(pages).is_none() {
                    return Err("pages of a file lie where no device can have them");
                }
                self.remap(*id, *page, pages, |of| of.map(*page, *at, pages, freed))?;
            }
            Entry::Unmap { id, page, pages } => {
                self.remap(*id, *page, *pages, |of| of.unmap(*page, *pages, freed))?;
            }
            Entry::Verify { .. } => {}
        }
        Ok(())
    }

    fn remap(&mut self, id: u32, page: u64, pages: u64, change: impl FnOnce(&mut Pages)) -> Result<(), &'static str> {
        if pages == 0 || page.checked_add(pages).is_none_or(|end| end > MOST_PAGES) {
            return Err("pages of a file lie beyond the largest that there can be");
        }
        let file = self.files.get_mut(&id).ok_or("pages belong to a file that there is not")?;
        let before = file.pages.count();
        change(&mut file.pages);
        let (name, after) = (file.name.len(), file.pages.count());
        debug_assert!(name > 0);
        self.bytes = self.bytes + Entry::bytes_of_file("", after) - Entry::bytes_of_file("", before);
        Ok(())
    }

    fn is_free(&self, name: &str) -> bool {
        is_name(name) && !self.names.contains_key(name)
    }

    pub fn get(&self, id: u32) -> Option<&Known> {
        self.files.get(&id)
    }

    pub fn find(&self, name: &str) -> Option<u32> {
        self.names.get(name).copied()
    }

    pub fn last_id(&self) -> Option<u32> {
        self.files.last_key_value().map(|(last, _)| *last)
    }

    /// The first identity from `from` on that no file has, and behind the last one the first of all.
    pub fn free_id(&self, from: u32) -> Option<u32> {
        (from..=u32::MAX).chain(0..from).find(|id| !self.files.contains_key(id))
    }

    /// The files whose names begin so, by name.
    pub fn list<'a>(&'a self, prefix: &'a str) -> impl Iterator<Item = &'a Known> + 'a {
        let names = self.names.range::<str, _>((core::ops::Bound::Included(prefix), core::ops::Bound::Unbounded));
        names.take_while(move |(name, _)| name.starts_with(prefix)).filter_map(|(_, id)| self.files.get(id))
    }

    pub fn files(&self) -> impl Iterator<Item = &Known> + '_ {
        self.files.values()
    }

    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The entries that make this state out of none.
    pub fn encode(&self, out: &mut Vec<u8>) {
        for (id, file) in &self.files {
            Entry::Create { id: *id, name: file.name.to_owned() }.encode(out);
            Entry::Size { id: *id, size: file.size }.encode(out);
            for (page, piece) in file.pages.pieces() {
                // A piece of more pages than fit into the number is told in several.
                let mut told = 0;
                while told < piece.pages {
                    let pages = (piece.pages - told).min(u64::from(u32::MAX));
                    let map = Entry::Map { id: *id, page: page + told, at: piece.at + told, pages: pages as u32 };
                    map.encode(out);
                    told += pages;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entry::Entries;

    fn create(id: u32, name: &str) -> Entry {
        Entry::Create { id, name: name.into() }
    }

    #[test]
    fn what_it_encodes_makes_it_again_and_takes_as_many_bytes_as_it_says() {
        let mut random = fastrand::Rng::with_seed(5);
        let mut table = Table::default();
        for step in 0..2000 {
            let id = random.u32(..20);
            let entry = match random.u8(..8) {
                0 => create(id, &"n".repeat(random.usize(1..30))),
                1 => Entry::Remove { id },
                2 => Entry::Rename { id, name: "m".repeat(random.usize(1..30)) },
                3 => Entry::Size { id, size: random.u64(..1 << 44) },
                4 => Entry::Unmap { id, page: random.u64(..50), pages: random.u64(1..10) },
                _ => Entry::Map { id, page: random.u64(..50), at: step * 100, pages: random.u32(1..10) },
            };
            let _ = table.apply(&entry, |_| {});
            let mut bytes = Vec::new();
            table.encode(&mut bytes);
            assert_eq!(bytes.len(), table.bytes(), "after {entry:?}");
            let mut again = Table::default();
            Entries::of(&bytes).for_each(|entry| again.apply(&entry, |_| unreachable!()).unwrap());
            assert_eq!(again, table);
        }
        assert!(table.files().count() > 5);
    }

    #[test]
    fn what_cannot_be_is_refused_and_changes_nothing() {
        let mut table = Table::default();
        for entry in [create(1, "a"), create(2, "b")] {
            table.apply(&entry, |_| unreachable!()).unwrap();
        }
        let before = table.clone();
        for entry in [
            create(1, "c"),
            create(3, "a"),
            create(3, ""),
            Entry::Remove { id: 3 },
            Entry::Rename { id: 1, name: "b".into() },
            Entry::Rename { id: 3, name: "c".into() },
            Entry::Size { id: 3, size: 1 },
            Entry::Size { id: 1, size: LARGEST + 1 },
            Entry::Map { id: 3, page: 0, at: 0, pages: 1 },
            Entry::Map { id: 1, page: 0, at: 0, pages: 0 },
            Entry::Map { id: 1, page: u64::MAX, at: 0, pages: 1 },
            Entry::Unmap { id: 1, page: MOST_PAGES, pages: 1 },
        ] {
            assert!(table.apply(&entry, |_| unreachable!()).is_err(), "{entry:?}");
            assert_eq!(table, before, "{entry:?}");
        }
    }

    #[test]
    fn identities_begin_again_behind_the_last() {
        let mut table = Table::default();
        for id in [0, 1, 7, u32::MAX] {
            table.apply(&create(id, &alloc::format!("{id}")), |_| {}).unwrap();
        }
        assert_eq!(table.last_id(), Some(u32::MAX));
        assert_eq!([0, 7, 9, u32::MAX].map(|from| table.free_id(from)), [Some(2), Some(8), Some(9), Some(2)]);
    }

    #[test]
    fn names_are_listed_in_order_and_by_their_beginning() {
        let mut table = Table::default();
        for (id, name) in ["log/2", "log/1", "logs", "a"].into_iter().enumerate() {
            table.apply(&create(id as u32, name), |_| {}).unwrap();
        }
        let list = |prefix| table.list(prefix).map(|file| file.name.as_str()).collect::<Vec<_>>();
        assert_eq!(list(""), ["a", "log/1", "log/2", "logs"]);
        assert_eq!(list("log/"), ["log/1", "log/2"]);
        assert_eq!((table.find("a"), table.find("b")), (Some(3), None));
    }
}
