//! Power cuts of a file system that is believed: ext4 in a virtual machine, by the same images and the same question as the files of the
//! unikernel. What is acknowledged is there. It checks the method: where ext4 would lose something, the images would be wrong.
//!
//! Blocks are written whole or not at all here that have 4 KiB. With 512 bytes, as the images of the unikernel's files are made, ext4's
//! superblock is torn at times, which has 1 KiB, and e2fsck has to be told where another lies.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use image::{Kernel, Pack, Plan, Recipe};
use unikernel_crash::{Event, Trace};

use crate::harness::{programs, skipped};

/// Readings that the guest stores, and bytes of one.
const READINGS: u64 = 20;
const READING: usize = 16;
/// The bytes of the file system, behind which the guest says what was acknowledged.
const FILES: u64 = 16 << 20;
/// Bytes that are written whole or not at all.
const BLOCK: u64 = 4096;

/// It stores readings, each made durable before it says so in a place of its own on the device.
const PROGRAM: &str = r#"
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(void) {
    int log = open("/mnt/readings", O_CREAT | O_WRONLY | O_APPEND, 0600);
    int said = open("/dev/vda", O_WRONLY | O_DIRECT | O_DSYNC);
    uint64_t *block;
    if (log < 0 || said < 0 || posix_memalign((void **)&block, 4096, 4096)) return 1;
    for (uint64_t n = 1; n <= READINGS; n++) {
        uint64_t reading[2] = { n, n * 7919 };
        if (write(log, reading, sizeof reading) != sizeof reading || fsync(log)) return 2;
        memset(block, 0, 4096);
        block[0] = n;
        if (pwrite(said, block, 4096, FILES) != 4096) return 3;
    }
    printf("stored %d\n", READINGS);
    return 0;
}
"#;

fn run(program: &str, arguments: &[&str]) -> Output {
    let ran = Command::new(program).args(arguments).output();
    ran.unwrap_or_else(|why| panic!("{program} could not be started: {why}"))
}

fn succeeded(program: &str, arguments: &[&str]) {
    let ran = run(program, arguments);
    assert!(ran.status.success(), "{program} {arguments:?}: {}", String::from_utf8_lossy(&ran.stderr));
}

/// Debian's kernel for virtual machines.
fn package() -> Option<std::path::PathBuf> {
    let all = fs::read_dir(programs().join("kernels")).ok()?.flatten().map(|entry| entry.path());
    all.into_iter()
        .find(|path| path.to_string_lossy().ends_with("_amd64.deb") && path.to_string_lossy().contains("-cloud-"))
}

/// What a guest with ext4 does to its disk.
fn trace(folder: &Path, package: &Path) -> Trace {
    let text = |path: &Path| path.to_str().unwrap().to_owned();
    let [source, program, disk, log] = ["store.c", "store", "disk.img", "log"].map(|name| folder.join(name));
    fs::write(&source, PROGRAM).unwrap();
    let defined = [format!("-DREADINGS={READINGS}"), format!("-DFILES={FILES}")];
    succeeded("cc", &["-static", "-O1", &defined[0], &defined[1], "-o", &text(&program), &text(&source)]);
    File::create(&disk).unwrap().set_len(FILES + BLOCK).unwrap();
    succeeded("/sbin/mke2fs", &["-q", "-t", "ext4", "-b", "4096", &text(&disk), &format!("{}k", FILES / 1024)]);
    let before = fs::read(&disk).unwrap();
    let kernel = Kernel::unpack(package, &folder.join("kernel")).unwrap();
    let steps = Plan::parse("mount ext4 /dev/vda /mnt\nrun /bin/store").unwrap().0;
    let recipe = Recipe {
        kernel,
        init: programs().join("static/kizami-init"),
        modules: ["virtio_pci", "virtio_blk", "ext4"].map(str::to_owned).to_vec(),
        files: [("bin/store".to_owned(), program)].into(),
        root: None,
        pack: Pack::Gzip,
        steps,
    };
    let initramfs = folder.join("initramfs");
    fs::write(&initramfs, recipe.make().unwrap().bytes).unwrap();
    File::create(&log).unwrap();
    let file = |path: &Path| format!("{{\"driver\":\"file\",\"filename\":\"{}\"}}", path.display());
    let drive = format!(
        "{{\"driver\":\"blklogwrites\",\"node-name\":\"disk\",\"file\":{{\"driver\":\"raw\",\"file\":{}}},\"log\":{}}}",
        file(&disk),
        file(&log)
    );
    let mut qemu = Command::new("qemu-system-x86_64");
    qemu.args(["-nodefaults", "-no-reboot", "-display", "none", "-m", "256", "-accel", "tcg", "-serial", "stdio"]);
    qemu.arg("-kernel").arg(&recipe.kernel.image).arg("-initrd").arg(&initramfs);
    qemu.args(["-append", "console=ttyS0 quiet panic=-1", "-blockdev", &drive, "-device", "virtio-blk-pci,drive=disk"]);
    let ran = qemu.stdin(Stdio::null()).output().unwrap();
    let said = String::from_utf8_lossy(&ran.stdout);
    assert!(said.contains(&format!("stored {READINGS}")), "{said} {}", String::from_utf8_lossy(&ran.stderr));
    Trace::of_log(before, &fs::read(&log).unwrap()).unwrap().in_blocks(BLOCK as usize).expect("whole blocks")
}

/// The last reading that was said to be stored, of what has happened so far.
fn said(events: &[Event]) -> u64 {
    let of = |event: &Event| match event {
        Event::Write { block, data } | Event::Durable { block, data } if *block == FILES / BLOCK => {
            Some(u64::from_le_bytes(*data.first_chunk().unwrap()))
        }
        _ => None,
    };
    events.iter().filter_map(of).next_back().unwrap_or(0)
}

/// The readings of a file system after a power cut, which is repaired first as it would be at the next start.
fn found(folder: &Path, image: &[u8]) -> Vec<u8> {
    let path = folder.join("cut.img");
    fs::write(&path, &image[..FILES as usize]).unwrap();
    let path = path.to_str().unwrap();
    let repaired = run("/sbin/e2fsck", &["-fy", path]);
    // 1: what the journal had was written to its place.
    assert!(repaired.status.code().is_some_and(|code| code <= 1), "{}", String::from_utf8_lossy(&repaired.stdout));
    run("/sbin/debugfs", &["-R", "cat /readings", path]).stdout
}

#[test]
fn ext4_keeps_what_it_acknowledged_in_every_image() {
    let missing =
        ["/sbin/mke2fs", "/sbin/e2fsck", "/sbin/debugfs"].into_iter().find(|program| !Path::new(program).exists());
    let has_qemu = Command::new("qemu-system-x86_64").arg("--version").output().is_ok();
    let (Some(package), None, true) = (package(), missing, has_qemu) else {
        return skipped("kizami: ext4 over power cuts: it takes QEMU, e2fsprogs and Debian's kernel (./x setup test)");
    };
    let folder = tempfile::tempdir().unwrap();
    let trace = trace(folder.path(), &package);
    assert_eq!(said(&trace.events), READINGS);
    let mut random = fastrand::Rng::with_seed(3);
    let (mut images, mut under_way) = (0, 0);
    let step = (trace.events.len() / 40).max(1);
    for happened in (0..=trace.events.len()).step_by(step) {
        let said = said(&trace.events[..happened]);
        for image in trace.images(happened, 3, &mut random) {
            images += 1;
            let content = found(folder.path(), &image);
            let readings: Vec<&[u8]> = content.chunks(READING).collect();
            let is_right = |(n, reading): (usize, &&[u8])| {
                let n = n as u64 + 1;
                **reading == [n.to_le_bytes(), (n * 7919).to_le_bytes()].concat()
            };
            let stored = readings.iter().enumerate().take_while(|reading| is_right(*reading)).count() as u64;
            assert!(stored >= said, "{happened} events: {stored} readings of {said}");
            under_way += u64::from(stored > said);
        }
    }
    println!("{} events, {images} images, {under_way} with one that was under way", trace.events.len());
    assert!(images > 50);
}

/// The question can be answered with no: of images in which a flush was not heeded something is missing.
#[test]
fn a_disk_that_lies_is_found() {
    let write = |block, byte: u8| Event::Write { block, data: vec![byte; 512] };
    let events = vec![write(0, 1), Event::Flush, write(1, 2), write(0, 3), Event::Flush];
    let trace = Trace { block_size: 512, before: vec![0; 1024], events };
    let without =
        Trace { events: trace.events.iter().filter(|e| **e != Event::Flush).cloned().collect(), ..trace.clone() };
    let mut random = fastrand::Rng::with_seed(1);
    let kept = |image: &Vec<u8>| image[0] == 3 && image[512] == 2;
    assert!(trace.images(5, 100, &mut random).all(|image| kept(&image)));
    assert!(!without.images(3, 100, &mut random).all(|image| kept(&image)));
}
