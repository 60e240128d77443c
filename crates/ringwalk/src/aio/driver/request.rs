//! Requests to the driver. A request owns all that it needs, so the task may go away at any time.

use super::answer::{Completer, Lost, Pending};
use super::pool::PoolJob;
use crate::pull::directory::Directory;
use crate::pull::entry_buffer::EntryBuffer;
use crate::visit::metadata::{Fields, Metadata};
use rustix::io::Errno;
use std::ffi::{CStr, CString, OsStr};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;
use std::task::{Context, Poll};

/// The reason why there is no answer, or only a part of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The kernel returned an error.
    Kernel(Errno),
    /// No thread could be started for the call.
    NoThread(Errno),
    /// A process that this one was forked from asked for it, or the call panicked.
    Lost,
}

impl From<Errno> for Fault {
    fn from(errno: Errno) -> Self {
        Self::Kernel(errno)
    }
}

impl From<Lost> for Fault {
    fn from(_: Lost) -> Self {
        Self::Lost
    }
}

impl<T> Pending<Result<T, Fault>> {
    /// Returns the answer, which is a fault too if the request was lost.
    pub(crate) fn poll_answer(&mut self, cx: &Context<'_>) -> Poll<Result<T, Fault>> {
        self.poll(cx).map(|answer| answer?)
    }
}

/// The entries that one read of a directory has returned.
#[derive(Debug)]
pub(crate) struct ReadAnswer {
    pub(crate) entries: EntryBuffer,
    /// True if no more entries follow; or the error that prevented more.
    pub(crate) end: Result<bool, Fault>,
}

/// An open directory, and its first entries if those were asked for.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) directory: Arc<Directory>,
    pub(crate) first: Option<ReadAnswer>,
}

/// A directory to open.
#[derive(Debug)]
pub(crate) struct OpenTarget {
    /// The directory that the path is relative to; `None` for the working directory.
    pub(crate) at: Option<Arc<Directory>>,
    pub(crate) path: CString,
    /// The last component may be a symbolic link.
    pub(crate) follow: bool,
    /// The fields of the first entries, if those are read along with opening.
    pub(crate) first: Option<Fields>,
    /// The kernel has refused to read the directory on a ring.
    pub(crate) refused: bool,
}

impl OpenTarget {
    fn open(&self) -> Result<Opened, Fault> {
        let opened = match &self.at {
            None => Directory::open(Path::new(OsStr::from_bytes(self.path.to_bytes())))?,
            Some(at) => at.open_at(&self.path, self.follow)?,
        };
        let first = self
            .first
            .map(|fields| read(&opened, fields, EntryBuffer::new(), self.refused));
        Ok(Opened {
            directory: Arc::new(opened),
            first,
        })
    }
}

/// A request, and the completer of its answer.
#[derive(Debug)]
pub(crate) enum DriverRequest {
    Open {
        place: OpenTarget,
        answer: Completer<Result<Opened, Fault>>,
    },
    /// Read the next entries.
    Read {
        directory: Arc<Directory>,
        /// Read from the beginning.
        rewind: bool,
        /// The kernel has refused the read on a ring.
        refused: bool,
        fields: Fields,
        entries: EntryBuffer,
        answer: Completer<ReadAnswer>,
    },
    /// Fill in the metadata of the entries that have none.
    Complete {
        directory: Arc<Directory>,
        fields: Fields,
        piece: ReadAnswer,
        answer: Completer<ReadAnswer>,
    },
    /// The same for the first entries of a directory that has just been opened.
    CompleteFirst {
        directory: Arc<Directory>,
        fields: Fields,
        piece: ReadAnswer,
        answer: Completer<Result<Opened, Fault>>,
    },
    Stat {
        directory: Arc<Directory>,
        name: CString,
        fields: Fields,
        answer: Completer<Result<Metadata, Fault>>,
    },
    Close {
        directory: Arc<Directory>,
        answer: Completer<Result<(), Fault>>,
    },
}

/// Reads by calls. `refused` is true if the kernel refused the read on a ring. If the calls then
/// succeed, the refusal was wrong, and the ring is notified.
fn read(
    directory: &Directory,
    fields: Fields,
    mut entries: EntryBuffer,
    refused: bool,
) -> ReadAnswer {
    let end = if fields.is_empty() {
        directory.read(&mut entries)
    } else {
        directory.read_plus(fields, &mut entries)
    };
    if refused && end.is_ok() {
        super::refused_wrongly();
    }
    let end = end.map_err(Fault::Kernel);
    ReadAnswer { entries, end }
}

fn stat(directory: &Directory, name: &CStr, fields: Fields) -> Result<Metadata, Fault> {
    Ok(directory.stat(name, false, fields)?)
}

impl DriverRequest {
    /// Returns true if nobody waits for the answer, and nothing else has to be done.
    pub(super) fn is_abandoned(&self) -> bool {
        match self {
            Self::Open { answer, .. } | Self::CompleteFirst { answer, .. } => answer.is_abandoned(),
            Self::Read { answer, .. } | Self::Complete { answer, .. } => answer.is_abandoned(),
            Self::Stat { answer, .. } => answer.is_abandoned(),
            // The directory is closed even then.
            Self::Close { .. } => false,
        }
    }
}

impl PoolJob for DriverRequest {
    /// Does the request. The task that gets the answer may close the directory at once, and that
    /// must really close it: so the request releases the directory before it answers.
    fn run(self) {
        if self.is_abandoned() {
            return;
        }
        match self {
            Self::Open { place, answer } => {
                let opened = place.open();
                drop(place);
                answer.complete(opened);
            }
            Self::Read {
                directory,
                rewind,
                refused,
                fields,
                entries,
                answer,
            } => {
                let rewound = if rewind { directory.rewind() } else { Ok(()) };
                let piece = match rewound {
                    Ok(()) => read(&directory, fields, entries, refused),
                    Err(errno) => ReadAnswer {
                        entries: EntryBuffer::new(),
                        end: Err(Fault::Kernel(errno)),
                    },
                };
                drop(directory);
                answer.complete(piece);
            }
            Self::Complete {
                directory,
                fields,
                mut piece,
                answer,
            } => {
                directory.stat_unknown(fields, &mut piece.entries);
                drop(directory);
                answer.complete(piece);
            }
            Self::CompleteFirst {
                directory,
                fields,
                mut piece,
                answer,
            } => {
                directory.stat_unknown(fields, &mut piece.entries);
                let first = Some(piece);
                answer.complete(Ok(Opened { directory, first }));
            }
            Self::Stat {
                directory,
                name,
                fields,
                answer,
            } => {
                let metadata = stat(&directory, &name, fields);
                drop(directory);
                answer.complete(metadata);
            }
            Self::Close { directory, answer } => {
                let closed = Arc::into_inner(directory).map_or(Ok(()), Directory::close);
                answer.complete(closed.map_err(Fault::Kernel));
            }
        }
    }

    fn refuse(self, error: &io::Error) {
        let fault = Fault::NoThread(Errno::from_io_error(error).unwrap_or(Errno::AGAIN));
        match self {
            Self::Open { answer, .. } | Self::CompleteFirst { answer, .. } => {
                answer.complete(Err(fault));
            }
            Self::Read { answer, .. } => answer.complete(ReadAnswer {
                entries: EntryBuffer::new(),
                end: Err(fault),
            }),
            // The entries that were read are still delivered.
            Self::Complete {
                mut piece, answer, ..
            } => {
                piece.entries.raw.fail_unknown(Errno::AGAIN);
                answer.complete(piece);
            }
            Self::Stat { answer, .. } => answer.complete(Err(fault)),
            // Dropping the directory closes it.
            Self::Close { answer, .. } => answer.complete(Ok(())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aio::driver::answer::answer_slot;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::{Wake, Waker};

    /// Counts the owners of a directory at the time of the answer.
    struct Holders {
        directory: Arc<Directory>,
        found: AtomicUsize,
    }

    impl Wake for Holders {
        fn wake(self: Arc<Self>) {
            let found = Arc::strong_count(&self.directory);
            self.found.store(found, Ordering::Relaxed);
        }
    }

    /// Runs a request. Returns how many owners the directory has when the task is woken.
    fn holders<T: std::fmt::Debug>(
        request: impl FnOnce(Arc<Directory>, Completer<T>) -> DriverRequest,
    ) {
        let directory = Arc::new(Directory::open(".").unwrap());
        let holders = Arc::new(Holders {
            directory: Arc::clone(&directory),
            found: AtomicUsize::new(0),
        });
        let waker = Waker::from(Arc::clone(&holders));
        let (answer, mut pending) = answer_slot();
        assert!(pending.poll(&Context::from_waker(&waker)).is_pending());
        let request = request(Arc::clone(&directory), answer);
        let told = format!("{request:?}");
        request.run();
        assert!(pending.poll(&Context::from_waker(&waker)).is_ready());
        // The owners are this test and its waker.
        assert_eq!(holders.found.load(Ordering::Relaxed), 2, "{told}");
    }

    #[test]
    fn who_has_the_answer_can_close_the_directory() {
        for rewind in [false, true] {
            holders(|directory, answer| DriverRequest::Read {
                directory,
                rewind,
                refused: false,
                fields: Fields::SIZE,
                entries: EntryBuffer::new(),
                answer,
            });
        }
        holders(|directory, answer| DriverRequest::Complete {
            directory,
            fields: Fields::SIZE,
            piece: ReadAnswer {
                entries: EntryBuffer::new(),
                end: Ok(true),
            },
            answer,
        });
        holders(|directory, answer| DriverRequest::Stat {
            directory,
            name: c".".into(),
            fields: Fields::SIZE,
            answer,
        });
        holders(|directory, answer| {
            let place = OpenTarget {
                at: Some(directory),
                path: c".".into(),
                follow: false,
                first: None,
                refused: false,
            };
            DriverRequest::Open { place, answer }
        });
    }
}
