//! What is in force, a line each.

use alloc::string::String;
use alloc::vec::Vec;

use crate::netlink::{self, Link, Traffic};
use crate::program::{Failure, on};
use crate::{print, println};

pub fn links() -> Result<(), Failure> {
    for link in netlink::links().map_err(on("the list of devices"))? {
        let state = match (link.is_up, link.carries) {
            (true, true) => "up",
            (true, false) => "up, no carrier",
            (false, _) => "down",
        };
        print!("{}: {} {state} mtu {}", link.index, link.name, link.mtu);
        let address: Vec<String> = link.address.iter().map(|byte| alloc::format!("{byte:02x}")).collect();
        println!("{}{}", if address.is_empty() { "" } else { " " }, address.join(":"));
        for (way, Traffic { packets, bytes, errors, dropped }) in [("received", link.received), ("sent", link.sent)] {
            println!("    {way} {packets} packets, {bytes} bytes, {errors} errors, {dropped} dropped");
        }
    }
    Ok(())
}

/// The name of the device of that number.
fn name(links: &[Link], index: u32) -> &str {
    links.iter().find(|link| link.index == index).map_or("?", |link| &link.name)
}

pub fn addresses() -> Result<(), Failure> {
    let links = netlink::links().map_err(on("the list of devices"))?;
    for own in netlink::addresses().map_err(on("the list of addresses"))? {
        println!("{} {}/{}", name(&links, own.interface), own.address, own.bits);
    }
    Ok(())
}

pub fn routes() -> Result<(), Failure> {
    let links = netlink::links().map_err(on("the list of devices"))?;
    for route in netlink::routes().map_err(on("the list of routes"))? {
        match route.destination {
            Some((address, bits)) => print!("{address}/{bits}"),
            None => print!("default"),
        }
        if let Some(gateway) = route.gateway {
            print!(" via {gateway}");
        }
        println!(" dev {}", route.interface.map_or("?", |index| name(&links, index)));
    }
    Ok(())
}
