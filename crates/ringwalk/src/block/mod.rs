//! Reads many places of a block device or a file at once, over `io_uring`, or on threads where the
//! kernel refuses that.
//!
//! A [`BlockReader`] keeps up to `depth` reads in flight and gives the bytes of each [`Request`] to
//! a function as they come. [`BlockReader::read_all`] is for a list of requests: it sorts them by
//! offset and merges neighbours. [`BlockReader::read_stream`] takes requests one by one, in the
//! order given.
//!
//! | file | contents |
//! |---|---|
//! | `mod.rs` | the reader, as its users see it |
//! | `drive.rs` | keeping all slots busy: short reads, refusals, stopping early |
//! | `merge.rs` | merging neighbours into one read |
//! | `backend.rs` | a ring or threads, behind one interface |
//! | `polling.rs` | refusal of polled completions where the device has none |
//! | `threads.rs` | `pread` on a pool of threads |
//! | `alone.rs` | a request by itself, after the read that it was merged into failed |
//!
//! ```text
//!  requests ── merge ──> pieces ── drive ──> slot 0 ... slot depth-1 ──> backend: ring | threads
//!                                    ^                                        │
//!                                    └── completions, any order ──────────────┘
//! ```
//!
//! Buffers are registered for direct reads only: then the kernel need not pin their pages for each
//! read. Registering pins and zeroes all of the buffers' memory beforehand, which took 0.2 ms a
//! MiB. It makes a copy out of the page cache no faster.
//!
//! Both backends give the same results. An error that may come from the ring itself (`EAGAIN`,
//! `EINVAL`, `EOPNOTSUPP`) is checked with `pread`, whose answer counts.

mod alone;
mod backend;
mod drive;
mod merge;
mod polling;
mod threads;

use std::fs::File;
use std::io;
use std::marker::PhantomData;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use alone::Alone;
use backend::Backend;
use ringwalk_sys::rustix::fs::{OFlags, fcntl_getfl};

/// A part of the file to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Bytes from the start of the file. With `O_DIRECT`, a multiple of the device's logical block
    /// size.
    pub offset: u64,
    /// Number of bytes, at most [`ReaderOptions::buffer_size`]. With `O_DIRECT`, a multiple as
    /// above.
    pub len: u32,
    /// A number that the caller knows the request by.
    pub tag: u64,
}

/// The options of a [`BlockReader`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReaderOptions {
    /// The largest number of reads in flight: 1 to 4096.
    pub depth: u32,
    /// Bytes of the largest read, merged ones included. Multiplied by `depth`, it is the memory
    /// that a reader may take.
    pub buffer_size: u32,
    /// Requests are merged if at most this many bytes between them are read in vain.
    pub gap: u32,
    /// The way to the kernel.
    pub transport: Transport,
    /// A kernel thread takes reads from the ring without a system call, and sleeps after this time
    /// without any, in whole milliseconds (`IORING_SETUP_SQPOLL`). It keeps a CPU busy. Needs a
    /// ring: [`BlockReader::new`] fails where the kernel refuses it.
    pub sqpoll: Option<Duration>,
    /// The device is polled for completions instead of interrupting (`IORING_SETUP_IOPOLL`). Only
    /// for files opened with `O_DIRECT`. Needs a ring and a device that can be polled:
    /// [`BlockReader::new`] fails where there is none.
    pub iopoll: bool,
}

impl Default for ReaderOptions {
    /// 64 reads of up to 128 KiB, and 16 KiB of gap: the `read_ahead_kb` of most disks, and the
    /// size of one of their commands.
    fn default() -> Self {
        Self {
            depth: 64,
            buffer_size: 128 << 10,
            gap: 16 << 10,
            transport: Transport::Auto,
            sqpoll: None,
            iopoll: false,
        }
    }
}

/// The way in which reads get to the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Transport {
    /// A ring where the kernel offers one, threads elsewhere.
    Auto,
    /// `pread` on threads.
    Threads,
}

/// Reads one file or block device, many places at a time.
///
/// A reader belongs to the thread that made it: each thread makes its own.
///
/// ```
/// # use ringwalk::block::{BlockReader, ReaderOptions, Request};
/// # use std::{fs::File, ops::ControlFlow, sync::Arc};
/// # fn main() -> std::io::Result<()> {
/// let file = Arc::new(File::open("Cargo.toml")?);
/// let mut reader = BlockReader::new(file, &ReaderOptions::default())?;
/// let mut requests = vec![Request { offset: 1, len: 7, tag: 0 }];
/// let _ = reader.read_all(&mut requests, |request, bytes| {
///     assert_eq!((request.tag, bytes.ok()), (0, Some(&b"package"[..])));
///     ControlFlow::Continue(())
/// });
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct BlockReader {
    backend: Backend,
    file: Arc<File>,
    options: ReaderOptions,
    /// The file was opened with `O_DIRECT`. A short read then means the end of the file.
    direct: bool,
    one_thread: PhantomData<*mut ()>,
}

impl BlockReader {
    /// Creates a reader of `file`, which is open for reading.
    ///
    /// # Errors
    ///
    /// `InvalidInput` if `depth` or `buffer_size` is out of range, if `iopoll` is set without
    /// `O_DIRECT`, or if `iopoll` or `sqpoll` is set for threads. `Unsupported` if `iopoll` is set
    /// and the device or the file system cannot be polled, or if one of the two is set and the
    /// kernel refuses the ring; the text of the error names the reason. Without these two options a
    /// ring that the kernel refuses is no error.
    pub fn new(file: Arc<File>, options: &ReaderOptions) -> io::Result<Self> {
        let direct = fcntl_getfl(&*file)?.contains(OFlags::DIRECT);
        if !(1..=4096).contains(&options.depth) || options.buffer_size == 0 {
            return Err(invalid(
                "depth or buffer size of a block reader is out of range",
            ));
        }
        if options.iopoll && !direct {
            return Err(invalid(
                "polling for completions needs a file opened with O_DIRECT",
            ));
        }
        if options.transport == Transport::Threads && (options.iopoll || options.sqpoll.is_some()) {
            return Err(invalid("sqpoll and iopoll are options of a ring"));
        }
        Ok(Self {
            backend: Backend::new(&file, options, direct)?,
            file,
            options: options.clone(),
            direct,
            one_thread: PhantomData,
        })
    }

    /// Returns the way in which reads are made, for people, such as `io_uring, file and buffers
    /// registered, polled`.
    pub fn means(&self) -> String {
        self.backend.means(&self.options)
    }

    /// Reads all of `requests`, merging neighbours. Sorts the list by offset, and empties it. Calls
    /// `done` once for each request, with exactly its bytes or the error, in the order in which
    /// they complete. A request past the end of the file fails with `UnexpectedEof`, one longer
    /// than [`ReaderOptions::buffer_size`] with `InvalidInput`. A request of no bytes succeeds
    /// everywhere.
    ///
    /// If `done` breaks, it is not called again, and the reads in flight are waited for.
    pub fn read_all(
        &mut self,
        requests: &mut Vec<Request>,
        mut done: impl FnMut(Request, io::Result<&[u8]>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        requests.sort_unstable_by_key(|request| request.offset);
        let pieces = merge::pieces(requests, self.options.buffer_size, self.options.gap);
        let file = Arc::clone(&self.file);
        let (mut alone, direct) = (Alone::default(), self.direct);
        let flow = self.drive(pieces, |piece, read| {
            let parts = &requests[piece.what.clone()];
            match read {
                Err(_) if parts.len() > 1 => parts
                    .iter()
                    .try_for_each(|request| done(*request, alone.read(&file, *request, direct))),
                read => parts.iter().try_for_each(|request| {
                    let from = request.offset - piece.offset;
                    done(*request, drive::slice_of(read, from, request.len))
                }),
            }
        });
        requests.clear();
        flow
    }

    /// Reads in the order of the iterator, which is asked for another request only when a slot is
    /// free. Nothing is merged. Otherwise it is like [`read_all`](Self::read_all).
    pub fn read_stream(
        &mut self,
        requests: impl Iterator<Item = Request>,
        mut done: impl FnMut(Request, io::Result<&[u8]>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let pieces = requests.map(|request| drive::PlannedRead {
            offset: request.offset,
            len: request.len,
            what: request,
        });
        self.drive(pieces, |piece, read| {
            done(piece.what, drive::slice_of(read, 0, piece.len))
        })
    }
}

fn invalid(what: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, what)
}
