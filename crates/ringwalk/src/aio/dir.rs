//! An open directory for tasks.

use super::driver::{self, Fault, Request, slot};
use super::entry::DirEntry;
use super::fault::failed;
use super::open::Open;
use super::reading::Reading;
use crate::directory::Directory;
use crate::entry_buffer::EntryBuffer;
use crate::error::Operation;
use crate::metadata::{Fields, Metadata};
use futures_core::Stream;
use std::ffi::OsStr;
use std::future::poll_fn;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

/// What statx(2) calls basic: with these an entry has all that stat(2) tells.
const BASIC: Fields = Fields::from_bits_retain(0x07ff);

/// An open directory, read without blocking the task or its thread.
///
/// Entries are given [one by one](Self::next), which is what the [`Stream`] does too, or [a buffer at a time](Self::next_batch),
/// which is the fast way; with their metadata if that is [asked for](Self::read_plus). `.` and `..` are left out. While what was
/// read is worked on, the next buffer is read already.
///
/// ```
/// use futures_lite::StreamExt;
/// use ringwalk::aio::Dir;
///
/// # futures_lite::future::block_on(async {
/// let mut dir = Dir::open("src").await?;
/// while let Some(entry) = dir.next().await {
///     println!("{}", entry?.file_name().display());
/// }
/// # std::io::Result::Ok(())
/// # }).unwrap();
/// ```
///
/// # Position
///
/// A `Dir` that has begun to be read is one buffer ahead of what it has given out, so the position of its descriptor tells
/// nothing, and an entry that is made or removed meanwhile may or may not be seen: as with readdir(3), by one buffer more.
/// Who reads the same open directory by another way (a duplicate of the descriptor) takes entries away from it.
///
/// # Dropping
///
/// Every future here may be dropped at any point, and then the next one goes on as if it had not been there: no entry is lost. A `Dir`
/// may be dropped while a read is under way; it is closed when that is over.
///
/// An open `Dir` that is not being read takes a few hundred bytes and its path; the buffers (32 KiB for names on a local file system) come with the first
/// read and go when the end has been reached.
#[derive(Debug)]
pub struct Dir {
    reading: Reading,
    path: Option<Arc<Path>>,
}

impl Dir {
    pub(super) fn new(reading: Reading, path: Option<Arc<Path>>) -> Self {
        Self { reading, path }
    }

    /// Opens a directory, through symbolic links if the path has some. A relative path is relative to the working directory
    /// that the process has when it is opened.
    ///
    /// # Errors
    ///
    /// Those of [openat(2)](https://man7.org/linux/man-pages/man2/openat.2.html), naming the path; `EINVAL` if it has a NUL byte.
    pub fn open(path: impl AsRef<Path>) -> Open {
        Open::new(None, path.as_ref(), true)
    }

    /// Opens a directory by its name in this one, or by a path relative to it. The last component is not followed if it is a symbolic link: so
    /// a program that descends into what is listed as a directory never leaves the tree, even if that is replaced by a link
    /// meanwhile. What a link leads to can be opened by its path.
    ///
    /// ```
    /// # futures_lite::future::block_on(async {
    /// use ringwalk::aio::Dir;
    ///
    /// let here = Dir::open(".").await?;
    /// let src = Dir::open_at(&here, "src").await?;
    /// assert_eq!(src.path().unwrap(), "./src");
    /// # std::io::Result::Ok(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    ///
    /// As of [`open`](Self::open); `ENOTDIR` or `ELOOP` for a link.
    pub fn open_at(&self, name: impl AsRef<Path>) -> Open {
        let at = (Arc::clone(self.reading.directory()), self.path());
        Open::new(Some(at), name.as_ref(), false)
    }

    /// The path it was opened by; `None` if it was made from a descriptor, or relative to such a one.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// The next entry; `None` at the end.
    ///
    /// # Errors
    ///
    /// Those of [getdents64(2)](https://man7.org/linux/man-pages/man2/getdents64.2.html), naming the directory, after all that could be
    /// read. Then it has ended, until it is [rewound](Self::rewind).
    #[expect(clippy::should_implement_trait, reason = "it is the stream's `next`")]
    pub fn next(&mut self) -> impl Future<Output = Option<io::Result<DirEntry>>> + Send {
        poll_fn(|cx| self.poll_next_entry(cx))
    }

    fn poll_next_entry(&mut self, cx: &Context<'_>) -> Poll<Option<io::Result<DirEntry>>> {
        let entry = ready!(self.reading.poll_entry(cx, |entry| DirEntry::from(entry)));
        Poll::Ready(entry.map_err(|fault| self.failed(fault)).transpose())
    }

    /// Fills `batch`, which is emptied first, with the entries that have been read, and returns how many: a buffer's worth, some 1000; 0 only
    /// at the end. The room that `batch` had is used for what is read next, so a program that gives the same buffer again and
    /// again allocates nothing.
    ///
    /// ```
    /// # futures_lite::future::block_on(async {
    /// use ringwalk::{EntryBuffer, FileType, aio::Dir};
    ///
    /// let mut dir = Dir::open("src").await?;
    /// let (mut batch, mut directories) = (EntryBuffer::new(), 0);
    /// while dir.next_batch(&mut batch).await? > 0 {
    ///     let of_batch = batch.iter().filter(|e| e.file_type() == FileType::Directory);
    ///     directories += of_batch.count();
    /// }
    /// assert!(directories > 0);
    /// # std::io::Result::Ok(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    ///
    /// As of [`next`](Self::next); `batch` is left as it was.
    pub fn next_batch(
        &mut self,
        batch: &mut EntryBuffer,
    ) -> impl Future<Output = io::Result<usize>> + Send {
        poll_fn(|cx| self.poll_next_batch(cx, batch))
    }

    /// As [`next_batch`](Self::next_batch), for those who write futures by hand.
    pub fn poll_next_batch(
        &mut self,
        cx: &mut Context<'_>,
        batch: &mut EntryBuffer,
    ) -> Poll<io::Result<usize>> {
        let count = ready!(self.reading.poll_batch(cx, batch));
        Poll::Ready(count.map_err(|fault| self.failed(fault)))
    }

    /// Has all entries that are not given out yet come with these fields of their metadata, however they are taken; with none of
    /// them as before. They are asked for a buffer at a time, where the names are read: by one request to the kernel where it has that, else by one
    /// statx(2) for each. Symbolic links are not followed.
    ///
    /// An entry whose metadata cannot be had is given all the same, and says why ([`DirEntry::stat_error`],
    /// [`EntryRef::stat_error`](crate::EntryRef::stat_error)).
    ///
    /// ```
    /// # futures_lite::future::block_on(async {
    /// use ringwalk::{EntryBuffer, Fields, aio::Dir};
    ///
    /// let mut dir = Dir::open("src").read_plus(Fields::SIZE).await?;
    /// let (mut batch, mut bytes) = (EntryBuffer::new(), 0);
    /// while dir.next_batch(&mut batch).await? > 0 {
    ///     bytes += batch.iter().filter_map(|e| e.metadata()).map(|m| m.size).sum::<u64>();
    /// }
    /// // The same with entries one by one.
    /// dir.rewind();
    /// dir.read_plus(Fields::SIZE | Fields::MTIME);
    /// while let Some(entry) = dir.next().await {
    ///     bytes -= entry?.metadata().map_or(0, |m| m.size);
    /// }
    /// assert_eq!(bytes, 0);
    /// # std::io::Result::Ok(())
    /// # }).unwrap();
    /// ```
    pub fn read_plus(&mut self, fields: Fields) -> &mut Self {
        self.reading.want(fields);
        self
    }

    /// All metadata of an entry, as it is now: by lstat(2)'s rules, so of a link itself. If all of it [came along](Self::read_plus) with the
    /// entry, that is it.
    ///
    /// Each is a request of its own: for those of all entries [`read_plus`](Self::read_plus) is many times as fast.
    ///
    /// # Errors
    ///
    /// Those of [statx(2)](https://man7.org/linux/man-pages/man2/statx.2.html), naming the entry; `ENOENT` if it has been removed.
    pub fn metadata(
        &self,
        entry: &DirEntry,
    ) -> impl Future<Output = io::Result<Metadata>> + Send + use<> {
        let known = entry.metadata().filter(|known| known.mask.contains(BASIC));
        let known = known.copied();
        let directory = Arc::clone(self.reading.directory());
        let below = self.path.clone();
        let name = entry.c_name().to_owned();
        async move {
            if let Some(metadata) = known {
                return Ok(metadata);
            }
            let (answer, mut metadata) = slot();
            driver::submit(Request::Stat {
                directory,
                name: name.clone(),
                fields: Fields::all(),
                answer,
            });
            let metadata = poll_fn(|cx| metadata.poll(cx)).await;
            metadata.map_err(Fault::from).flatten().map_err(|fault| {
                let name = OsStr::from_bytes(name.to_bytes());
                let path = below.as_deref().unwrap_or(Path::new("")).join(name);
                failed(Operation::Stat, Some(&path), fault)
            })
        }
    }

    /// Goes back to the beginning: the entries that come next are those that there are when they are read. What has been read ahead
    /// is thrown away.
    pub fn rewind(&mut self) {
        self.reading.rewind();
    }

    /// Waits for a read that is under way, and closes. Dropping closes as well, in the thread that drops it; this does not block even where a file
    /// system takes its time, and tells what came of it.
    ///
    /// # Errors
    ///
    /// Those of [close(2)](https://man7.org/linux/man-pages/man2/close.2.html), naming the path. The descriptor is gone all the same.
    pub async fn close(self) -> io::Result<()> {
        let Self { mut reading, path } = self;
        poll_fn(|cx| reading.poll_quiet(cx)).await;
        let (answer, mut closed) = slot();
        driver::submit(Request::Close {
            directory: reading.into_directory(),
            answer,
        });
        let closed = poll_fn(|cx| closed.poll(cx)).await;
        closed
            .map_err(Fault::from)
            .flatten()
            .map_err(|fault| failed(Operation::Read, path.as_deref(), fault))
    }

    fn failed(&self, fault: Fault) -> io::Error {
        failed(Operation::Read, self.path(), fault)
    }
}

impl Stream for Dir {
    type Item = io::Result<DirEntry>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.poll_next_entry(cx)
    }
}

impl AsFd for Dir {
    /// The descriptor, for calls relative to it. Its position is not to be relied on, nor changed.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.reading.directory().as_fd()
    }
}

impl From<OwnedFd> for Dir {
    /// What has been read of it already is not read again, until it is [rewound](Dir::rewind). If it is no directory, reading it
    /// fails with `ENOTDIR`.
    fn from(fd: OwnedFd) -> Self {
        let directory = Arc::new(Directory::from(fd));
        Self::new(Reading::new(directory, None), None)
    }
}
