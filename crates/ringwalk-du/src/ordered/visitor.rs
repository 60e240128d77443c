//! The work of each worker: it adds up the entries that need no order, and leaves the others as
//! events in the order of the tree.
//!
//! A directory has events of its own if its entries have lines, or if it counts once. Directories
//! below the last level with lines are *merged*: the worker adds their entries to the nearest
//! directory above that has events. It takes the lock of that directory once a batch. So a summary
//! of any tree needs little memory.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

use ringwalk::ordered::{Line, Ordered, Place};
use ringwalk::{Batch, Dir, Error, FileType, Flow, Follow, Left, Operation, Visitor};
use ringwalk_gnu::{quote, reason};
use ringwalk_sys::sync::lock;

use super::Common;
use super::admission::Counted;
use super::directory::{DirectoryState, DirectorySums};
use super::event::{Event, Leave};
use crate::exclusive::Exclusive;
use crate::host::Host;
use crate::linked_files::LinkedFiles;
use crate::location::Location;
use crate::measurement::Size;
use crate::rule::Charge;
use crate::totals::Totals;

/// Workers pass lines on when they have this many bytes (a deep directory has long paths).
const MUCH: usize = 1 << 20;

/// The events of one walk, with the ordered totals as their consumer.
pub(super) type Events<'a> = Ordered<Event, Box<dyn FnMut(Event) + Send + 'a>>;

/// What all workers of one walk share.
pub(super) struct Shared<'a, H> {
    pub(super) common: &'a Common<'a, H>,
    pub(super) events: Events<'a>,
}

/// One worker.
pub(super) struct LineVisitor<'s, 'a, H> {
    pub(super) common: &'s Common<'a, H>,
    events: &'s Events<'a>,
    /// The path of the directory being read, with a slash at its end.
    pub(super) path: Vec<u8>,
    /// Lines that are not yet passed on.
    text: Vec<u8>,
    /// Files that count once and are not yet passed on.
    links: LinkedFiles,
    /// Finds exclusive space, if that is measured.
    pub(super) exclusive: Option<Exclusive<'s>>,
    /// The message about the failure to open the directory that is left next.
    complaint: Option<String>,
}

impl<'s, 'a, H: Host> LineVisitor<'s, 'a, H> {
    pub(super) fn new(shared: &'s Shared<'a, H>) -> Self {
        let common = shared.common;
        Self {
            common,
            events: &shared.events,
            path: Vec::new(),
            text: Vec::new(),
            links: LinkedFiles::default(),
            exclusive: (common.measurement.size == Size::Exclusive)
                .then(|| Exclusive::new(&common.devices)),
            complaint: None,
        }
    }

    /// Adds everything in this batch and below it to the sums of one directory.
    fn merge(&mut self, batch: &Batch<'_, DirectoryState>, dir: &Dir<DirectoryState>) {
        let state = dir.state();
        let mut totals = Totals::default();
        let mut links = LinkedFiles::default();
        for entry in batch.entries() {
            let Some(Counted {
                metadata,
                own,
                charge,
            }) = self.admit(batch, &entry)
            else {
                continue;
            };
            if metadata.file_type() == FileType::Directory {
                totals += own;
                let sums = Arc::clone(&state.sums);
                let location = Location::of(batch, metadata);
                entry.descend_with(DirectoryState::new(None, sums, location));
                continue;
            }
            match (charge, metadata.identity()) {
                (Charge::Once, Some(identity)) => links.push(identity, &own, 0..0),
                _ => totals += own,
            }
        }
        if self.common.measurement.is_one_sum() {
            links.charge(&self.common.seen, &mut totals, |_| {});
            links = LinkedFiles::default();
        }
        let mut sums = lock(&state.sums);
        sums.totals += totals;
        sums.links.append(links);
    }

    /// Leaves the events of a batch.
    fn spread(&mut self, batch: &Batch<'_, DirectoryState>, place: &Place) {
        let (measurement, host) = (self.common.measurement, self.common.host);
        let depth = batch.depth();
        // Operands have lines, also files.
        let lines = depth == 0 || (measurement.all && depth <= measurement.max_depth);
        let mut totals = Totals::default();
        let mut line = Line::default();
        let mut directories = Vec::new();
        for entry in batch.entries() {
            let Some(counted) = self.admit(batch, &entry) else {
                continue;
            };
            let identity = counted.metadata.identity();
            if counted.metadata.file_type() == FileType::Directory {
                self.pass_on(depth, &mut line);
                if counted.charge == Charge::Once
                    && !measurement.rule.compares_at_entry()
                    && let Some(identity) = identity
                {
                    if lock(&self.common.seen).contains(identity) {
                        // If it is seen only later, the ordered totals leave it out.
                        entry.prune();
                        continue;
                    }
                    line.push(Event::Enter { depth, identity });
                }
                line.subdirectory();
                directories.push((entry, counted));
                continue;
            }
            let begin = self.text.len();
            if lines {
                let path = [&self.path[..], entry.name()];
                host.write_line(&counted.own, path, &mut self.text);
            }
            match (counted.charge, identity) {
                (Charge::Once, Some(identity)) => {
                    let range = begin..self.text.len();
                    self.links.push(identity, &counted.own, range);
                }
                _ => totals += counted.own,
            }
            if self.text.len() > MUCH {
                self.pass_on(depth, &mut line);
            }
        }
        self.pass_on(depth, &mut line);
        match batch.dir() {
            Some(dir) => lock(&dir.state().sums).totals += totals,
            None => line.push(Event::Operands(totals)),
        }
        if directories.is_empty() && line.last_mut().is_none() {
            return;
        }
        let places = self.events.add_batch(place, batch.numbers(), line);
        for ((entry, counted), place) in directories.into_iter().zip(places) {
            let sums = Arc::new(Mutex::new(DirectorySums {
                totals: counted.own,
                links: LinkedFiles::default(),
            }));
            let location = Location::of(batch, counted.metadata);
            entry.descend_with(DirectoryState::new(Some(place), sums, location));
        }
    }

    /// Makes an event of the files since the last one.
    fn pass_on(&mut self, depth: usize, line: &mut Line<Event>) {
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

    /// Adds a directory to those entered. Marks it as repeated and returns false if the walk
    /// entered it before.
    fn is_entered_first(&self, state: &DirectoryState) -> bool {
        let insert = |identity| lock(&self.common.entered).insert(identity);
        let first = state.location.identity.is_none_or(insert);
        if !first {
            state.repeated.store(true, Ordering::Relaxed);
        }
        first
    }

    fn flow(&self) -> Flow {
        if self.common.stop.load(Ordering::Relaxed) {
            Flow::Stop
        } else {
            Flow::Continue
        }
    }
}

impl<H: Host> Visitor for LineVisitor<'_, '_, H> {
    type State = DirectoryState;

    fn enter(&mut self, dir: &Dir<DirectoryState>) -> Flow {
        if self.common.measurement.rule.compares_at_entry() && !self.is_entered_first(dir.state()) {
            return Flow::Prune;
        }
        dir.state().entered.store(true, Ordering::Relaxed);
        self.flow()
    }

    fn batch(&mut self, batch: &Batch<'_, DirectoryState>) -> Flow {
        let common = self.common;
        self.path.clear();
        if let Some(dir) = batch.dir()
            && (common.measurement.all || common.host.has_exclusions())
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
            None => self.spread(batch, self.events.roots()),
            Some(dir) => match &dir.state().place {
                Some(place) if dir.depth() < common.measurement.merges_from() => {
                    self.spread(batch, place);
                }
                Some(_) | None => self.merge(batch, dir),
            },
        }
        self.flow()
    }

    fn leave(&mut self, dir: &Left<'_, DirectoryState>) {
        let measurement = self.common.measurement;
        let state = dir.state();
        let complaint = self.complaint.take();
        let Some(place) = &state.place else {
            if let Some(complaint) = complaint {
                self.complain(&complaint);
            }
            return;
        };
        // A directory that could not be opened was not entered, but still counts once.
        if measurement.rule.compares_at_entry() && !state.entered.load(Ordering::Relaxed) {
            self.is_entered_first(state);
        }
        if state.repeated.load(Ordering::Relaxed) {
            self.events.close(place, None);
            return;
        }
        let path = if dir.depth() <= measurement.max_depth {
            shown_path(dir, measurement.rule.follow())
        } else {
            Vec::new()
        };
        let DirectorySums { totals, links } = std::mem::take(&mut *lock(&state.sums));
        let leave = Leave {
            depth: dir.depth(),
            totals,
            links,
            path,
            complaint,
        };
        let last = Event::Leave(Box::new(leave));
        self.events.close(place, Some(last));
    }

    fn error(&mut self, error: &Error) {
        use std::os::unix::ffi::OsStrExt as _;
        let path = error.path().as_os_str().as_bytes();
        if self.common.host.excludes(path) {
            return;
        }
        let path = quote::file_always(path);
        let why = reason(&error.errno().into());
        match error.operation() {
            // The directory is left next, and only then it is known whether it counts.
            Operation::Open => {
                self.complaint = Some(format!("cannot read directory {path}: {why}"));
            }
            Operation::Read => {
                self.complain(&format!("cannot read directory {path}: {why}"));
            }
            // Any other operation is reported with the engine's words.
            operation => {
                let operation = operation.describe();
                self.complain(&format!("{operation} {path}: {why}"));
            }
        }
    }
}

/// The path as GNU shows it at the end of a directory: where links are followed, an operand that is
/// empty loses the slash at its end.
fn shown_path(dir: &Dir<DirectoryState>, follow: Follow) -> Vec<u8> {
    let mut path = dir.path();
    let state = dir.state();
    if follow == Follow::Always
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
