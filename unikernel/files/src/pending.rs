//! What was done since the last sync, and is to become durable with the next.

use alloc::vec::Vec;

use crate::entry::Entry;
use crate::fresh::MOST_PIECES;
use crate::layout::Layout;

/// More changes than this are not kept one by one: the next sync writes the state of all files.
const MOST_PENDING: usize = 8192;

/// What was done since the last sync.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    entries: Vec<Entry>,
    /// There were more than are kept.
    more: bool,
}

impl Pending {
    pub fn push(&mut self, entry: Entry) {
        if self.more {
            return;
        }
        if let Some(last) = self.entries.last_mut()
            && let Some(both) = joined(last, &entry)
        {
            *last = both;
            return;
        }
        if self.entries.len() == MOST_PENDING {
            *self = Self { entries: Vec::new(), more: true };
        } else {
            self.entries.push(entry);
        }
    }

    /// Whether only the state of all files says it all.
    pub fn is_too_much(&self) -> bool {
        self.more
    }

    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter()
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty() && !self.more
    }
}

/// The one entry that says what these two do.
fn joined(first: &Entry, then: &Entry) -> Option<Entry> {
    match (first, then) {
        (Entry::Size { id, .. }, Entry::Size { id: same, .. }) if id == same => Some(then.clone()),
        (Entry::Map { id, page, at, pages }, Entry::Map { id: same, page: next, at: behind, pages: more }) => {
            let follows = id == same && page + u64::from(*pages) == *next && at + u64::from(*pages) == *behind;
            let pages = pages.checked_add(*more).filter(|_| follows)?;
            Some(Entry::Map { id: *id, page: *page, at: *at, pages })
        }
        _ => None,
    }
}

/// The most bytes that the names and places of files may take: a snapshot of them has to leave the log some room.
pub(crate) fn most_bytes(layout: Layout) -> usize {
    (layout.area_bytes() / 4 * 3).saturating_sub((MOST_PIECES + 1) * Entry::VERIFY_BYTES)
}
