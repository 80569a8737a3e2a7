//! Connections with the other nodes: this process connects again when a link was cut, since nothing in OTP does that by itself.

use std::time::Duration;

use otp::time::Timer;
use otp::{Data, Init, Name, cluster, gen_server};

/// How long until it is tried again.
const AGAIN: Duration = Duration::from_secs(1);

/// Knows which nodes there should be.
pub struct Links {
    others: Vec<Name>,
}

/// It is time to look again.
#[derive(Data)]
pub struct Look;

#[gen_server]
impl Links {
    fn init(nodes: Vec<String>) -> Init<Self> {
        let mut others = Vec::new();
        for node in nodes {
            if !node.contains('@') {
                return Err(format!("{node} is no node: its name is as in a@127.0.0.1").into());
            }
            others.push(Name::new(node)?);
        }
        others.retain(|other| *other != cluster::node());
        Timer::after(Duration::ZERO, &Look);
        Ok(Links { others })
    }

    /// The nodes that there should be and are not.
    #[call]
    async fn missing(&mut self) -> Vec<Name> {
        let there = cluster::nodes().await;
        self.others.iter().filter(|other| !there.contains(other)).cloned().collect()
    }

    /// Connects with those that are missing. One that does not answer takes some seconds, in which nobody needs this process.
    #[info]
    async fn look(&mut self, _look: Look) {
        for other in self.missing().await {
            // It is looked for again soon.
            let _ = cluster::connect(&other).await;
        }
        Timer::after(AGAIN, &Look);
    }
}
