//! A gateway for devices: devices connect over TCP and report what they measure, with one process for each connection.
//!
//! ```text
//! $ cargo otp run -- 127.0.0.1:7070 &
//! $ nc 127.0.0.1 7070
//! hello boiler
//! ok
//! temp 21.5
//! ok
//! get boiler temp
//! 21.5
//! ```
//!
//! With `OTP_LOG=info` the gateway logs what goes on. To get the readings elsewhere too, attach a handler in Erlang,
//! `gateway_telemetry:attach(mine, [gateway, reading], fun(_, #{value := V}, #{device := D}, _) -> … end, [])`: see `events`.
//!
//! `cargo otp upgrade` takes it to a new build with its connections open.
//!
//! `protocol` lists the lines that a device may send. From Erlang: `gateway_hub:value(hub, <<"boiler">>, <<"temp">>)`, `gateway_hub:tell(hub,
//! <<"boiler">>, <<"open the valve">>)`. A connection that fails in whatever way, by what the device sends or by a panic, ends
//! alone.

mod acceptor;
mod connection;
mod events;
mod hub;
mod protocol;

pub use acceptor::{Acceptor, AcceptorApi};
pub use connection::{Connection, ConnectionApi};
pub use hub::{Hub, HubApi};

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use otp::{Args, Tree, pool, rest_for_one, supervisor, worker};

otp::application!(root);

/// More connections than this are told so and closed.
pub const MOST_CONNECTIONS: usize = 10_000;

/// The hub, the connections, and who accepts them: at the address, and with the milliseconds of silence after which a device is taken
/// for gone, that the command line gives. Without the hub there is nothing to report to, so its end is that of the others too.
#[supervisor]
pub fn root(args: Args) -> Tree {
    let address = args.0.first().map_or_else(
        || SocketAddr::from((Ipv4Addr::LOCALHOST, 7070)),
        |address| address.parse().expect("the first argument is an address: 127.0.0.1:7070"),
    );
    let idle = args.0.get(1).map_or(60_000, |idle| idle.parse().expect("the second argument is in milliseconds"));
    rest_for_one()
        .intensity(5, Duration::from_secs(10))
        .child(worker::<Hub>(()).name("hub"))
        .child(pool::<Connection>().name("connections").temporary().at_most(MOST_CONNECTIONS))
        .child(worker::<Acceptor>((address.to_string(), Duration::from_millis(idle))).name("acceptor"))
}
