//! An open directory for tasks.

use super::driver::{self, DriverRequest, Fault, answer_slot};
use super::entry::DirEntry;
use super::fault::failed;
use super::open::Open;
use super::reading::Reading;
use crate::pull::directory::Directory;
use crate::pull::entry_buffer::EntryBuffer;
use crate::visit::error::Operation;
use crate::visit::metadata::{Fields, Metadata};
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

/// The fields that statx(2) calls basic: the fields of stat(2).
const BASIC: Fields = Fields::from_bits_retain(0x07ff);

/// An open directory, read without blocking the task or its thread.
///
/// Entries come [one by one](Self::next), which is also what the [`Stream`] does, or [a buffer at a
/// time](Self::next_batch), which is faster. Their metadata comes along if [asked
/// for](Self::read_plus). `.` and `..` are left out. While the caller works on one buffer, the next
/// one is read already.
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
/// While a `Dir` is read, it is one buffer ahead of the entries that it has given. So the position
/// of its descriptor does not show how far the reader is. An entry that is made or removed
/// meanwhile may or may not be seen: as with readdir(3), by one buffer more. A caller that reads
/// the same open directory in another way (by a duplicate of the descriptor) takes entries away
/// from it.
///
/// # Dropping
///
/// Every future here may be dropped at any point. The next one then goes on as if the first had not
/// been there: no entry is lost. A `Dir` may be dropped while a read is under way; it is closed
/// when the read is finished.
///
/// An open `Dir` that is not being read takes a few hundred bytes and its path. The buffers (32 KiB
/// for names on a local file system) come with the first read, and go at the end of the directory.
#[derive(Debug)]
pub struct Dir {
    reading: Reading,
    path: Option<Arc<Path>>,
}

impl Dir {
    pub(super) fn new(reading: Reading, path: Option<Arc<Path>>) -> Self {
        Self { reading, path }
    }

    /// Opens a directory. Symbolic links in the path are followed. A relative path is relative to
    /// the working directory of the process at the time of opening.
    ///
    /// # Errors
    ///
    /// The errors of [openat(2)](https://man7.org/linux/man-pages/man2/openat.2.html), naming the
    /// path; `EINVAL` if the path has a NUL byte.
    pub fn open(path: impl AsRef<Path>) -> Open {
        Open::new(None, path.as_ref(), true)
    }

    /// Opens a directory by its name in this one, or by a path relative to it. If the last
    /// component is a symbolic link, it is not followed. So a program that descends into listed
    /// directories never leaves the tree, even if one is replaced by a link meanwhile. The target
    /// of a link can be opened by its path.
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
    /// The errors of [`open`](Self::open); `ENOTDIR` or `ELOOP` for a link.
    pub fn open_at(&self, name: impl AsRef<Path>) -> Open {
        let at = (Arc::clone(self.reading.directory()), self.path());
        Open::new(Some(at), name.as_ref(), false)
    }

    /// Returns the path that the directory was opened by; `None` if it was made from a descriptor,
    /// or opened relative to such a directory.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// Returns the next entry; `None` at the end.
    ///
    /// # Errors
    ///
    /// The errors of [getdents64(2)](https://man7.org/linux/man-pages/man2/getdents64.2.html),
    /// naming the directory, after all entries that could be read. The directory has ended then,
    /// until it is [rewound](Self::rewind).
    #[expect(clippy::should_implement_trait, reason = "it is the stream's `next`")]
    pub fn next(&mut self) -> impl Future<Output = Option<io::Result<DirEntry>>> + Send {
        poll_fn(|cx| self.poll_next_entry(cx))
    }

    fn poll_next_entry(&mut self, cx: &Context<'_>) -> Poll<Option<io::Result<DirEntry>>> {
        let entry = ready!(self.reading.poll_entry(cx, |entry| DirEntry::from(entry)));
        Poll::Ready(entry.map_err(|fault| self.failed(fault)).transpose())
    }

    /// Replaces `batch` by the entries that have been read, and returns how many: one buffer, about
    /// 1000; 0 only at the end. The memory of `batch` is used for the next read, so a program that
    /// passes the same buffer each time allocates nothing.
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
    /// The errors of [`next`](Self::next). `batch` is then unchanged.
    pub fn next_batch(
        &mut self,
        batch: &mut EntryBuffer,
    ) -> impl Future<Output = io::Result<usize>> + Send {
        poll_fn(|cx| self.poll_next_batch(cx, batch))
    }

    /// Polls for the result of [`next_batch`](Self::next_batch), for futures written by hand.
    pub fn poll_next_batch(
        &mut self,
        cx: &mut Context<'_>,
        batch: &mut EntryBuffer,
    ) -> Poll<io::Result<usize>> {
        let count = ready!(self.reading.poll_batch(cx, batch));
        Poll::Ready(count.map_err(|fault| self.failed(fault)))
    }

    /// Sets the fields of metadata that come with all further entries. With no fields, entries come
    /// without metadata as before. The metadata is asked for a buffer at a time, where the names
    /// are read: by one request to the kernel where it offers that, else by one statx(2) for each
    /// entry. Symbolic links are not followed.
    ///
    /// An entry whose metadata cannot be read is still returned, with the error
    /// ([`DirEntry::stat_error`], [`EntryRef::stat_error`](crate::EntryRef::stat_error)).
    ///
    /// ```
    /// # futures_lite::future::block_on(async {
    /// use ringwalk::{EntryBuffer, Fields, aio::Dir};
    ///
    /// let mut dir = Dir::open("src").read_plus(Fields::SIZE).await?;
    /// let (mut batch, mut bytes) = (EntryBuffer::new(), 0);
    /// while dir.next_batch(&mut batch).await? > 0 {
    ///     bytes += batch.iter().filter_map(|e| e.metadata()?.size()).sum::<u64>();
    /// }
    /// // The same with entries one by one.
    /// dir.rewind();
    /// dir.read_plus(Fields::SIZE | Fields::MTIME);
    /// while let Some(entry) = dir.next().await {
    ///     bytes -= entry?.metadata().and_then(|m| m.size()).unwrap_or(0);
    /// }
    /// assert_eq!(bytes, 0);
    /// # std::io::Result::Ok(())
    /// # }).unwrap();
    /// ```
    pub fn read_plus(&mut self, fields: Fields) -> &mut Self {
        self.reading.want(fields);
        self
    }

    /// Returns all metadata of an entry as it is now, by lstat(2)'s rules: for a link, the metadata
    /// of the link itself. If all of it [came along](Self::read_plus) with the entry, it is
    /// returned without a call.
    ///
    /// Each call is a request of its own. For all entries, [`read_plus`](Self::read_plus) is many
    /// times as fast.
    ///
    /// # Errors
    ///
    /// The errors of [statx(2)](https://man7.org/linux/man-pages/man2/statx.2.html), naming the
    /// entry; `ENOENT` if it was removed.
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
            let (answer, mut metadata) = answer_slot();
            driver::submit(DriverRequest::Stat {
                directory,
                name: name.clone(),
                fields: Fields::STATX,
                answer,
            });
            let metadata = poll_fn(|cx| metadata.poll_answer(cx)).await;
            metadata.map_err(|fault| {
                let name = OsStr::from_bytes(name.to_bytes());
                let path = below.as_deref().unwrap_or(Path::new("")).join(name);
                failed(Operation::Stat, Some(&path), fault)
            })
        }
    }

    /// Goes back to the beginning. The next entries are read from the directory as it is then.
    /// Entries that were read ahead are dropped.
    pub fn rewind(&mut self) {
        self.reading.rewind();
    }

    /// Waits for a read that is under way, and closes the directory. If futures of
    /// [`open_at`](Self::open_at) or [`metadata`](Self::metadata) still exist, the directory is
    /// closed after those.
    ///
    /// Dropping closes, too, in the thread that drops it. This method does not block even if a file
    /// system takes long, and returns the error.
    ///
    /// # Errors
    ///
    /// The errors of [close(2)](https://man7.org/linux/man-pages/man2/close.2.html), naming the
    /// path. The descriptor is closed even then.
    pub async fn close(self) -> io::Result<()> {
        let Self { mut reading, path } = self;
        poll_fn(|cx| reading.poll_quiet(cx)).await;
        let (answer, mut closed) = answer_slot();
        driver::submit(DriverRequest::Close {
            directory: reading.into_directory(),
            answer,
        });
        let closed = poll_fn(|cx| closed.poll_answer(cx)).await;
        closed.map_err(|fault| failed(Operation::Read, path.as_deref(), fault))
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
    /// Returns the descriptor, for calls relative to it. Do not rely on its position, and do not
    /// change it.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.reading.directory().as_fd()
    }
}

impl From<OwnedFd> for Dir {
    /// Entries that were read through the descriptor before are not read again, until the directory
    /// is [rewound](Dir::rewind). If the descriptor is not of a directory, reading fails with
    /// `ENOTDIR`.
    fn from(fd: OwnedFd) -> Self {
        let directory = Arc::new(Directory::from(fd));
        Self::new(Reading::new(directory, None), None)
    }
}
