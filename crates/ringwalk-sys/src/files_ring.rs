//! Reads many files at once on an `io_uring`, each from its beginning.
//!
//! The kernel collects the reads of one submission before it sends them to the disk
//! (`blk_start_plug` in `io_submit_sqes`, `io_uring/io_uring.c`). The block layer makes one request
//! of reads that lie side by side, and files that were written together often do. Threads that read
//! a file each send a request each.
//!
//! A call returns when all its reads are over. So no read is in flight between calls, and the
//! buffer is the caller's.

use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ops::Range;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::time::Duration;

use io_uring::{IoUring, opcode, types};
use rustix::io::Errno;

use crate::PageBuffer;
use crate::read_ring::{ReadRingOptions, set_up};

#[cfg(test)]
#[cfg(not(miri))] // It has no io_uring.
mod tests;

/// Where the bytes of a file begin: at a multiple of this, the line of a processor's cache.
const ALIGNMENT: usize = 64;

/// A ring, and a buffer for the bytes of several files.
pub struct FilesRing {
    ring: ManuallyDrop<IoUring>,
    buffer: ManuallyDrop<PageBuffer>,
    depth: usize,
    /// A call ended before its reads: the kernel may still write into the buffer.
    is_broken: bool,
    /// Not `Send`: the kernel accepts entries from one thread only.
    one_thread: PhantomData<*mut ()>,
}

impl std::fmt::Debug for FilesRing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FilesRing")
            .field("depth", &self.depth)
            .field("is_broken", &self.is_broken)
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

/// What a read has brought: where its bytes are in [`FilesRing::bytes`]. They are fewer than what
/// was asked for if the file ends there, or by the will of its file system.
pub type FileBytes = Result<Range<usize>, Errno>;

impl FilesRing {
    /// Sets up a ring for `depth` reads at once, with a buffer of `size` bytes.
    ///
    /// # Errors
    ///
    /// Those of [`io_uring_setup(2)`]. After `EPERM` and `ENOSYS` this process must do without
    /// `io_uring`. `ENOMEM` without memory for the buffer; `EINVAL` if `depth` or `size` is 0 or
    /// `depth` too large.
    ///
    /// [`io_uring_setup(2)`]: https://man7.org/linux/man-pages/man2/io_uring_setup.2.html
    pub fn new(depth: u32, size: usize) -> Result<Self, Errno> {
        let buffer = PageBuffer::new(size)?;
        let ring = set_up(&ReadRingOptions {
            depth,
            buffer_size: 0,
            register_buffers: false,
            sqpoll: None,
            iopoll: false,
        })?;
        Ok(Self {
            ring: ManuallyDrop::new(ring),
            buffer: ManuallyDrop::new(buffer),
            depth: depth as usize,
            is_broken: false,
            one_thread: PhantomData,
        })
    }

    /// Returns the bytes that a file of this length takes in the buffer.
    pub fn space_of(len: u32) -> usize {
        (len as usize).next_multiple_of(ALIGNMENT)
    }

    /// Reads files, and returns when all reads are over. `results` is emptied first, and gets one
    /// result for each file, in their order.
    ///
    /// # Errors
    ///
    /// Those of [`io_uring_enter(2)`], if the reads cannot be waited for. Then nothing is known of
    /// any file, and every later call fails with `ENXIO`.
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
        if self.is_broken {
            return Err(Errno::NXIO);
        }
        assert!(files.len() <= self.depth, "more files than the depth");
        let space: usize = files.iter().map(|file| Self::space_of(file.len)).sum();
        assert!(space <= self.buffer.size(), "the files do not fit");
        let mut start = 0;
        for (file, number) in files.iter().zip(0..) {
            // SAFETY: within the mapping, as asserted above.
            let address = unsafe { self.buffer.as_mut_ptr().add(start) };
            let entry = opcode::Read::new(types::Fd(file.file.as_raw_fd()), address, file.len)
                .offset(0)
                .build()
                .user_data(number);
            // SAFETY: the file is open and the memory in place until this call returns, and it
            // returns when all reads are over. If it cannot wait for them, the memory stays in
            // place for ever (`drop`); the kernel itself keeps the files of reads that it has, and
            // it takes no more.
            let pushed = unsafe { self.ring.submission().push(&entry) };
            // The queue has `depth` entries, and none is in it between calls.
            assert!(pushed.is_ok(), "more entries than the depth");
            // What is overwritten below: each read has exactly one completion.
            results.push(Ok(start..start));
            start += Self::space_of(file.len);
        }
        let mut missing = files.len();
        while missing > 0 {
            match self.ring.submit_and_wait(missing) {
                Ok(_) => {}
                Err(error) => match Errno::from_io_error(&error) {
                    Some(Errno::INTR) => {}
                    // Completions have to be taken first, or memory is short.
                    Some(Errno::AGAIN | Errno::BUSY) => {
                        std::thread::sleep(Duration::from_millis(1));
                    }
                    errno => {
                        self.is_broken = true;
                        results.clear();
                        return Err(errno.unwrap_or(Errno::IO));
                    }
                },
            }
            for completion in self.ring.completion() {
                // The value that was set above.
                #[expect(clippy::cast_possible_truncation, reason = "an index of `files`")]
                let result = &mut results[completion.user_data() as usize];
                let start = result.as_ref().map_or(0, |range| range.start);
                *result = match usize::try_from(completion.result()) {
                    Ok(len) => Ok(start..start + len),
                    Err(_) => Err(Errno::from_raw_os_error(
                        completion.result().saturating_neg(),
                    )),
                };
                missing -= 1;
            }
        }
        Ok(())
    }

    /// Returns the buffer, with what the last call has read.
    pub fn bytes(&self) -> &[u8] {
        if self.is_broken { &[] } else { &self.buffer }
    }
}

impl Drop for FilesRing {
    fn drop(&mut self) {
        // SAFETY: the ring is not used again.
        unsafe { ManuallyDrop::drop(&mut self.ring) };
        if self.is_broken {
            // The kernel may still write into the buffer, so it stays in place.
            return;
        }
        // SAFETY: not used again, and no read is in flight.
        unsafe { ManuallyDrop::drop(&mut self.buffer) };
    }
}
