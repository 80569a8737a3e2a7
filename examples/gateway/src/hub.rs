//! The hub: the devices that are connected, and what each device reported last.

use std::collections::BTreeMap;

use otp::{Carry, Down, Init, Monitor, Pid, Server, gen_server};

use crate::connection::{Connection, ConnectionApi as _};
use crate::events::{Of, READING, Reading};

/// Strangers name devices and keys, so there is an end to both.
const MOST_DEVICES: usize = 100_000;
const MOST_KEYS: usize = 64;

/// Knows the devices.
#[derive(Carry, Debug)]
pub struct Hub {
    devices: BTreeMap<String, Device>,
}

/// A device that was here once; what it reported stays when it goes.
#[derive(Carry, Debug, Default)]
struct Device {
    connection: Option<(Pid, Monitor)>,
    values: BTreeMap<String, f64>,
}

#[gen_server]
impl Hub {
    fn init() -> Init<Self> {
        Ok(Hub { devices: BTreeMap::new() })
    }

    /// A device is connected. The one that was before under this name is let go of: it may not know yet that its line is cut.
    #[call]
    fn join(&mut self, device: String, connection: Pid) -> Result<(), String> {
        if self.devices.len() >= MOST_DEVICES && !self.devices.contains_key(&device) {
            return Err("there are too many devices".into());
        }
        let known = self.devices.entry(device).or_default();
        let monitor = Monitor::of(&connection);
        if let Some((before, monitor)) = known.connection.replace((connection.clone(), monitor)) {
            monitor.cancel();
            if before != connection {
                Server::<Connection>::of(before).replaced();
            }
        }
        Ok(())
    }

    /// What a device has measured.
    #[cast]
    fn measured(&mut self, device: String, key: String, value: f64) {
        READING.execute(|| (Reading { value }, Of { device: device.clone(), key: key.clone() }));
        let known = self.devices.entry(device).or_default();
        if known.values.len() < MOST_KEYS || known.values.contains_key(&key) {
            known.values.insert(key, value);
        }
    }

    /// The last reading.
    #[call]
    fn value(&mut self, device: String, key: String) -> Option<f64> {
        self.devices.get(&device)?.values.get(&key).copied()
    }

    /// All last readings of a device, connected or not; `undefined` when it was never here.
    #[call]
    fn values(&mut self, device: String) -> Option<BTreeMap<String, f64>> {
        Some(self.devices.get(&device)?.values.clone())
    }

    /// Who is connected.
    #[call]
    fn connected(&mut self) -> Vec<String> {
        let connected = self.devices.iter().filter(|(_, device)| device.connection.is_some());
        connected.map(|(name, _)| name.clone()).collect()
    }

    /// Sends a device a line; `false` when it is not connected.
    #[call]
    fn tell(&mut self, device: String, line: String) -> bool {
        let Some((connection, _)) = self.devices.get(&device).and_then(|device| device.connection.clone()) else {
            return false;
        };
        Server::<Connection>::of(connection).tell(line);
        true
    }

    #[info]
    fn gone(&mut self, down: Down) {
        for device in self.devices.values_mut() {
            if device.connection.as_ref().map(|(_, monitor)| monitor) == down.monitor.as_ref() {
                device.connection = None;
            }
        }
    }
}
