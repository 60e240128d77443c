//! A ring or threads, behind one interface.

use std::fs::File;
use std::io;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use ringwalk_sys::rustix::io::Errno;
use ringwalk_sys::{ReadRing, ReadRingOptions};

use super::threads::Threads;
use super::{ReaderOptions, Transport, polling};

/// A finished read: its slot, and the number of bytes or the error.
pub(super) type Completion = (u32, Result<u32, Errno>);

/// A ring that can no longer be entered, for example because a seccomp filter was installed.
#[derive(Debug)]
pub(super) struct Broken;

/// How often a kernel without memory for requests is asked again, each time a millisecond later.
const PATIENCE: u32 = 1000;

#[derive(Debug)]
pub(super) enum Backend {
    Ring(Box<ReadRing>),
    Threads(Threads),
}

impl Backend {
    /// Returns a ring. If there is no ring and the options do not require one, returns threads.
    ///
    /// # Errors
    ///
    /// `Unsupported` if the options need a ring of a kind that the kernel, the file system or the
    /// device does not have.
    pub(super) fn new(file: &Arc<File>, options: &ReaderOptions, direct: bool) -> io::Result<Self> {
        if options.transport == Transport::Threads {
            return Ok(Self::threads(file, options));
        }
        if options.iopoll {
            polling::check_device(file)?;
        }
        let wanted = ReadRingOptions {
            depth: options.depth,
            buffer_size: options.buffer_size,
            register_buffers: direct,
            sqpoll: options.sqpoll,
            iopoll: options.iopoll,
        };
        match ReadRing::new(Arc::clone(file), &wanted) {
            Ok(mut ring) => {
                if options.iopoll {
                    polling::check_read(&mut ring, options.buffer_size)?;
                }
                Ok(Self::Ring(Box::new(ring)))
            }
            Err(errno) if options.iopoll || options.sqpoll.is_some() => {
                Err(polling::refusal(&format!(
                    "the kernel refuses an io_uring with sqpoll or iopoll: {}",
                    io::Error::from(errno)
                )))
            }
            Err(_) => Ok(Self::threads(file, options)),
        }
    }

    pub(super) fn threads(file: &Arc<File>, options: &ReaderOptions) -> Self {
        Self::Threads(Threads::new(
            Arc::clone(file),
            options.depth,
            options.buffer_size,
        ))
    }

    pub(super) fn means(&self, options: &ReaderOptions) -> String {
        let Self::Ring(ring) = self else {
            return "pread on threads".to_owned();
        };
        let registered = match ring.registered() {
            (true, true) => ", file and buffers registered",
            (true, false) => ", file registered",
            (false, true) => ", buffers registered",
            (false, false) => "",
        };
        let thread = options.sqpoll.map_or("", |_| ", kernel thread");
        let polled = if options.iopoll { ", polled" } else { "" };
        format!("io_uring{registered}{thread}{polled}")
    }

    /// Starts a read of `len` bytes at `offset` of the file into an idle slot, from its byte `from`
    /// on.
    pub(super) fn start(&mut self, slot: u32, offset: u64, from: u32, len: u32) {
        match self {
            Self::Ring(ring) => ring.start(slot, offset, from, len),
            Self::Threads(threads) => threads.start(slot, offset, from, len),
        }
    }

    /// Submits the started reads to the kernel, without waiting. Adds all finished reads to
    /// `completions`, those among them that the page cache had.
    pub(super) fn submit(&mut self, completions: &mut Vec<Completion>) {
        if let Self::Ring(ring) = self {
            // If this fails, `wait` will report it.
            let _ = ring.enter(0);
            while let Some(completion) = ring.next() {
                completions.push(completion);
            }
        }
    }

    /// Waits until a read is finished, and adds all finished reads to `completions`. At least one
    /// must have been started.
    ///
    /// # Errors
    ///
    /// If the ring can no longer be used. The reads that were started and are not in `completions`
    /// have to be started again with another backend.
    pub(super) fn wait(&mut self, completions: &mut Vec<Completion>) -> Result<(), Broken> {
        match self {
            Self::Ring(ring) => wait_for_ring(ring, completions),
            Self::Threads(threads) => {
                threads.wait(completions);
                Ok(())
            }
        }
    }

    /// Waits for all started reads, and drops their results.
    pub(super) fn drain(&mut self) -> Result<(), Broken> {
        let mut forgotten = Vec::new();
        while self.in_flight() > 0 {
            self.wait(&mut forgotten)?;
            forgotten.clear();
        }
        Ok(())
    }

    /// Returns the number of reads that were started and are not in completions yet.
    pub(super) fn in_flight(&self) -> usize {
        match self {
            Self::Ring(ring) => ring.in_flight(),
            Self::Threads(threads) => threads.in_flight(),
        }
    }

    /// Returns the memory of an idle slot.
    pub(super) fn bytes(&self, slot: u32) -> &[u8] {
        match self {
            Self::Ring(ring) => ring.bytes(slot),
            Self::Threads(threads) => threads.bytes(slot),
        }
    }

    pub(super) fn bytes_mut(&mut self, slot: u32) -> &mut [u8] {
        match self {
            Self::Ring(ring) => ring.bytes_mut(slot),
            Self::Threads(threads) => threads.bytes_mut(slot),
        }
    }

    /// Returns true if an error may come from the ring rather than from the file.
    pub(super) fn may_be_refusing(&self, errno: Errno) -> bool {
        let refusals = [
            Errno::AGAIN,
            Errno::INVAL,
            Errno::OPNOTSUPP,
            Errno::CANCELED,
            Errno::FAULT,
            Errno::NOMEM,
        ];
        matches!(self, Self::Ring(_)) && refusals.contains(&errno)
    }
}

/// Waits until a read of the ring is finished, and adds all finished reads to `completions`.
///
/// # Errors
///
/// If the ring can no longer be used.
pub(super) fn wait_for_ring(
    ring: &mut ReadRing,
    completions: &mut Vec<Completion>,
) -> Result<(), Broken> {
    let mut patience = PATIENCE;
    while completions.is_empty() {
        match ring.enter(1) {
            Ok(()) | Err(Errno::INTR) => {}
            Err(Errno::AGAIN | Errno::BUSY) if patience > 0 => {
                patience -= 1;
                thread::sleep(Duration::from_millis(1));
            }
            Err(_) => return Err(Broken),
        }
        while let Some(completion) = ring.next() {
            completions.push(completion);
        }
    }
    Ok(())
}
