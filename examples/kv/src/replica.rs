//! The replica of one node: its entries, and the rule by which it takes in the entries of another.
//!
//! There is no process and no clock in here, only the rule for which of two entries of a key stays. The rule is a maximum, so the
//! order in which entries arrive does not matter, nor does an entry that arrives twice.

use std::collections::BTreeMap;

use otp::{Data, Name};

/// Which of two writes of a key is the later one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Data)]
pub struct Version {
    /// Microseconds since 1970 by the clock of the node that wrote, but more than in any version that it had seen before.
    pub count: u64,
    /// The node that wrote, which decides where the counts are the same.
    pub node: Name,
}

/// What is known of a key.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Data)]
pub struct Entry {
    pub version: Version,
    /// `None` when it was deleted. It decides where the versions are the same, as they can be when a node's clock was set back
    /// while it did not run.
    pub value: Option<String>,
}

/// All entries that a node has.
#[derive(Debug, Default)]
pub struct Replica {
    entries: BTreeMap<String, Entry>,
    /// The highest count in any version that was seen.
    highest: u64,
}

impl Replica {
    pub fn get(&self, key: &str) -> Option<&str> {
        self.entries.get(key)?.value.as_deref()
    }

    /// Writes a value, or deletes it, on this `node` at the time `now`; the entry that others are to have too.
    pub fn write(&mut self, now: u64, node: Name, key: String, value: Option<String>) -> Entry {
        self.highest = now.max(self.highest.saturating_add(1));
        let entry = Entry { version: Version { count: self.highest, node }, value };
        self.entries.insert(key, entry.clone());
        entry
    }

    /// Takes in what another node has.
    pub fn merge(&mut self, key: String, entry: Entry) {
        self.highest = self.highest.max(entry.version.count);
        let own = self.entries.entry(key).or_insert_with(|| entry.clone());
        if *own < entry {
            *own = entry;
        }
    }

    /// All entries, those of deleted keys too.
    pub fn entries(&self) -> impl Iterator<Item = (&String, &Entry)> {
        self.entries.iter()
    }

    /// The keys that have a value.
    pub fn keys(&self) -> impl Iterator<Item = &String> {
        self.entries.iter().filter(|(_, entry)| entry.value.is_some()).map(|(key, _)| key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(node: &str) -> Name {
        Name::new(node).expect("a name")
    }

    fn entry(count: u64, node: &str, value: Option<&str>) -> Entry {
        Entry { version: Version { count, node: name(node) }, value: value.map(str::to_owned) }
    }

    #[test]
    fn in_whatever_order_entries_come_and_however_often_the_same_is_left() {
        let mut entries = Vec::new();
        for count in 1..4 {
            for node in ["a", "b"] {
                for value in [None, Some("x"), Some("y")] {
                    entries.push(entry(count, node, value));
                }
            }
        }
        let latest = entries.iter().max().cloned();
        // A permutation for each step that has no divisor with their number, each with its first half once more.
        for step in [1, 5, 7, 11, 13, 17] {
            let order = (0..entries.len()).map(|place| &entries[place * step % entries.len()]);
            let mut replica = Replica::default();
            for entry in order.clone().chain(order.take(entries.len() / 2)) {
                replica.merge("key".into(), entry.clone());
            }
            assert_eq!(replica.entries().map(|(_, entry)| entry.clone()).next(), latest);
        }
    }

    #[test]
    fn a_write_overwrites_all_that_was_seen_even_with_a_clock_that_is_behind() {
        let mut replica = Replica::default();
        replica.merge("key".into(), entry(1_000_000, "z", Some("old")));
        let written = replica.write(5, name("a"), "key".into(), Some("new".into()));
        assert_eq!(written.version.count, 1_000_001);
        replica.merge("key".into(), entry(1_000_000, "z", Some("old")));
        assert_eq!(replica.get("key"), Some("new"));
    }

    #[test]
    fn what_was_deleted_stays_so_when_an_older_value_comes() {
        let mut replica = Replica::default();
        let old = replica.write(1, name("a"), "key".into(), Some("old".into()));
        replica.write(2, name("a"), "key".into(), None);
        replica.merge("key".into(), old);
        assert_eq!((replica.get("key"), replica.keys().count()), (None, 0));
        assert_eq!(replica.entries().count(), 1);
    }
}
