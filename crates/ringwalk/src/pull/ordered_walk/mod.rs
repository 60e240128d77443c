//! The ordered walk: whole directories of a tree, one after the other, depth first. The caller may
//! change the order on the way, and threads read ahead meanwhile.
//!
//! [`OrderedWalk`] gives each directory whole, when its turn has come. Before the caller asks for
//! the next one, it may [choose](OrderedWalk::choose) which subdirectories the walk goes down into,
//! and in which order. Python's `os.walk` is used like that, and fts(3) with `FTS_SKIP`. A caller
//! that only wants all entries is served faster by a [`Walk`](crate::Walk).
//!
//! | file | contents |
//! |---|---|
//! | `mod.rs` | the walk, as its owner sees it |
//! | `frame.rs` | the directories from the root to the current one, and what is to come below each |
//! | `fetch.rs` | the directory whose turn it is: read ahead before, or read now |
//! | `turn.rs` | the directory that the owner is given, and the choice that the owner makes |
//! | `listing/`, `listing/builder.rs` | the entries of one directory, packed |
//! | `queue.rs` | the directories still to be read, in the order of their turns |
//! | `read_ahead.rs` | the threads that read ahead |
//! | `deputy.rs` | calls that may hang, made by another thread |
//! | `lister.rs` | reading a directory, and checking whether it has changed since |
//!
//! **A directory that was read ahead is given as it is now.** When its turn comes, one `statx` by
//! its path checks whether that path still leads to the same directory, and when the directory was
//! last changed. The directory is read again unless its last change lies long enough before the
//! reading, by the clock that gives file systems their time stamps. So the walk sees changes of the
//! tree that happen before a directory's turn, made by its owner or by other programs. Some file
//! systems have times of change that cannot be relied upon, network file systems and `/proc` among
//! them. Those are not read ahead.

mod deputy;
mod fetch;
mod frame;
mod lister;
mod listing;
mod queue;
mod read_ahead;
mod turn;

pub use listing::Listing;
pub use turn::{Chosen, Turn, path_below};

use crate::visit::error::Error;
use crate::walk::concurrency::warm_workers;
use deputy::{Deputy, GivenUp, Patience};
use frame::{Choice, Frame};
use lister::Lister;
use queue::{Id, NONE};
use read_ahead::ReadAheadThreads;
use std::ffi::CString;
use std::os::unix::ffi::OsStrExt as _;
use std::time::{Duration, Instant};

/// The next directory of the order.
struct NextDirectory {
    path: CString,
    depth: usize,
    node: Id,
    follow: bool,
}

/// A walk that gives whole directories in a fixed order, and reads ahead.
///
/// ```
/// # let dir = tempfile::tempdir()?;
/// # std::fs::create_dir_all(dir.path().join("src/target/deep"))?;
/// use ringwalk::{Chosen, OrderedWalk};
/// let mut walk = OrderedWalk::new(dir.path());
/// let mut seen = 0;
/// while let Some(turn) = walk.next_directory() {
///     let Ok(turn) = turn else { continue };
///     seen += 1;
///     // Not below any directory called `target`.
///     let listing = turn.listing();
///     let is_kept = |&i: &usize| turn.is_directory(i) && listing.name(i) != b"target";
///     let kept = (0..listing.len()).filter(is_kept);
///     let kept = kept.map(Chosen::Entry).collect();
///     walk.choose(kept);
/// }
/// assert_eq!(seen, 2);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct OrderedWalk {
    /// The root, until it has been read.
    root: Option<Vec<u8>>,
    follow: bool,
    most_threads: usize,
    reserve: Option<usize>,
    stack: Vec<Frame>,
    turn: Option<Turn>,
    lister: Lister,
    /// Makes the calls that may hang, if the owner wants to be able to give up.
    deputy: Option<Deputy>,
    read_ahead: ReadAheadThreads,
}

impl OrderedWalk {
    /// Creates a walk of the tree below a path, which may be a symbolic link. Nothing is read yet.
    pub fn new(root: impl AsRef<std::path::Path>) -> Self {
        let read_ahead = ReadAheadThreads::new(None);
        Self {
            root: Some(root.as_ref().as_os_str().as_bytes().to_vec()),
            follow: false,
            most_threads: warm_workers().saturating_sub(1).max(1),
            reserve: None,
            stack: Vec::new(),
            turn: None,
            lister: Lister::new(),
            deputy: None,
            read_ahead,
        }
    }

    /// Sets whether the walk goes down into symbolic links to directories. It does not notice
    /// loops: they end when paths become too long.
    pub fn follow_links(mut self, follow: bool) -> Self {
        self.follow = follow;
        self
    }

    /// Sets the largest number of threads that read ahead, 0 for none. By default it is the number
    /// of processors besides the one that the owner uses, but at least one. Threads are started
    /// when there is work for them.
    pub fn threads(mut self, most: usize) -> Self {
        self.most_threads = most;
        self
    }

    /// Sets how many descriptors stay free for the rest of the process, as
    /// [`Walk`](crate::Walk::descriptor_reserve) does.
    pub fn descriptor_reserve(mut self, descriptors: Option<usize>) -> Self {
        self.reserve = descriptors;
        self.read_ahead = ReadAheadThreads::new(descriptors);
        self
    }

    /// Returns the largest number of descriptors that were open for the walk at any time.
    pub fn descriptors_held(&self) -> usize {
        self.read_ahead.shared.descriptors_held()
    }

    /// Reads the next directory. Returns `None` after the last one.
    ///
    /// # Errors
    ///
    /// If the directory cannot be opened, or cannot be read to its end. None of its entries are
    /// given then. The walk goes on behind it.
    pub fn next_directory(&mut self) -> Option<Result<&Turn, Error>> {
        self.turn = None;
        while self.next_depth().is_some() {
            match self.advance() {
                Ok(false) => {}
                Ok(true) => break,
                Err(error) => return Some(Err(error)),
            }
        }
        self.turn.as_ref().map(Ok)
    }

    /// Goes on to the next directory, whose depth is [`next_depth`](Self::next_depth). It is then
    /// the current [`turn`](Self::turn). Returns false if there are no more directories, or if the
    /// next one turned out to be a link that is not followed.
    ///
    /// # Errors
    ///
    /// The errors of [`next_directory`](Self::next_directory).
    pub fn advance(&mut self) -> Result<bool, Error> {
        self.advance_with(&mut Patience::endless())
    }

    /// Goes on as [`advance`](Self::advance) does, for an owner that must be able to give up, also
    /// where a file system does not answer. While the call waits, it calls `goes_on` every 50 ms.
    /// If that returns false, the walk is over. A system call that hangs then is left to a thread
    /// of its own.
    ///
    /// # Errors
    ///
    /// The errors of [`next_directory`](Self::next_directory).
    pub fn advance_while(&mut self, goes_on: &mut dyn FnMut() -> bool) -> Result<bool, Error> {
        self.advance_with(&mut Patience::as_long_as(goes_on))
    }

    fn advance_with(&mut self, patience: &mut Patience<'_>) -> Result<bool, Error> {
        self.turn = None;
        let deputy = self.deputy.as_ref();
        if self.read_ahead.is_left_behind() || deputy.is_some_and(Deputy::is_left_behind) {
            self.start_over();
        }
        let Some(next) = self.next() else {
            return Ok(false);
        };
        let given = self.give(&next, patience).and_then(|given| match given {
            Some(Ok(ready)) => self.settle(ready, patience).map(|()| Some(Ok(()))),
            Some(Err(failure)) => Ok(Some(Err(failure))),
            None => Ok(None),
        });
        match given {
            Ok(Some(Ok(()))) => Ok(true),
            Ok(None) => Ok(false),
            Err(GivenUp) => {
                self.give_up();
                Ok(false)
            }
            Ok(Some(Err(failure))) => Err(Error {
                operation: failure.operation,
                path: next.path.into_bytes(),
                depth: next.depth,
                errno: failure.errno,
                vanished: next.depth > 0 && failure.is_race(),
                loops_with: None,
            }),
        }
    }

    fn give_up(&mut self) {
        self.stack.clear();
        self.deputy = None;
        self.read_ahead.end(Some(Instant::now()));
    }

    /// Ends the walk, and waits for its threads, but no longer than `time`. A thread that is in a
    /// longer call ends after it.
    pub fn end_within(mut self, time: Duration) {
        self.read_ahead.end(Some(Instant::now() + time));
    }

    /// Returns the current directory: the one given last.
    pub fn turn(&self) -> Option<&Turn> {
        self.turn.as_ref()
    }

    /// Chooses the subdirectories of the current directory that the walk goes down into, in this
    /// order. Links among them are followed if the walk follows links. Without a current directory
    /// nothing happens.
    ///
    /// # Panics
    ///
    /// If an entry is chosen that the directory does not have.
    pub fn choose(&mut self, chosen: Vec<Chosen>) {
        if self.read_ahead.is_left_behind() {
            self.start_over();
        }
        let Some(frame) = self.stack.last_mut().filter(|_| self.turn.is_some()) else {
            return;
        };
        let Choice { kept, dropped } = frame.choose(chosen);
        let mut state = self.read_ahead.shared.lock();
        state.queue.drop_all(dropped);
        if !kept.is_sorted_by_key(|child| child.entry) {
            state.queue.put_first(&kept);
        }
    }

    /// Starts again in a forked child: the directories that were read ahead are left behind with
    /// the threads.
    fn start_over(&mut self) {
        self.read_ahead = ReadAheadThreads::new(self.reserve);
        self.lister = Lister::new();
        self.deputy = None;
        self.stack.iter_mut().for_each(Frame::forget_nodes);
    }

    /// Returns the depth of the next directory below the root; `None` if there are no more. The
    /// walk may skip that directory, if it turns out to be a link.
    pub fn next_depth(&self) -> Option<usize> {
        if self.root.is_some() {
            return Some(0);
        }
        let frame = self.stack.iter().rev().find(|frame| frame.has_more())?;
        Some(frame.listing.depth() + 1)
    }

    /// Returns the next directory of the order, and moves past it.
    fn next(&mut self) -> Option<NextDirectory> {
        if let Some(root) = self.root.take() {
            return Some(NextDirectory {
                // A path has no NUL byte. One that has is read as the empty path, which fails.
                path: CString::new(root).unwrap_or_default(),
                depth: 0,
                node: NONE,
                follow: true,
            });
        }
        loop {
            let frame = self.stack.last_mut()?;
            if let Some((path, node)) = frame.next() {
                return Some(NextDirectory {
                    path: CString::new(path).unwrap_or_default(),
                    depth: frame.listing.depth() + 1,
                    node,
                    follow: self.follow,
                });
            }
            if let Some(frame) = self.stack.pop() {
                self.lister.spares.put(frame.listing);
            }
        }
    }
}

#[cfg(test)]
mod tests;
