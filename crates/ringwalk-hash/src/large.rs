//! BLAKE3 of one large file by several threads.
//!
//! ```text
//!   worker 0: piece 0 ──┐                ┌──> Assembly: chaining values in order ──> hash
//!   worker 1: piece 1 ──┼── read, hash ──┤
//!   worker 0: piece 2 ──┘                └──> the worker with the last piece finishes
//! ```
//!
//! A worker takes the next piece that nobody has taken. Data in the page cache is read from there.
//! The rest bypasses the page cache (`O_DIRECT`), with several reads of each worker at once. So
//! hashing a large file does not push the data of other programs out of the cache.

use crate::read::read_range;
use crate::tree::{PIECE, PieceHasher, Tree};
use crate::{Digest, Fault, OpenFile, OpenRoot};
use ringwalk::Errno;
use ringwalk::block::{BlockReader, ReaderOptions, Request};
use ringwalk_sys::cachestat;
use ringwalk_sys::sync::lock;
use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::ops::{ControlFlow, Range};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// Files of this size and more are read past the page cache if they are not in it. Smaller ones do
/// not make up for the setup of a ring and its memory, some milliseconds.
const DIRECT: u64 = 32 << 20;

/// Reads of one worker in flight. Each is [`PIECE`] bytes, so it is also its memory in MiB.
const DEPTH: u32 = 8;

/// A file of at least two pieces that is being hashed.
#[derive(Debug)]
pub(crate) struct LargeFile {
    file: OpenFile,
    /// The same file, for reads past the page cache.
    direct: Option<Arc<File>>,
    pieces: u64,
    next: AtomicU64,
    has_failed: AtomicBool,
    assembly: Mutex<Assembly>,
}

/// The chaining values that have come.
#[derive(Debug, Default)]
struct Assembly {
    tree: Tree,
    /// Those behind a piece that is missing.
    later: BTreeMap<u64, [u8; 32]>,
}

impl LargeFile {
    /// Returns whether a file of this size is hashed in pieces.
    pub(crate) fn is_large(size: u64) -> bool {
        size > 2 * PIECE
    }

    /// Prepares an open file. It was opened by `root` and `path`.
    pub(crate) fn new(file: OpenFile, root: &OpenRoot, path: &Path) -> Self {
        let size = file.version().size;
        let is_cold = size >= DIRECT && !is_cached(&file, 0..size, Share::Half);
        let direct = if is_cold {
            file.direct(root, path)
        } else {
            None
        };
        Self {
            direct: direct.map(Arc::new),
            pieces: size.div_ceil(PIECE),
            file,
            next: AtomicU64::new(0),
            has_failed: AtomicBool::new(false),
            assembly: Mutex::default(),
        }
    }

    /// Returns true if nothing is left to take for another worker.
    pub(crate) fn is_taken(&self) -> bool {
        self.has_failed.load(Ordering::Relaxed) || self.next.load(Ordering::Relaxed) >= self.pieces
    }

    /// Reads and hashes pieces until none is left. The call that finishes the file, or that fails
    /// first, returns the result; the others return `None`.
    pub(crate) fn work(&self, buffer: &mut [u8]) -> Option<Result<Digest, Fault>> {
        let worked = match &self.direct {
            Some(direct) => self.work_directly(direct, buffer),
            None => self.work_through_cache(buffer),
        };
        match worked {
            Ok(digest) => digest.map(Ok),
            Err(fault) => {
                let is_first = !self.has_failed.swap(true, Ordering::Relaxed);
                is_first.then_some(Err(fault))
            }
        }
    }

    fn take(&self) -> Option<u64> {
        if self.is_taken() {
            return None;
        }
        let piece = self.next.fetch_add(1, Ordering::Relaxed);
        (piece < self.pieces).then_some(piece)
    }

    fn range(&self, piece: u64) -> Range<u64> {
        let start = piece * PIECE;
        start..(start + PIECE).min(self.file.version().size)
    }

    fn work_through_cache(&self, buffer: &mut [u8]) -> Result<Option<Digest>, Fault> {
        let mut digest = None;
        while let Some(piece) = self.take() {
            digest = self.hash_piece(piece, buffer)?;
        }
        Ok(digest)
    }

    fn hash_piece(&self, piece: u64, buffer: &mut [u8]) -> Result<Option<Digest>, Fault> {
        let range = self.range(piece);
        let mut hasher = PieceHasher::new(range.start);
        read_range(&self.file, range, buffer, |bytes| hasher.update(bytes))?;
        self.add(piece, hasher.finish())
    }

    fn work_directly(
        &self,
        direct: &Arc<File>,
        buffer: &mut [u8],
    ) -> Result<Option<Digest>, Fault> {
        let options = ReaderOptions {
            depth: DEPTH,
            buffer_size: 1 << 20,
            ..ReaderOptions::default()
        };
        let Ok(mut reader) = BlockReader::new(Arc::clone(direct), &options) else {
            // Without memory for its buffers. Reads through the cache need none.
            return self.work_through_cache(buffer);
        };
        // What one of the two closures has found; they run by turns on this thread.
        let result = Mutex::new(Ok(None));
        let requests = std::iter::from_fn(|| {
            while let Some(piece) = self.take() {
                let range = self.range(piece);
                let is_whole = range.end - range.start == PIECE;
                if is_whole
                    && !self.is_hole(&range)
                    && !is_cached(&self.file, range.clone(), Share::All)
                {
                    return Some(Request {
                        offset: range.start,
                        len: 1 << 20,
                        tag: piece,
                    });
                }
                // The end of a file is no multiple of a block, and is read through the cache.
                match self.hash_piece(piece, buffer) {
                    Ok(None) => {}
                    Ok(digest) => *lock(&result) = Ok(digest),
                    Err(fault) => {
                        *lock(&result) = Err(fault);
                        return None;
                    }
                }
            }
            None
        });
        let flow = reader.read_stream(requests, |request, bytes| {
            let added = bytes.map_err(|error| fault_of(&error)).and_then(|bytes| {
                let mut hasher = PieceHasher::new(request.offset);
                hasher.update(bytes);
                self.add(request.tag, hasher.finish())
            });
            match added {
                Ok(None) => ControlFlow::Continue(()),
                done => {
                    let has_failed = done.is_err();
                    *lock(&result) = done;
                    if has_failed {
                        ControlFlow::Break(())
                    } else {
                        ControlFlow::Continue(())
                    }
                }
            }
        });
        debug_assert!(flow.is_continue() || lock(&result).is_err());
        result.into_inner().unwrap_or(Err(Fault::Read(Errno::IO)))
    }

    fn is_hole(&self, range: &Range<u64>) -> bool {
        self.file.may_have_holes() && crate::read::is_hole(&self.file, range)
    }

    /// Adds the chaining value of a piece. Returns the digest if it was the last one missing.
    fn add(&self, piece: u64, value: [u8; 32]) -> Result<Option<Digest>, Fault> {
        let mut assembly = lock(&self.assembly);
        assembly.later.insert(piece, value);
        loop {
            let next = assembly.tree.pieces();
            let Some(value) = assembly.later.remove(&next) else {
                break;
            };
            assembly.tree.push(value);
        }
        if assembly.tree.pieces() < self.pieces {
            return Ok(None);
        }
        let tree = std::mem::take(&mut assembly.tree);
        drop(assembly);
        crate::read::check_end(&self.file)?;
        self.file.check_unchanged()?;
        // A large file has more than one piece.
        Ok(tree.finish().map(Digest::from))
    }
}

/// How much of a part of a file must be in the page cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Share {
    Half,
    All,
}

/// Returns whether that share of a range is in the page cache. Where the kernel does not say
/// (before Linux 6.5, and for files of others), nothing is.
fn is_cached(file: &OpenFile, range: Range<u64>, share: Share) -> bool {
    let length = range.end - range.start;
    let pages = length.div_ceil(rustix::param::page_size() as u64);
    let needed = match share {
        Share::Half => pages / 2,
        Share::All => pages,
    };
    cachestat(file.file(), range.start, length).is_ok_and(|found| found.cached >= needed)
}

fn fault_of(error: &io::Error) -> Fault {
    if error.kind() == io::ErrorKind::UnexpectedEof {
        return Fault::Changed;
    }
    Fault::Read(Errno::from_io_error(error).unwrap_or(Errno::IO))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::cast_possible_truncation, reason = "bytes of test data")]

    use super::*;
    use ringwalk::time_stamps::StampClocks;
    use std::os::unix::fs::FileExt as _;
    use std::thread;

    fn hash(path: &Path, workers: usize) -> Vec<Result<Digest, Fault>> {
        let root = OpenRoot::Working;
        let file = OpenFile::open(&root, path, &StampClocks::default()).unwrap();
        let large = LargeFile::new(file, &root, path);
        let work = || large.work(&mut crate::read::ReadBuffer::default());
        thread::scope(|scope| {
            let threads: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
            threads
                .into_iter()
                .filter_map(|thread| thread.join().unwrap())
                .collect()
        })
    }

    #[test]
    fn any_number_of_workers_gives_one_result() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let piece: Vec<u8> = (0..PIECE).map(|at| ((at * at) >> 7) as u8).collect();
        // The last piece is short; the file has a hole; and in a page cache that was emptied it is
        // read past it.
        let size = 40 * PIECE + 4097;
        for at in (0..40).filter(|at| *at != 7) {
            file.as_file()
                .write_all_at(&piece, at * PIECE + at)
                .unwrap();
        }
        file.as_file().set_len(size).unwrap();
        let expected: [u8; 32] = blake3::hash(&std::fs::read(file.path()).unwrap()).into();
        for is_cold in [false, true] {
            for workers in [1, 3] {
                if is_cold {
                    file.as_file().sync_all().unwrap();
                    rustix::fs::fadvise(file.as_file(), 0, None, rustix::fs::Advice::DontNeed)
                        .unwrap();
                }
                assert_eq!(
                    hash(file.path(), workers),
                    [Ok(expected.into())],
                    "{is_cold} {workers}"
                );
            }
        }
    }

    #[test]
    fn a_file_that_shrinks_has_changed() {
        let file = tempfile::NamedTempFile::new().unwrap();
        file.as_file().set_len(4 * PIECE).unwrap();
        let root = OpenRoot::Working;
        let open = OpenFile::open(&root, file.path(), &StampClocks::default()).unwrap();
        let large = LargeFile::new(open, &root, file.path());
        file.as_file().set_len(2 * PIECE).unwrap();
        let result = large.work(&mut crate::read::ReadBuffer::default());
        assert_eq!(result, Some(Err(Fault::Changed)));
        assert!(large.is_taken());
        assert_eq!(large.work(&mut crate::read::ReadBuffer::default()), None);
    }
}
