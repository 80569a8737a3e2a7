//! Files of packages that are packed, unpacked once instead of at each boot.
//!
//! QEMU does not unpack Xen, and Xen unpacks the kernel of its first domain on the emulated processor, which takes it a
//! quarter of the whole boot.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::error::Error;

const XZ: &[u8] = b"\xfd7zXZ\0";

/// Writes the unpacked content of `from`, which gzip packed, to `to`.
pub(super) fn gunzip(from: &Path, to: &Path) -> Result<(), Error> {
    unpack("gzip", &["-dc"], from, to)
}

/// Writes the kernel `from` to `to`: what is packed in it, where that is packed with xz and this machine has that program;
/// else as it is.
pub(super) fn kernel(from: &Path, to: &Path) -> Result<(), Error> {
    let image = fs::read(from).map_err(Error::os(format!("read {}", from.display())))?;
    if let Some(payload) = payload(&image).filter(|payload| payload.starts_with(XZ)) {
        let packed = to.with_extension("xz");
        fs::write(&packed, payload).map_err(Error::os(format!("write {}", packed.display())))?;
        // The length of the content stands behind it.
        let done = unpack("xz", &["-dc", "--single-stream"], &packed, to);
        let _ = fs::remove_file(&packed);
        if done.is_ok() {
            return Ok(());
        }
    }
    fs::copy(from, to).map(drop).map_err(Error::os(format!("write {}", to.display())))
}

/// What is packed in a kernel for PCs. See Documentation/x86/boot.rst of Linux.
fn payload(image: &[u8]) -> Option<&[u8]> {
    const SECTOR: usize = 512;
    let number = |at: usize| Some(u32::from_le_bytes(image.get(at..at + 4)?.try_into().ok()?) as usize);
    if image.get(0x202..0x206)? != b"HdrS" {
        return None;
    }
    let begin = (usize::from(*image.get(0x1f1)?) + 1) * SECTOR + number(0x248)?;
    image.get(begin..begin.checked_add(number(0x24c)?)?)
}

fn unpack(program: &str, arguments: &[&str], from: &Path, to: &Path) -> Result<(), Error> {
    let input = File::open(from).map_err(Error::os(format!("read {}", from.display())))?;
    let output = File::create(to).map_err(Error::os(format!("write {}", to.display())))?;
    let done = Command::new(program).args(arguments).stdin(input).stdout(output).stderr(Stdio::null()).status();
    match done.map_err(Error::os(format!("start {program}")))? {
        status if status.success() => Ok(()),
        status => {
            let (from, how) = (from.display(), kizami_protocol::ending(status));
            Err(Error::Unusable(format!("{program} does not unpack {from}: it {how}")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A kernel with two sectors before its body, in which `payload` begins at byte 16.
    fn image(payload: &[u8]) -> Vec<u8> {
        let mut image = vec![0; 2 * 512 + 16];
        image[0x1f1] = 1;
        image[0x202..0x206].copy_from_slice(b"HdrS");
        image[0x248..0x24c].copy_from_slice(&16u32.to_le_bytes());
        image[0x24c..0x250].copy_from_slice(&(payload.len() as u32).to_le_bytes());
        [image, payload.to_vec(), b"more".to_vec()].concat()
    }

    #[test]
    fn what_is_packed_in_a_kernel_is_found_where_its_header_says() {
        assert_eq!(payload(&image(b"packed")), Some(&b"packed"[..]));
        let mut cut = image(b"packed");
        cut.truncate(cut.len() - 5);
        assert_eq!(payload(&cut), None);
        assert_eq!(payload(b"text"), None);
        let mut absurd = image(b"packed");
        absurd[0x24c..0x250].fill(0xff);
        assert_eq!(payload(&absurd), None);
    }

    #[test]
    fn a_kernel_that_is_packed_otherwise_stays_as_it_is() {
        let folder = std::env::temp_dir().join(format!("kizami-unpacked-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        let [from, to] = ["from", "to"].map(|name| folder.join(name));
        for payload in [b"packed".to_vec(), [XZ, b"broken"].concat()] {
            fs::write(&from, image(&payload)).expect("a file");
            kernel(&from, &to).expect("it is copied");
            assert_eq!(fs::read(&to).expect("a file"), image(&payload));
        }
        fs::remove_dir_all(&folder).expect("it is removed");
    }
}
