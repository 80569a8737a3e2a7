//! What a program says of itself, in a note of its ELF file: the version that it was built for, and the devices that it has to be given.
//!
//! A monitor gives a program the devices that it names, and no other.

/// The section and the owner of the note.
pub const SECTION: &str = ".note.kizami";
pub const OWNER: &[u8] = b"Kizami\0\0";
/// The kind of the note.
pub const TYPE: u32 = 1;
/// The most bytes of what it says.
pub const MOST: usize = 1024;

/// The note of a program: a header as ELF has it, then [`crate::VERSION`], then the names of devices, each ended by a zero byte.
#[repr(C, align(4))]
pub struct Note<const N: usize> {
    pub owner_len: u32,
    pub len: u32,
    pub kind: u32,
    pub owner: [u8; 8],
    pub version: u32,
    pub names: [u8; N],
}

impl<const N: usize> Note<N> {
    /// Of the names, each ended by a zero byte.
    pub const fn new(names: [u8; N]) -> Self {
        let mut owner = [0; 8];
        let mut n = 0;
        while n < owner.len() {
            owner[n] = OWNER[n];
            n += 1;
        }
        Self { owner_len: 8, len: 4 + N as u32, kind: TYPE, owner, version: crate::VERSION, names }
    }
}

/// What a note says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Manifest<'a> {
    pub version: u32,
    names: &'a [u8],
}

impl<'a> Manifest<'a> {
    /// Of the content of a note; `None` if it is none.
    pub fn read(content: &'a [u8]) -> Option<Self> {
        let (version, names) = content.split_first_chunk()?;
        let all_are_names =
            names.split_last().is_none_or(|(last, rest)| *last == 0 && rest.split(|byte| *byte == 0).all(is_name));
        (content.len() <= MOST && all_are_names).then_some(Self { version: u32::from_le_bytes(*version), names })
    }

    /// The devices that it names.
    pub fn devices(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        let names = self.names.strip_suffix(&[0]).unwrap_or_default();
        names
            .split(|byte| *byte == 0)
            .filter_map(|name| core::str::from_utf8(name).ok())
            .filter(|name| !name.is_empty())
    }
}

/// A device is called by 1 to 23 letters, digits, `-` and `_`.
pub const fn is_name(name: &[u8]) -> bool {
    let mut n = 0;
    while n < name.len() {
        if !(name[n].is_ascii_alphanumeric() || name[n] == b'-' || name[n] == b'_') {
            return false;
        }
        n += 1;
    }
    1 <= n && n < 24
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_it_says_is_read() {
        let manifest = Manifest::read(b"\x01\0\0\0data\0log-2\0").unwrap();
        assert_eq!(manifest.version, 1);
        assert!(manifest.devices().eq(["data", "log-2"]));
        assert_eq!(Manifest::read(b"\x01\0\0\0").unwrap().devices().count(), 0);
    }

    #[test]
    fn what_is_none_is_refused() {
        for content in
            [&b""[..], b"\x01\0\0", b"\x01\0\0\0data", b"\x01\0\0\0\0", b"\x01\0\0\0a\0\0", b"\x01\0\0\0a/b\0"]
        {
            assert_eq!(Manifest::read(content), None, "{content:?}");
        }
        assert_eq!(Manifest::read(&[b'a'; MOST + 1]), None);
        assert!(!is_name(&[b'a'; 24]) && is_name(&[b'a'; 23]));
    }
}
