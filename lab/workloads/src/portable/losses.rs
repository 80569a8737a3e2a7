//! Where a kernel drops datagrams, as it counts itself, in its own words: the texts of /proc/net.

use super::memory::word_number;

/// What a kernel has dropped since it began, by the place.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Losses {
    /// The socket that was to receive had no room: whoever reads from it is too slow.
    pub socket: u64,
    /// The memory for all sockets of the protocol was used up.
    pub memory: u64,
    /// What had come waited for the processor, and the queue was full.
    pub queue: u64,
    /// A device had no room or no buffer.
    pub device: u64,
    /// IPsec: no association, a wrong check, a number that was there before, no room.
    pub ipsec: u64,
    /// A wrong checksum.
    pub checksum: u64,
}

/// The names of the places, in the order of [`Losses::each`], as facts of a trial have them.
pub const NAMES: [&str; 6] =
    ["lost_in_socket", "lost_for_memory", "lost_in_queue", "lost_in_device", "lost_in_ipsec", "lost_by_checksum"];

/// The files, in /proc/net.
pub const FILES: [&str; 5] = ["snmp", "snmp6", "softnet_stat", "dev", "xfrm_stat"];

impl Losses {
    /// From the texts of [`FILES`]; a file that is not there is empty.
    pub fn of(texts: [&[u8]; 5]) -> Self {
        let [snmp, snmp6, softnet, devices, ipsec] = texts;
        let mut losses = Self::default();
        losses.ipv4(snmp);
        for (name, value) in snmp6.split(|b| *b == b'\n').filter_map(name_and_number) {
            match name {
                b"Udp6RcvbufErrors" => losses.socket += value,
                b"Udp6MemErrors" => losses.memory += value,
                b"Udp6InCsumErrors" => losses.checksum += value,
                _ => {}
            }
        }
        // A processor a line: in hexadecimal what was handled, what was dropped, and more.
        for line in softnet.split(|b| *b == b'\n') {
            losses.queue += words(line).nth(1).map_or(0, hexadecimal);
        }
        for line in devices.split(|b| *b == b'\n') {
            let Some(colon) = line.iter().position(|b| *b == b':') else { continue };
            // bytes packets errs drop fifo …, the same again for what was sent.
            let dropped = |nth: usize| words(&line[colon + 1..]).nth(nth).map_or(0, word_number);
            losses.device += dropped(3) + dropped(11);
        }
        losses.ipsec = ipsec.split(|b| *b == b'\n').filter_map(name_and_number).map(|(_, value)| value).sum();
        losses
    }

    /// Two lines a protocol: names, and values.
    fn ipv4(&mut self, snmp: &[u8]) {
        let mut lines = snmp.split(|b| *b == b'\n').filter(|line| line.starts_with(b"Udp:"));
        let (Some(names), Some(values)) = (lines.next(), lines.next()) else { return };
        for (name, value) in words(names).zip(words(values)) {
            match name {
                b"RcvbufErrors" => self.socket += word_number(value),
                b"MemErrors" => self.memory += word_number(value),
                b"InCsumErrors" => self.checksum += word_number(value),
                _ => {}
            }
        }
    }

    /// In the order of [`NAMES`].
    pub fn each(&self) -> [u64; 6] {
        [self.socket, self.memory, self.queue, self.device, self.ipsec, self.checksum]
    }

    /// What was dropped since `before`, in the order of [`NAMES`].
    pub fn since(&self, before: &Self) -> [u64; 6] {
        let (now, then) = (self.each(), before.each());
        core::array::from_fn(|place| now[place].saturating_sub(then[place]))
    }
}

fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(|b| b.is_ascii_whitespace()).filter(|word| !word.is_empty())
}

fn name_and_number(line: &[u8]) -> Option<(&[u8], u64)> {
    let mut words = words(line);
    Some((words.next()?, words.next().map(word_number)?))
}

fn hexadecimal(word: &[u8]) -> u64 {
    let digits = word.iter().map_while(|b| char::from(*b).to_digit(16));
    digits.fold(0, |number: u64, digit| number.wrapping_mul(16) + u64::from(digit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_place_is_read_where_the_kernel_counts_it() {
        let snmp = b"Ip: a b\nIp: 1 2\nUdp: InDatagrams NoPorts InErrors OutDatagrams RcvbufErrors SndbufErrors InCsumErrors IgnoredMulti MemErrors\nUdp: 10 0 7 10 5 0 1 0 2\n";
        let snmp6 = b"Udp6InDatagrams \t3\nUdp6RcvbufErrors                \t40\nUdp6MemErrors \t9\n";
        let softnet = b"0000001a 0000001f 00000000\n00000002 00000001 00000000\n";
        let devices = b"Inter-| Receive\n face |bytes packets errs drop fifo frame compressed multicast|bytes packets errs drop fifo\n  eth0: 100 2 0 11 0 0 0 0 50 1 0 6 0 0 0 0\n    lo: 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n";
        let ipsec = b"XfrmInError             \t0\nXfrmInNoStates          \t4\nXfrmInStateSeqError \t3\n";
        let losses = Losses::of([snmp, snmp6, softnet, devices, ipsec]);
        let expected = Losses { socket: 45, memory: 11, queue: 32, device: 17, ipsec: 7, checksum: 1 };
        assert_eq!(losses, expected);
        assert_eq!(losses.since(&Losses { socket: 40, ..expected }), [5, 0, 0, 0, 0, 0]);
        assert_eq!(Losses::of([b""; 5]), Losses::default());
    }
}
