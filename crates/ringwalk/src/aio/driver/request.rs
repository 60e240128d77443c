//! What is asked of the driver. A request owns all that it needs, so whoever asked may go away at any time.

use super::pool::Job;
use super::slot::{Completer, Lost, Pending};
use crate::directory::Directory;
use crate::entry_buffer::EntryBuffer;
use crate::metadata::{Fields, Metadata};
use rustix::io::Errno;
use std::ffi::{CStr, CString, OsStr};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;
use std::task::{Context, Poll};

/// Why there is no answer, or only a part of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The kernel's answer.
    Kernel(Errno),
    /// No thread could be started to ask.
    NoThread(Errno),
    /// It was asked by a process that this one was forked from.
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
    /// The answer, which is a fault too if the request was lost.
    pub(crate) fn poll_answer(&mut self, cx: &Context<'_>) -> Poll<Result<T, Fault>> {
        self.poll(cx).map(|answer| answer?)
    }
}

/// What one read of a directory has brought.
#[derive(Debug)]
pub(crate) struct Piece {
    pub(crate) entries: EntryBuffer,
    /// Whether that is the rest; or what stood in the way of more.
    pub(crate) end: Result<bool, Fault>,
}

/// An open directory, and its first entries if those were asked for.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) directory: Arc<Directory>,
    pub(crate) first: Option<Piece>,
}

/// Which directory is to be opened.
#[derive(Debug)]
pub(crate) struct Place {
    /// What the path is relative to; without, the working directory.
    pub(crate) at: Option<Arc<Directory>>,
    pub(crate) path: CString,
    /// Whether the last component may be a symbolic link.
    pub(crate) follow: bool,
    /// The first entries are read along with it, with these fields.
    pub(crate) first: Option<Fields>,
    /// The kernel has refused to read it on a ring.
    pub(crate) refused: bool,
}

impl Place {
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

/// A request, and where its answer goes.
#[derive(Debug)]
pub(crate) enum Request {
    Open {
        place: Place,
        answer: Completer<Result<Opened, Fault>>,
    },
    /// The next entries.
    Read {
        directory: Arc<Directory>,
        /// From the beginning.
        rewind: bool,
        /// The kernel has refused it on a ring.
        refused: bool,
        fields: Fields,
        entries: EntryBuffer,
        answer: Completer<Piece>,
    },
    /// Metadata of those of the entries of which none is known.
    Complete {
        directory: Arc<Directory>,
        fields: Fields,
        piece: Piece,
        answer: Completer<Piece>,
    },
    /// The same of the first entries of a directory that has just been opened.
    CompleteFirst {
        directory: Arc<Directory>,
        fields: Fields,
        piece: Piece,
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

/// Reads by calls. `refused`: the kernel would not do it on a ring; if it can be done, it is told.
fn read(directory: &Directory, fields: Fields, mut entries: EntryBuffer, refused: bool) -> Piece {
    let end = if fields.is_empty() {
        directory.read(&mut entries)
    } else {
        directory.read_plus(fields, &mut entries)
    };
    if refused && end.is_ok() {
        super::refused_wrongly();
    }
    let end = end.map_err(Fault::Kernel);
    Piece { entries, end }
}

fn stat(directory: &Directory, name: &CStr, fields: Fields) -> Result<Metadata, Fault> {
    Ok(directory.stat(name, false, fields)?)
}

impl Request {
    /// Nobody waits for it, and nothing has to be done about it.
    pub(super) fn is_abandoned(&self) -> bool {
        match self {
            Self::Open { answer, .. } | Self::CompleteFirst { answer, .. } => answer.is_abandoned(),
            Self::Read { answer, .. } | Self::Complete { answer, .. } => answer.is_abandoned(),
            Self::Stat { answer, .. } => answer.is_abandoned(),
            // It closes all the same.
            Self::Close { .. } => false,
        }
    }
}

impl Job for Request {
    /// Who gets the answer may close the directory at once, and that is to close it: so the request lets go of it before.
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
                    Err(errno) => Piece {
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
            Self::Read { answer, .. } => answer.complete(Piece {
                entries: EntryBuffer::new(),
                end: Err(fault),
            }),
            // What has been read is not lost for it.
            Self::Complete {
                mut piece, answer, ..
            } => {
                piece.entries.raw.fail_unknown(Errno::AGAIN);
                answer.complete(piece);
            }
            Self::Stat { answer, .. } => answer.complete(Err(fault)),
            // Dropping closes.
            Self::Close { answer, .. } => answer.complete(Ok(())),
        }
    }
}

#[cfg(test)]
mod tests;
