//! The blocks of ncdu's binary format, and a cache of them.
//!
//! A file is a signature, data blocks in any order, and at the end one index block. A block begins
//! and ends with its type and length, in 4 bytes. A data block has its number and a zstd frame. The
//! index has 8 bytes for each number: the offset of the block in 40 bits and its length in 24.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use super::error::{ImportError, Place};

/// The first bytes of the format.
pub(crate) const SIGNATURE: &[u8; 8] = b"\xbfncduEX1";
/// The first bytes of this format and of versions that this program does not know.
pub(crate) const ANY_SIGNATURE: &[u8; 7] = b"\xbfncduEX";
/// Bytes of decompressed blocks that are kept. ncdu's blocks have 64 KiB in files below 64 GiB.
const CACHE: usize = 16 * 1024 * 1024;
/// The decompressed size of a block is below this: references have 24 bits for the byte.
const BLOCK_MAX: u64 = 1 << 24;
/// Shortest item in bytes: a map with a type and a name. The beginnings of two items that do not
/// overlap are at least as far from each other.
const ITEM_MIN: usize = 6;

/// A reference to an item: the block in 32 bits, then the byte in 24.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ItemRef {
    pub(crate) block: u32,
    pub(crate) offset: u32,
}

impl ItemRef {
    /// Returns the reference with this number, or None if it is too large.
    pub(crate) fn new(number: u64) -> Option<Self> {
        Some(Self {
            block: u32::try_from(number >> 24).ok()?,
            offset: (number & 0xff_ffff) as u32,
        })
    }
}

/// A decompressed block.
struct Block {
    data: Vec<u8>,
    file_offset: u64,
    /// The turn of its last use.
    used: u64,
}

/// A file in ncdu's binary format. `W` is the error of the writer of an import.
pub(crate) struct Blocks<'a, W> {
    file: &'a File,
    /// The offset of the index block.
    index: u64,
    /// The number of entries in the index.
    count: u64,
    root: u64,
    cache: HashMap<u32, Block>,
    cached: usize,
    turn: u64,
    /// A bit for each `ITEM_MIN` bytes of a block: an item that begins there was read.
    seen: HashMap<u32, Box<[u64]>>,
    decompressor: zstd::bulk::Decompressor<'static>,
    error: std::marker::PhantomData<W>,
}

type Result<T, W> = std::result::Result<T, ImportError<W>>;

impl<'a, W> Blocks<'a, W> {
    /// Reads the signature and the ends of the index of `file`.
    pub(crate) fn open(file: &'a File) -> Result<Self, W> {
        let at = |offset| move |error| read_error(offset, error);
        let length = file.metadata().map_err(at(0))?.len();
        let mut blocks = Self {
            file,
            index: 0,
            count: 0,
            root: 0,
            cache: HashMap::new(),
            cached: 0,
            turn: 0,
            seen: HashMap::new(),
            decompressor: zstd::bulk::Decompressor::new().map_err(at(0))?,
            error: std::marker::PhantomData,
        };
        blocks.check_signature()?;
        blocks.find_index(length)?;
        Ok(blocks)
    }

    fn check_signature(&self) -> Result<(), W> {
        let signature = self.read::<8>(0)?;
        if signature == *SIGNATURE {
            return Ok(());
        }
        fail(
            0,
            if signature.starts_with(ANY_SIGNATURE) {
                "the version of ncdu's binary format is unknown: expected 1"
            } else {
                "the file is not in ncdu's binary format"
            },
        )
    }

    fn find_index(&mut self, length: u64) -> Result<(), W> {
        const CUT_OFF: &str = "the file does not end with an index block: it was cut off";
        let Some(footer) = length.checked_sub(4).filter(|&footer| footer >= 8 + 20) else {
            return fail(length, CUT_OFF);
        };
        let head = u32::from_be_bytes(self.read(footer)?);
        let size = u64::from(head & 0x0fff_ffff);
        if head >> 28 != 1 || size < 24 || size % 8 != 0 || size > length - 8 {
            return fail(footer, CUT_OFF);
        }
        self.index = length - size;
        if u32::from_be_bytes(self.read(self.index)?) != head {
            return fail(
                self.index,
                "the ends of the index block differ: the file was changed or cut off",
            );
        }
        self.count = (size - 16) / 8;
        self.root = u64::from_be_bytes(self.read(footer - 8)?);
        Ok(())
    }

    fn read<const N: usize>(&self, offset: u64) -> Result<[u8; N], W> {
        let mut bytes = [0; N];
        self.read_into(&mut bytes, offset)?;
        Ok(bytes)
    }

    fn read_into(&self, bytes: &mut [u8], offset: u64) -> Result<(), W> {
        match self.file.read_exact_at(bytes, offset) {
            Ok(()) => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                fail(offset, "the file ends too early: it was cut off")
            }
            Err(error) => Err(read_error(offset, error)),
        }
    }

    /// Returns the item of the directory at the top.
    pub(crate) fn root(&self) -> Result<ItemRef, W> {
        ItemRef::new(self.root).ok_or_else(|| {
            let place = Place::Byte(self.index + 4 + 8 * self.count);
            ImportError::content(place, "the reference to the root is too large")
        })
    }

    /// Returns the place of an item. Its block has been read.
    pub(crate) fn place(&self, item: ItemRef) -> Place {
        Place::Item {
            block: item.block,
            offset: item.offset,
            file_offset: self
                .cache
                .get(&item.block)
                .map_or(0, |block| block.file_offset),
        }
    }

    /// Returns the block of an item that is read for the first time. `from` is the place of the
    /// reference to it.
    pub(crate) fn visit(&mut self, item: ItemRef, from: Place) -> Result<&[u8], W> {
        self.load(item.block, from)?;
        self.turn += 1;
        let turn = self.turn;
        let Some(block) = self.cache.get_mut(&item.block) else {
            return Err(ImportError::content(from, "the data block is missing"));
        };
        block.used = turn;
        let offset = item.offset as usize;
        if offset >= block.data.len() {
            let message = format!("a reference to byte {offset} of data block {}", item.block);
            return Err(ImportError::content(
                from,
                format!("{message}, which is shorter"),
            ));
        }
        let cells = block.data.len() / ITEM_MIN + 1;
        let seen = self.seen.entry(item.block);
        let seen = seen.or_insert_with(|| vec![0; cells / 64 + 1].into_boxed_slice());
        let cell = offset / ITEM_MIN;
        let bit = 1 << (cell % 64);
        if seen[cell / 64] & bit != 0 {
            return Err(ImportError::content(
                from,
                "a second reference to the same item, or to a part of it",
            ));
        }
        seen[cell / 64] |= bit;
        Ok(&block.data)
    }

    /// Puts a block into the cache.
    fn load(&mut self, number: u32, from: Place) -> Result<(), W> {
        if self.cache.contains_key(&number) {
            return Ok(());
        }
        let block = self.decompress(number, from)?;
        self.cached += block.data.len();
        while self.cached > CACHE && !self.cache.is_empty() {
            let oldest = self.cache.iter().min_by_key(|(_, block)| block.used);
            let Some(&oldest) = oldest.map(|(number, _)| number) else {
                break;
            };
            if let Some(block) = self.cache.remove(&oldest) {
                self.cached -= block.data.len();
            }
        }
        self.cache.insert(number, block);
        Ok(())
    }

    fn decompress(&mut self, number: u32, from: Place) -> Result<Block, W> {
        let entry = if u64::from(number) < self.count {
            u64::from_be_bytes(self.read(self.index + 4 + 8 * u64::from(number))?)
        } else {
            0
        };
        let (offset, size) = (entry >> 24, entry & 0xff_ffff);
        if entry == 0 {
            let message = format!("a reference to data block {number}, which is missing");
            return Err(ImportError::content(from, message));
        }
        if offset < 8 || size <= 12 || offset + size > self.index {
            let place = self.index + 4 + 8 * u64::from(number);
            return fail(place, format!("data block {number} has no valid place"));
        }
        let mut bytes = vec![0; usize::try_from(size).unwrap_or(0)];
        self.read_into(&mut bytes, offset)?;
        let (head, rest) = bytes.split_at(4);
        let (rest, foot) = rest.split_at(rest.len() - 4);
        let (id, frame) = rest.split_at(4);
        // The type of a data block is 0, so the head is its length.
        let expected = u32::try_from(size).unwrap_or(0).to_be_bytes();
        if head != expected || foot != expected || id != number.to_be_bytes() {
            let message = format!("data block {number} does not begin or end as the index says");
            return fail(offset, message);
        }
        let data = self.decompress_frame(frame).map_err(|reason| {
            let message = format!("cannot decompress data block {number}: {reason}");
            ImportError::content(Place::Byte(offset), message)
        })?;
        Ok(Block {
            data,
            file_offset: offset,
            used: 0,
        })
    }

    fn decompress_frame(&mut self, frame: &[u8]) -> std::result::Result<Vec<u8>, String> {
        let size = match zstd::zstd_safe::get_frame_content_size(frame) {
            Ok(Some(size)) if size > 0 && size < BLOCK_MAX => size,
            Ok(_) => return Err("its size is unknown or too large".into()),
            Err(_) => return Err("it is no zstd frame".into()),
        };
        let size = usize::try_from(size).map_err(|error| error.to_string())?;
        let data = self.decompressor.decompress(frame, size);
        let data = data.map_err(|error| error.to_string())?;
        if data.len() != size {
            return Err("it has another size than it says".into());
        }
        Ok(data)
    }
}

fn fail<T, W>(offset: u64, message: impl Into<String>) -> Result<T, W> {
    Err(ImportError::content(Place::Byte(offset), message))
}

fn read_error<W>(offset: u64, error: io::Error) -> ImportError<W> {
    ImportError::Read {
        place: Place::Byte(offset),
        error,
    }
}
