//! Reading a directory one buffer ahead of the consumer.
//!
//! ```text
//!             ask                     answered                       taken
//!   Idle ───────────> Asked ─────────────────────> current ──────────────────> next entry, batch
//!    ^                  │                             │
//!    │                  │                             ├─ there is more: asks for the next at once
//!    │                  │                             └─ that is all, or an error: Ended
//!    │                  └─ rewound: the answer is dropped ─────┐
//!    └──────────── rewound ────────────────────────────────────┘
//! ```
//!
//! At most one read of a directory is under way, because two would share its position. After a
//! rewind the old read is waited for, and its answer dropped, before the directory is read from its
//! beginning.
//!
//! All state is here, not in the futures that poll it. So a dropped future takes nothing with it,
//! and the next one goes on where it was.

use super::driver::{self, DriverRequest, Fault, Pending, ReadAnswer, answer_slot};
use crate::pull::directory::Directory;
use crate::pull::entry_buffer::{EntryBuffer, EntryRef};
use crate::visit::metadata::Fields;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

/// The read ahead.
#[derive(Debug)]
enum Ahead {
    Idle {
        /// The next read begins at the beginning of the directory.
        rewind: bool,
    },
    Asked {
        piece: Pending<ReadAnswer>,
        /// The fields that come with it.
        fields: Fields,
        /// It was asked for before a rewind.
        stale: bool,
    },
    Ended,
}

#[derive(Debug)]
pub(super) struct Reading {
    directory: Arc<Directory>,
    /// The fields that are wanted.
    fields: Fields,
    ahead: Ahead,
    /// Entries that have been read and not been taken: those from `next` on.
    current: EntryBuffer,
    next: usize,
    /// The fields that `current` was read with.
    has: Fields,
    /// `current`, while the driver asks for its metadata.
    completing: Option<Pending<ReadAnswer>>,
    /// The error behind `current`; returned when `current` has been taken.
    fault: Option<Fault>,
    /// Memory for the next read.
    spare: EntryBuffer,
}

impl Reading {
    /// Creates the state of a directory. `first` holds entries that were read already, and their
    /// fields.
    pub(super) fn new(directory: Arc<Directory>, first: Option<(ReadAnswer, Fields)>) -> Self {
        let mut reading = Self {
            directory,
            fields: Fields::empty(),
            ahead: Ahead::Idle { rewind: false },
            current: EntryBuffer::new(),
            next: 0,
            has: Fields::empty(),
            completing: None,
            fault: None,
            spare: EntryBuffer::new(),
        };
        if let Some((piece, fields)) = first {
            reading.fields = fields;
            reading.received(piece, fields);
        }
        reading
    }

    pub(super) fn directory(&self) -> &Arc<Directory> {
        &self.directory
    }

    /// Sets the fields of all entries that have not been taken, whether they have been read or not.
    pub(super) fn want(&mut self, fields: Fields) {
        self.fields = fields;
    }

    /// Drops all entries that have been read. The next read begins at the beginning.
    pub(super) fn rewind(&mut self) {
        self.current.clear();
        self.next = 0;
        self.completing = None;
        self.fault = None;
        match &mut self.ahead {
            Ahead::Asked { stale, .. } => *stale = true,
            ahead => *ahead = Ahead::Idle { rewind: true },
        }
    }

    /// Waits until no request is under way, and drops the answers.
    pub(super) fn poll_quiet(&mut self, cx: &Context<'_>) -> Poll<()> {
        if let Ahead::Asked { piece, .. } = &mut self.ahead {
            let _ = ready!(piece.poll(cx));
            self.ahead = Ahead::Ended;
        }
        if let Some(completing) = &mut self.completing {
            let _ = ready!(completing.poll(cx));
            self.completing = None;
        }
        Poll::Ready(())
    }

    pub(super) fn into_directory(self) -> Arc<Directory> {
        self.directory
    }

    /// Returns the next entry, through `take`.
    pub(super) fn poll_entry<R>(
        &mut self,
        cx: &Context<'_>,
        take: impl FnOnce(EntryRef<'_>) -> R,
    ) -> Poll<Result<Option<R>, Fault>> {
        if !ready!(self.poll_current(cx))? {
            return Poll::Ready(Ok(None));
        }
        if self.next == 0 {
            self.ask();
        }
        let taken = self.current.get(self.next).map(take);
        self.next += 1;
        if self.next == self.current.len() {
            self.used_up();
        }
        Poll::Ready(Ok(taken))
    }

    /// Moves all entries that have been read into `batch`, whose memory is used for the next read.
    pub(super) fn poll_batch(
        &mut self,
        cx: &Context<'_>,
        batch: &mut EntryBuffer,
    ) -> Poll<Result<usize, Fault>> {
        if !ready!(self.poll_current(cx))? {
            batch.clear();
            return Poll::Ready(Ok(0));
        }
        if self.next == 0 {
            std::mem::swap(&mut self.current, batch);
        } else {
            let rest = self.current.raw.split_off(self.next);
            *batch = EntryBuffer { raw: rest };
            self.next = 0;
        }
        self.used_up();
        self.ask();
        Poll::Ready(Ok(batch.len()))
    }

    /// Keeps the memory of `current`, which has been taken, for the next read, if there is one.
    fn used_up(&mut self) {
        self.next = 0;
        self.current.clear();
        let room = std::mem::take(&mut self.current);
        if !matches!(self.ahead, Ahead::Ended) {
            self.spare = room;
        }
    }

    /// Waits until `current` has entries, with the fields that are wanted. Returns false at the
    /// end.
    fn poll_current(&mut self, cx: &Context<'_>) -> Poll<Result<bool, Fault>> {
        loop {
            if let Some(completing) = &mut self.completing {
                let answer = ready!(completing.poll(cx));
                self.completing = None;
                self.current = answer?.entries;
            }
            if self.next < self.current.len() {
                if self.has.contains(self.fields) {
                    return Poll::Ready(Ok(true));
                }
                self.complete();
                continue;
            }
            if let Some(fault) = self.fault.take() {
                return Poll::Ready(Err(fault));
            }
            match &mut self.ahead {
                Ahead::Ended => return Poll::Ready(Ok(false)),
                Ahead::Idle { .. } => self.ask(),
                Ahead::Asked {
                    piece,
                    fields,
                    stale,
                } => {
                    let (fields, stale) = (*fields, *stale);
                    let answer = ready!(piece.poll(cx));
                    self.ahead = Ahead::Idle { rewind: stale };
                    match answer {
                        Ok(piece) if stale => self.spare = piece.entries,
                        Ok(piece) => self.received(piece, fields),
                        // The directory is read from the beginning anyway.
                        Err(_) if stale => {}
                        // Nobody knows the position now.
                        Err(lost) => {
                            self.ahead = Ahead::Ended;
                            return Poll::Ready(Err(lost.into()));
                        }
                    }
                }
            }
        }
    }

    fn received(&mut self, piece: ReadAnswer, fields: Fields) {
        self.current = piece.entries;
        self.next = 0;
        self.has = fields;
        match piece.end {
            Ok(false) => self.ahead = Ahead::Idle { rewind: false },
            Ok(true) => self.ahead = Ahead::Ended,
            Err(fault) => {
                self.fault = Some(fault);
                self.ahead = Ahead::Ended;
            }
        }
        if matches!(self.ahead, Ahead::Ended) {
            self.spare = EntryBuffer::new();
        }
    }

    /// Asks for the next read, unless it was asked for already, or the directory has ended.
    fn ask(&mut self) {
        let Ahead::Idle { rewind } = self.ahead else {
            return;
        };
        let (answer, piece) = answer_slot();
        driver::submit(DriverRequest::Read {
            directory: Arc::clone(&self.directory),
            rewind,
            refused: false,
            fields: self.fields,
            entries: std::mem::take(&mut self.spare),
            answer,
        });
        self.ahead = Ahead::Asked {
            piece,
            fields: self.fields,
            stale: false,
        };
    }

    /// Asks for the metadata of entries that were read without it.
    fn complete(&mut self) {
        let mut entries = std::mem::take(&mut self.current);
        if self.next > 0 {
            entries.raw = entries.raw.split_off(self.next);
            self.next = 0;
        }
        entries.raw.forget_known();
        let (answer, piece) = answer_slot();
        driver::submit(DriverRequest::Complete {
            directory: Arc::clone(&self.directory),
            fields: self.fields,
            piece: ReadAnswer {
                entries,
                end: Ok(false),
            },
            answer,
        });
        self.has = self.fields;
        self.completing = Some(piece);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aio::driver::Completer;
    use futures_lite::future::block_on;
    use ringwalk_sys::RawFileType as FileType;
    use rustix::io::Errno;
    use std::future::poll_fn;

    fn entries(names: &[&std::ffi::CStr]) -> EntryBuffer {
        let mut entries = EntryBuffer::new();
        for name in names {
            entries.raw.records.push(name, FileType::Regular, 1, 0);
        }
        entries
    }

    /// Returns the state of a directory with one file, which has been read already.
    fn reading(first: ReadAnswer) -> (Reading, tempfile::TempDir) {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("file"), "").unwrap();
        let directory = Directory::open(dir.path()).unwrap();
        let reading = Reading::new(Arc::new(directory), Some((first, Fields::empty())));
        (reading, dir)
    }

    fn next(reading: &mut Reading) -> Result<Option<Vec<u8>>, Fault> {
        block_on(poll_fn(|cx| {
            reading.poll_entry(cx, |entry| entry.name().to_vec())
        }))
    }

    #[test]
    fn what_was_read_before_an_error_comes_before_it() {
        let broken = || ReadAnswer {
            entries: entries(&[c"a", c"b"]),
            end: Err(Fault::Kernel(Errno::IO)),
        };
        let (mut one_by_one, _dir) = reading(broken());
        assert_eq!(next(&mut one_by_one), Ok(Some(b"a".to_vec())));
        assert_eq!(next(&mut one_by_one), Ok(Some(b"b".to_vec())));
        assert_eq!(next(&mut one_by_one), Err(Fault::Kernel(Errno::IO)));
        assert_eq!(next(&mut one_by_one), Ok(None));
        let ((mut at_once, _dir), mut batch) = (reading(broken()), entries(&[c"old"]));
        let mut read = |batch: &mut _| block_on(poll_fn(|cx| at_once.poll_batch(cx, batch)));
        assert_eq!(read(&mut batch), Ok(2));
        assert_eq!(read(&mut batch), Err(Fault::Kernel(Errno::IO)));
        assert_eq!(batch.len(), 2, "left as it was");
        assert_eq!(read(&mut batch), Ok(0));
        assert!(batch.is_empty());
    }

    /// As after a fork: the reading thread is in another process.
    #[test]
    fn a_read_that_is_lost_ends_it_until_it_is_rewound() {
        let (mut reading, _dir) = reading(ReadAnswer {
            entries: entries(&[c"a"]),
            end: Ok(false),
        });
        let (answer, piece): (Completer<ReadAnswer>, _) = answer_slot();
        reading.ahead = Ahead::Asked {
            piece,
            fields: Fields::empty(),
            stale: false,
        };
        drop(answer);
        assert_eq!(next(&mut reading), Ok(Some(b"a".to_vec())));
        assert_eq!(next(&mut reading), Err(Fault::Lost));
        assert_eq!(next(&mut reading), Ok(None));
        reading.rewind();
        assert!(next(&mut reading).unwrap().is_some());
    }

    /// A rewind waits for the read that is under way, whose entries are not given.
    #[test]
    fn what_was_asked_before_a_rewind_is_thrown_away() {
        let (mut reading, _dir) = reading(ReadAnswer {
            entries: entries(&[c"a"]),
            end: Ok(false),
        });
        let (answer, piece) = answer_slot();
        reading.ahead = Ahead::Asked {
            piece,
            fields: Fields::empty(),
            stale: false,
        };
        reading.rewind();
        let cx = Context::from_waker(std::task::Waker::noop());
        let mut batch = EntryBuffer::new();
        assert!(reading.poll_batch(&cx, &mut batch).is_pending());
        answer.complete(ReadAnswer {
            entries: entries(&[c"of before"]),
            end: Ok(true),
        });
        let mut names = Vec::new();
        while let Some(name) = next(&mut reading).unwrap() {
            names.push(name);
        }
        assert_eq!(names, [b"file"]);
    }

    /// As after a fork, with a read of the parent under way.
    #[test]
    fn a_read_that_is_lost_after_a_rewind_is_not_missed() {
        let (mut reading, _dir) = reading(ReadAnswer {
            entries: entries(&[]),
            end: Ok(false),
        });
        let (answer, piece): (Completer<ReadAnswer>, _) = answer_slot();
        reading.ahead = Ahead::Asked {
            piece,
            fields: Fields::empty(),
            stale: false,
        };
        reading.rewind();
        drop(answer);
        assert_eq!(next(&mut reading), Ok(Some(b"file".to_vec())));
    }
}
