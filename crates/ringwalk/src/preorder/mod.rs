//! The directories of a tree one after the other, depth first, in an order that the caller may change on the way; threads
//! read ahead meanwhile.
//!
//! [`Preorder`] gives each directory whole, when its turn has come. Before the next one is asked for, the caller may
//! [choose](Preorder::choose) which of its subdirectories are gone down into, and in which order: what Python's `os.walk` is
//! used for, and fts(3) with `FTS_SKIP`. Who only wants all entries is served faster by a [`Walk`](crate::Walk).
//!
//! | file | what is in it |
//! |---|---|
//! | `mod.rs` | the walk, as its owner sees it: whose turn it is |
//! | `turn.rs` | what the owner is given, and what it answers |
//! | `listing.rs` | the entries of one directory |
//! | `queue.rs` | directories still to be read, in the order of their turns |
//! | `crew.rs` | the threads that read ahead |
//! | `apart.rs` | calls that may hang, made by another thread |
//! | `lister.rs` | reading a directory, and looking whether it has changed since |
//! | `moment.rs` | the time of reading against the time of the last change |
//!
//! **What is read ahead is what would be read now.** When the turn of a directory comes that has been read ahead, one `statx` by its path tells
//! whether that still leads to the same directory, and when that was last changed. If that was not long enough before it was
//! read, by the clock that file systems take their times from, it is read again. So changes of the tree that happen before a
//! directory's turn are seen, those of the walk's owner as well as others'. File systems whose times of change cannot be relied
//! upon, network file systems and `/proc` among them, are not read ahead.

mod apart;
mod crew;
mod lister;
mod listing;
mod moment;
mod queue;
mod turn;

pub use listing::Listing;
pub use turn::{Chosen, Turn, path_below};

use crate::at_hand;
use crate::error::{Error, Failure};
use crate::regime::warm_workers;
use apart::{Deputy, GivenUp, Patience};
use crew::{Crew, publish};
use lister::{Lister, Read};
use listing::is_unsure;
use queue::{Child, Found, Held, Id, NONE, Ready};
use ringwalk_sys::RawFileType as FileType;
use std::ffi::{CString, OsStr};
use std::os::unix::ffi::OsStrExt as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What is to come below a directory.
#[derive(Debug)]
enum Below {
    All(Vec<Child>),
    Chosen(Vec<(Chosen, Id)>),
}

/// A directory that has been given, and what of it has been gone down into.
#[derive(Debug)]
struct Frame {
    listing: Arc<Listing>,
    below: Below,
    next: usize,
}

/// What comes next.
struct Next {
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
/// use ringwalk::{Chosen, Preorder};
/// let mut walk = Preorder::new(dir.path());
/// let mut seen = 0;
/// while let Some(turn) = walk.next_directory() {
///     let Ok(turn) = turn else { continue };
///     seen += 1;
///     // Not below any directory called `target`.
///     let listing = turn.listing();
///     let kept = (0..listing.len()).filter(|&i| turn.is_directory(i) && listing.name(i) != b"target");
///     let kept = kept.map(Chosen::Entry).collect();
///     walk.choose(kept);
/// }
/// assert_eq!(seen, 2);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Preorder {
    /// Until it has been read.
    root: Option<Vec<u8>>,
    follow: bool,
    most_threads: usize,
    reserve: Option<usize>,
    stack: Vec<Frame>,
    turn: Option<Turn>,
    lister: Lister,
    /// Makes the calls that may hang, if the owner wants to be able to give up.
    deputy: Option<Deputy>,
    crew: Crew,
}

impl Preorder {
    /// A walk of the tree below a path, which may be a symbolic link. Nothing is read before it is asked for.
    pub fn new(root: impl AsRef<std::path::Path>) -> Self {
        let crew = Crew::new(None);
        Self {
            root: Some(root.as_ref().as_os_str().as_bytes().to_vec()),
            follow: false,
            most_threads: warm_workers().saturating_sub(1).max(1),
            reserve: None,
            stack: Vec::new(),
            turn: None,
            lister: Lister::new(),
            deputy: None,
            crew,
        }
    }

    /// Whether symbolic links to directories are gone down into. Loops are not noticed: they end when paths become too long.
    pub fn follow_links(mut self, follow: bool) -> Self {
        self.follow = follow;
        self
    }

    /// Reads ahead with at most so many threads, 0 for none. Otherwise as many as there are processors besides the one that the
    /// walk's owner has, but at least one. They are started when there is work for them.
    pub fn threads(mut self, most: usize) -> Self {
        self.most_threads = most;
        self
    }

    /// Descriptors that are left free for the rest of the process, as with
    /// [`Walk`](crate::Walk::descriptor_reserve).
    pub fn descriptor_reserve(mut self, descriptors: Option<usize>) -> Self {
        self.reserve = descriptors;
        self.crew = Crew::new(descriptors);
        self
    }

    /// No more descriptors than this have been open for the walk at any time.
    pub fn descriptors_held(&self) -> usize {
        self.crew.shared.descriptors_held()
    }

    /// Reads the next directory, `None` after the last one.
    ///
    /// # Errors
    ///
    /// If it cannot be opened or not be read to its end: nothing of it is given then. The walk goes on behind it.
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

    /// Goes on to the next directory, whose depth is [`next_depth`](Self::next_depth): it is the [`turn`](Self::turn) then. False if there is none
    /// any more, or if it turned out to be a link that is not followed.
    ///
    /// # Errors
    ///
    /// As of [`next_directory`](Self::next_directory).
    pub fn advance(&mut self) -> Result<bool, Error> {
        self.advance_with(&mut Patience::endless())
    }

    /// As [`advance`](Self::advance), for an owner who wants to be able to give up, also where a
    /// file system does not answer: while it waits, `goes_on` is called every 50 ms. If that
    /// returns false, the walk is over. A call that hangs then is left to a thread of its own.
    ///
    /// # Errors
    ///
    /// As of [`next_directory`](Self::next_directory).
    pub fn advance_while(&mut self, goes_on: &mut dyn FnMut() -> bool) -> Result<bool, Error> {
        self.advance_with(&mut Patience::as_long_as(goes_on))
    }

    fn advance_with(&mut self, patience: &mut Patience<'_>) -> Result<bool, Error> {
        self.turn = None;
        let deputy = self.deputy.as_ref();
        if self.crew.is_left_behind() || deputy.is_some_and(Deputy::is_left_behind) {
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
                errno: failure.errno,
                vanished: next.depth > 0 && failure.is_race(),
                loops_with: None,
            }),
        }
    }

    fn give_up(&mut self) {
        self.stack.clear();
        self.deputy = None;
        self.crew.end(Some(Instant::now()));
    }

    /// Ends the walk, and waits for its threads, but not longer than that time. A thread that is in
    /// a call that takes longer ends after it.
    pub fn end_within(mut self, time: Duration) {
        self.crew.end(Some(Instant::now() + time));
    }

    /// The directory given last.
    pub fn turn(&self) -> Option<&Turn> {
        self.turn.as_ref()
    }

    /// Chooses what of the directory given last is gone down into, in this order. Links among it are, if links are followed.
    ///
    /// # Panics
    ///
    /// If an entry is chosen that the directory does not have. Without a directory given last nothing happens.
    pub fn choose(&mut self, chosen: Vec<Chosen>) {
        if self.crew.is_left_behind() {
            self.start_over();
        }
        let Some(frame) = self.stack.last_mut().filter(|_| self.turn.is_some()) else {
            return;
        };
        let below = std::mem::replace(&mut frame.below, Below::Chosen(Vec::new()));
        let mut nodes = match below {
            Below::All(children) => children,
            // Chosen before: what was left out then has been dropped.
            Below::Chosen(chosen) => chosen
                .into_iter()
                .filter_map(|(chosen, node)| match chosen {
                    Chosen::Entry(entry) => Some(Child {
                        entry: u32::try_from(entry).ok()?,
                        node,
                    }),
                    Chosen::Path(_) => None,
                })
                .collect(),
        };
        nodes.sort_unstable_by_key(|child| child.entry);
        let mut kept = Vec::new();
        let with_nodes = chosen.into_iter().map(|chosen| {
            let mut node = NONE;
            if let Chosen::Entry(entry) = chosen {
                assert!(entry < frame.listing.len(), "no such entry");
                let found = nodes.binary_search_by_key(&entry, |child| child.entry as usize);
                if let Ok(at) = found {
                    // Only once, should it be chosen twice.
                    node = std::mem::replace(&mut nodes[at].node, NONE);
                    kept.push(Child { node, ..nodes[at] });
                }
            }
            (chosen, node)
        });
        frame.below = Below::Chosen(with_nodes.collect());
        let mut state = self.crew.shared.lock();
        state.queue.drop_all(nodes);
        if !kept.is_sorted_by_key(|child| child.entry) {
            state.queue.put_first(&kept);
        }
    }

    /// After a fork: what was read ahead stays behind with the threads.
    fn start_over(&mut self) {
        self.crew = Crew::new(self.reserve);
        self.lister = Lister::new();
        self.deputy = None;
        for frame in &mut self.stack {
            match &mut frame.below {
                Below::All(children) => children.iter_mut().for_each(|child| child.node = NONE),
                Below::Chosen(chosen) => chosen.iter_mut().for_each(|(_, node)| *node = NONE),
            }
        }
    }

    /// How deep below the root the next directory is; `None` if there is none. It may be passed over, if it turns out to be a link.
    pub fn next_depth(&self) -> Option<usize> {
        if self.root.is_some() {
            return Some(0);
        }
        let with_more = |frame: &&Frame| {
            let children = match &frame.below {
                Below::All(children) => children.len(),
                Below::Chosen(chosen) => chosen.len(),
            };
            frame.next < children
        };
        let frame = self.stack.iter().rev().find(with_more)?;
        Some(frame.listing.depth() + 1)
    }

    fn next(&mut self) -> Option<Next> {
        if let Some(root) = self.root.take() {
            return Some(Next {
                // A path has no NUL: `give` finds out.
                path: CString::new(root).unwrap_or_default(),
                depth: 0,
                node: NONE,
                follow: true,
            });
        }
        loop {
            let frame = self.stack.last_mut()?;
            let at = frame.next;
            frame.next += 1;
            let (entry, node) = match &mut frame.below {
                Below::All(children) => match children.get(at) {
                    Some(child) => (Ok(child.entry as usize), child.node),
                    None => (Err(None), NONE),
                },
                Below::Chosen(chosen) => match chosen.get_mut(at) {
                    Some((Chosen::Entry(entry), node)) => (Ok(*entry), *node),
                    Some((Chosen::Path(path), _)) => (Err(Some(std::mem::take(path))), NONE),
                    None => (Err(None), NONE),
                },
            };
            let mut path = Vec::new();
            match entry {
                Ok(entry) => frame.listing.path_of(entry, &mut path),
                Err(Some(chosen)) => path = chosen,
                Err(None) => {
                    if let Some(frame) = self.stack.pop() {
                        self.lister.spares.put(frame.listing);
                    }
                    continue;
                }
            }
            return Some(Next {
                path: CString::new(path).unwrap_or_default(),
                depth: frame.listing.depth() + 1,
                node,
                follow: self.follow,
            });
        }
    }

    /// Makes a call that may hang.
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

    /// The directory whose turn it is; `None` if it is a link that is not followed.
    fn give(
        &mut self,
        next: &Next,
        patience: &mut Patience<'_>,
    ) -> Result<Option<Result<Ready, Failure>>, GivenUp> {
        if next.node != NONE
            && let Some(ready) = self.take(next.node, patience)?
        {
            if self.lister.is_unchanged(&ready.listing, next.follow) {
                return Ok(Some(Ok(ready)));
            }
            self.crew.shared.lock().queue.drop_all(ready.children);
        }
        let mut read = self.read_now(next, patience)?;
        if let Err(failure) = read
            && failure.is_out_of_descriptors()
        {
            self.crew.shared.retreat(patience)?;
            read = self.read_now(next, patience)?;
        }
        Ok(match read {
            Ok(None) => None,
            Ok(Some((listing, fd))) => Some(Ok(self.add(listing, fd.as_ref()))),
            Err(failure) => Some(Err(failure)),
        })
    }

    /// Reads a directory; `None` if it is a link that is not followed.
    fn read_now(
        &mut self,
        next: &Next,
        patience: &mut Patience<'_>,
    ) -> Result<Result<Option<Read>, Failure>, GivenUp> {
        let (path, depth, follow) = (next.path.clone(), next.depth, next.follow);
        let shared = Arc::clone(&self.crew.shared);
        let read =
            move |lister: &mut Lister| lister.read_unless_link(&path, depth, follow, &shared);
        let path = OsStr::from_bytes(next.path.as_bytes());
        if patience.is_endless() || at_hand::is_local(path) {
            Ok(read(&mut self.lister))
        } else {
            self.call(patience, read)
        }
    }

    /// What has been read ahead of a directory, if anything.
    fn take(&mut self, node: Id, patience: &mut Patience<'_>) -> Result<Option<Ready>, GivenUp> {
        let shared = Arc::clone(&self.crew.shared);
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
            // Both are at work, and there is more.
            let wanted = self.crew.len() < self.most_threads && state.wants_thread(self.crew.len());
            drop(state);
            if wanted {
                self.crew.start();
            }
            let read = self.lister.read_ahead(&place, &shared);
            state = publish(&shared, id, read);
        }
    }

    /// Notes the directories below one that has just been read, to be read ahead.
    fn add(&mut self, listing: Arc<Listing>, fd: Option<&Arc<Held>>) -> Ready {
        if listing.directories() == 0 {
            return Ready {
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
            return Ready { listing, children };
        }
        let mut state = self.crew.shared.lock();
        let children = state.queue.add_first(&listing, fd);
        let threads = self.crew.len();
        let wanted = threads < 1.min(self.most_threads) && state.wants_thread(threads);
        self.crew.shared.wake(&state);
        drop(state);
        if wanted {
            self.crew.start();
        }
        Ready { listing, children }
    }

    /// Finds out what only stat(2) tells, and notes what is below.
    fn settle(&mut self, ready: Ready, patience: &mut Patience<'_>) -> Result<(), GivenUp> {
        let Ready {
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
        self.stack.push(Frame {
            listing: Arc::clone(&listing),
            below: Below::All(children),
            next: 0,
        });
        self.turn = Some(Turn { listing, found });
        Ok(())
    }

    /// The entries that lead to directories, of links and of those whose type is not listed.
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

#[cfg(test)]
mod tests;
