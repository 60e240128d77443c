//! Requests in flight: the slots of the ring, and their completions.

use crate::aio::driver::answer::Completer;
use crate::aio::driver::request::{DriverRequest, Fault, OpenTarget, Opened, ReadAnswer};
use crate::pull::directory::Directory;
use crate::pull::entry_buffer::EntryBuffer;
use crate::sources::wanted::Wanted;
use crate::sources::{DirectoryTransport, come_to, decode, is_worth_another_read, what_of};
use crate::visit::metadata::Fields;
use crate::walk::descriptors::At;
use crate::walk::settings::Follow;
use ringwalk_sys::{Completion, DirectoryFd, Filled, What};
use rustix::io::Errno;
use std::os::fd::OwnedFd;
use std::sync::Arc;

/// Bytes of a buffer for names, as with `getdents64`, and of one for names with metadata: about 450
/// entries.
const NAMES_BUFFER: usize = 32 * 1024;
const PLUS_BUFFER: usize = 64 * 1024;

/// Returns true if a request may go to a ring. A read from the beginning may not: lseek(2) may
/// wait.
pub(super) fn can_fly(request: &DriverRequest) -> bool {
    matches!(
        request,
        DriverRequest::Open { .. } | DriverRequest::Read { rewind: false, .. }
    )
}

/// The request in a slot.
enum Flight {
    Opening {
        place: OpenTarget,
        answer: Completer<Result<Opened, Fault>>,
    },
    /// The first entries of a directory are read along with opening.
    First {
        place: OpenTarget,
        fields: Fields,
        answer: Completer<Result<Opened, Fault>>,
    },
    Reading {
        directory: Arc<Directory>,
        fields: Fields,
        answer: Completer<ReadAnswer>,
    },
}

pub(super) struct Flights<T> {
    transport: T,
    /// The mask of metadata that the kernel offers.
    available: u32,
    slots: Vec<Option<Flight>>,
    free: Vec<u32>,
    back: fn(DriverRequest),
}

fn wanted(fields: Fields) -> Wanted {
    Wanted::of_all(fields, Follow::Never)
}

impl<T: DirectoryTransport> Flights<T> {
    pub(super) fn new(transport: T, available: u32, depth: u32, back: fn(DriverRequest)) -> Self {
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
    pub(super) fn start(&mut self, request: DriverRequest) {
        if request.is_abandoned() {
            return;
        }
        let Some(slot) = self.free.pop() else {
            return (self.back)(request);
        };
        let flight = match request {
            DriverRequest::Open { place, answer } => {
                self.open(slot, &place);
                Flight::Opening { place, answer }
            }
            DriverRequest::Read {
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

    fn open(&mut self, slot: u32, place: &OpenTarget) {
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

    /// Waits until a request is finished, or `wake` is written. Returns true if the kernel has done
    /// what it was asked for.
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

    /// Frees a slot, and returns its request.
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
            // It was interrupted, descriptors ran out, or nothing is there: calls give the right
            // error.
            (self.back)(DriverRequest::Open { place, answer });
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
            Some(Flight::Opening { .. }) | None => return false,
        };
        let what = self.what(fields);
        let (filled, last) = come_to(from, result);
        if is_worth_another_read(&buffer, filled, last) {
            self.transport.start_read(slot, fd, buffer, filled, &what);
            return true;
        }
        let Some(flight) = self.end(slot) else {
            return false;
        };
        if filled == 0 && last.is_err() {
            drop(fd);
            self.fall_back(flight, buffer);
            return false;
        }
        let (piece, complete) = decoded(&fd, buffer, filled, last, &what, fields);
        self.answer(flight, fd, piece, complete || fields.is_empty());
        true
    }

    /// Gives a request back that the kernel refused. Its directory has not moved.
    fn fall_back(&self, flight: Flight, buffer: Vec<u8>) {
        (self.back)(match flight {
            Flight::Opening { place, answer } | Flight::First { place, answer, .. } => {
                DriverRequest::Open {
                    place: OpenTarget {
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
                DriverRequest::Read {
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

    /// Leaves the answer. If metadata is missing, the pool asks for it first. Nobody else owns the
    /// directory when the task is woken, as in the pool.
    fn answer(&self, flight: Flight, fd: Arc<DirectoryFd>, piece: ReadAnswer, complete: bool) {
        match flight {
            Flight::Opening { .. } => {}
            Flight::First { fields, answer, .. } => {
                let directory = Arc::new(Directory::of(fd));
                if complete {
                    let first = Some(piece);
                    answer.complete(Ok(Opened { directory, first }));
                } else {
                    (self.back)(DriverRequest::CompleteFirst {
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
                (self.back)(DriverRequest::Complete {
                    directory,
                    fields,
                    piece,
                    answer,
                });
            }
        }
    }

    /// Ends all requests of a ring that is gone: nothing is known of them.
    pub(super) fn lose(self) {
        for flight in self.slots.into_iter().flatten() {
            match flight {
                Flight::Opening { place, answer } | Flight::First { place, answer, .. } => {
                    (self.back)(DriverRequest::Open { place, answer });
                }
                Flight::Reading {
                    directory, answer, ..
                } => {
                    drop(directory);
                    answer.complete(ReadAnswer {
                        entries: EntryBuffer::new(),
                        end: Err(Fault::Kernel(Errno::IO)),
                    });
                }
            }
        }
    }
}

/// Decodes the entries of a read. Returns true if all metadata is there.
fn decoded(
    fd: &DirectoryFd,
    mut buffer: Vec<u8>,
    filled: usize,
    last: Result<bool, Errno>,
    what: &What,
    fields: Fields,
) -> (ReadAnswer, bool) {
    let mut entries = EntryBuffer::new();
    entries.raw.records.swap_buffer(&mut buffer, filled);
    // Bytes that are no records are an error of the file system.
    let Ok(complete) = decode(&mut entries.raw, fd, what, wanted(fields)) else {
        let end = Err(Fault::Kernel(Errno::IO));
        return (ReadAnswer { entries, end }, false);
    };
    // After an error the kernel is asked again for the rest, and may refuse that.
    let end = Ok(last.unwrap_or(false));
    (ReadAnswer { entries, end }, complete)
}
