//! Further nodes for a test: Erlang VMs of their own on this machine, with the same code as this one.

use std::time::Duration;

use crate::data::{Any, Name};
use crate::nif::module::part;
use crate::waiting::erlang::{Raised, apply};

/// How long a node may take for an expression. A test that waits longer has failed anyway.
const LIMIT: Duration = Duration::from_secs(120);

/// An Erlang VM beside this one, with the same code. It is a node of its own, on the host that this node's name says, and
/// connected with no other until somebody speaks to it; the VM that the tests run in must have a name.
///
/// What the test asks of it goes through its standard input and output, so it is heard however its connections are. It ends
/// when the test does.
///
/// ```no_run
/// # async fn a_test() -> Result<(), otp::erlang::Raised> {
/// let other = otp::testing::Node::start("other").await?;
/// other.evaluate("application:ensure_all_started(shop)").await?;
/// otp::cluster::connect(other.name()).await.expect("it is there");
/// other.kill().await?;
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct Node {
    peer: Any,
    name: Name,
    process: u32,
}

impl Node {
    /// Starts a VM as the node of this name, without a host.
    ///
    /// # Errors
    /// When it does not start, or this node has no name.
    pub async fn start(name: &str) -> Result<Self, Raised> {
        Self::start_with(name, &[]).await
    }

    /// The same with further flags of the VM.
    ///
    /// # Errors
    /// As for [`Node::start`].
    pub async fn start_with(name: &str, flags: &[&str]) -> Result<Self, Raised> {
        let flags: Vec<String> = flags.iter().map(|flag| (*flag).to_owned()).collect();
        let (peer, name, process) = apply(&part("test"), "start_node", (name.to_owned(), flags)).await?;
        Ok(Self { peer, name, process })
    }

    /// Its whole name, as other nodes call it.
    pub fn name(&self) -> &Name {
        &self.name
    }

    /// What an expression of Erlang comes to there. It is evaluated by a process that ends then, and with it what it is linked to.
    ///
    /// # Errors
    /// When it raises something, or the node is there no longer.
    pub async fn evaluate(&self, expression: &str) -> Result<Any, Raised> {
        let text: Vec<u32> = expression.chars().map(u32::from).collect();
        apply(&part("test"), "evaluate_on", (self.peer.clone(), text, LIMIT)).await
    }

    /// Cuts its links to these nodes, which it lets in no more until [`Node::heal`].
    ///
    /// # Errors
    /// When it is there no longer.
    pub async fn cut(&self, others: &[&Name]) -> Result<(), Raised> {
        // All first, as one that is still connected would be asked to connect with the others.
        for other in others {
            self.evaluate(&format!("erlang:set_cookie({other:?}, '$a_cut_link')")).await?;
        }
        for other in others {
            self.evaluate(&format!("erlang:disconnect_node({other:?})")).await?;
        }
        Ok(())
    }

    /// Lets these nodes in again. Nobody connects because of that.
    ///
    /// # Errors
    /// When it is there no longer.
    pub async fn heal(&self, others: &[&Name]) -> Result<(), Raised> {
        for other in others {
            self.evaluate(&format!("erlang:set_cookie({other:?}, erlang:get_cookie())")).await?;
        }
        Ok(())
    }

    /// Kills the VM as a loss of power would, without a word to anybody.
    ///
    /// # Errors
    /// None that is known.
    pub async fn kill(&self) -> Result<(), Raised> {
        self.signal("KILL").await
    }

    /// Has the VM do nothing, and answer nobody, until [`Node::thaw`].
    ///
    /// # Errors
    /// None that is known.
    pub async fn freeze(&self) -> Result<(), Raised> {
        self.signal("STOP").await
    }

    /// Has the VM go on.
    ///
    /// # Errors
    /// None that is known.
    pub async fn thaw(&self) -> Result<(), Raised> {
        self.signal("CONT").await
    }

    async fn signal(&self, signal: &str) -> Result<(), Raised> {
        let command: Vec<u32> = format!("kill -s {signal} {}", self.process).chars().map(u32::from).collect();
        apply::<Any>("os", "cmd", (command,)).await.map(|_| ())
    }
}
