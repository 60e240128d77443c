//! Requests in flight: what each slot is for, and what becomes of completions.

use crate::aio::driver::request::{Fault, Opened, Piece, Place, Request};
use crate::aio::driver::slot::Completer;
use crate::descriptor::At;
use crate::directory::Directory;
use crate::entry_buffer::EntryBuffer;
use crate::metadata::Fields;
use crate::options::Follow;
use crate::source::{Transport, come_to, decode, goes_on, what_of};
use crate::stat::Wanted;
use ringwalk_sys::{Completion, DirectoryFd, Filled, What};
use rustix::io::Errno;
use std::os::fd::OwnedFd;
use std::sync::Arc;

/// Bytes of a buffer for names, as with `getdents64`; and for names with metadata: about 450 entries.
const NAMES_BUFFER: usize = 32 * 1024;
const PLUS_BUFFER: usize = 64 * 1024;

/// Whether a request is one for a ring. One that goes back to the beginning is not: lseek(2) may wait.
pub(super) fn can_fly(request: &Request) -> bool {
    matches!(
        request,
        Request::Open { .. } | Request::Read { rewind: false, .. }
    )
}

/// What a slot is for.
enum Flight {
    Opening {
        place: Place,
        answer: Completer<Result<Opened, Fault>>,
    },
    /// The first entries, along with opening.
    First {
        place: Place,
        fields: Fields,
        answer: Completer<Result<Opened, Fault>>,
    },
    Reading {
        directory: Arc<Directory>,
        fields: Fields,
        answer: Completer<Piece>,
    },
}

pub(super) struct Flights<T> {
    transport: T,
    /// The mask of metadata that may be asked for.
    available: u32,
    slots: Vec<Option<Flight>>,
    free: Vec<u32>,
    back: fn(Request),
}

fn wanted(fields: Fields) -> Wanted {
    Wanted::of_all(fields, Follow::Never)
}

impl<T: Transport> Flights<T> {
    pub(super) fn new(transport: T, available: u32, depth: u32, back: fn(Request)) -> Self {
        Self {
            transport,
            available,
            slots: (0..depth).map(|_| None).collect(),
            free: (0..depth).rev().collect(),
            back,
        }
    }

    pub(super) fn in_flight(&self) -> u32 {
        u32::try_from(self.slots.len() - self.free.len()).unwrap_or(u32::MAX)
    }

    /// Puts a request in flight.
    pub(super) fn start(&mut self, request: Request) {
        if request.is_abandoned() {
            return;
        }
        let Some(slot) = self.free.pop() else {
            return (self.back)(request);
        };
        let flight = match request {
            Request::Open { place, answer } => {
                self.open(slot, &place);
                Flight::Opening { place, answer }
            }
            Request::Read {
                directory,
                rewind: false,
                fields,
                mut entries,
                answer,
                ..
            } => {
                entries.clear();
                let (buffer, _) = entries.raw.records.lend();
                self.read(slot, Arc::clone(directory.fd()), buffer, fields);
                Flight::Reading {
                    directory,
                    fields,
                    answer,
                }
            }
            other => {
                self.free.push(slot);
                return (self.back)(other);
            }
        };
        self.slots[slot as usize] = Some(flight);
    }

    fn open(&mut self, slot: u32, place: &Place) {
        let at = match &place.at {
            None => At::Cwd,
            Some(directory) => At::Dir(Arc::clone(directory.fd())),
        };
        self.transport
            .start_open(slot, &at, &place.path, place.follow);
    }

    fn what(&self, fields: Fields) -> What {
        if fields.is_empty() {
            What::Names
        } else {
            what_of(wanted(fields), self.available)
        }
    }

    fn read(&mut self, slot: u32, fd: Arc<DirectoryFd>, mut buffer: Vec<u8>, fields: Fields) {
        let what = self.what(fields);
        let least = match what {
            What::Names => NAMES_BUFFER,
            What::Plus(_) => PLUS_BUFFER,
        };
        if buffer.len() < least {
            buffer.resize(least, 0);
        }
        self.transport.start_read(slot, fd, buffer, 0, &what);
    }

    /// Waits for a request to be over, or for `wake`; true if the kernel has done what it was asked.
    pub(super) fn wait(&mut self, wake: &Arc<OwnedFd>) -> Result<bool, Errno> {
        self.transport.flush();
        Ok(match self.transport.wait_or(wake)? {
            None => false,
            Some(Completion::Opened { slot, result }) => self.opened(slot, result),
            Some(Completion::Read {
                slot,
                fd,
                buffer,
                from,
                result,
            }) => self.have_read(slot, fd, buffer, from, result),
        })
    }

    /// What the slot was for; it is free now.
    fn end(&mut self, slot: u32) -> Option<Flight> {
        let flight = self.slots[slot as usize].take()?;
        self.free.push(slot);
        Some(flight)
    }

    fn opened(&mut self, slot: u32, result: Result<DirectoryFd, Errno>) -> bool {
        let Some(Flight::Opening { place, answer }) = self.end(slot) else {
            return false;
        };
        let Ok(fd) = result else {
            // Interrupted, out of descriptors, not there: calls will tell.
            (self.back)(Request::Open { place, answer });
            return false;
        };
        let Some(fields) = place.first.filter(|_| !answer.is_abandoned()) else {
            let directory = Arc::new(Directory::of(Arc::new(fd)));
            let first = None;
            answer.complete(Ok(Opened { directory, first }));
            return true;
        };
        self.free.retain(|free| *free != slot);
        self.read(slot, Arc::new(fd), Vec::new(), fields);
        self.slots[slot as usize] = Some(Flight::First {
            place,
            fields,
            answer,
        });
        true
    }

    fn have_read(
        &mut self,
        slot: u32,
        fd: Arc<DirectoryFd>,
        buffer: Vec<u8>,
        from: usize,
        result: Result<Filled, Errno>,
    ) -> bool {
        let fields = match &self.slots[slot as usize] {
            Some(Flight::First { fields, .. } | Flight::Reading { fields, .. }) => *fields,
            _ => return false,
        };
        let what = self.what(fields);
        let (filled, last) = come_to(from, result);
        if goes_on(&buffer, filled, last) {
            self.transport.start_read(slot, fd, buffer, filled, &what);
            return true;
        }
        let Some(flight) = self.end(slot) else {
            return false;
        };
        if filled == 0 && last.is_err() {
            drop(fd);
            self.hand_back(flight, buffer);
            return false;
        }
        let (piece, complete) = decoded(&fd, buffer, filled, last, &what, fields);
        self.answer(flight, fd, piece, complete || fields.is_empty());
        true
    }

    /// Refused, and nothing has moved.
    fn hand_back(&self, flight: Flight, buffer: Vec<u8>) {
        (self.back)(match flight {
            Flight::Opening { place, answer } | Flight::First { place, answer, .. } => {
                Request::Open {
                    place: Place {
                        refused: true,
                        ..place
                    },
                    answer,
                }
            }
            Flight::Reading {
                directory,
                fields,
                answer,
            } => {
                let mut entries = EntryBuffer::new();
                entries.raw.records.give_back(buffer, 0);
                Request::Read {
                    directory,
                    rewind: false,
                    refused: true,
                    fields,
                    entries,
                    answer,
                }
            }
        });
    }

    /// Leaves the answer. What is not `complete` the pool asks for. As in the pool, nobody else has the directory then.
    fn answer(&self, flight: Flight, fd: Arc<DirectoryFd>, piece: Piece, complete: bool) {
        match flight {
            Flight::Opening { .. } => {}
            Flight::First { fields, answer, .. } => {
                let directory = Arc::new(Directory::of(fd));
                if complete {
                    let first = Some(piece);
                    answer.complete(Ok(Opened { directory, first }));
                } else {
                    (self.back)(Request::CompleteFirst {
                        directory,
                        fields,
                        piece,
                        answer,
                    });
                }
            }
            Flight::Reading {
                directory,
                fields,
                answer,
            } => {
                drop(fd);
                if complete {
                    drop(directory);
                    return answer.complete(piece);
                }
                (self.back)(Request::Complete {
                    directory,
                    fields,
                    piece,
                    answer,
                });
            }
        }
    }

    /// The ring is gone, and nothing is known of what was in flight on it.
    pub(super) fn lose(self) {
        for flight in self.slots.into_iter().flatten() {
            match flight {
                Flight::Opening { place, answer } | Flight::First { place, answer, .. } => {
                    (self.back)(Request::Open { place, answer });
                }
                Flight::Reading {
                    directory, answer, ..
                } => {
                    drop(directory);
                    answer.complete(Piece {
                        entries: EntryBuffer::new(),
                        end: Err(Fault::Kernel(Errno::IO)),
                    });
                }
            }
        }
    }
}

/// What was read becomes entries; true if all metadata is there.
fn decoded(
    fd: &DirectoryFd,
    mut buffer: Vec<u8>,
    filled: usize,
    last: Result<bool, Errno>,
    what: &What,
    fields: Fields,
) -> (Piece, bool) {
    let mut entries = EntryBuffer::new();
    entries.raw.records.swap_buffer(&mut buffer, filled);
    // Bytes that are no records are an error of the file system.
    let Ok(complete) = decode(&mut entries.raw, fd, what, wanted(fields)) else {
        let end = Err(Fault::Kernel(Errno::IO));
        return (Piece { entries, end }, false);
    };
    // After an error it is asked again for the rest, and may refuse that.
    let end = Ok(last.unwrap_or(false));
    (Piece { entries, end }, complete)
}
