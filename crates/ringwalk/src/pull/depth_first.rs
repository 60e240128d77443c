//! The walk as an iterator in depth-first order, in which the caller may skip directories.
//!
//! The walk runs ahead of the caller with one worker. The entries of one worker are in sequence,
//! except where subdirectories belong between the entries of a batch: [`Ordered`] holds those.
//! Several workers would hold whole subtrees: 19 to 55 MiB for a tree of 103 000 entries.
//!
//! The walk may have read a directory already that the caller skips. So the iterator drops all
//! items of it, and the walk opens nothing more below it.

use crate::pull::background::{Background, Sender};
use crate::pull::ended::Ended;
use crate::pull::entries::{EntryItem, OwnedEntry, not_started};
use crate::pull::ordered::{Line, Ordered, Place};
use crate::visit::batch::Batch;
use crate::visit::dir::Dir;
use crate::visit::entry::Entry;
use crate::visit::error::{Error, Operation};
use crate::visit::left::Left;
use crate::visit::sibling::{Compare, Sibling};
use crate::visit::summary::Summary;
use crate::visit::visitor::{Flow, Visitor};
use crate::walk::Walk;
use ringwalk_sys::sync::lock;
use std::cmp;
use std::collections::{HashSet, VecDeque};
use std::fmt;
use std::num::NonZeroUsize;
use std::os::unix::ffi::OsStrExt as _;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// A walk whose entries come depth first, to be set up and then iterated over: see
/// [`Walk::depth_first`].
pub struct DepthFirst {
    walk: Walk,
    compare: Option<Compare>,
    contents_first: bool,
}

impl fmt::Debug for DepthFirst {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DepthFirst")
            .field("walk", &self.walk)
            .field("contents_first", &self.contents_first)
            .finish_non_exhaustive()
    }
}

impl Walk {
    /// Returns the walk as an iterator in depth-first order: each directory before its contents,
    /// and the entries of a directory in the order of the bytes of their names.
    ///
    /// ```
    /// use ringwalk::Walk;
    ///
    /// let mut entries = Walk::new("src").depth_first().into_iter();
    /// let mut names = Vec::new();
    /// while let Some(entry) = entries.next() {
    ///     let entry = entry?;
    ///     if entry.depth() == 1 && entry.file_type().is_dir() {
    ///         entries.skip_current_dir();
    ///     }
    ///     names.push(entry.file_name().to_owned());
    /// }
    /// assert_eq!(names[..3], ["src", "aio", "block"]);
    /// # Ok::<(), ringwalk::Error>(())
    /// ```
    ///
    /// The walk has one worker, unless [`workers`](Self::workers) gives a number, and holds the
    /// names of the directories that it is inside of. More workers are faster, but entries that are
    /// read out of turn stay in memory until their turn comes. That may be most of the tree. An
    /// [`order`](Self::order) that was set does not matter.
    ///
    /// # Panics
    ///
    /// If the walk has a budget, or goes on with leftovers: this order covers the whole tree.
    /// [`batches`](Self::batches) orders the entries of each directory.
    pub fn depth_first(self) -> DepthFirst {
        self.expect_whole("an iterator in depth-first order");
        DepthFirst {
            walk: self,
            compare: None,
            contents_first: false,
        }
    }
}

impl DepthFirst {
    /// Sets a function that compares two entries of one directory. Entries that are equal come in
    /// the order in which the directory lists them. Roots always come in the order in which they
    /// were given.
    pub fn sort_by(
        mut self,
        compare: impl Fn(&Sibling<'_>, &Sibling<'_>) -> cmp::Ordering + Send + Sync + 'static,
    ) -> Self {
        self.compare = Some(Box::new(compare));
        self
    }

    /// Sorts the entries of a directory by a key, as [`sort_by`](Self::sort_by) does.
    pub fn sort_by_key<K: Ord>(
        self,
        key: impl Fn(&Sibling<'_>) -> K + Send + Sync + 'static,
    ) -> Self {
        self.sort_by(move |a, b| key(a).cmp(&key(b)))
    }

    /// Sets whether each directory comes after its contents instead of before them.
    pub fn contents_first(mut self, yes: bool) -> Self {
        self.contents_first = yes;
        self
    }
}

impl IntoIterator for DepthFirst {
    type Item = EntryItem;
    type IntoIter = DepthFirstEntries;

    /// Runs the walk on threads of its own, at most about 8000 entries ahead of the caller.
    ///
    /// If no thread can be started, the iterator gives an error for each root (`EAGAIN`), and no
    /// entry.
    fn into_iter(self) -> DepthFirstEntries {
        let roots: Vec<_> = self.walk.root_names().map(<[u8]>::to_vec).collect();
        let contents_first = self.contents_first;
        let skipped = Arc::<Skipped>::default();
        let of_walk = Arc::clone(&skipped);
        let walk = move |sender: &Sender<Placed>| self.send_all(sender, &of_walk);
        let walk = Background::start("ringwalk-depth-first", walk).unwrap_or_else(|error| {
            let errors = not_started(roots, &error);
            Background::ended(errors.map(|error| Placed::failure(error, ROOTS)).collect())
        });
        DepthFirstEntries {
            walk,
            contents_first,
            last: None,
            least_skipped: None,
            skipped,
        }
    }
}

/// The number of a directory of the walk. [`ROOTS`] stands for what holds the roots.
type DirectoryNumber = u64;

const ROOTS: DirectoryNumber = 0;

/// An item, with the directory that is skipped if the caller skips from here: the entry itself if
/// it comes before its contents, otherwise the directory that holds it.
#[derive(Debug)]
struct Placed {
    item: EntryItem,
    directory: DirectoryNumber,
    /// False for a directory above the least depth, which only ends what was skipped before it.
    is_shown: bool,
}

impl Placed {
    fn failure(error: Error, directory: DirectoryNumber) -> Self {
        Self {
            item: Err(error),
            directory,
            is_shown: true,
        }
    }
}

/// The directories that the caller has skipped and the walk has not left yet.
#[derive(Debug, Default)]
struct Skipped {
    any: AtomicBool,
    numbers: Mutex<HashSet<DirectoryNumber>>,
}

impl Skipped {
    fn add(&self, number: DirectoryNumber) {
        lock(&self.numbers).insert(number);
        self.any.store(true, Ordering::Relaxed);
    }

    /// Returns true if a directory is skipped, or one above it. The walk then opens nothing more in
    /// any of these.
    fn covers(&self, dir: &Dir<Option<State>>) -> bool {
        if !self.any.load(Ordering::Relaxed) {
            return false;
        }
        let numbers = lock(&self.numbers);
        let is_skipped = |dir: &Dir<Option<State>>| {
            let state = dir.state().as_ref();
            state.is_some_and(|state| numbers.contains(&state.number))
        };
        let up = || std::iter::successors(Some(dir), |dir| dir.parent());
        let Some(levels) = up().position(is_skipped) else {
            return false;
        };
        up().take(levels + 1).for_each(Dir::prune);
        true
    }

    fn leave(&self, number: DirectoryNumber) {
        if self.any.load(Ordering::Relaxed) {
            lock(&self.numbers).remove(&number);
        }
    }
}

/// The entries of a walk in depth-first order, with errors among them: the error of a directory
/// comes at the end of what could be read of it. An entry whose metadata could not be read comes
/// after the error, without metadata.
///
/// Dropping the iterator ends the walk.
#[derive(Debug)]
pub struct DepthFirstEntries {
    walk: Background<Placed, Ended>,
    contents_first: bool,
    last: Option<Last>,
    /// Items that are at least so deep are dropped.
    least_skipped: Option<usize>,
    skipped: Arc<Skipped>,
}

/// The entry that the caller was given last.
#[derive(Clone, Copy, Debug)]
struct Last {
    depth: usize,
    is_directory: bool,
    directory: DirectoryNumber,
}

impl Iterator for DepthFirstEntries {
    type Item = EntryItem;

    fn next(&mut self) -> Option<EntryItem> {
        loop {
            let Placed {
                item,
                directory,
                is_shown,
            } = self.walk.take()?;
            let depth = match &item {
                Ok(entry) => entry.depth(),
                // The directory itself is not skipped, but what happens inside of it.
                Err(error) => error.depth() + usize::from(error.operation() != Operation::Stat),
            };
            if self.least_skipped.is_some_and(|least| depth >= least) {
                continue;
            }
            self.least_skipped = None;
            if !is_shown {
                continue;
            }
            if let Ok(entry) = &item {
                self.last = Some(Last {
                    depth,
                    is_directory: entry.file_type().is_dir(),
                    directory,
                });
            }
            return Some(item);
        }
    }
}

impl std::iter::FusedIterator for DepthFirstEntries {}

impl DepthFirstEntries {
    /// Skips the contents of a directory that was returned last. After another entry, and with
    /// [`contents_first`](DepthFirst::contents_first) after each, skips the rest of the directory
    /// that holds the entry.
    ///
    /// The walk opens nothing more in there. A directory that it has opened already is closed
    /// without being read to its end.
    pub fn skip_current_dir(&mut self) {
        let Some(last) = self.last.take() else {
            return;
        };
        if last.is_directory && !self.contents_first {
            self.least_skipped = Some(last.depth + 1);
        } else if last.depth > 0 {
            self.least_skipped = Some(last.depth);
        }
        if last.directory != ROOTS {
            self.skipped.add(last.directory);
        }
    }

    /// Returns an iterator that leaves out the entries for which `predicate` returns false, and
    /// does not descend into them. With [`contents_first`](DepthFirst::contents_first) a directory
    /// has been read before the predicate sees it, so only the entry is left out.
    ///
    /// ```
    /// use ringwalk::Walk;
    ///
    /// let walk = Walk::new("src").depth_first().into_iter();
    /// for entry in walk.filter_entry(|entry| entry.file_name() != "sources") {
    ///     assert!(!entry?.path().starts_with("src/sources"));
    /// }
    /// # Ok::<(), ringwalk::Error>(())
    /// ```
    pub fn filter_entry<P: FnMut(&OwnedEntry) -> bool>(self, predicate: P) -> FilterEntry<P> {
        FilterEntry {
            entries: self,
            predicate,
        }
    }

    /// Returns the summary of the walk; `None` before the iterator has ended.
    pub fn summary(&self) -> Option<&Summary> {
        self.walk.walk_summary()
    }
}

/// The entries that a predicate has chosen: see [`DepthFirstEntries::filter_entry`].
#[derive(Debug)]
pub struct FilterEntry<P> {
    entries: DepthFirstEntries,
    predicate: P,
}

impl<P: FnMut(&OwnedEntry) -> bool> Iterator for FilterEntry<P> {
    type Item = EntryItem;

    fn next(&mut self) -> Option<EntryItem> {
        loop {
            let item = self.entries.next()?;
            match &item {
                Ok(entry) if !(self.predicate)(entry) => {
                    if entry.file_type().is_dir() && !self.entries.contents_first {
                        self.entries.skip_current_dir();
                    }
                }
                Ok(_) | Err(_) => return Some(item),
            }
        }
    }
}

impl<P: FnMut(&OwnedEntry) -> bool> std::iter::FusedIterator for FilterEntry<P> {}

impl<P> FilterEntry<P> {
    /// Does the same as [`DepthFirstEntries::skip_current_dir`].
    pub fn skip_current_dir(&mut self) {
        self.entries.skip_current_dir();
    }
}

impl DepthFirst {
    fn send_all(self, sender: &Sender<Placed>, skipped: &Skipped) -> Ended {
        let mut walk = self.walk.sorted(self.compare);
        // Directories above the least depth have their place in the order, too, so their batches
        // are needed.
        let min_depth = walk.take_min_depth();
        let walk = walk.workers_unless_given(NonZeroUsize::MIN);
        let shared = Shared {
            sender,
            skipped,
            min_depth,
            contents_first: self.contents_first,
            numbers: AtomicU64::new(ROOTS + 1),
            of_directories: Mutex::default(),
            gone: AtomicBool::new(false),
        };
        let ordered = Ordered::new(|items: Vec<Placed>| shared.send(items));
        let ended = Ended::from(walk.run(|_| Sorting {
            shared: &shared,
            ordered: &ordered,
            of_entries: VecDeque::new(),
        }));
        let _consumer = ordered.finish();
        // Errors of directories that were never left.
        let errors = std::mem::take(&mut *lock(&shared.of_directories));
        shared.send(
            errors
                .into_iter()
                .map(|error| Placed::failure(error, ROOTS)),
        );
        ended
    }
}

/// What all workers share.
struct Shared<'a> {
    sender: &'a Sender<Placed>,
    skipped: &'a Skipped,
    min_depth: usize,
    contents_first: bool,
    /// The number of the next directory.
    numbers: AtomicU64,
    /// Errors of directories, which come when these are left.
    of_directories: Mutex<Vec<Error>>,
    /// The caller has dropped the iterator.
    gone: AtomicBool,
}

impl Shared<'_> {
    fn send(&self, items: impl IntoIterator<Item = Placed, IntoIter: ExactSizeIterator>) {
        let items = items.into_iter();
        let weight = items.len();
        if self.sender.send(items, weight).is_err() {
            self.gone.store(true, Ordering::Relaxed);
        }
    }
}

/// What a directory is known by.
struct State {
    place: Place,
    number: DirectoryNumber,
}

/// Puts the items of one worker into their order.
struct Sorting<'a, C> {
    shared: &'a Shared<'a>,
    ordered: &'a Ordered<Vec<Placed>, C>,
    /// The errors of the entries of the next batch, in its order.
    of_entries: VecDeque<Error>,
}

impl<C: FnMut(Vec<Placed>) + Send> Visitor for Sorting<'_, C> {
    type State = Option<State>;

    fn enter(&mut self, dir: &Dir<Self::State>) -> Flow {
        if self.shared.gone.load(Ordering::Relaxed) {
            Flow::Stop
        } else if self.shared.skipped.covers(dir) {
            Flow::Prune
        } else {
            Flow::Continue
        }
    }

    fn batch(&mut self, batch: &Batch<'_, Self::State>) -> Flow {
        let shared = self.shared;
        if shared.gone.load(Ordering::Relaxed) {
            return Flow::Stop;
        }
        let own = batch.dir().and_then(|dir| dir.state().as_ref());
        let holder = own.map_or(ROOTS, |state| state.number);
        let is_shown = batch.depth() >= shared.min_depth;
        let mut line = Line::default();
        let mut items = Vec::new();
        let mut numbers = Vec::new();
        for entry in batch.entries() {
            if entry.stat_error().is_some()
                && let Some(error) = self.of_entries.pop_front()
            {
                items.push(Placed::failure(error, holder));
            }
            let descends = entry.will_descend();
            let number = if descends {
                shared.numbers.fetch_add(1, Ordering::Relaxed)
            } else {
                ROOTS
            };
            let is_first = !shared.contents_first;
            let is_skipped_itself = is_first && entry.file_type().is_dir();
            let placed = (is_shown || descends).then(|| Placed {
                item: Ok(OwnedEntry::new(entry)),
                directory: if is_skipped_itself { number } else { holder },
                is_shown,
            });
            let (before, after) = if is_first || !descends {
                (placed, None)
            } else {
                (None, placed)
            };
            items.extend(before);
            if descends {
                line.push(std::mem::take(&mut items));
                line.subdirectory();
                numbers.push(number);
            }
            items.extend(after);
        }
        line.push(items);
        let place = own.map_or(self.ordered.roots(), |state| &state.place);
        let places = self.ordered.add_batch(place, batch.numbers(), line);
        let states = places.into_iter().zip(numbers);
        let directories = batch.entries().filter(Entry::will_descend);
        for (entry, (place, number)) in directories.zip(states) {
            entry.descend_with(Some(State { place, number }));
        }
        Flow::Continue
    }

    fn leave(&mut self, dir: &Left<'_, Self::State>) {
        let Some(state) = dir.state() else {
            return;
        };
        let mut waiting = lock(&self.shared.of_directories);
        let errors: Vec<_> = if waiting.is_empty() {
            Vec::new()
        } else {
            let path = dir.path();
            let is_own = |error: &mut Error| error.path().as_os_str().as_bytes() == path;
            waiting.extract_if(.., is_own).collect()
        };
        drop(waiting);
        let errors = errors.into_iter();
        let errors = errors.map(|error| Placed::failure(error, state.number));
        self.ordered.close(&state.place, Some(errors.collect()));
        self.shared.skipped.leave(state.number);
    }

    fn error(&mut self, error: &Error) {
        if error.operation() == Operation::Stat {
            self.of_entries.push_back(error.clone());
        } else {
            lock(&self.shared.of_directories).push(error.clone());
        }
    }
}
