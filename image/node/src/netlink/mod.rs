//! The kernel's network, asked and told: interfaces, addresses, routes, and IPsec.

mod address;
mod link;
mod message;
mod protect;
mod route;
mod talk;
mod xfrm;

pub use address::{Assigned, add_address, addresses};
pub use link::{Link, Traffic, links, up};
pub use protect::{Suite, protect};
pub use route::{Route, add_route, routes};
pub use xfrm::{
    Association, Cipher, Direction, InForce, Policy, add_association, add_policy, associations, flush, policies,
};
