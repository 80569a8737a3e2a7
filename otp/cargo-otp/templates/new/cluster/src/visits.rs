//! Visits, counted on every node: all nodes come to agree on the number, and a node can answer without asking another.
//!
//! Each node counts its own visits and tells the others. Of each node's count the highest is kept, so the order in which counts
//! arrive does not matter, nor does a count that arrives twice. A node that is started again hears its own count from the others;
//! visits that it counts before that are lost. While a link is cut, each side knows its own visits, and the two add up when the
//! link is there again.

use std::collections::BTreeMap;

use otp::cluster::{self, GroupChange, Membership};
use otp::{Group, Init, Name, gen_server};

/// How often this was visited, on each node.
pub struct Visits {
    counts: BTreeMap<Name, u64>,
    all: Group<Visits>,
}

#[gen_server]
impl Visits {
    async fn init() -> Init<Self> {
        let all = Group::named("visits");
        all.monitor().await?;
        all.join().await?;
        Ok(Visits {
            counts: BTreeMap::new(),
            all,
        })
    }

    /// Counts one here; all visits that are known of.
    #[call]
    async fn visit(&mut self) -> u64 {
        *self.counts.entry(cluster::node()).or_default() += 1;
        let counts = &self.counts;
        // Who is not told now, because nobody can be, is told when it can be again.
        let _ = self
            .all
            .broadcast(|other| other.learn(counts.clone()))
            .await;
        self.total()
    }

    /// All visits that are known of.
    #[call]
    fn total(&mut self) -> u64 {
        self.counts.values().sum()
    }

    /// What another node knows.
    #[cast]
    fn learn(&mut self, counts: BTreeMap<Name, u64>) {
        for (node, count) in counts {
            let own = self.counts.entry(node).or_default();
            *own = count.max(*own);
        }
    }

    /// Who is new, because its node was started or the link to it is there again, is told everything.
    #[info]
    fn changed(&mut self, change: GroupChange<Visits>) {
        if let Membership::Joined(others) = change.change {
            others
                .iter()
                .for_each(|other| other.learn(self.counts.clone()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(all: &[(&str, u64)]) -> BTreeMap<Name, u64> {
        all.iter()
            .map(|(node, count)| (Name::new(*node).expect("a name"), *count))
            .collect()
    }

    #[test]
    fn what_is_heard_late_or_twice_changes_nothing() {
        let mut visits = Visits {
            counts: BTreeMap::new(),
            all: Group::named("visits"),
        };
        for heard in [
            &[("a", 2), ("b", 1)][..],
            &[("a", 1)],
            &[("b", 5)],
            &[("a", 2), ("b", 1)],
        ] {
            visits.learn(counts(heard));
        }
        assert_eq!(
            (visits.total(), visits.counts),
            (7, counts(&[("a", 2), ("b", 5)]))
        );
    }

    // As a process: in an Erlang VM, alone.
    #[otp::test]
    async fn a_visit_is_counted_here_at_once() {
        let visits = Visits::start_link().await.unwrap();
        assert_eq!(visits.visit().await.unwrap(), 1);
        assert_eq!(visits.total().await.unwrap(), 1);
    }
}
