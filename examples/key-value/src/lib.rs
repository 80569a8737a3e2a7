//! A small ordered key-value store: a log of what was put, in a file, and an index of it in memory.
//!
//! What was put or removed is there after a power cut once [`Store::sync`] has returned, all of it or nothing: the files below see to
//! that, and so the log needs no checksums of its own. When most of the log is of no use any more it is written anew.

#![no_std]

extern crate alloc;

use alloc::borrow::ToOwned;
use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;
use core::ops::{Bound, RangeBounds};

use unikernel_files::{Disk, Error, File, Files, PAGE};

const LOG: &str = "log";
const NEW_LOG: &str = "log.new";
/// A record begins with the length of its key (2 bytes) and of its value (4).
const HEADER: usize = 6;
/// The length of a value that says that the key was removed.
const REMOVED: u32 = u32::MAX;
/// So much of the log is read at once.
const PIECE: usize = 64 << 10;
/// A log with less that is of no use is left as it is.
const LEAST_DEAD: u64 = 64 << 10;
/// What has to be free besides, for a log to be written anew.
const SLACK: u64 = 8 * PAGE as u64;

/// The most bytes of a key.
pub const LONGEST_KEY: usize = u16::MAX as usize;
/// The most bytes of a value.
pub const LONGEST_VALUE: usize = 16 << 20;

/// Why something was not done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreError {
    /// The files could not.
    Files(Error),
    /// The log is none of a store, from this byte on.
    Damaged(u64),
    /// The key or the value is too long.
    TooLong,
}

impl From<Error> for StoreError {
    fn from(why: Error) -> Self {
        Self::Files(why)
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Files(why) => why.fmt(f),
            Self::Damaged(at) => write!(f, "the file {LOG:?} is no log of a store, from byte {at} on"),
            Self::TooLong => {
                write!(f, "a key has at most {LONGEST_KEY} bytes, and a value {LONGEST_VALUE}")
            }
        }
    }
}

impl core::error::Error for StoreError {}

/// Where a value lies in the log.
#[derive(Clone, Copy, Debug)]
struct Place {
    at: u64,
    len: u32,
}

/// A store on a device.
#[derive(Debug)]
pub struct Store<D: Disk> {
    files: Files<D>,
    log: File,
    index: BTreeMap<Vec<u8>, Place>,
    /// Bytes of the log.
    end: u64,
    /// Of which so many are of no use any more.
    dead: u64,
}

fn record_bytes(key: &[u8], value: u32) -> u64 {
    (HEADER + key.len()) as u64 + if value == REMOVED { 0 } else { u64::from(value) }
}

impl<D: Disk> Store<D> {
    /// The store that the files of a device have, which is an empty one at first.
    ///
    /// # Errors
    /// If the files cannot be read, or have a log that is none of a store.
    pub fn open(mut files: Files<D>) -> Result<Self, StoreError> {
        let log = files.open_or_create(LOG)?;
        let size = files.size(log)?;
        let mut store = Self { files, log, index: BTreeMap::new(), end: 0, dead: 0 };
        let mut piece = vec![0; PIECE];
        let mut key = Vec::new();
        while store.end < size {
            let here = store.end;
            let read = store.files.read_at(log, here, &mut piece)?;
            let mut rest = &piece[..read];
            // Records whose header and key are in this piece; of the last one the next piece begins with it.
            while let Some((head, behind)) = rest.split_first_chunk::<HEADER>() {
                let key_len = usize::from(u16::from_le_bytes([head[0], head[1]]));
                let value_len = u32::from_le_bytes([head[2], head[3], head[4], head[5]]);
                if value_len != REMOVED && value_len as usize > LONGEST_VALUE {
                    return Err(StoreError::Damaged(store.end));
                }
                let Some(in_log) = behind.get(..key_len) else { break };
                key.clear();
                key.extend_from_slice(in_log);
                let all = record_bytes(&key, value_len);
                if all > size - store.end {
                    return Err(StoreError::Damaged(store.end));
                }
                store.apply(&key, value_len);
                rest = behind.get((all as usize) - HEADER..).unwrap_or_default();
            }
            if store.end == here {
                // The longest key does not fit into a piece with its header.
                if read < piece.len() || piece.len() == HEADER + LONGEST_KEY {
                    return Err(StoreError::Damaged(here));
                }
                piece.resize(HEADER + LONGEST_KEY, 0);
            }
        }
        Ok(store)
    }

    /// The index after a record at the end of the log.
    fn apply(&mut self, key: &[u8], value_len: u32) {
        let all = record_bytes(key, value_len);
        let place = Place { at: self.end + (HEADER + key.len()) as u64, len: value_len };
        let before = match value_len {
            REMOVED => {
                self.dead += all;
                self.index.remove(key)
            }
            _ => match self.index.get_mut(key) {
                Some(known) => Some(core::mem::replace(known, place)),
                None => self.index.insert(key.to_owned(), place),
            },
        };
        self.dead += before.map_or(0, |before| record_bytes(key, before.len));
        self.end += all;
    }

    /// The value of a key.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn get(&mut self, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        let Some(Place { at, len }) = self.index.get(key).copied() else { return Ok(None) };
        let mut value = vec![0; len as usize];
        self.files.read_at(self.log, at, &mut value)?;
        Ok(Some(value))
    }

    /// Gives a key that value. It is there for whoever asks, and after a power cut once it was [synced](Self::sync).
    ///
    /// # Errors
    /// If there is no room. Then nothing has changed.
    pub fn put(&mut self, key: &[u8], value: &[u8]) -> Result<(), StoreError> {
        if key.len() > LONGEST_KEY || value.len() > LONGEST_VALUE {
            return Err(StoreError::TooLong);
        }
        self.append(key, value.len() as u32, value)
    }

    /// Removes a key. True if it was there.
    ///
    /// # Errors
    /// If there is no room. Then nothing has changed.
    pub fn remove(&mut self, key: &[u8]) -> Result<bool, StoreError> {
        if !self.index.contains_key(key) {
            return Ok(false);
        }
        self.append(key, REMOVED, &[])?;
        Ok(true)
    }

    fn append(&mut self, key: &[u8], value_len: u32, value: &[u8]) -> Result<(), StoreError> {
        let mut record = Vec::with_capacity(HEADER + key.len() + value.len());
        record.extend((key.len() as u16).to_le_bytes());
        record.extend(value_len.to_le_bytes());
        record.extend(key);
        record.extend(value);
        if let Err(why) = self.files.write_at(self.log, self.end, &record) {
            // A first part of it may be there, which is no record. Where not even that can be undone nothing becomes durable any more.
            self.files.set_size(self.log, self.end)?;
            return Err(why.into());
        }
        self.apply(key, value_len);
        let of_use = self.end - self.dead;
        let is_worth_it = self.dead > LEAST_DEAD && self.dead > of_use;
        if is_worth_it && self.files.space().free > of_use + SLACK && self.write_anew().is_err() {
            // The old one does as well.
            let _ = self.files.remove(NEW_LOG);
        }
        Ok(())
    }

    /// Writes what is of use into a log of its own, which takes the place of the other with the next sync.
    fn write_anew(&mut self) -> Result<(), StoreError> {
        let new = self.files.create(NEW_LOG)?;
        let (mut end, mut places) = (0u64, Vec::with_capacity(self.index.len()));
        let mut record = Vec::new();
        for (key, Place { at, len }) in &self.index {
            record.clear();
            record.extend((key.len() as u16).to_le_bytes());
            record.extend(len.to_le_bytes());
            record.extend(key);
            let value = record.len();
            record.resize(value + *len as usize, 0);
            self.files.read_at(self.log, *at, &mut record[value..])?;
            self.files.write_at(new, end, &record)?;
            places.push(end + value as u64);
            end += record.len() as u64;
        }
        self.files.rename(NEW_LOG, LOG)?;
        self.log = new;
        self.index.values_mut().zip(places).for_each(|(place, at)| place.at = at);
        (self.end, self.dead) = (end, 0);
        Ok(())
    }

    /// Makes durable what was put and removed.
    ///
    /// # Errors
    /// If it could not be.
    pub fn sync(&mut self) -> Result<(), StoreError> {
        Ok(self.files.sync()?)
    }

    /// The keys of a range, in order.
    pub fn keys<'a>(&'a self, range: impl RangeBounds<[u8]> + 'a) -> impl Iterator<Item = &'a [u8]> + 'a {
        let bounds = (range.start_bound(), range.end_bound());
        let owned = |bound: Bound<&[u8]>| bound.map(<[u8]>::to_vec);
        let bounds = (owned(bounds.0), owned(bounds.1));
        self.index.range::<Vec<u8>, _>(bounds).map(|(key, _)| &key[..])
    }

    /// How many keys there are.
    pub fn len(&self) -> usize {
        self.index.len()
    }

    pub fn is_empty(&self) -> bool {
        self.index.is_empty()
    }

    /// Bytes of the log, and how many of them are of no use.
    pub fn log_bytes(&self) -> (u64, u64) {
        (self.end, self.dead)
    }

    pub fn into_files(self) -> Files<D> {
        self.files
    }
}
