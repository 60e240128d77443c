//! Small files, read many at once.
//!
//! ```text
//!   open files ── reads of 64 files, one submission ──> block layer: what lies side by side is one
//!   request ──> buffer of 256 KiB ── whole contents ──> take
//! ```
//!
//! Trees of small files were mostly written in one go, and their contents lie side by side on the
//! disk. On a disk that needs 2 ms for a request, 4 100 such files took 1.1 s as 4 300 requests
//! of 64 threads, and 0.4 s as 850 requests.
//!
//! A worker has only so many files open: see [`SpareFiles`].

use crate::OpenFile;
use ringwalk_sys::{FileBytes, FileRead, FilesRing, magic};
use rustix::process::{Resource, getrlimit};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The most files that are read at once.
pub const MOST_TOGETHER: usize = 64;

/// Bytes that are read at once. Twice as many made requests a tenth larger.
pub const BYTES_TOGETHER: usize = 256 << 10;

/// File systems on a disk of which the kernel reads files without a thread for each (`FMODE_NOWAIT`
/// and `FMODE_BUF_RASYNC` of `include/linux/fs.h`).
const DISKS: [u64; 3] = [magic::EXT4, magic::XFS, magic::BTRFS];

/// With fewer open files than this, each worker has one file open at a time and no ring.
const MANY_FILES: u64 = 512;

/// Returns true if files of the file system of this one are read faster together. On others, such
/// as those behind a network, opening a file waits, and each should be read by a worker of its own.
pub fn gain_together(file: BorrowedFd<'_>) -> bool {
    magic::of(file).is_ok_and(|found| DISKS.contains(&found))
}

/// Reads small files, many at once. Each worker has one.
#[derive(Debug, Default)]
pub struct Together {
    ring: Ring,
    results: Vec<FileBytes>,
}

#[derive(Debug, Default)]
enum Ring {
    #[default]
    NotNeeded,
    Refused,
    Ready(Box<FilesRing>),
}

impl Ring {
    fn get(&mut self) -> Option<&mut FilesRing> {
        if matches!(self, Self::NotNeeded) {
            #[expect(clippy::cast_possible_truncation, reason = "a constant")]
            let depth = MOST_TOGETHER as u32;
            let ring = FilesRing::new(depth, BYTES_TOGETHER);
            *self = ring.map_or(Self::Refused, |ring| Self::Ready(Box::new(ring)));
        }
        match self {
            Self::Ready(ring) => Some(ring),
            Self::NotNeeded | Self::Refused => None,
        }
    }
}

impl Together {
    /// Reads files, and gives to `take` the place of each in `files` and its whole contents, up to
    /// the size in [`OpenFile::version`] and no byte behind. Gives `None` for files that must be
    /// read in another way, which then also finds what is wrong: those without a size, too large, or
    /// of which a read failed or brought another number of bytes; and for all where there is no
    /// `io_uring`. Holes are read as zeros.
    ///
    /// Whether a file has changed meanwhile is not looked at: see [`OpenFile::check_unchanged`].
    pub fn read(&mut self, files: &[OpenFile], mut take: impl FnMut(usize, Option<&[u8]>)) {
        let mut chosen: Vec<(usize, FileRead<'_>)> = Vec::new();
        let mut space = 0;
        for (at, file) in files.iter().enumerate() {
            let Some(len) = length_of_read(file) else {
                take(at, None);
                continue;
            };
            let needed = FilesRing::space_of(len);
            if chosen.len() == MOST_TOGETHER || space + needed > BYTES_TOGETHER {
                self.read_chosen(&chosen, &mut take);
                chosen.clear();
                space = 0;
            }
            space += needed;
            let file = file.file().as_fd();
            chosen.push((at, FileRead { file, len }));
        }
        self.read_chosen(&chosen, &mut take);
    }

    fn read_chosen(
        &mut self,
        chosen: &[(usize, FileRead<'_>)],
        take: &mut impl FnMut(usize, Option<&[u8]>),
    ) {
        // One file alone gains nothing.
        let ring = if chosen.len() > 1 {
            self.ring.get()
        } else {
            None
        };
        let reads: Vec<FileRead<'_>> = chosen.iter().map(|(_, read)| *read).collect();
        let done = ring.and_then(|ring| {
            ring.read(&reads, &mut self.results).ok()?;
            Some(ring)
        });
        let Some(ring) = done else {
            for (at, _) in chosen {
                take(*at, None);
            }
            return;
        };
        for ((at, read), result) in chosen.iter().zip(&self.results) {
            let bytes = result
                .as_ref()
                .ok()
                .map(|range| &ring.bytes()[range.clone()]);
            take(
                *at,
                bytes.filter(|bytes| bytes.len() + 1 == read.len as usize),
            );
        }
    }
}

/// Returns how much of a file is read: one byte more than its size, to see that it ends there.
/// Returns `None` for files that are not read together.
fn length_of_read(file: &OpenFile) -> Option<u32> {
    let size = file.version().size;
    let fits = (1..BYTES_TOGETHER as u64).contains(&size);
    fits.then(|| u32::try_from(size + 1).ok()).flatten()
}

/// How many files all workers together may have open beside one each: a quarter of the soft limit
/// of open files (`RLIMIT_NOFILE`), or none if the limit is low.
#[derive(Debug)]
pub struct SpareFiles(AtomicUsize);

/// A number of spare files that a worker has. They are given back when this is dropped.
#[derive(Debug)]
pub struct Spared<'s> {
    from: &'s SpareFiles,
    count: usize,
}

impl Default for SpareFiles {
    fn default() -> Self {
        let limit = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
        let spare = if limit < MANY_FILES { 0 } else { limit / 4 };
        Self(AtomicUsize::new(
            usize::try_from(spare).unwrap_or(usize::MAX),
        ))
    }
}

impl SpareFiles {
    /// Takes up to `wanted` files, as many as are left.
    pub fn take(&self, wanted: usize) -> Spared<'_> {
        let mut count = 0;
        // The closure never refuses. Relaxed: the number says nothing about other memory.
        let _ = self
            .0
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
                count = left.min(wanted);
                Some(left - count)
            });
        Spared { from: self, count }
    }
}

impl Spared<'_> {
    /// Returns their number.
    pub fn count(&self) -> usize {
        self.count
    }
}

impl Drop for Spared<'_> {
    fn drop(&mut self) {
        self.from.0.fetch_add(self.count, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests;
