//! Reading a directory one buffer ahead of who takes its entries.
//!
//! ```text
//!             ask                     answered                       taken
//!   Idle ───────────> Asked ─────────────────────> current ──────────────────> next entry, batch
//!    ^                  │                             │
//!    │                  │                             ├─ there is more: the next is asked for at once
//!    │                  │                             └─ that is all, or an error: Ended
//!    │                  └─ rewound: what comes is thrown away ─┐
//!    └──────────── rewound ────────────────────────────────────┘
//! ```
//!
//! No more than one read of a directory is ever under way, since two would share its position: so what was asked before a
//! rewind is waited for, and thrown away, before the directory is read from its beginning.
//!
//! All of the state is here and not in the futures that poll it: a future that is dropped takes nothing with it, and the
//! next one goes on where it was.

use super::driver::{self, Fault, Pending, Piece, Request, slot};
use crate::directory::Directory;
use crate::entry_buffer::{EntryBuffer, EntryRef};
use crate::metadata::Fields;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

/// What is read ahead.
#[derive(Debug)]
enum Ahead {
    Idle {
        /// The next read begins at the beginning.
        rewind: bool,
    },
    Asked {
        piece: Pending<Piece>,
        /// The metadata that comes with it.
        fields: Fields,
        /// It is of before a rewind.
        stale: bool,
    },
    Ended,
}

#[derive(Debug)]
pub(super) struct Reading {
    directory: Arc<Directory>,
    /// The metadata that is wanted.
    fields: Fields,
    ahead: Ahead,
    /// What has been read and not been taken: from `next` on.
    current: EntryBuffer,
    next: usize,
    /// The metadata that `current` was asked for with.
    has: Fields,
    /// `current`, with the thread that asks for metadata of it.
    completing: Option<Pending<Piece>>,
    /// What stood in the way of more; told when `current` has been taken.
    fault: Option<Fault>,
    /// For the next read.
    spare: EntryBuffer,
}

impl Reading {
    /// `first`: what has been read of it already, with these fields.
    pub(super) fn new(directory: Arc<Directory>, first: Option<(Piece, Fields)>) -> Self {
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

    /// Entries that have not been taken come with these fields, whether they have been read or not.
    pub(super) fn want(&mut self, fields: Fields) {
        self.fields = fields;
    }

    /// What has been read is forgotten, and the next read begins at the beginning.
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

    /// Waits until nothing is under way, and throws away what comes of it.
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

    /// The next entry.
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

    /// All entries that have been read, into `batch`, whose room is used for what is read next.
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

    /// `current` has been taken: its room is for the next read, if there is one.
    fn used_up(&mut self) {
        self.next = 0;
        self.current.clear();
        let room = std::mem::take(&mut self.current);
        if !matches!(self.ahead, Ahead::Ended) {
            self.spare = room;
        }
    }

    /// Waits until there are entries in `current`, with the metadata that is wanted; false at the end.
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
                        // It is read from the beginning anyway.
                        Err(_) if stale => {}
                        // Where the position is now nobody knows.
                        Err(lost) => {
                            self.ahead = Ahead::Ended;
                            return Poll::Ready(Err(lost.into()));
                        }
                    }
                }
            }
        }
    }

    fn received(&mut self, piece: Piece, fields: Fields) {
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

    /// Asks for the next read, unless that has been done or there is none.
    fn ask(&mut self) {
        let Ahead::Idle { rewind } = self.ahead else {
            return;
        };
        let (answer, piece) = slot();
        driver::submit(Request::Read {
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

    /// Asks for the metadata of what was read without.
    fn complete(&mut self) {
        let mut entries = std::mem::take(&mut self.current);
        if self.next > 0 {
            entries.raw = entries.raw.split_off(self.next);
            self.next = 0;
        }
        entries.raw.forget_known();
        let (answer, piece) = slot();
        driver::submit(Request::Complete {
            directory: Arc::clone(&self.directory),
            fields: self.fields,
            piece: Piece {
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
mod tests;
