//! What each worker does with the entries it is given: decides what counts, adds up what needs no order, and leaves
//! the rest as events in the order of the tree.
//!
//! A directory has events of its own if lines are wanted for what is in it, or if it may have been met before.
//! Directories below the last level with lines are *merged*: what is in them is added to the nearest one above that has
//! events, under a lock taken once a batch, so a summary of any tree needs little memory.

use std::ffi::CStr;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

use ringwalk::ordered::{Line, Place};
use ringwalk::{
    Batch, Dir, Entry, Errno, Error, FileType, Flow, Left, Metadata, Operation, Visitor,
};
use ringwalk_sums::{Location, lies_within_itself};
use rustix::fs::{AtFlags, CWD, statat};

use super::account::{Event, Leave};
use super::config::Links;
use super::exclusive::Exclusive;
use super::messages;
use super::state::{Shared, State, Sums};
use super::totals::{Links as LinkedFiles, Totals, lock};
use crate::console;

/// Lines are handed on when they are so long together (a deep directory has long paths).
const MUCH: usize = 1 << 20;

/// One worker's part.
pub(crate) struct Measurer<'s, 'a> {
    shared: &'s Shared<'a>,
    /// Path of the directory at hand, with a slash behind it.
    path: Vec<u8>,
    /// Lines not yet handed on.
    text: Vec<u8>,
    /// Files not yet handed on that may have been met before.
    links: LinkedFiles,
    /// Where only what belongs to files alone counts.
    exclusive: Option<Exclusive<'s>>,
    /// The directory about to be left could not be opened, for this reason.
    complaint: Option<String>,
}

impl<'s, 'a> Measurer<'s, 'a> {
    pub(crate) fn new(shared: &'s Shared<'a>) -> Self {
        Self {
            shared,
            path: Vec::new(),
            text: Vec::new(),
            links: LinkedFiles::default(),
            exclusive: (shared.config.exclusive).then(|| Exclusive::new(shared.devices)),
            complaint: None,
        }
    }

    /// The metadata and the sums of an entry that counts; none, and no descent, if it does not.
    fn admit<'b>(
        &mut self,
        batch: &Batch<'b, State>,
        entry: &Entry<'b, State>,
    ) -> Option<(&'b Metadata, Totals)> {
        let admitted = self
            .judge(batch, entry)
            .and_then(|metadata| Some((metadata, self.own(batch, entry, metadata)?)));
        if admitted.is_none() {
            entry.prune();
        }
        admitted
    }

    /// What an entry comes to by itself.
    fn own(
        &mut self,
        batch: &Batch<'_, State>,
        entry: &Entry<'_, State>,
        metadata: &Metadata,
    ) -> Option<Totals> {
        let mut own = self.shared.config.totals(metadata);
        if let Some(exclusive) = &mut self.exclusive {
            match exclusive.bytes(batch, entry, metadata) {
                Ok(bytes) => own.size = bytes,
                Err(unknown) => {
                    let path = messages::quoted(&entry.path());
                    self.complain(format_args!(
                        "cannot tell the exclusive space of {path}: {unknown}"
                    ));
                    return None;
                }
            }
        }
        Some(own)
    }

    fn judge<'b>(
        &mut self,
        batch: &Batch<'b, State>,
        entry: &Entry<'b, State>,
    ) -> Option<&'b Metadata> {
        let config = self.shared.config;
        if !config.exclude.is_empty() {
            let length = self.path.len();
            self.path.extend_from_slice(entry.name());
            let excluded = config.exclude.matches(&self.path);
            self.path.truncate(length);
            if excluded {
                return None;
            }
        }
        // Where there is none, the error has been told.
        let metadata = entry.metadata()?;
        let follows = match config.links {
            Links::Never => false,
            Links::Operands => batch.dir().is_none(),
            Links::Always => true,
        };
        if follows && metadata.file_type() == FileType::Symlink {
            self.complain_of_link(batch, entry);
            return None;
        }
        if let Some(dir) = batch.dir() {
            if config.one_file_system && metadata.dev != dir.state().location.device {
                return None;
            }
            // Left out without a word, as a tree that goes on for ever has no size.
            let follows = config.links == Links::Always;
            if lies_within_itself(dir, metadata, follows, |state| &state.location) {
                return None;
            }
        }
        Some(metadata)
    }

    /// Something could not be read.
    fn complain(&self, message: impl std::fmt::Display) {
        console::error(message);
        self.shared.failed.store(true, Ordering::Relaxed);
    }

    /// A link was to be followed and could not be.
    fn complain_of_link(&self, batch: &Batch<'_, State>, entry: &Entry<'_, State>) {
        let path = messages::quoted(&entry.path());
        match follow(batch, entry.c_name()) {
            Some(errno) if errno != Errno::NOENT => {
                let reason = console::reason(&errno.into());
                self.complain(format_args!("cannot access {path}: {reason}"));
            }
            _ => self.complain(format_args!("cannot access {path}")),
        }
    }

    /// Whether a file may have been met before.
    fn may_repeat(&self, metadata: &Metadata) -> bool {
        let config = self.shared.config;
        !config.count_links
            && (metadata.nlink > 1
                || config.links == Links::Always
                || (!self.shared.operand_files.is_empty()
                    && self.shared.operand_files.contains(metadata.identity())))
    }

    /// Everything in this batch and below goes into the sums of one directory.
    fn merge(&mut self, batch: &Batch<'_, State>, dir: &Dir<State>) {
        let config = self.shared.config;
        let state = dir.state();
        let mut totals = Totals::default();
        let mut links = LinkedFiles::default();
        for entry in batch.entries() {
            let Some((metadata, own)) = self.admit(batch, &entry) else {
                continue;
            };
            if metadata.file_type() == FileType::Directory {
                totals.add(&own);
                let sums = Arc::clone(&state.sums);
                let location = Location::below(dir, metadata, |state| &state.location);
                entry.descend_with(State::new(None, sums, location));
            } else if self.may_repeat(metadata) {
                links.push(metadata.identity(), &own, 0..0);
            } else {
                totals.add(&own);
            }
        }
        if config.is_one_sum() && !links.is_empty() {
            let mut met = lock(&self.shared.met);
            for (identity, own, _) in links.iter() {
                if met.insert(identity) {
                    totals.add(&own);
                }
            }
            links = LinkedFiles::default();
        }
        let mut sums = lock(&state.sums);
        sums.totals.add(&totals);
        sums.links.append(links);
    }

    /// Leaves the events of a batch.
    fn spread(&mut self, batch: &Batch<'_, State>, place: &Place) {
        let config = self.shared.config;
        let depth = batch.depth();
        // Operands have lines whatever they are.
        let lines = depth == 0 || (config.all && depth <= config.max_depth);
        let mut totals = Totals::default();
        let mut line = Line::default();
        let mut directories = Vec::new();
        for entry in batch.entries() {
            let Some((metadata, own)) = self.admit(batch, &entry) else {
                continue;
            };
            if metadata.file_type() == FileType::Directory {
                self.hand_on(depth, &mut line);
                if config.enters() {
                    let identity = metadata.identity();
                    if lock(&self.shared.met).contains(identity) {
                        // Nothing is lost if it is met only later: then the books leave it out.
                        entry.prune();
                        continue;
                    }
                    line.push(Event::Enter { depth, identity });
                }
                line.subdirectory();
                directories.push((entry, metadata, own));
                continue;
            }
            let begin = self.text.len();
            if lines && config.threshold.admits(config.amount(&own)) {
                let parts = [&self.path[..], entry.name()];
                config.write_line(&own, parts, &mut self.text);
            }
            if self.may_repeat(metadata) {
                let range = begin..self.text.len();
                self.links.push(metadata.identity(), &own, range);
            } else {
                totals.add(&own);
            }
            if self.text.len() > MUCH {
                self.hand_on(depth, &mut line);
            }
        }
        self.hand_on(depth, &mut line);
        match batch.dir() {
            Some(dir) => lock(&dir.state().sums).totals.add(&totals),
            None => line.push(Event::Operands(totals)),
        }
        if directories.is_empty() && line.last_mut().is_none() {
            return;
        }
        let places = self.shared.events.add_batch(place, batch.index(), line);
        for ((entry, metadata, own), place) in directories.into_iter().zip(places) {
            let sums = Sums {
                totals: own,
                links: LinkedFiles::default(),
            };
            let location = match batch.dir() {
                Some(dir) => Location::below(dir, metadata, |state| &state.location),
                None => Location::of_root(metadata.identity()),
            };
            let sums = Arc::new(Mutex::new(sums));
            entry.descend_with(State::new(Some(place), sums, location));
        }
    }

    /// Makes an event of the files since the last one.
    fn hand_on(&mut self, depth: usize, line: &mut Line<Event>) {
        if self.text.is_empty() && self.links.is_empty() {
            return;
        }
        let mut links = std::mem::take(&mut self.links);
        links.shrink();
        // A copy that is no larger than it needs be, as it may be kept for some time.
        let text = self.text.as_slice().to_vec();
        self.text.clear();
        line.push(Event::Files { depth, text, links });
    }

    /// Notes that a directory is met; false if it has been before.
    fn meet(&self, state: &State) -> bool {
        let first = lock(self.shared.entered).insert(state.location.identity);
        if !first {
            state.repeated.store(true, Ordering::Relaxed);
        }
        first
    }

    fn flow(&self) -> Flow {
        if self.shared.stop.load(Ordering::Relaxed) {
            Flow::Stop
        } else {
            Flow::Continue
        }
    }
}

impl Visitor for Measurer<'_, '_> {
    type State = State;

    fn enter(&mut self, dir: &Dir<State>) -> Flow {
        if self.shared.config.enters_at_once() && !self.meet(dir.state()) {
            return Flow::Prune;
        }
        dir.state().entered.store(true, Ordering::Relaxed);
        self.flow()
    }

    fn batch(&mut self, batch: &Batch<'_, State>) -> Flow {
        let config = self.shared.config;
        self.path.clear();
        if let Some(dir) = batch.dir()
            && (config.all || !config.exclude.is_empty())
        {
            dir.path_into(&mut self.path);
            if !self.path.ends_with(b"/") {
                self.path.push(b'/');
            }
        }
        if let Some(dir) = batch.dir()
            && dir.depth() == 0
        {
            dir.state().occupied.store(true, Ordering::Relaxed);
        }
        match batch.dir() {
            None => self.spread(batch, self.shared.events.roots()),
            Some(dir) => match &dir.state().place {
                Some(place) if dir.depth() < config.merges_from() => self.spread(batch, place),
                _ => self.merge(batch, dir),
            },
        }
        self.flow()
    }

    fn leave(&mut self, dir: &Left<'_, State>) {
        let config = self.shared.config;
        let state = dir.state();
        let complaint = self.complaint.take();
        let Some(place) = &state.place else {
            if let Some(complaint) = complaint {
                self.complain(complaint);
            }
            return;
        };
        // A directory that could not be opened has not been entered, but is met all the same.
        if config.enters_at_once() && !state.entered.load(Ordering::Relaxed) {
            self.meet(state);
        }
        if state.repeated.load(Ordering::Relaxed) {
            self.shared.events.close(place, None);
            return;
        }
        let path = if dir.depth() <= config.max_depth {
            shown_path(dir, config.links)
        } else {
            Vec::new()
        };
        let Sums { totals, links } = std::mem::take(&mut *lock(&state.sums));
        let leave = Leave {
            depth: dir.depth(),
            totals,
            links,
            path,
            complaint,
        };
        let last = Event::Leave(Box::new(leave));
        self.shared.events.close(place, Some(last));
    }

    fn error(&mut self, error: &Error) {
        use std::os::unix::ffi::OsStrExt as _;
        let path = error.path().as_os_str().as_bytes();
        if self.shared.config.exclude.matches(path) {
            return;
        }
        let path = messages::quoted(path);
        let reason = console::reason(&error.errno().into());
        match error.operation() {
            // The directory is left next, and only then it is known whether it counts.
            Operation::Open => {
                self.complaint = Some(format!("cannot read directory {path}: {reason}"));
            }
            Operation::Read => {
                self.complain(format_args!("cannot read directory {path}: {reason}"));
            }
            operation @ (Operation::Stat | Operation::Loop) => {
                let operation = operation.describe();
                self.complain(format_args!("{operation} {path}: {reason}"));
            }
        }
    }
}

/// The path as GNU shows it at the end of a directory: where links are followed, an operand that is empty loses the slash
/// at its end.
fn shown_path(dir: &Dir<State>, links: Links) -> Vec<u8> {
    let mut path = dir.path();
    let state = dir.state();
    if links == Links::Always
        && dir.depth() == 0
        && path.len() > 1
        && state.entered.load(Ordering::Relaxed)
        && !state.occupied.load(Ordering::Relaxed)
        && path.ends_with(b"/")
    {
        path.pop();
    }
    path
}

/// Why a link cannot be followed.
fn follow(batch: &Batch<'_, State>, name: &CStr) -> Option<Errno> {
    let fd = match batch.fd() {
        Ok(fd) => fd.unwrap_or(CWD),
        Err(error) => return Some(error.errno()),
    };
    statat(fd, name, AtFlags::NO_AUTOMOUNT).err()
}
