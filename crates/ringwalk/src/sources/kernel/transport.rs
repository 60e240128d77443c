//! Sends requests to the kernel: by call, or with many requests in flight on a ring.

use crate::walk::descriptors::{At, DIRECTORY_FLAGS};
use ringwalk_sys::{
    Completion, DirectoryFd, DirectoryReader, DirectoryRing, Filled, PlusLayout, Records,
    TreeBounds, What,
};
use rustix::fs::OFlags;
use rustix::io::{Errno, retry_on_intr};
use std::ffi::CStr;
#[cfg(feature = "async")]
use std::os::fd::OwnedFd;
use std::sync::Arc;

/// How many threads of the kernel may wait for devices at a time, for one ring; so many fill the
/// queues of most devices. The threads have no stack in user space, and end when they have had
/// nothing to do for five seconds (`WORKER_IDLE_TIMEOUT` in `io_uring/io-wq.c`).
const THREADS: u32 = 32;

/// The reason why a directory was not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failed {
    /// The kernel refused the request, and nothing has changed.
    Refused(Errno),
    /// The result of the request cannot be known, and the contents of the buffer are lost.
    Lost,
}

/// The interface to the kernel. Only tests implement it besides [`KernelTransport`].
pub(crate) trait DirectoryTransport {
    /// Sets up requests in flight. Returns true if they are possible.
    fn set_up(&mut self, depth: u32) -> bool;

    /// Reads the next entries of `fd` into the free room of `records`, in this thread.
    fn read(
        &mut self,
        fd: &Arc<DirectoryFd>,
        what: &What,
        records: &mut Records,
    ) -> Result<Filled, Failed>;

    /// Returns true if the kernel can read whole trees.
    fn reads_trees(&self) -> bool {
        false
    }

    /// Reads the next entries of `fd`, and the entries of directories below it, into `buffer`, in
    /// this thread.
    fn read_tree(
        &mut self,
        _fd: &Arc<DirectoryFd>,
        _layout: &PlusLayout,
        _bounds: TreeBounds,
        _buffer: &mut [u8],
    ) -> Result<Filled, Errno> {
        Err(Errno::OPNOTSUPP)
    }

    /// Starts opening a directory.
    fn start_open(&mut self, slot: u32, at: &At, name: &CStr, follow: bool);

    /// Starts reading the next entries of `fd` into `buffer`, behind its first `from` bytes.
    fn start_read(
        &mut self,
        slot: u32,
        fd: Arc<DirectoryFd>,
        buffer: Vec<u8>,
        from: usize,
        what: &What,
    );

    /// Closes a directory, together with the next request that is started.
    fn close(&mut self, fd: DirectoryFd);

    /// Submits the requests that were started.
    fn flush(&mut self);

    /// Waits as [`wait`](Self::wait) does, or until `wake` is readable: then returns no completion.
    #[cfg(feature = "async")]
    fn wait_or(&mut self, wake: &Arc<OwnedFd>) -> Result<Option<Completion>, Errno>;

    /// Waits for the completion of one request. After an error all requests in flight are lost, and
    /// no more can be started.
    fn wait(&mut self) -> Result<Completion, Errno>;
}

/// Sends requests to the running kernel.
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

    /// Reads on a ring, and waits for the completion.
    fn read_on_ring(
        &mut self,
        fd: &Arc<DirectoryFd>,
        what: &What,
        records: &mut Records,
    ) -> Result<Filled, Failed> {
        // The last slot is reserved for such requests.
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
            if enter(ring).is_err() {
                // The ring keeps the buffer.
                self.ring = None;
                records.clear();
                return Err(Failed::Lost);
            }
        }
    }
}

impl DirectoryTransport for KernelTransport {
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

    fn reads_trees(&self) -> bool {
        match &self.reader {
            DirectoryReader::Module(device) => device.reads_trees(),
            DirectoryReader::Opcodes(_) => false,
        }
    }

    fn read_tree(
        &mut self,
        fd: &Arc<DirectoryFd>,
        layout: &PlusLayout,
        bounds: TreeBounds,
        buffer: &mut [u8],
    ) -> Result<Filled, Errno> {
        match &self.reader {
            DirectoryReader::Module(device) => {
                retry_on_intr(|| device.read_tree(&**fd, layout, bounds, buffer))
            }
            DirectoryReader::Opcodes(_) => Err(Errno::OPNOTSUPP),
        }
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
            // Requests that the kernel does not accept now are submitted with the next wait, which
            // returns the error.
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

/// Waits for a completion. An interruption or a lack of memory is no error; then there may be none.
fn enter(ring: &mut DirectoryRing) -> Result<(), Errno> {
    match ring.enter(1) {
        Ok(()) | Err(Errno::INTR) => Ok(()),
        // Memory for a request is short at the moment.
        Err(Errno::AGAIN | Errno::BUSY) => {
            std::thread::sleep(std::time::Duration::from_millis(1));
            Ok(())
        }
        Err(errno) => Err(errno),
    }
}
