//! Reads byte ranges of a device in ascending order, many at a time, through the page cache.
//!
//! ```text
//!   places, sorted:   [....][..]   [.]      [........][...]     [..]
//!                      read  ^      ^             ^
//!                           next to be read       advised until here: POSIX_FADV_WILLNEED
//! ```
//!
//! The advice starts a read and does not wait for it. The read then waits, and passes the bytes to
//! the caller. Advice runs ahead by enough requests to fill the queue of a disk, and to let the
//! disk or its scheduler choose the order.

use super::bounds::PrefetchBounds;
use super::ranges::ByteRange;
use rustix::fs::{Advice, fadvise};
use std::collections::VecDeque;
use std::fs::File;
use std::num::NonZeroU64;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicBool, Ordering};

/// Bytes advised at a time. For one advice, the kernel reads a limited number of bytes, and ignores
/// the rest. The limit is a disk's largest request or its `read_ahead_kb` (128 by default),
/// whichever is more (`force_page_cache_ra` in mm/readahead.c).
const PIECE: u64 = 128 << 10;

/// The most pieces that are advised and not yet read.
const AHEAD: usize = 256;

/// The most bytes that are advised and not yet read.
const BYTES_AHEAD: u64 = 16 << 20;

/// The kind of blocks that are read, for the summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BlockKind {
    Inodes,
    Directories,
}

/// Reading ends: the bounds are reached, or the walk is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ended;

pub(super) struct Fetcher<'a> {
    pub(super) device: &'a File,
    stop: &'a AtomicBool,
    left: PrefetchBounds,
    inode_size: u64,
    pub(super) inode_bytes: u64,
    pub(super) directory_bytes: u64,
    /// True if the bounds have been reached.
    pub(super) bounded: bool,
}

impl<'a> Fetcher<'a> {
    pub(super) fn new(
        device: &'a File,
        stop: &'a AtomicBool,
        bounds: PrefetchBounds,
        inode_size: u16,
    ) -> Self {
        Self {
            device,
            stop,
            left: bounds,
            inode_size: u64::from(inode_size.max(1)),
            inode_bytes: 0,
            directory_bytes: 0,
            bounded: false,
        }
    }

    /// Returns how many bytes may still be read.
    pub(super) fn bytes_left(&self) -> u64 {
        self.left.bytes
    }

    /// Reads `ranges`, which are sorted, and passes them piece by piece to `each`, with the offset
    /// of each piece. A piece never ends within a block. Skips a piece that cannot be read: the
    /// walk reads it too and reports the error.
    pub(super) fn fetch(
        &mut self,
        ranges: &[ByteRange],
        kind: BlockKind,
        mut each: impl FnMut(u64, &[u8]),
    ) -> Result<(), Ended> {
        let mut pieces = ranges.iter().flat_map(|range| pieces(*range)).peekable();
        let mut advised = VecDeque::new();
        let mut bytes_ahead = 0;
        let mut buffer = Vec::new();
        loop {
            while advised.len() < AHEAD
                && bytes_ahead < BYTES_AHEAD
                && let Some(piece) = pieces.next_if(|piece| self.take(*piece, kind))
            {
                let length = NonZeroU64::new(piece.bytes());
                // If the kernel refuses the advice, the read below does the same work, one piece
                // after the other.
                let _ = fadvise(self.device, piece.start, length, Advice::WillNeed);
                bytes_ahead += piece.bytes();
                advised.push_back(piece);
            }
            let Some(piece) = advised.pop_front() else {
                break;
            };
            bytes_ahead -= piece.bytes();
            buffer.resize(usize::try_from(piece.bytes()).unwrap_or(0), 0);
            if self.device.read_exact_at(&mut buffer, piece.start).is_ok() {
                each(piece.start, &buffer);
            }
        }
        if pieces.peek().is_some() {
            return Err(Ended);
        }
        Ok(())
    }

    /// Counts a piece. Returns false if the piece must not be read.
    fn take(&mut self, piece: ByteRange, kind: BlockKind) -> bool {
        if self.stop.load(Ordering::Relaxed) {
            return false;
        }
        let bytes = piece.bytes();
        let inodes = match kind {
            BlockKind::Inodes => bytes / self.inode_size,
            BlockKind::Directories => 0,
        };
        let left = (
            self.left.bytes.checked_sub(bytes),
            self.left.inodes.checked_sub(inodes),
        );
        let (Some(bytes_left), Some(inodes_left)) = left else {
            self.bounded = true;
            return false;
        };
        self.left = PrefetchBounds {
            bytes: bytes_left,
            inodes: inodes_left,
        };
        match kind {
            BlockKind::Inodes => self.inode_bytes += bytes,
            BlockKind::Directories => self.directory_bytes += bytes,
        }
        true
    }
}

fn pieces(range: ByteRange) -> impl Iterator<Item = ByteRange> {
    let count = range.bytes().div_ceil(PIECE);
    (0..count).map(move |index| {
        let start = range.start + index * PIECE;
        ByteRange {
            start,
            end: range.end.min(start + PIECE),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLENTY: PrefetchBounds = PrefetchBounds {
        bytes: u64::MAX,
        inodes: u64::MAX,
    };

    /// Returns the byte at `offset`: the number of its block.
    fn number_of(offset: u64) -> u8 {
        (offset / 4096).to_le_bytes()[0]
    }

    fn file_of(length: u64) -> File {
        let file = tempfile::tempfile().unwrap();
        let bytes: Vec<u8> = (0..length).map(number_of).collect();
        file.write_all_at(&bytes, 0).unwrap();
        file
    }

    fn fetched(fetcher: &mut Fetcher<'_>, ranges: &[(u64, u64)]) -> (Vec<(u64, u64)>, bool) {
        let ranges: Vec<_> = ranges.iter().map(|&(s, l)| ByteRange::new(s, l)).collect();
        let mut pieces = Vec::new();
        let all = fetcher.fetch(&ranges, BlockKind::Inodes, |offset, bytes| {
            assert!(
                (offset..)
                    .zip(bytes)
                    .all(|(at, byte)| *byte == number_of(at))
            );
            pieces.push((offset, bytes.len() as u64));
        });
        (pieces, all.is_ok())
    }

    #[test]
    fn pieces_come_in_order_without_those_that_cannot_be_read() {
        let file = file_of(1 << 20);
        let stop = AtomicBool::new(false);
        let mut fetcher = Fetcher::new(&file, &stop, PLENTY, 256);
        let ranges = [(4096, 4096), (PIECE, 2 * PIECE + 8192), (9 << 20, 4096)];
        let expected = [
            (4096, 4096),
            (PIECE, PIECE),
            (2 * PIECE, PIECE),
            (3 * PIECE, 8192),
        ];
        let (pieces, all) = fetched(&mut fetcher, &ranges);
        assert_eq!((pieces.as_slice(), all), (expected.as_slice(), true));
        assert_eq!(fetcher.inode_bytes, 4096 + 2 * PIECE + 8192 + 4096);
        assert!(!fetcher.bounded);
        // More pieces than are advised at a time.
        let many: Vec<_> = (0..1000).map(|at| (at % 250 * 4096, 4096)).collect();
        assert_eq!(fetched(&mut fetcher, &many), (many.clone(), true));
    }

    #[test]
    fn bounds_end_it() {
        let file = file_of(1 << 20);
        let stop = AtomicBool::new(false);
        let ranges = [(0, 4096), (8192, 4096), (16384, 4096)];
        let bounds = PrefetchBounds {
            bytes: 8192,
            inodes: u64::MAX,
        };
        let mut fetcher = Fetcher::new(&file, &stop, bounds, 256);
        let expected = (vec![(0, 4096), (8192, 4096)], false);
        assert_eq!(fetched(&mut fetcher, &ranges), expected);
        assert!(fetcher.bounded);
        let bounds = PrefetchBounds {
            bytes: u64::MAX,
            inodes: 33,
        };
        let mut fetcher = Fetcher::new(&file, &stop, bounds, 256);
        assert_eq!(fetched(&mut fetcher, &ranges), expected);
        stop.store(true, Ordering::Relaxed);
        let mut fetcher = Fetcher::new(&file, &stop, PLENTY, 256);
        assert_eq!(fetched(&mut fetcher, &ranges), (vec![], false));
        assert!(!fetcher.bounded);
    }
}
