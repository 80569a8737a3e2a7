//! The store of a node, and the messages between stores.
//!
//! Each store is a member of one group. A write goes to all members at once. A new member, whose node was started or whose link
//! is there again, gets everything from each of the others. Messages from one process to another arrive in order or, when the
//! link is cut, not at all; in that case the member is gone, and comes back as a new one.

use std::time::{SystemTime, UNIX_EPOCH};

use otp::cluster::{self, GroupChange, Membership};
use otp::{Group, Init, Server, gen_server};

use crate::replica::{Entry, Replica};

/// How many entries go into one message, so that others get their turn in between.
const PART: usize = 1000;

/// The entries of this node.
pub struct Store {
    replica: Replica,
    stores: Group<Store>,
}

#[gen_server]
impl Store {
    async fn init() -> Init<Self> {
        let stores = Group::named("kv stores");
        // First who comes is watched, then all others learn that this one is there.
        stores.monitor().await?;
        stores.join().await?;
        Ok(Store { replica: Replica::default(), stores })
    }

    /// The value of `key`, as far as this node knows.
    #[call]
    fn get(&mut self, key: String) -> Option<String> {
        self.replica.get(&key).map(str::to_owned)
    }

    /// Gives `key` a value; how many other nodes it was sent to.
    #[call]
    async fn put(&mut self, key: String, value: String) -> usize {
        self.write(key, Some(value)).await
    }

    /// Takes `key` away; how many other nodes that was sent to.
    #[call]
    async fn delete(&mut self, key: String) -> usize {
        self.write(key, None).await
    }

    /// The keys that this node knows a value of.
    #[call]
    fn keys(&mut self) -> Vec<String> {
        self.replica.keys().cloned().collect()
    }

    /// Entries of another store.
    #[cast]
    fn merge(&mut self, entries: Vec<(String, Entry)>) {
        for (key, entry) in entries {
            self.replica.merge(key, entry);
        }
    }

    /// Other stores are there, or are gone.
    #[info]
    fn changed(&mut self, change: GroupChange<Store>) {
        let Membership::Joined(members) = change.change else { return };
        let all: Vec<_> = self.replica.entries().map(|(key, entry)| (key.clone(), entry.clone())).collect();
        for member in members.iter().filter(|member| **member != Server::own()) {
            for part in all.chunks(PART) {
                member.merge(part.to_vec());
            }
        }
    }
}

impl Store {
    async fn write(&mut self, key: String, value: Option<String>) -> usize {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let now = u64::try_from(since.as_micros()).unwrap_or(u64::MAX);
        let entry = self.replica.write(now, cluster::node(), key.clone(), value);
        // Nobody is known when the groups of this node are not there: then all is sent when they are again.
        let others = self.stores.members().await.unwrap_or_default();
        let others: Vec<_> = others.into_iter().filter(|store| *store != Server::own()).collect();
        for store in &others {
            store.merge(vec![(key.clone(), entry.clone())]);
        }
        others.len()
    }
}
