//! The directory whose turn it is: read ahead before, or read now.

use super::deputy::{Deputy, GivenUp, Patience};
use super::frame::Frame;
use super::lister::{Lister, OpenListing};
use super::listing::{Listing, is_unsure};
use super::queue::{Child, Found, Held, Id, NONE, ReadyListing};
use super::read_ahead::publish;
use super::turn::Turn;
use super::{NextDirectory, OrderedWalk};
use crate::system::at_hand;
use crate::visit::error::Failure;
use ringwalk_sys::RawFileType as FileType;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::sync::Arc;

impl OrderedWalk {
    /// Makes a call that may hang, on the deputy's thread.
    fn call<R: Send + 'static>(
        &mut self,
        patience: &mut Patience<'_>,
        work: impl FnOnce(&mut Lister) -> R + Send + 'static,
    ) -> Result<R, GivenUp> {
        if self.deputy.is_none() {
            self.deputy = Deputy::start(Lister::new());
        }
        match &self.deputy {
            Some(deputy) => deputy.call(patience, work),
            None => Ok(work(&mut self.lister)),
        }
    }

    /// Returns the directory whose turn it is; `None` if it is a link that is not followed.
    pub(super) fn give(
        &mut self,
        next: &NextDirectory,
        patience: &mut Patience<'_>,
    ) -> Result<Option<Result<ReadyListing, Failure>>, GivenUp> {
        if next.node != NONE
            && let Some(ready) = self.take(next.node, patience)?
        {
            if self.lister.is_unchanged(&ready.listing, next.follow) {
                return Ok(Some(Ok(ready)));
            }
            self.read_ahead.shared.lock().queue.drop_all(ready.children);
        }
        let mut read = self.read_now(next, patience)?;
        if let Err(failure) = read
            && failure.is_out_of_descriptors()
        {
            self.read_ahead.shared.retreat(patience)?;
            read = self.read_now(next, patience)?;
        }
        Ok(match read {
            Ok(None) => None,
            Ok(Some((listing, fd))) => Some(Ok(self.add(listing, fd.as_ref()))),
            Err(failure) => Some(Err(failure)),
        })
    }

    /// Reads a directory now; `None` if it is a link that is not followed.
    fn read_now(
        &mut self,
        next: &NextDirectory,
        patience: &mut Patience<'_>,
    ) -> Result<Result<Option<OpenListing>, Failure>, GivenUp> {
        let (path, depth, follow) = (next.path.clone(), next.depth, next.follow);
        let shared = Arc::clone(&self.read_ahead.shared);
        let read =
            move |lister: &mut Lister| lister.read_unless_link(&path, depth, follow, &shared);
        let path = OsStr::from_bytes(next.path.as_bytes());
        if patience.is_endless() || at_hand::is_local(path) {
            Ok(read(&mut self.lister))
        } else {
            self.call(patience, read)
        }
    }

    /// Returns a directory that was read ahead; `None` if it was not. While a thread still reads
    /// it, reads another directory ahead, or waits.
    fn take(
        &mut self,
        node: Id,
        patience: &mut Patience<'_>,
    ) -> Result<Option<ReadyListing>, GivenUp> {
        let shared = Arc::clone(&self.read_ahead.shared);
        let mut state = shared.lock();
        self.lister.spares.share(&mut state.spares);
        loop {
            match state.queue.take(node) {
                Found::Ready(ready) => {
                    shared.wake(&state);
                    return Ok(Some(ready));
                }
                Found::Not => return Ok(None),
                Found::Reading => {}
            }
            let claimed = if state.has_room() {
                state.queue.claim()
            } else {
                None
            };
            let Some((id, place)) = claimed else {
                drop(shared.wait(state, patience.slice()));
                patience.check()?;
                state = shared.lock();
                continue;
            };
            // The walk and its threads are all at work, and there is more to read.
            let wanted = self.read_ahead.len() < self.most_threads
                && state.wants_thread(self.read_ahead.len());
            drop(state);
            if wanted {
                self.read_ahead.start();
            }
            let read = self.lister.read_ahead(&place, &shared);
            state = publish(&shared, id, read);
        }
    }

    /// Queues the directories below one that has just been read, so that threads read them ahead.
    fn add(&mut self, listing: Arc<Listing>, fd: Option<&Arc<Held>>) -> ReadyListing {
        if listing.directories() == 0 {
            return ReadyListing {
                listing,
                children: Vec::new(),
            };
        }
        if !listing.is_trusted() || self.most_threads == 0 {
            let entries =
                (0..listing.len()).filter(|&at| listing.file_type(at) == FileType::Directory);
            let children = entries.filter_map(|at| {
                Some(Child {
                    entry: u32::try_from(at).ok()?,
                    node: NONE,
                })
            });
            let children = children.collect();
            return ReadyListing { listing, children };
        }
        let mut state = self.read_ahead.shared.lock();
        let children = state.queue.add_first(&listing, fd);
        let threads = self.read_ahead.len();
        let wanted = threads < 1.min(self.most_threads) && state.wants_thread(threads);
        self.read_ahead.shared.wake(&state);
        drop(state);
        if wanted {
            self.read_ahead.start();
        }
        ReadyListing { listing, children }
    }

    /// Makes a directory the current one. Asks stat(2) for the entries whose type is not known.
    pub(super) fn settle(
        &mut self,
        ready: ReadyListing,
        patience: &mut Patience<'_>,
    ) -> Result<(), GivenUp> {
        let ReadyListing {
            listing,
            mut children,
        } = ready;
        let found = if listing.has_unsure() {
            self.unsure_directories(&listing, patience)?
        } else {
            Vec::new()
        };
        if !found.is_empty() {
            children.extend(found.iter().map(|&entry| Child { entry, node: NONE }));
            children.sort_unstable_by_key(|child| child.entry);
        }
        self.stack.push(Frame::new(Arc::clone(&listing), children));
        self.turn = Some(Turn { listing, found });
        Ok(())
    }

    /// Returns the entries that lead to directories, of links and of entries whose type is not
    /// listed.
    fn unsure_directories(
        &mut self,
        listing: &Arc<Listing>,
        patience: &mut Patience<'_>,
    ) -> Result<Vec<u32>, GivenUp> {
        let mut found = Vec::new();
        let mut left = Vec::new();
        let mut path = Vec::new();
        for index in (0..listing.len()).filter(|&index| is_unsure(listing.file_type(index))) {
            listing.path_of(index, &mut path);
            let file_type = if patience.is_endless() {
                Ok(self.lister.type_of(&path, true))
            } else {
                at_hand::type_of(&path)
            };
            let entry = u32::try_from(index).unwrap_or(u32::MAX);
            match file_type {
                Ok(Some(FileType::Directory)) => found.push(entry),
                Ok(_) => {}
                Err(_) => left.push(entry),
            }
        }
        if !left.is_empty() {
            let listing = Arc::clone(listing);
            let rest = move |lister: &mut Lister| {
                left.retain(|&entry| {
                    listing.path_of(entry as usize, &mut path);
                    lister.type_of(&path, true) == Some(FileType::Directory)
                });
                left
            };
            found.extend(self.call(patience, rest)?);
            found.sort_unstable();
        }
        Ok(found)
    }
}
