//! Opens, reads and closes directories on an `io_uring`: through the device of the kernel module,
//! or by the operations of a patched kernel.
//!
//! ```text
//!          open(slot), read(slot)               enter                        next
//!   idle ────────────────────────> queued ─────────────────> with the kernel ─────────> idle
//!         the slot owns what the request names                        the completion gives it back
//! ```
//!
//! A request names memory (a path, a structure, the buffer for records) and descriptors. The slot
//! owns all of them from the call that queues the request until its completion has been taken. The
//! call takes the buffer, and the completion returns it, so nobody can read or free it in between.
//! A ring that is dropped cancels the requests in flight and waits for them. If it cannot wait,
//! because the kernel refuses, it never frees the memory. So the interface is safe whatever the
//! caller does.
//!
//! The ring belongs to the thread that made it (`IORING_SETUP_SINGLE_ISSUER`), so it is not
//! [`Send`].

mod encode;

use std::cell::UnsafeCell;
use std::collections::VecDeque;
use std::ffi::CStr;
use std::fmt;
use std::marker::PhantomData;
use std::mem::{self, ManuallyDrop};
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

use io_uring::opcode::{AsyncCancel2, Close, OpenAt, PollAdd};
use io_uring::{IoUring, cqueue, squeue, types};
use rustix::fs::OFlags;
use rustix::io::Errno;

use crate::DirectoryFd;
use crate::getdents::errno_of;
use crate::module_device::{Filled, ModuleDevice, What};
use crate::opcode::{self, DirectoryOpcodes};

use encode::{Read, ReadArguments};

#[cfg(test)]
#[cfg(not(miri))] // It has no io_uring.
mod tests;

/// `user_data` of requests without a slot.
const CLOSE: u64 = u64::MAX;
const CANCEL: u64 = u64::MAX - 1;
const WATCH: u64 = u64::MAX - 2;

/// Entries that the queue has besides one for each slot and those for closing directories: one for
/// `wind_up` and one for `watch`.
const RESERVED: u32 = 2;

/// What reads directories for a ring. Directories are opened and closed by operations that every
/// kernel with `io_uring` has since Linux 5.6.
#[derive(Clone, Debug)]
pub enum DirectoryReader {
    /// The kernel module.
    Module(Arc<ModuleDevice>),
    /// Operations of a patched kernel.
    Opcodes(DirectoryOpcodes),
}

/// A completed request.
#[derive(Debug)]
pub enum Completion {
    /// An open, from [`DirectoryRing::open`].
    Opened {
        /// The slot, which is idle now.
        slot: u32,
        /// The directory, or the error of openat(2).
        result: Result<DirectoryFd, Errno>,
    },
    /// A read, from [`DirectoryRing::read`].
    Read {
        /// The slot, which is idle now.
        slot: u32,
        /// The directory.
        fd: Arc<DirectoryFd>,
        /// The buffer.
        buffer: Vec<u8>,
        /// Where in the buffer the records begin.
        from: usize,
        /// How many bytes of records the kernel wrote, or the error.
        result: Result<Filled, Errno>,
    },
}

/// What a slot holds for the kernel.
enum Held {
    Nothing,
    /// The directory that the name is relative to. The name is in the slot.
    Opening {
        _at: Option<Arc<DirectoryFd>>,
    },
    Reading {
        fd: Arc<DirectoryFd>,
        buffer: Vec<u8>,
        from: usize,
    },
}

/// Room for one request.
struct RequestSlot {
    held: Held,
    /// The name with its NUL. It does not change while the slot is busy.
    name: Vec<u8>,
}

/// A ring, with a slot for each request that can be in flight.
pub struct DirectoryRing {
    ring: ManuallyDrop<IoUring>,
    reader: DirectoryReader,
    /// Dropped after the ring, which must wait for its requests first.
    slots: ManuallyDrop<Box<[RequestSlot]>>,
    /// The kernel reads and writes the requests of busy slots.
    requests: ManuallyDrop<Box<[UnsafeCell<ReadArguments>]>>,
    /// Requests queued or with the kernel.
    in_flight: usize,
    /// Requests queued.
    queued: usize,
    /// True if the device is registered.
    registered: bool,
    /// Completions taken from the ring by [`next_of`](Self::next_of) for other slots.
    taken: VecDeque<Completion>,
    /// A descriptor that also ends a wait when it is readable.
    watched: Option<Arc<OwnedFd>>,
    /// True if the watched descriptor was readable.
    woken: bool,
    /// Not `Send`: the kernel accepts entries from one thread only.
    one_thread: PhantomData<*mut ()>,
}

impl fmt::Debug for DirectoryRing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DirectoryRing")
            .field("depth", &self.slots.len())
            .field("in_flight", &self.in_flight)
            .finish_non_exhaustive()
    }
}

impl DirectoryRing {
    /// Creates a ring with `depth` slots. The kernel uses at most `threads` threads for requests
    /// that wait.
    ///
    /// # Errors
    ///
    /// The errors of [`io_uring_setup(2)`]. After `EPERM` and `ENOSYS` this process must do without
    /// `io_uring`.
    ///
    /// [`io_uring_setup(2)`]: https://man7.org/linux/man-pages/man2/io_uring_setup.2.html
    pub fn new(reader: DirectoryReader, depth: u32, threads: u32) -> Result<Self, Errno> {
        let entries = depth.checked_add(depth / 2 + RESERVED);
        let ring = set_up(entries.ok_or(Errno::INVAL)?)?;
        let submitter = ring.submitter();
        let registered = match &reader {
            DirectoryReader::Module(device) => {
                let fd = device.as_fd().as_raw_fd();
                submitter.register_files(&[fd]).is_ok()
            }
            DirectoryReader::Opcodes(_) => false,
        };
        // The call is known since Linux 5.15. Without it the kernel uses four threads for each CPU,
        // and answers stay the same.
        let _ = submitter.register_iowq_max_workers(&mut [threads, 0]);
        let slots = (0..depth).map(|_| RequestSlot {
            held: Held::Nothing,
            name: Vec::new(),
        });
        Ok(Self {
            slots: ManuallyDrop::new(slots.collect()),
            requests: ManuallyDrop::new((0..depth).map(|_| UnsafeCell::default()).collect()),
            ring: ManuallyDrop::new(ring),
            reader,
            in_flight: 0,
            queued: 0,
            registered,
            taken: VecDeque::new(),
            watched: None,
            woken: false,
            one_thread: PhantomData,
        })
    }

    /// Queues an open of the directory `name`, relative to `at` or to the working directory. With
    /// `wait` the kernel gives the request to a thread at once, as it is expected to wait for a
    /// device.
    ///
    /// # Panics
    ///
    /// If the slot does not exist or is busy.
    pub fn open(
        &mut self,
        slot: u32,
        at: Option<&Arc<DirectoryFd>>,
        name: &CStr,
        flags: OFlags,
        wait: bool,
    ) {
        let room = self.idle(slot);
        room.held = Held::Opening { _at: at.cloned() };
        room.name.clear();
        room.name.extend_from_slice(name.to_bytes_with_nul());
        let path = room.name.as_ptr().cast();
        let at = types::Fd(at.map_or(libc::AT_FDCWD, AsRawFd::as_raw_fd));
        let entry = OpenAt::new(at, path)
            .flags(flags.bits().cast_signed())
            .build();
        self.push(entry, u64::from(slot), wait);
    }

    /// Queues a read of the next entries of `fd` into `buffer`, after its first `from` bytes.
    ///
    /// # Panics
    ///
    /// If the slot does not exist or is busy, or the buffer is shorter than `from`.
    pub fn read(
        &mut self,
        slot: u32,
        fd: Arc<DirectoryFd>,
        mut buffer: Vec<u8>,
        from: usize,
        what: &What,
        wait: bool,
    ) {
        self.idle(slot);
        let room = &mut buffer[from..];
        let read = Read {
            fd: types::Fd(fd.as_raw_fd()),
            what,
            buf: room.as_mut_ptr(),
            len: u32::try_from(room.len()).unwrap_or(u32::MAX),
        };
        let request = self.requests[slot as usize].get();
        // SAFETY: the slot is idle, so the kernel has no business with its request, and nobody else
        // has a reference to it.
        let request = unsafe { &mut *request };
        let entry = match &self.reader {
            DirectoryReader::Module(_) if self.registered => {
                request.command(types::Fixed(0), read, !wait)
            }
            DirectoryReader::Module(device) => {
                let device = types::Fd(device.as_fd().as_raw_fd());
                request.command(device, read, !wait)
            }
            DirectoryReader::Opcodes(opcodes) => request.operation(*opcodes, read),
        };
        self.slots[slot as usize].held = Held::Reading { fd, buffer, from };
        self.push(entry, u64::from(slot), wait);
    }

    /// Closes a directory along with the next requests.
    pub fn close(&mut self, fd: DirectoryFd) {
        // One entry for each slot stays free. Without the flag (before Linux 5.17) the completion
        // of the close would end a wait for another request.
        let room = self.ring.submission().capacity() - self.slots.len() - RESERVED as usize;
        if self.queued >= room || !self.ring.params().is_feature_skip_cqe_on_success() {
            return drop(fd);
        }
        let entry = Close::new(types::Fd(fd.as_raw_fd()))
            .build()
            .flags(squeue::Flags::SKIP_SUCCESS)
            .user_data(CLOSE);
        // SAFETY: it names no memory, and a descriptor that is closed by nobody else.
        if unsafe { self.ring.submission().push(&entry) }.is_ok() {
            mem::forget(fd);
            self.queued += 1;
        }
    }

    /// Lets [`enter`](Self::enter) also return when `fd` is readable, once.
    /// [`was_woken`](Self::was_woken) reports that. So another thread can end a wait.
    ///
    /// # Panics
    ///
    /// If a descriptor is watched already.
    pub fn watch(&mut self, fd: &Arc<OwnedFd>) {
        assert!(self.watched.is_none(), "one at a time");
        let flags = u32::from(libc::POLLIN.unsigned_abs());
        let entry = PollAdd::new(types::Fd(fd.as_raw_fd()), flags).build();
        // The descriptor must stay open until the kernel has polled it.
        self.watched = Some(Arc::clone(fd));
        self.push(entry, WATCH, false);
    }

    /// Returns whether a descriptor is watched.
    pub fn is_watching(&self) -> bool {
        self.watched.is_some()
    }

    /// Returns whether the watched descriptor was readable since the last call.
    pub fn was_woken(&mut self) -> bool {
        mem::take(&mut self.woken)
    }

    /// Returns the slot, which must be idle.
    fn idle(&mut self, slot: u32) -> &mut RequestSlot {
        let room = &mut self.slots[slot as usize];
        assert!(matches!(room.held, Held::Nothing), "slot {slot} is busy");
        room
    }

    fn push(&mut self, entry: squeue::Entry, user_data: u64, wait: bool) {
        let mut entry = entry.user_data(user_data);
        if wait {
            entry = entry.flags(squeue::Flags::ASYNC);
        }
        // SAFETY: what the entry names is owned by its slot, which was idle, until its completion
        // is seen: `Held` has the descriptors and the buffer, whose bytes do not move with it, and
        // nobody gets at it; the name and the request are touched by `open` and `read` only, which
        // begin with `idle`. `drop` waits, or frees nothing. Entries without a slot name no memory.
        let pushed = unsafe { self.ring.submission().push(&entry) };
        // The queue has an entry for each slot and the `RESERVED` ones, which `close` leaves free.
        assert!(pushed.is_ok(), "more entries than slots");
        self.in_flight += 1;
        self.queued += 1;
    }

    /// Returns the number of requests queued and not yet submitted.
    pub fn queued(&self) -> usize {
        self.queued
    }

    /// Submits the queued requests. Waits until `want` requests have completed, or all that are in
    /// flight.
    ///
    /// # Errors
    ///
    /// The errors of [`io_uring_enter(2)`]. After `EINTR`, `EAGAIN` and `EBUSY` it may be called
    /// again. After any error, requests may be in flight and completions can be taken.
    ///
    /// [`io_uring_enter(2)`]: https://man7.org/linux/man-pages/man2/io_uring_enter.2.html
    pub fn enter(&mut self, want: usize) -> Result<(), Errno> {
        let want = want.min(self.in_flight);
        let entered = self.ring.submit_and_wait(want);
        self.queued = self.ring.submission().len();
        match entered {
            Ok(_) => Ok(()),
            Err(error) => Err(Errno::from_io_error(&error).unwrap_or(Errno::IO)),
        }
    }

    /// Returns the next completed request.
    #[expect(clippy::should_implement_trait, reason = "more may follow after None")]
    pub fn next(&mut self) -> Option<Completion> {
        if let Some(completion) = self.taken.pop_front() {
            return Some(completion);
        }
        loop {
            let entry = self.ring.completion().next()?;
            if let Some(completion) = self.complete(&entry) {
                return Some(completion);
            }
        }
    }

    /// Returns the completion of this slot, if its request has completed. Completions of other
    /// slots stay for [`next`](Self::next).
    pub fn next_of(&mut self, slot: u32) -> Option<Completion> {
        loop {
            let entry = self.ring.completion().next()?;
            match self.complete(&entry) {
                Some(completion) if entry.user_data() == u64::from(slot) => {
                    return Some(completion);
                }
                Some(other) => self.taken.push_back(other),
                None => {}
            }
        }
    }

    fn complete(&mut self, entry: &cqueue::Entry) -> Option<Completion> {
        if entry.user_data() == CLOSE {
            // The close failed. The descriptor is closed even so, as with close(2).
            return None;
        }
        self.in_flight -= 1;
        if entry.user_data() == WATCH {
            // Also after an error: the caller then finds out by reading the descriptor.
            self.watched = None;
            self.woken = true;
            return None;
        }
        let result = entry.result();
        let slot = u32::try_from(entry.user_data()).ok()?;
        let room = self.slots.get_mut(slot as usize)?;
        match mem::replace(&mut room.held, Held::Nothing) {
            Held::Nothing => None,
            Held::Opening { .. } => {
                let result = if result < 0 {
                    Err(errno_of(result))
                } else {
                    // SAFETY: the kernel has just opened it for this request, and no other code has
                    // its number.
                    Ok(unsafe { OwnedFd::from_raw_fd(result) }.into())
                };
                Some(Completion::Opened { slot, result })
            }
            Held::Reading { fd, buffer, from } => {
                // SAFETY: the request is over, so the kernel writes to it no more.
                let request = unsafe { &*self.requests[slot as usize].get() };
                let filled = match &self.reader {
                    DirectoryReader::Module(_) => {
                        opcode::filled_by_module(result, request.result_flags())
                    }
                    DirectoryReader::Opcodes(_) => opcode::filled(result, entry.flags()),
                };
                let filled = filled.map(|filled| Filled {
                    // The kernel never reports more than the buffer holds. The limit is for safety.
                    bytes: filled.bytes.min(buffer.len() - from),
                    ..filled
                });
                Some(Completion::Read {
                    slot,
                    fd,
                    buffer,
                    from,
                    result: filled,
                })
            }
        }
    }

    /// Returns the number of requests queued or with the kernel.
    pub fn in_flight(&self) -> usize {
        self.in_flight
    }

    /// Ends all requests in flight and drops their results.
    fn wind_up(&mut self) -> Result<(), Errno> {
        if self.in_flight > 0 {
            // The kernel interrupts the requests that wait in its threads since Linux 5.19. Before,
            // they are waited for.
            let all = types::CancelBuilder::any();
            let entry = AsyncCancel2::new(all).build();
            self.push(entry, CANCEL, false);
        }
        loop {
            while self.next().is_some() {}
            // Queued closes must still be made: nobody else makes them.
            if self.in_flight == 0 && self.queued == 0 {
                return Ok(());
            }
            match self.enter(1) {
                Ok(()) | Err(Errno::INTR) => {}
                Err(Errno::AGAIN | Errno::BUSY) => std::thread::sleep(Duration::from_millis(1)),
                Err(errno) => return Err(errno),
            }
        }
    }
}

impl Drop for DirectoryRing {
    fn drop(&mut self) {
        if self.wind_up().is_err() {
            // The kernel may still use the memory. It stays in place, and the device stays open.
            mem::forget(self.reader.clone());
            return;
        }
        // SAFETY: none is used again. Nothing is in flight, so the kernel uses none of it either.
        unsafe {
            ManuallyDrop::drop(&mut self.ring);
            ManuallyDrop::drop(&mut self.requests);
            ManuallyDrop::drop(&mut self.slots);
        }
    }
}

/// Sets up the ring, with the flags of the newest kernel first. A kernel that does not know a flag
/// answers `EINVAL`.
///
/// The kernel works on completions only when this thread asks for them (Linux 6.1, 5.19). That is
/// cheaper, and a kernel that interrupted the thread could cut a read of a directory short.
fn set_up(entries: u32) -> Result<IoUring, Errno> {
    let mut answer = Errno::INVAL;
    for attempt in 0..4 {
        let mut builder = IoUring::builder();
        builder.dontfork();
        match attempt {
            0 => builder
                .setup_single_issuer()
                .setup_defer_taskrun()
                .setup_no_sqarray(),
            1 => builder.setup_single_issuer().setup_defer_taskrun(),
            2 => builder.setup_coop_taskrun(),
            _ => &mut builder,
        };
        match builder.build(entries) {
            Ok(ring) => return Ok(ring),
            Err(error) => answer = Errno::from_io_error(&error).unwrap_or(Errno::IO),
        }
        if answer != Errno::INVAL {
            break;
        }
    }
    Err(answer)
}
