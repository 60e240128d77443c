//! How requests get to the kernel and back: by call, or many of them in flight on a ring.

use crate::descriptor::{At, DIRECTORY_FLAGS};
use ringwalk_sys::{
    Completion, DirectoryFd, DirectoryReader, DirectoryRing, Filled, Records, What,
};
use rustix::fs::OFlags;
use rustix::io::{Errno, retry_on_intr};
use std::ffi::CStr;
#[cfg(feature = "async")]
use std::os::fd::OwnedFd;
use std::sync::Arc;

/// Threads of the kernel that wait for devices at a time, for one ring: what fills the queues of most devices. They have no
/// stack in user space and end when they have had nothing to do for five seconds (`WORKER_IDLE_TIMEOUT` in `io_uring/io-wq.c`).
const THREADS: u32 = 32;

/// Why a directory was not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failed {
    /// The request was refused, and nothing has changed.
    Refused(Errno),
    /// What came of it is not to be known, and what was in the buffer is lost.
    Lost,
}

/// The way to the kernel. Only tests have another than [`KernelTransport`].
pub(crate) trait Transport {
    /// Whether requests can be in flight. Sets up what that takes.
    fn set_up(&mut self, depth: u32) -> bool;

    /// Reads the next entries of `fd` into the room left in `records`, in this thread.
    fn read(
        &mut self,
        fd: &Arc<DirectoryFd>,
        what: &What,
        records: &mut Records,
    ) -> Result<Filled, Failed>;

    /// Has a directory opened.
    fn start_open(&mut self, slot: u32, at: &At, name: &CStr, follow: bool);

    /// Has the next entries of `fd` read into `buffer`, behind its first `from` bytes.
    fn start_read(
        &mut self,
        slot: u32,
        fd: Arc<DirectoryFd>,
        buffer: Vec<u8>,
        from: usize,
        what: &What,
    );

    /// Closes a directory along with what is started next.
    fn close(&mut self, fd: DirectoryFd);

    /// Has the kernel begin what was started.
    fn flush(&mut self);

    /// As [`wait`](Self::wait), until `wake` is readable: then there is no completion.
    #[cfg(feature = "async")]
    fn wait_or(&mut self, wake: &Arc<OwnedFd>) -> Result<Option<Completion>, Errno>;

    /// Waits for one of the requests in flight to be over. An error says that what is in flight is lost, and nothing can be put in
    /// flight any more.
    fn wait(&mut self) -> Result<Completion, Errno>;
}

/// The kernel itself.
pub(crate) struct KernelTransport {
    reader: DirectoryReader,
    ring: Option<DirectoryRing>,
    depth: u32,
}

impl KernelTransport {
    pub(crate) fn new(reader: DirectoryReader) -> Self {
        Self {
            reader,
            ring: None,
            depth: 0,
        }
    }

    fn ring(&mut self, depth: u32) -> Result<&mut DirectoryRing, Errno> {
        if self.ring.is_none() || self.depth < depth {
            let (reader, threads) = (self.reader.clone(), THREADS.min(depth));
            self.ring = Some(DirectoryRing::new(reader, depth, threads)?);
            self.depth = depth;
        }
        self.ring.as_mut().ok_or(Errno::NOSYS)
    }

    /// Reads on a ring, and waits for it.
    fn read_on_ring(
        &mut self,
        fd: &Arc<DirectoryFd>,
        what: &What,
        records: &mut Records,
    ) -> Result<Filled, Failed> {
        // The last slot is kept for this.
        let depth = self.depth.max(1);
        let ring = self.ring(depth).map_err(Failed::Refused)?;
        let slot = depth - 1;
        let (buffer, from) = records.lend();
        ring.read(slot, Arc::clone(fd), buffer, from, what, false);
        loop {
            if let Some(Completion::Read { buffer, result, .. }) = ring.next_of(slot) {
                records.give_back(buffer, result.map_or(0, |filled| filled.bytes));
                return result.map_err(Failed::Refused);
            }
            match ring.enter(1) {
                Ok(()) | Err(Errno::INTR | Errno::AGAIN | Errno::BUSY) => {}
                Err(_) => {
                    // The buffer stays with the ring.
                    records.clear();
                    self.ring = None;
                    return Err(Failed::Lost);
                }
            }
        }
    }
}

impl Transport for KernelTransport {
    fn set_up(&mut self, depth: u32) -> bool {
        self.ring(depth + 1).is_ok()
    }

    fn read(
        &mut self,
        fd: &Arc<DirectoryFd>,
        what: &What,
        records: &mut Records,
    ) -> Result<Filled, Failed> {
        let DirectoryReader::Module(device) = &self.reader else {
            return self.read_on_ring(fd, what, records);
        };
        let mut end = false;
        let bytes = records.fill_with(|room| {
            let filled = retry_on_intr(|| device.read(&**fd, what, room))?;
            end = filled.end;
            Ok(filled.bytes)
        });
        let bytes = bytes.map_err(Failed::Refused)?;
        Ok(Filled { bytes, end })
    }

    fn start_open(&mut self, slot: u32, at: &At, name: &CStr, follow: bool) {
        let flags = if follow {
            DIRECTORY_FLAGS.difference(OFlags::NOFOLLOW)
        } else {
            DIRECTORY_FLAGS
        };
        let at = match at {
            At::Cwd => None,
            At::Dir(fd) => Some(fd),
        };
        if let Some(ring) = &mut self.ring {
            ring.open(slot, at, name, flags, true);
        }
    }

    fn start_read(
        &mut self,
        slot: u32,
        fd: Arc<DirectoryFd>,
        buffer: Vec<u8>,
        from: usize,
        what: &What,
    ) {
        if let Some(ring) = &mut self.ring {
            ring.read(slot, fd, buffer, from, what, true);
        }
    }

    fn close(&mut self, fd: DirectoryFd) {
        match &mut self.ring {
            Some(ring) if ring.in_flight() > 0 => ring.close(fd),
            _ => drop(fd),
        }
    }

    fn flush(&mut self) {
        if let Some(ring) = self.ring.as_mut().filter(|ring| ring.queued() > 0) {
            // What the kernel does not take now it is given with the next wait, which has an error's word.
            let _ = ring.enter(0);
        }
    }

    #[cfg(feature = "async")]
    fn wait_or(&mut self, wake: &Arc<OwnedFd>) -> Result<Option<Completion>, Errno> {
        let ring = self.ring.as_mut().ok_or(Errno::NOSYS)?;
        loop {
            if let Some(completion) = ring.next() {
                return Ok(Some(completion));
            }
            if ring.was_woken() {
                return Ok(None);
            }
            if !ring.is_watching() {
                ring.watch(wake);
            }
            if let Err(errno) = enter(ring) {
                self.ring = None;
                return Err(errno);
            }
        }
    }

    fn wait(&mut self) -> Result<Completion, Errno> {
        let ring = self.ring.as_mut().ok_or(Errno::NOSYS)?;
        loop {
            if let Some(completion) = ring.next() {
                return Ok(completion);
            }
            if let Err(errno) = enter(ring) {
                self.ring = None;
                return Err(errno);
            }
        }
    }
}

/// Waits for something, until the kernel will not have it any more.
fn enter(ring: &mut DirectoryRing) -> Result<(), Errno> {
    match ring.enter(1) {
        Ok(()) | Err(Errno::INTR) => Ok(()),
        // Too little memory for a request at the moment.
        Err(Errno::AGAIN | Errno::BUSY) => {
            std::thread::sleep(std::time::Duration::from_millis(1));
            Ok(())
        }
        Err(errno) => Err(errno),
    }
}
