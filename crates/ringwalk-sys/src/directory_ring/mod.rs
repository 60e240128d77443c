//! Directories opened, read and closed on an `io_uring`: by the kernel module's device, or by the operations of a kernel that has
//! them.
//!
//! ```text
//!          open(slot), read(slot)               enter                        next
//!   idle ────────────────────────> queued ─────────────────> with the kernel ─────────> idle
//!         the slot owns what the request names                        the completion gives it back
//! ```
//!
//! A request names memory (a path, a structure, the buffer for records) and descriptors. All of them are the slot's from the
//! call that queues it until its completion has been seen: the buffer is given away with the call and comes back with
//! the completion, and so nobody can look at it or free it meanwhile. A ring that is dropped cancels what is in flight and waits
//! for it; where that cannot be done (the kernel refuses to be waited for) nothing of it is ever freed. That, and nothing the caller
//! does, is what makes this interface safe.
//!
//! The ring belongs to the thread that made it (`IORING_SETUP_SINGLE_ISSUER`), hence it is not [`Send`].

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

use encode::{Read, Request};

#[cfg(test)]
#[cfg(not(miri))] // It has no io_uring.
mod tests;

/// `user_data` of requests that no slot waits for.
const CLOSE: u64 = u64::MAX;
const CANCEL: u64 = u64::MAX - 1;
const WATCH: u64 = u64::MAX - 2;

/// Who reads directories for a ring. They are opened and closed by operations that every kernel with `io_uring` has since 5.6.
#[derive(Clone, Debug)]
pub enum DirectoryReader {
    /// The kernel module.
    Module(Arc<ModuleDevice>),
    /// Operations of the kernel itself.
    Opcodes(DirectoryOpcodes),
}

/// A request that is over.
#[derive(Debug)]
pub enum Completion {
    /// Of [`DirectoryRing::open`].
    Opened {
        /// The slot, idle now.
        slot: u32,
        /// The directory, or the error of openat(2).
        result: Result<DirectoryFd, Errno>,
    },
    /// Of [`DirectoryRing::read`].
    Read {
        /// The slot, idle now.
        slot: u32,
        /// The directory.
        fd: Arc<DirectoryFd>,
        /// The buffer.
        buffer: Vec<u8>,
        /// Where in the buffer the records begin.
        from: usize,
        /// How many bytes of records there are, or the error.
        result: Result<Filled, Errno>,
    },
}

/// What a slot owns on behalf of the kernel.
enum Held {
    Nothing,
    /// What the name is relative to, and the name.
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
struct Slot {
    held: Held,
    /// Ends with a NUL; not touched while the slot is busy.
    name: Vec<u8>,
}

/// A ring, and room for as many requests as can be in flight.
pub struct DirectoryRing {
    ring: ManuallyDrop<IoUring>,
    reader: DirectoryReader,
    /// After the ring, which has to be waited for before these go away.
    slots: ManuallyDrop<Box<[Slot]>>,
    /// The kernel reads and writes those of busy slots.
    requests: ManuallyDrop<Box<[UnsafeCell<Request>]>>,
    /// Requests queued or with the kernel whose completions are waited for.
    in_flight: usize,
    /// Those queued.
    queued: usize,
    /// The device is registered.
    registered: bool,
    /// Completions taken while another was looked for.
    taken: VecDeque<Completion>,
    /// Waited for along with requests, until it is readable.
    watched: Option<Arc<OwnedFd>>,
    /// It has been.
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
    /// Sets up a ring for `depth` directories, and has the kernel use up to `threads` threads for those of its requests that wait.
    ///
    /// # Errors
    ///
    /// Those of [`io_uring_setup(2)`], of which `EPERM` and `ENOSYS` say that this process is to do without.
    ///
    /// [`io_uring_setup(2)`]: https://man7.org/linux/man-pages/man2/io_uring_setup.2.html
    pub fn new(reader: DirectoryReader, depth: u32, threads: u32) -> Result<Self, Errno> {
        // More, as directories are closed along with others, and a descriptor may be watched.
        let ring = set_up(depth.checked_add(depth / 2 + 2).ok_or(Errno::INVAL)?)?;
        let submitter = ring.submitter();
        let registered = match &reader {
            DirectoryReader::Module(device) => {
                let fd = device.as_fd().as_raw_fd();
                submitter.register_files(&[fd]).is_ok()
            }
            DirectoryReader::Opcodes(_) => false,
        };
        // Known since Linux 5.15. The kernel's own choice is four for each CPU.
        let _ = submitter.register_iowq_max_workers(&mut [threads, 0]);
        let slots = (0..depth).map(|_| Slot {
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

    /// Queues the opening of a directory: `name`, relative to `at` or to the working directory, with these flags. `wait`: it is
    /// expected to wait for a device, and given to a thread at once.
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

    /// Queues a read of the next entries of `fd` into `buffer`, behind its first `from` bytes.
    ///
    /// # Panics
    ///
    /// If the slot does not exist or is busy, or the buffer is shorter than that.
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
        // SAFETY: the slot is idle, so the kernel has no business with its request, and nobody else has a reference to it.
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

    /// Has a directory closed along with the next requests.
    pub fn close(&mut self, fd: DirectoryFd) {
        // Room for a request in each slot is kept free. Without the flag (before Linux 5.17) its completion would end a wait
        // for something else.
        let room = self.ring.submission().capacity() - self.slots.len() - 2;
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

    /// Has [`enter`](Self::enter) come back as well when `fd` is readable, once; [`was_woken`](Self::was_woken) tells. It is waited for
    /// like a request, so somebody else can end a wait.
    ///
    /// # Panics
    ///
    /// If one is watched already.
    pub fn watch(&mut self, fd: &Arc<OwnedFd>) {
        assert!(self.watched.is_none(), "one at a time");
        let flags = u32::from(libc::POLLIN.unsigned_abs());
        let entry = PollAdd::new(types::Fd(fd.as_raw_fd()), flags).build();
        // Open at least until the kernel has looked at it.
        self.watched = Some(Arc::clone(fd));
        self.push(entry, WATCH, false);
    }

    /// Whether a descriptor is watched.
    pub fn is_watching(&self) -> bool {
        self.watched.is_some()
    }

    /// Whether what was watched has been readable; that is told once.
    pub fn was_woken(&mut self) -> bool {
        mem::take(&mut self.woken)
    }

    /// The slot, which must be idle.
    fn idle(&mut self, slot: u32) -> &mut Slot {
        let room = &mut self.slots[slot as usize];
        assert!(matches!(room.held, Held::Nothing), "slot {slot} is busy");
        room
    }

    fn push(&mut self, entry: squeue::Entry, user_data: u64, wait: bool) {
        let mut entry = entry.user_data(user_data);
        if wait {
            entry = entry.flags(squeue::Flags::ASYNC);
        }
        // SAFETY: what the entry names is owned by its slot, which was idle, until its completion is seen: `Held` has the
        // descriptors and the buffer, whose bytes do not move with it, and nobody gets at it; the name and the request are
        // touched by `open` and `read` only, which begin with `idle`. `drop` waits, or frees nothing. An entry without
        // a slot names no memory.
        let pushed = unsafe { self.ring.submission().push(&entry) };
        // There is an entry for each slot, one for `wind_up` and one for `watch`; `close` leaves them.
        assert!(pushed.is_ok(), "more entries than slots");
        self.in_flight += 1;
        self.queued += 1;
    }

    /// Requests queued that the kernel has not been told of.
    pub fn queued(&self) -> usize {
        self.queued
    }

    /// Gives the kernel what is queued, and waits until `want` requests are over, if so many are in flight.
    ///
    /// # Errors
    ///
    /// Those of [`io_uring_enter(2)`]. After `EINTR`, `EAGAIN` and `EBUSY` it may be called again; whatever the error, requests
    /// may be in flight and their completions be taken.
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

    /// The next request that is over.
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

    /// The completion of this slot, if it is over; others wait for [`next`](Self::next).
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
            // It failed, and has been closed all the same, as with close(2).
            return None;
        }
        self.in_flight -= 1;
        if entry.user_data() == WATCH {
            // Also if it cannot be waited for: then it is found out by looking.
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
                    // SAFETY: the kernel has just opened it for this request, and told nobody else.
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
                    // Not that it would tell more.
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

    /// Number of requests queued or with the kernel.
    pub fn in_flight(&self) -> usize {
        self.in_flight
    }

    /// Ends all that is in flight, and forgets what came of it.
    fn wind_up(&mut self) -> Result<(), Errno> {
        if self.in_flight > 0 {
            // Those who wait in a thread of the kernel are interrupted (since Linux 5.19; else they are waited for).
            let all = types::CancelBuilder::any();
            let entry = AsyncCancel2::new(all).build();
            self.push(entry, CANCEL, false);
        }
        loop {
            while self.next().is_some() {}
            // Closes that are still queued are nobody else's to make.
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
            // The kernel may still use all of it: it stays where it is, and the device open.
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

/// The ring itself, with the flags of the newest kernel first. A kernel that does not know a flag answers EINVAL.
///
/// Completions are worked on when we ask for them (6.1, 5.19). That is not only cheaper: a kernel that interrupts the thread for them could cut a
/// read of a directory short.
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
