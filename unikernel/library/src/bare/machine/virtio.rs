//! Block devices of the virtio standard, in memory (mmio) or on a PCI bus.

use core::cell::RefCell;
use core::ptr::NonNull;

use alloc::string::String;
use alloc::vec::Vec;
use unikernel_abi::boot::Range;
use unikernel_abi::manifest::Manifest;
use unikernel_abi::{Device, Durability, Status};
use virtio_drivers::device::blk::{SECTOR_SIZE, VirtIOBlk};
use virtio_drivers::transport::mmio::{MmioTransport, VirtIOHeader};
use virtio_drivers::transport::pci::bus::{Command, ConfigurationAccess, DeviceFunction, PciRoot};
use virtio_drivers::transport::pci::{PciTransport, virtio_device_type};
use virtio_drivers::transport::{DeviceType, SomeTransport, Transport};
use virtio_drivers::{BufferDirection, Hal, PAGE_SIZE, PhysAddr};

use super::port;
use crate::aligned::PageAligned;

/// The device can be flushed, in its features.
const CAN_FLUSH: u64 = 1 << 9;
/// The most bytes of a request.
const MOST: u64 = 4 << 20;

type Block = VirtIOBlk<Memory, SomeTransport<'static>>;

/// All of them.
struct Drivers(RefCell<Vec<Block>>);

// SAFETY: there is one thread, and nothing interrupts it.
unsafe impl Sync for Drivers {}

static DRIVERS: Drivers = Drivers(RefCell::new(Vec::new()));

/// Memory is where it is: a device sees the addresses that the program does.
struct Memory;

// SAFETY: what is allocated is page by page, zeros, and nobody else's; every address below 4 GiB is mapped to itself.
unsafe impl Hal for Memory {
    fn dma_alloc(pages: usize, _: BufferDirection) -> (PhysAddr, NonNull<u8>) {
        let mut memory = PageAligned::new(pages * PAGE_SIZE);
        let start = NonNull::from(&mut memory[0]);
        core::mem::forget(memory);
        (start.as_ptr() as PhysAddr, start)
    }

    unsafe fn dma_dealloc(_: PhysAddr, _: NonNull<u8>, _: usize) -> i32 {
        // A device is given up when the program ends.
        0
    }

    unsafe fn mmio_phys_to_virt(address: PhysAddr, _: usize) -> NonNull<u8> {
        assert!(address < 1 << 32, "a device lies above 4 GiB, where this program has no page tables");
        NonNull::new(address as *mut u8).expect("no device lies at zero")
    }

    unsafe fn share(buffer: NonNull<[u8]>, _: BufferDirection) -> PhysAddr {
        buffer.cast::<u8>().as_ptr() as PhysAddr
    }

    unsafe fn unshare(_: PhysAddr, _: NonNull<[u8]>, _: BufferDirection) {}
}

/// The bus, by its two ports.
struct Pci;

impl Pci {
    const ADDRESS: u16 = 0xcf8;
    const DATA: u16 = 0xcfc;

    fn choose(DeviceFunction { bus, device, function }: DeviceFunction, register: u8) {
        let at = u32::from(bus) << 16 | u32::from(device) << 11 | u32::from(function) << 8 | u32::from(register & 0xfc);
        port::write_32(Self::ADDRESS, 1 << 31 | at);
    }
}

impl ConfigurationAccess for Pci {
    fn read_word(&self, device: DeviceFunction, register: u8) -> u32 {
        Self::choose(device, register);
        port::read_32(Self::DATA)
    }

    fn write_word(&mut self, device: DeviceFunction, register: u8, data: u32) {
        Self::choose(device, register);
        port::write_32(Self::DATA, data);
    }

    unsafe fn unsafe_clone(&self) -> Self {
        Self
    }
}

/// The names that the program gives its devices, as its manifest has them.
fn names() -> impl Iterator<Item = &'static str> {
    unsafe extern "C" {
        static unikernel_note: u8;
    }
    // SAFETY: the note lies there, and says how long it is: three words, the name of its owner of eight bytes, and its content.
    let content = unsafe {
        let note = &raw const unikernel_note;
        let len = note.add(4).cast::<u32>().read() as usize;
        core::slice::from_raw_parts(note.add(20), len)
    };
    Manifest::read(content).into_iter().flat_map(|manifest| manifest.devices())
}

/// Finds the devices of the machine, and says what the program has of them. One that is called by its machine as the program calls it is
/// that; the others are those that are left, in their order.
pub fn find(in_memory: &[(u64, u64)], never_flushed: &[String]) -> Range {
    let mut transports: Vec<SomeTransport<'static>> = Vec::new();
    for (address, len) in in_memory.iter().filter(|(address, len)| *address < 1 << 32 && *len >= 0x100) {
        let Some(header) = NonNull::new(*address as *mut VirtIOHeader) else { continue };
        // SAFETY: the machine says that there may be one, and the memory is mapped and nothing else is there.
        if let Ok(transport) = unsafe { MmioTransport::new(header, *len as usize) } {
            transports.push(transport.into());
        }
    }
    let mut bus = PciRoot::new(Pci);
    let found: Vec<_> = bus.enumerate_bus(0).collect();
    for (at, info) in found {
        if virtio_device_type(&info) == Some(DeviceType::Block) {
            bus.set_command(at, Command::IO_SPACE | Command::MEMORY_SPACE | Command::BUS_MASTER);
            transports.extend(PciTransport::new::<Memory, _>(&mut bus, at).ok().map(SomeTransport::from));
        }
    }
    let mut left: Vec<&str> = names().collect();
    let mut unnamed = Vec::new();
    let mut devices: Vec<Device> = Vec::new();
    let mut drivers = DRIVERS.0.borrow_mut();
    for mut transport in transports.into_iter().filter(|transport| transport.device_type() == DeviceType::Block) {
        let can_flush = transport.read_device_features() & CAN_FLUSH != 0;
        let Ok(mut block) = Block::new(transport) else { continue };
        let mut id = [0; 20];
        let len = block.device_id(&mut id).unwrap_or(0);
        let of_machine = core::str::from_utf8(&id[..len]).unwrap_or_default();
        let mut device = Device {
            name: [0; 24],
            handle: drivers.len() as u32,
            durable_handle: drivers.len() as u32,
            // One that cannot be flushed promises nothing.
            durability: if can_flush { Durability::Writeback } else { Durability::Unsafe } as u32,
            block_size: SECTOR_SIZE as u32,
            read_only: block.readonly().into(),
            alignment: 1,
            blocks: block.capacity(),
            most_bytes: MOST,
            rings: 0,
            poll_ns: 0,
        };
        drivers.push(block);
        match left.iter().position(|name| *name == of_machine) {
            Some(n) => {
                let name = left.remove(n);
                device.name[..name.len()].copy_from_slice(name.as_bytes());
                devices.push(device);
            }
            None => unnamed.push(device),
        }
    }
    for (name, mut device) in left.into_iter().zip(unnamed) {
        device.name[..name.len()].copy_from_slice(name.as_bytes());
        devices.push(device);
    }
    for device in &mut devices {
        if never_flushed.iter().any(|name| name == device.name()) {
            device.durability = Durability::Unsafe as u32;
        }
    }
    let devices = devices.leak();
    Range { start: devices.as_ptr() as u64, len: size_of_val(devices) as u64 }
}

/// One request of a device, done when it returns.
fn ask(device: &Device, what: impl FnOnce(&mut Block) -> virtio_drivers::Result) -> Result<(), Status> {
    let mut drivers = DRIVERS.0.borrow_mut();
    let driver = drivers.get_mut(device.handle as usize).ok_or(Status::Invalid)?;
    what(driver).map_err(status)
}

pub fn read(device: &Device, block: u64, into: &mut [u8]) -> Result<(), Status> {
    ask(device, |disk| disk.read_blocks(block as usize, into))
}

/// What is durable when it returns is written, and flushed then: the standard has no such writes.
pub fn write(device: &Device, durable: bool, block: u64, from: &[u8]) -> Result<(), Status> {
    ask(device, |disk| disk.write_blocks(block as usize, from))?;
    if durable { flush(device) } else { Ok(()) }
}

pub fn flush(device: &Device) -> Result<(), Status> {
    if Durability::of(device.durability) != Some(Durability::Writeback) {
        return Ok(());
    }
    ask(device, Block::flush)
}

fn status(why: virtio_drivers::Error) -> Status {
    match why {
        virtio_drivers::Error::Unsupported => Status::Unsupported,
        virtio_drivers::Error::InvalidParam => Status::Invalid,
        _ => Status::Io,
    }
}
