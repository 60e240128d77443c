//! Reads one file on an `io_uring`, into buffers that belong to the ring.
//!
//! ```text
//!            start(slot)                  enter                         next
//!   idle ─────────────────> queued ─────────────────> with the kernel ─────────> idle: bytes(slot)
//!        busy[slot] = true                                             busy[slot] = false
//! ```
//!
//! A slot is one part of the buffer. While `busy`, it is the kernel's: nobody can get a reference
//! to its bytes or start it again. The buffer is unmapped only when no slot is busy. If that cannot
//! be reached, because the kernel refuses to be waited for, the buffer is never unmapped. So the
//! interface is safe whatever the caller does.
//!
//! The ring itself is the `io-uring` crate's. rustix has only the three system calls, and would
//! leave the mappings of the queues and their memory ordering to this module. That would gain
//! nothing: of the CPU time of a 4 KiB read from the page cache the kernel takes 96 %, and the
//! crate has a part of the rest.
//!
//! The ring belongs to the thread that made it (`IORING_SETUP_SINGLE_ISSUER`), so it is not
//! [`Send`].

use std::fmt;
use std::fs::File;
use std::marker::PhantomData;
use std::mem::{self, ManuallyDrop};
use std::os::fd::AsRawFd;
use std::slice;
use std::sync::Arc;
use std::time::Duration;

use io_uring::{EnterFlags, IoUring, opcode, types};
use rustix::io::Errno;

use crate::PageBuffer;
use crate::ring_setup::{RingOptions, bytes_of, errno, set_up, try_again};

/// Alignment of slots in bytes: the strictest one that devices ask for direct reads.
const ALIGNMENT: usize = 4096;

/// The index of the only registered file and of the only registered buffer.
const FILE: types::Fixed = types::Fixed(0);
const BUFFER: u16 = 0;

/// Settings of a [`ReadRing`].
#[derive(Clone, Debug)]
pub struct ReadRingOptions {
    /// Number of slots: the most reads in flight.
    pub depth: u32,
    /// Size of a slot in bytes: the longest read.
    pub buffer_size: u32,
    /// True if the buffers are registered. Registering pins and fills all of their memory at once,
    /// and saves direct reads from pinning pages for each read. Reads from the page cache are
    /// copied, and gain nothing.
    pub register_buffers: bool,
    /// If set, a kernel thread takes reads without a system call (`IORING_SETUP_SQPOLL`). It sleeps
    /// after this time without reads, in whole milliseconds.
    pub sqpoll: Option<Duration>,
    /// True if the device is polled for completions (`IORING_SETUP_IOPOLL`). Needs `O_DIRECT` and a
    /// device that can be polled. Where it cannot, reads fail with `EOPNOTSUPP`, or the kernel
    /// waits for the interrupt, depending on its version.
    pub iopoll: bool,
}

/// A ring, its file, and a buffer for each of `depth` reads.
pub struct ReadRing {
    ring: ManuallyDrop<IoUring>,
    /// Dropped after the ring, which must wait for its reads first.
    buffer: ManuallyDrop<PageBuffer>,
    /// Keeps the descriptor open if the file could not be registered.
    file: Arc<File>,
    /// Bytes from one slot to the next.
    stride: usize,
    buffer_size: usize,
    busy: Box<[bool]>,
    in_flight: usize,
    registered_file: bool,
    registered_buffer: bool,
    /// A kernel thread takes the reads.
    kernel_thread: bool,
    /// Not `Send`: the kernel accepts entries from one thread only.
    one_thread: PhantomData<*mut ()>,
}

impl fmt::Debug for ReadRing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReadRing")
            .field("depth", &self.busy.len())
            .field("in_flight", &self.in_flight)
            .field("registered_file", &self.registered_file)
            .field("registered_buffer", &self.registered_buffer)
            .finish_non_exhaustive()
    }
}

impl ReadRing {
    /// Sets up a ring for reads of `file`. The file and the buffer are registered where the kernel
    /// allows it.
    ///
    /// # Errors
    ///
    /// The errors of [`io_uring_setup(2)`]. After `EPERM` and `ENOSYS` this process must do without
    /// `io_uring`. `ENOMEM` without memory for the buffer; `EINVAL` if `depth` or `buffer_size` is
    /// 0 or too large.
    ///
    /// [`io_uring_setup(2)`]: https://man7.org/linux/man-pages/man2/io_uring_setup.2.html
    pub fn new(file: Arc<File>, options: &ReadRingOptions) -> Result<Self, Errno> {
        let buffer_size = options.buffer_size as usize;
        let depth = options.depth as usize;
        let stride = buffer_size.checked_next_multiple_of(ALIGNMENT);
        let stride = stride.ok_or(Errno::INVAL)?;
        let size = stride.checked_mul(depth).ok_or(Errno::INVAL)?;
        let mut buffer = PageBuffer::new(size)?;
        let ring = set_up(&RingOptions {
            entries: entries(options),
            sqpoll: options.sqpoll,
            iopoll: options.iopoll,
        })?;
        let submitter = ring.submitter();
        let registered_file = submitter.register_files(&[file.as_raw_fd()]).is_ok();
        let registered_buffer = options.register_buffers && {
            let whole = libc::iovec {
                iov_base: buffer.as_mut_ptr().cast(),
                iov_len: size,
            };
            // SAFETY: `whole` describes the mapping of `buffer`, which lives until no read into it
            // is in flight (`drop`); the kernel pins its pages and does not write to them by
            // itself. No reference into it exists. Refused where RLIMIT_MEMLOCK is too low or the
            // buffer exceeds 1 GiB: reads then name plain addresses.
            unsafe { submitter.register_buffers(&[whole]) }.is_ok()
        };
        Ok(Self {
            ring: ManuallyDrop::new(ring),
            buffer: ManuallyDrop::new(buffer),
            file,
            stride,
            buffer_size,
            busy: vec![false; depth].into_boxed_slice(),
            in_flight: 0,
            registered_file,
            registered_buffer,
            kernel_thread: options.sqpoll.is_some(),
            one_thread: PhantomData,
        })
    }

    /// Queues a read of `len` bytes at `offset` of the file into a slot, `from` bytes after its
    /// start. The next [`enter`](Self::enter) submits it.
    ///
    /// # Panics
    ///
    /// If the slot does not exist, is busy, or is shorter than `from + len`.
    pub fn start(&mut self, slot: u32, offset: u64, from: u32, len: u32) {
        let place = slot as usize;
        assert!(!self.busy[place], "slot {slot} is busy");
        assert!(from as usize + len as usize <= self.buffer_size);
        // SAFETY: within the mapping: `place` is less than the number of slots, `from` at most the
        // size of one.
        let address = unsafe {
            self.buffer
                .as_mut_ptr()
                .add(place * self.stride + from as usize)
        };
        let plain = types::Fd(self.file.as_raw_fd());
        let entry = match (self.registered_file, self.registered_buffer) {
            (true, true) => opcode::ReadFixed::new(FILE, address, len, BUFFER)
                .offset(offset)
                .build(),
            (false, true) => opcode::ReadFixed::new(plain, address, len, BUFFER)
                .offset(offset)
                .build(),
            (true, false) => opcode::Read::new(FILE, address, len).offset(offset).build(),
            (false, false) => opcode::Read::new(plain, address, len)
                .offset(offset)
                .build(),
        };
        let entry = entry.user_data(u64::from(slot));
        // SAFETY: the entry's descriptor is open as long as `self.file`; its memory lies in one
        // slot of the buffer (asserted above), which is the kernel's until the completion is seen:
        // `busy` keeps `bytes` and `start` away from it, `drop` waits for it or leaves the mapping
        // in place for ever.
        let pushed = unsafe { self.ring.submission().push(&entry) };
        // The queue has room for each slot (`entries`), and a slot is queued once until its
        // completion is taken.
        assert!(pushed.is_ok(), "more entries than slots");
        self.busy[place] = true;
        self.in_flight += 1;
    }

    /// Submits the queued reads, and waits until [`next`](Self::next) can take `want` completions.
    /// Makes one system call. With a `want` of 0 the kernel still posts the completions of reads
    /// that are over. A kernel thread (`sqpoll`) that is awake is not called for that.
    ///
    /// # Errors
    ///
    /// The errors of [`io_uring_enter(2)`]. After `EINTR`, `EAGAIN` and `EBUSY` it may be called
    /// again. After any error, reads may be in flight and completions can be taken.
    ///
    /// [`io_uring_enter(2)`]: https://man7.org/linux/man-pages/man2/io_uring_enter.2.html
    pub fn enter(&mut self, want: usize) -> Result<(), Errno> {
        let want = want.min(self.in_flight);
        let submitted = if want > 0 || self.kernel_thread {
            self.ring.submit_and_wait(want)
        } else {
            // `Submitter::submit` would not ask for completions.
            let queued = self.ring.submission().len();
            #[expect(clippy::cast_possible_truncation, reason = "at most the queue, a u32")]
            let queued = queued as u32;
            let flags = EnterFlags::GETEVENTS.bits();
            // SAFETY: `start` has pushed the entries, whose memory stays in place; the call has no
            // argument.
            unsafe {
                let submitter = self.ring.submitter();
                submitter.enter::<libc::sigset_t>(queued, 0, flags, None)
            }
        };
        match submitted {
            Ok(_) => Ok(()),
            Err(error) => Err(errno(&error)),
        }
    }

    /// Returns the next completed read: its slot, which is idle now, and the number of bytes read
    /// or the error.
    #[expect(clippy::should_implement_trait, reason = "more may follow after None")]
    pub fn next(&mut self) -> Option<(u32, Result<u32, Errno>)> {
        let completion = self.ring.completion().next()?;
        // The value that `start` set.
        #[expect(clippy::cast_possible_truncation, reason = "it was a u32")]
        let slot = completion.user_data() as u32;
        self.busy[slot as usize] = false;
        self.in_flight -= 1;
        Some((slot, bytes_of(completion.result())))
    }

    /// Returns the number of reads started and not yet taken by [`next`](Self::next).
    pub fn in_flight(&self) -> usize {
        self.in_flight
    }

    /// Returns the bytes of an idle slot, as the last reads into it left them.
    ///
    /// # Panics
    ///
    /// If the slot does not exist or is busy.
    pub fn bytes(&self, slot: u32) -> &[u8] {
        let place = slot as usize;
        assert!(!self.busy[place], "slot {slot} is busy");
        // SAFETY: within the mapping, initialized since it was mapped; the slot is not with the
        // kernel, and cannot be while the reference lives, because `start` needs `&mut self`.
        unsafe {
            let start = self.buffer.as_ptr().add(place * self.stride);
            slice::from_raw_parts(start, self.buffer_size)
        }
    }

    /// Returns the same bytes as [`bytes`](Self::bytes), to be filled by other means.
    ///
    /// # Panics
    ///
    /// If the slot does not exist or is busy.
    pub fn bytes_mut(&mut self, slot: u32) -> &mut [u8] {
        let place = slot as usize;
        assert!(!self.busy[place], "slot {slot} is busy");
        // SAFETY: as in `bytes`; `&mut self` excludes other references, and other slots' memory is
        // not touched.
        unsafe {
            let start = self.buffer.as_mut_ptr().add(place * self.stride);
            slice::from_raw_parts_mut(start, self.buffer_size)
        }
    }

    /// Returns whether the file, and whether the buffer, was registered.
    pub fn registered(&self) -> (bool, bool) {
        (self.registered_file, self.registered_buffer)
    }

    /// Waits for all reads in flight and drops their results.
    ///
    /// # Errors
    ///
    /// As [`enter`](Self::enter), but a call that may be made again is made again.
    pub fn drain(&mut self) -> Result<(), Errno> {
        loop {
            while self.next().is_some() {}
            if self.in_flight == 0 {
                return Ok(());
            }
            self.enter(1).or_else(try_again)?;
        }
    }
}

impl Drop for ReadRing {
    fn drop(&mut self) {
        if self.drain().is_err() {
            // The kernel may still write into the buffer, so it stays in place. A kernel thread
            // (SQPOLL) may still take queued reads, so the descriptor stays open.
            mem::forget(Arc::clone(&self.file));
            return;
        }
        // SAFETY: neither is used again. Nothing is in flight, so the kernel writes into the buffer
        // no more.
        unsafe {
            ManuallyDrop::drop(&mut self.ring);
            ManuallyDrop::drop(&mut self.buffer);
        }
    }
}

/// Returns the number of entries of the submission queue.
///
/// A system call frees the entries that it submits before it returns, so one for each slot is
/// enough. A kernel thread frees the entries of a round together, after their reads: the slots of a
/// round, if all of them are over and started again, need as many entries again. The next round
/// begins after those are free (`io_submit_sqes` in `io_uring/io_uring.c`).
fn entries(options: &ReadRingOptions) -> u32 {
    let rounds = 1 + u32::from(options.sqpoll.is_some());
    options.depth.saturating_mul(rounds)
}

#[cfg(test)]
#[cfg(not(miri))] // It has no io_uring.
mod tests {
    //! Tests the ring itself. The engine's tests compare the bytes that it reads with the written
    //! ones.

    use super::*;
    use std::io::Write;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    const SIZE: u32 = 100_000;

    /// Returns a file in which each byte depends on its offset, and a ring on this file. `None`
    /// where the system refuses rings.
    fn ring(depth: u32, buffer_size: u32, register_buffers: bool) -> Option<ReadRing> {
        ring_of(&ReadRingOptions {
            depth,
            buffer_size,
            register_buffers,
            sqpoll: None,
            iopoll: false,
        })
    }

    fn ring_of(options: &ReadRingOptions) -> Option<ReadRing> {
        let mut file = tempfile::tempfile().unwrap();
        let bytes: Vec<u8> = (0..SIZE).map(|place| place.to_le_bytes()[1]).collect();
        file.write_all(&bytes).unwrap();
        match ReadRing::new(Arc::new(file), options) {
            Ok(ring) => Some(ring),
            Err(Errno::NOSYS | Errno::PERM | Errno::NOMEM) => None,
            Err(errno) => panic!("{errno}"),
        }
    }

    fn take_all(ring: &mut ReadRing) -> Vec<(u32, Result<u32, Errno>)> {
        let mut found = Vec::new();
        while ring.in_flight() > 0 {
            ring.enter(ring.in_flight()).unwrap();
            found.extend(std::iter::from_fn(|| ring.next()));
        }
        found.sort_unstable_by_key(|(slot, _)| *slot);
        found
    }

    #[test]
    fn each_slot_gets_its_own_bytes() {
        for register in [false, true] {
            // Slots begin at page boundaries, even if they are shorter than pages.
            let Some(mut ring) = ring(5, 5000, register) else {
                return;
            };
            for slot in 0..5 {
                ring.start(slot, u64::from(slot) * 256, 100, 256);
            }
            let found = take_all(&mut ring);
            assert_eq!(found, [0, 1, 2, 3, 4].map(|slot| (slot, Ok(256))));
            for slot in 0..5_u32 {
                let bytes = ring.bytes(slot);
                assert_eq!(bytes.len(), 5000);
                assert!(bytes[..100].iter().all(|byte| *byte == 0));
                assert!(bytes[100..356].iter().all(|byte| u32::from(*byte) == slot));
                assert!(bytes[356..].iter().all(|byte| *byte == 0));
            }
        }
    }

    #[test]
    fn ends_and_errors_are_reported_by_slot() {
        let Some(mut ring) = ring(3, 4096, true) else {
            return;
        };
        ring.start(0, u64::from(SIZE) - 10, 0, 4096);
        ring.start(1, u64::from(SIZE) + 10, 0, 4096);
        ring.start(2, u64::MAX / 2 + 5, 0, 4096);
        let found = take_all(&mut ring);
        assert_eq!(found[..2], [(0, Ok(10)), (1, Ok(0))]);
        assert!(found[2].1.is_err());
    }

    #[test]
    fn what_is_the_kernel_s_is_out_of_reach() {
        let Some(mut ring) = ring(2, 4096, false) else {
            return;
        };
        ring.start(0, 0, 0, 4096);
        for misuse in [
            |ring: &mut ReadRing| assert_eq!(ring.bytes(0).len(), 4096),
            |ring: &mut ReadRing| ring.bytes_mut(0)[0] = 1,
            |ring: &mut ReadRing| ring.start(0, 0, 0, 1),
            |ring: &mut ReadRing| ring.start(1, 0, 4000, 97),
            |ring: &mut ReadRing| ring.start(2, 0, 0, 1),
        ] {
            assert!(catch_unwind(AssertUnwindSafe(|| misuse(&mut ring))).is_err());
        }
        assert_eq!(ring.in_flight(), 1);
        assert_eq!(take_all(&mut ring), [(0, Ok(4096))]);
        ring.bytes_mut(0)[0] = 1;
        assert_eq!(ring.bytes(0)[0], 1);
    }

    #[test]
    fn a_ring_may_go_while_reads_are_in_flight() {
        for round in 0..20 {
            let Some(mut ring) = ring(64, 4096, round % 2 == 0) else {
                return;
            };
            for slot in 0..64 {
                ring.start(slot, 0, 0, 4096);
            }
            // In some rounds the request is still queued, in others the kernel has it.
            if round % 3 == 0 {
                ring.enter(0).unwrap();
            }
        }
    }

    #[test]
    fn a_drained_ring_is_as_good_as_new() {
        let Some(mut ring) = ring(4, 4096, true) else {
            return;
        };
        for _ in 0..100 {
            for slot in 0..4 {
                ring.start(slot, 512, 0, 1);
            }
            ring.drain().unwrap();
            assert!(ring.in_flight() == 0 && ring.next().is_none());
        }
        assert_eq!(ring.bytes(3)[0], 2);
    }

    /// The thread frees the entries of a round after their reads: a slot is idle while its entry is
    /// still taken.
    #[test]
    fn a_kernel_thread_leaves_room_for_every_slot() {
        for depth in [1, 2, 8] {
            let Some(mut ring) = ring_of(&ReadRingOptions {
                depth,
                buffer_size: 4096,
                register_buffers: false,
                sqpoll: Some(Duration::from_millis(50)),
                iopoll: false,
            }) else {
                return;
            };
            for slot in 0..depth {
                ring.start(slot, 0, 0, 4096);
            }
            for _ in 0..20_000 {
                ring.enter(1).unwrap();
                while let Some((slot, result)) = ring.next() {
                    assert_eq!(result, Ok(4096));
                    ring.start(slot, 0, 0, 4096);
                }
            }
        }
    }

    #[test]
    fn sizes_out_of_range_are_refused() {
        let file = Arc::new(tempfile::tempfile().unwrap());
        for (depth, buffer_size) in [(0, 4096), (4, 0)] {
            let options = ReadRingOptions {
                depth,
                buffer_size,
                register_buffers: false,
                sqpoll: None,
                iopoll: false,
            };
            assert_eq!(
                ReadRing::new(Arc::clone(&file), &options).unwrap_err(),
                Errno::INVAL
            );
        }
    }
}
