//! Reads many files at once on an `io_uring`, each from its beginning.
//!
//! The kernel collects the reads of one submission before it sends them to the disk
//! (`blk_start_plug_nr_ios` in `io_init_req`, `io_uring/io_uring.c`; for more than two reads). The
//! block layer makes one request of reads that lie side by side, and files that were written
//! together often do. Threads that read one file each send one request each.
//!
//! A call returns when all its reads are over. So no read is in flight between calls, and the
//! buffer is the caller's.

use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ops::Range;
use std::os::fd::{AsRawFd, BorrowedFd};

use io_uring::{IoUring, opcode, types};
use rustix::io::Errno;

use crate::PageBuffer;
use crate::ring_setup::{RingOptions, bytes_of, errno, set_up, try_again};

/// The bytes of each file begin at a multiple of this: one cache line.
const ALIGNMENT: u32 = 64;

/// Calls that fail one after the other before a ring is given up.
const MOST_FAILURES: u32 = 1000;

/// A ring, and a buffer for the bytes of several files.
pub struct FilesRing {
    ring: ManuallyDrop<IoUring>,
    buffer: ManuallyDrop<PageBuffer>,
    depth: usize,
    /// True from the first queued read until all reads are over. If a call ends meanwhile, the
    /// kernel may still write into the buffer.
    is_busy: bool,
    /// Not `Send`: the kernel accepts entries from one thread only.
    one_thread: PhantomData<*mut ()>,
}

impl std::fmt::Debug for FilesRing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FilesRing")
            .field("depth", &self.depth)
            .field("is_busy", &self.is_busy)
            .finish_non_exhaustive()
    }
}

/// A file that is to be read.
#[derive(Clone, Copy, Debug)]
pub struct FileRead<'f> {
    /// The open file.
    pub file: BorrowedFd<'f>,
    /// Bytes to read from its beginning.
    pub len: u32,
}

/// The place of a file's bytes in [`FilesRing::bytes`], or the error of its read. The place is
/// shorter than `len` if the file ends there. A file system may also return fewer bytes.
pub type FileBytes = Result<Range<usize>, Errno>;

impl FilesRing {
    /// Sets up a ring for `depth` reads at once, with a buffer of `size` bytes.
    ///
    /// # Errors
    ///
    /// The errors of [`io_uring_setup(2)`]. After `EPERM` and `ENOSYS` this process must do without
    /// `io_uring`. `ENOMEM` without memory for the buffer; `EINVAL` if `depth` or `size` is 0 or
    /// `depth` too large.
    ///
    /// [`io_uring_setup(2)`]: https://man7.org/linux/man-pages/man2/io_uring_setup.2.html
    pub fn new(depth: u32, size: usize) -> Result<Self, Errno> {
        let buffer = PageBuffer::new(size)?;
        let ring = set_up(&RingOptions {
            entries: depth,
            sqpoll: None,
            iopoll: false,
        })?;
        Ok(Self {
            ring: ManuallyDrop::new(ring),
            buffer: ManuallyDrop::new(buffer),
            depth: depth as usize,
            is_busy: false,
            one_thread: PhantomData,
        })
    }

    /// Returns the bytes that a read of this length takes in the buffer: up to 63 more than it.
    fn space_of(len: u32) -> u64 {
        u64::from(len).next_multiple_of(u64::from(ALIGNMENT))
    }

    /// Reads files, and returns when all reads are over. `results` is emptied first, and gets one
    /// result for each file, in their order.
    ///
    /// # Errors
    ///
    /// The errors of [`io_uring_enter(2)`], if the reads cannot be waited for. Then nothing is
    /// known of any file, and every later call fails with `ENXIO`.
    ///
    /// # Panics
    ///
    /// If there are more files than the depth, or if they do not fit into the buffer.
    ///
    /// [`io_uring_enter(2)`]: https://man7.org/linux/man-pages/man2/io_uring_enter.2.html
    pub fn read(
        &mut self,
        files: &[FileRead<'_>],
        results: &mut Vec<FileBytes>,
    ) -> Result<(), Errno> {
        results.clear();
        if self.is_busy {
            return Err(Errno::NXIO);
        }
        assert!(files.len() <= self.depth, "more files than the depth");
        // Without overflow: fewer than 2^32 files of less than 2^33 bytes.
        let space: u64 = files.iter().map(|file| Self::space_of(file.len)).sum();
        assert!(space <= self.buffer.size() as u64, "the files do not fit");
        if files.is_empty() {
            return Ok(());
        }
        self.is_busy = true;
        let mut start = 0;
        for (file, number) in files.iter().zip(0..) {
            // SAFETY: `start` is at most the sum of the spaces, and so at most the size of the
            // mapping (asserted above).
            let address = unsafe { self.buffer.as_mut_ptr().add(start) };
            let entry = opcode::Read::new(types::Fd(file.file.as_raw_fd()), address, file.len)
                .offset(0)
                .build()
                .user_data(number);
            // SAFETY: the descriptor is borrowed until this call returns. The memory lies in the
            // buffer: `start` and the space of this file are part of the sum. This call returns
            // only when all reads are over, or leaves `is_busy` set: then `drop` leaves the buffer
            // in place for ever, and no entry is submitted any more. The kernel has its own
            // reference to the files of reads that were submitted.
            let pushed = unsafe { self.ring.submission().push(&entry) };
            // The queue has `depth` entries, and none is in it between calls.
            assert!(pushed.is_ok(), "more entries than the depth");
            // Overwritten below, because each read has exactly one completion.
            results.push(Ok(start..start));
            start += (file.len as usize).next_multiple_of(ALIGNMENT as usize);
        }
        let mut missing = files.len();
        let mut failures = 0;
        while missing > 0 {
            if let Err(error) = self.ring.submit_and_wait(missing) {
                let errno = errno(&error);
                failures += 1;
                if failures == MOST_FAILURES || try_again(errno).is_err() {
                    results.clear();
                    return Err(errno);
                }
            } else {
                failures = 0;
            }
            for completion in self.ring.completion() {
                // The value that was set above.
                #[expect(clippy::cast_possible_truncation, reason = "an index of `files`")]
                let result = &mut results[completion.user_data() as usize];
                let start = result.as_ref().map_or(0, |range| range.start);
                *result = bytes_of(completion.result()).map(|len| start..start + len as usize);
                missing -= 1;
            }
        }
        self.is_busy = false;
        Ok(())
    }

    /// Returns the buffer, with what the last call has read.
    pub fn bytes(&self) -> &[u8] {
        if self.is_busy { &[] } else { &self.buffer }
    }
}

impl Drop for FilesRing {
    fn drop(&mut self) {
        // SAFETY: the ring is not used again.
        unsafe { ManuallyDrop::drop(&mut self.ring) };
        if self.is_busy {
            // The kernel may still write into the buffer, so it stays in place.
            return;
        }
        // SAFETY: not used again, and no read is in flight.
        unsafe { ManuallyDrop::drop(&mut self.buffer) };
    }
}

#[cfg(test)]
#[cfg(not(miri))] // It has no io_uring.
mod tests {
    use super::*;
    use std::fs::File;
    use std::io::Write;
    use std::os::fd::AsFd;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    /// Returns a ring, or `None` where the system refuses rings.
    fn ring(depth: u32, size: usize) -> Option<FilesRing> {
        match FilesRing::new(depth, size) {
            Ok(ring) => Some(ring),
            Err(Errno::NOSYS | Errno::PERM | Errno::NOMEM) => None,
            Err(errno) => panic!("{errno}"),
        }
    }

    fn file_of(byte: u8, size: usize) -> File {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&vec![byte; size]).unwrap();
        file
    }

    fn reads(files: &[File], len: u32) -> Vec<FileRead<'_>> {
        let read = |file| FileRead { file, len };
        files.iter().map(|file| read(file.as_fd())).collect()
    }

    #[test]
    fn each_file_has_its_own_bytes() {
        let Some(mut ring) = ring(8, 8192) else {
            return;
        };
        let mut results = Vec::new();
        // Also again with the same ring, and with other files.
        for round in 0..3 {
            let files: Vec<File> = (0..8).map(|at| file_of(round * 8 + at, 100)).collect();
            ring.read(&reads(&files, 1000), &mut results).unwrap();
            assert_eq!(results.len(), 8);
            for (result, byte) in results.iter().zip(round * 8..) {
                let range = result.clone().unwrap();
                // Less than what was asked for: the file ends there.
                assert_eq!(range.len(), 100);
                assert!(ring.bytes()[range].iter().all(|found| *found == byte));
            }
        }
        ring.read(&[], &mut results).unwrap();
        assert!(results.is_empty());
    }

    #[test]
    fn a_file_that_fails_leaves_the_others() {
        let Some(mut ring) = ring(4, 4096) else {
            return;
        };
        let folder = File::open("/").unwrap();
        let files = [file_of(1, 10), folder, file_of(2, 0), file_of(3, 10)];
        let mut results = Vec::new();
        ring.read(&reads(&files, 10), &mut results).unwrap();
        assert_eq!(
            results,
            [Ok(0..10), Err(Errno::ISDIR), Ok(128..128), Ok(192..202)]
        );
        assert_eq!(ring.bytes()[192..202], [3; 10]);
    }

    #[test]
    fn more_than_the_ring_has_room_for_is_refused() {
        let Some(mut ring) = ring(2, 4096) else {
            return;
        };
        let files: Vec<File> = (0..3).map(|byte| file_of(byte, 10)).collect();
        let mut results = Vec::new();
        for (files, len) in [(&files[..], 10), (&files[..2], 2049)] {
            let refused = AssertUnwindSafe(|| ring.read(&reads(files, len), &mut results));
            assert!(catch_unwind(refused).is_err());
        }
        // Nothing was submitted.
        ring.read(&reads(&files[1..], 2048), &mut results).unwrap();
        assert_eq!(results, [Ok(0..10), Ok(2048..2058)]);
    }

    #[test]
    fn wrong_sizes_are_refused() {
        for (depth, size) in [(0, 100), (1, 0), (u32::MAX, 100)] {
            match FilesRing::new(depth, size) {
                Err(Errno::INVAL | Errno::NOSYS | Errno::PERM) => {}
                other => panic!("{other:?}"),
            }
        }
    }
}
