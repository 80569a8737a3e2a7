//! The acceptor: accepts connections, and starts a process for each.

use std::net::SocketAddr;
use std::time::Duration;

use otp::net::{Readable, TcpListener};
use otp::time::sleep;
use otp::{Carry, Init, Pool, gen_server};
use tracing::{info, warn};

use crate::connection::Connection;

/// How many are taken in before others get their turn.
const AT_A_TIME: usize = 64;

/// Takes connections in.
#[derive(Carry, Debug)]
pub struct Acceptor {
    listener: TcpListener,
    idle: Duration,
    connections: Pool<Connection>,
}

#[gen_server]
impl Acceptor {
    async fn init(address: String, idle: Duration) -> Init<Self> {
        let address: SocketAddr = address.parse()?;
        let mut tries = 0;
        let listener = loop {
            match TcpListener::bind(address) {
                Ok(listener) => break listener,
                // The socket of the acceptor before this one may still be open.
                Err(_) if tries < 100 => sleep(Duration::from_millis(20)).await,
                Err(error) => return Err(format!("cannot listen at {address}: {error}").into()),
            }
            tries += 1;
        };
        listener.notify_readable()?;
        info!(address = %listener.local()?, "it listens");
        Ok(Acceptor { listener, idle, connections: Pool::named("connections") })
    }

    /// Where it listens.
    #[call]
    fn address(&mut self) -> String {
        self.listener.local().map_or_else(|error| error.to_string(), |address| address.to_string())
    }

    #[info]
    async fn readable(&mut self, _message: Readable) {
        for _ in 0..AT_A_TIME {
            match self.listener.try_accept() {
                Ok(Some(stream)) => {
                    let _ = stream.set_nodelay(true);
                    // A connection that does not start (there are too many) is closed with what it was handed over in.
                    if let Err(why) = self.connections.start((stream.hand_over(), self.idle)).await {
                        warn!(%why, "a connection is let go of");
                    }
                }
                Ok(None) => break,
                // No descriptor is free: the next end of a connection gives one back.
                Err(error) => {
                    warn!(error = &error as &dyn std::error::Error, "no connection can be taken in");
                    sleep(Duration::from_millis(50)).await;
                    break;
                }
            }
        }
        self.listener.notify_readable().expect("the poll set takes the listener");
    }
}
