//! Pieces of inode tables, kept by one reader.

use crate::volume::Refused;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::time::{SystemTime, UNIX_EPOCH};

/// Bytes read at a time: 64 inodes of 256 bytes. Files of one directory are mostly neighbours.
const PIECE: usize = 16 * 1024;

/// Pieces kept: half a megabyte, which stays in a CPU's own cache.
const PIECES: usize = 32;

/// Seconds after which a piece is read again in any case.
const KEPT_FOR: i64 = 2;

/// A piece that was read so many seconds after a change of the directory has seen it: time stamps come from a clock that
/// ticks more slowly.
const CLOCK_SLACK: i64 = 2;

struct Piece {
    offset: u64,
    /// When it was read, in seconds of the clock that time stamps come from.
    read_at: i64,
    filled: usize,
    bytes: Box<[u8]>,
}

/// Keeps pieces of inode tables.
pub(super) struct InodePieces {
    pieces: Vec<Piece>,
    /// The clock, read once for each directory.
    now: i64,
    /// A piece must have been read at this second or later.
    not_before: i64,
}

impl InodePieces {
    pub(super) fn new() -> Self {
        Self {
            pieces: Vec::new(),
            now: 0,
            not_before: i64::MAX,
        }
    }

    /// For the inodes that entries of a directory lead to: none may be older than the directory's last change.
    /// `None`: what was read before now is not good enough.
    pub(super) fn after_change(&mut self, changed: Option<i64>) {
        self.now = now();
        let kept = self.now - KEPT_FOR;
        self.not_before = match changed {
            Some(changed) => kept.max(changed.saturating_add(CLOCK_SLACK)),
            None => i64::MAX,
        };
        if self.not_before > self.now {
            // What is read from here on is fresh enough.
            for piece in &mut self.pieces {
                piece.read_at = i64::MIN;
            }
            self.not_before = self.now;
        }
    }

    /// The `size` bytes at `offset`, which lie within one piece if `size` divides it.
    pub(super) fn get(
        &mut self,
        device: &File,
        offset: u64,
        size: usize,
    ) -> Result<&[u8], Refused> {
        let piece_offset = offset - offset % PIECE as u64;
        let number = usize::try_from(piece_offset / PIECE as u64).unwrap_or(0) % PIECES;
        if self.pieces.is_empty() {
            self.pieces.resize_with(PIECES, || Piece {
                offset: 0,
                read_at: i64::MIN,
                filled: 0,
                bytes: Box::default(),
            });
        }
        let piece = &mut self.pieces[number];
        if piece.offset != piece_offset || piece.read_at < self.not_before {
            if piece.bytes.is_empty() {
                piece.bytes = vec![0; PIECE].into_boxed_slice();
            }
            piece.read_at = i64::MIN;
            piece.filled = read_up_to(device, &mut piece.bytes, piece_offset)?;
            piece.offset = piece_offset;
            piece.read_at = self.now;
        }
        let start = usize::try_from(offset - piece_offset).unwrap_or(usize::MAX);
        let bytes = piece.bytes[..piece.filled].get(start..start + size);
        bytes.ok_or_else(|| Refused::because("its inode lies beyond the end of the device"))
    }
}

/// Seconds since the epoch.
pub(super) fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| {
        i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
    })
}

/// Reads until `bytes` are full or the device ends.
fn read_up_to(device: &File, bytes: &mut [u8], offset: u64) -> Result<usize, Refused> {
    let mut filled = 0;
    while filled < bytes.len() {
        match device.read_at(&mut bytes[filled..], offset + filled as u64) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(Refused::because(format!("its device: {error}"))),
        }
    }
    Ok(filled)
}
