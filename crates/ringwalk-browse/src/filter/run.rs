//! The search in the background.

use super::from::saved_search;
use super::matches::{Match, Matches, Totals};
use super::words::split;
use ringwalk::sync::lock;
use ringwalk::{FileType, Follow, Metadata, Monitor, Summary, Walk};
use ringwalk_find::expression::Command;
use ringwalk_find::facts::Facts;
use ringwalk_find::parse::{Context, Refusal, parse_filter};
use ringwalk_find::{Host, search};
use ringwalk_snapshot::SnapshotTree;
use std::ffi::OsString;
use std::fmt;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// Messages that are kept. All are counted.
const MOST_MESSAGES: usize = 100;

/// Sets up the walk of a search: source, workers, other file systems.
pub type SetUp = Arc<dyn Fn(Walk) -> Walk + Send + Sync>;

/// The tree that a filter searches.
#[derive(Clone)]
pub enum Searched {
    /// The directory at this path of the live file system. If it is a link, it is followed.
    Live {
        /// The path as the user gave it.
        path: OsString,
        /// Sets up the walk.
        set_up: SetUp,
    },
    /// All trees of a snapshot.
    Snapshot(Arc<SnapshotTree>),
}

impl fmt::Debug for Searched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Live { path, .. } => f.debug_tuple("Live").field(path).finish(),
            Self::Snapshot(tree) => f.debug_tuple("Snapshot").field(tree.snapshot()).finish(),
        }
    }
}

/// A filter: a search in the background, and what it has found so far.
///
/// Directories and names are given as `Tree::path` and `Item::name` have them. The top of the tree
/// is the entry without a name in the directory without a path.
///
/// The search ends early when this is dropped. A walk that waits for a slow file system goes on
/// until the file system answers, and does not hold up anybody.
#[derive(Debug)]
pub struct FilterRun {
    shared: Arc<Shared>,
    warnings: Vec<String>,
}

/// What the search and the filter share.
#[derive(Debug, Default)]
struct Shared {
    stopped: AtomicBool,
    finished: AtomicBool,
    /// Grows with each match.
    matched: AtomicU64,
    errors: AtomicU64,
    messages: Mutex<Vec<String>>,
    matches: Mutex<Matches>,
}

impl FilterRun {
    /// Starts the search of an expression, which is split into words as a shell does.
    ///
    /// # Errors
    ///
    /// A message, if the expression is wrong, or has effects, prints or follows links.
    pub fn start(expression: &str, searched: &Searched) -> Result<Self, String> {
        Self::start_words(split(expression)?, searched)
    }

    /// Starts the search of an expression that is given in words.
    ///
    /// # Errors
    ///
    /// As [`start`](Self::start).
    pub fn start_words(words: Vec<OsString>, searched: &Searched) -> Result<Self, String> {
        let mut command = parse(words, searched)?;
        let warnings = std::mem::take(&mut command.warnings);
        let shared = Arc::new(Shared::default());
        let host = FilterHost {
            shared: Arc::clone(&shared),
            searched: searched.clone(),
            several_roots: command.paths.len() > 1,
        };
        let thread = std::thread::Builder::new().name("filter".to_owned());
        let started = thread.spawn(move || {
            search(&command, &host);
        });
        started.map_err(|error| {
            let reason = ringwalk_gnu::reason(&error);
            format!("cannot start a thread for the search: {reason}")
        })?;
        Ok(Self { shared, warnings })
    }

    /// Returns true if the search has ended. Nothing changes then.
    pub fn finished(&self) -> bool {
        self.shared.finished.load(Ordering::Acquire)
    }

    /// Returns a number that grows with each match.
    pub fn generation(&self) -> u64 {
        self.shared.matched.load(Ordering::Relaxed)
    }

    /// Returns the warnings about the expression, as find(1) gives them.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Returns the number of errors: of files that the search could not read.
    pub fn errors(&self) -> u64 {
        self.shared.errors.load(Ordering::Relaxed)
    }

    /// Returns the first error. Totals lack the files that could not be read.
    pub fn error(&self) -> Option<String> {
        lock(&self.shared.messages).first().cloned()
    }

    /// Returns the first 100 errors.
    pub fn messages(&self) -> Vec<String> {
        lock(&self.shared.messages).clone()
    }

    /// Returns true if the entry with this name in a directory matches.
    pub fn matched(&self, directory: &[u8], name: &[u8]) -> bool {
        lock(&self.shared.matches).has(directory, name)
    }

    /// Returns the totals of what matches at or below a directory. A directory that matches counts
    /// with its own size, as find(1) has it: not with what is in it.
    pub fn totals(&self, directory: &[u8]) -> Totals {
        lock(&self.shared.matches).totals(directory)
    }
}

impl Drop for FilterRun {
    fn drop(&mut self) {
        self.shared.stopped.store(true, Ordering::Relaxed);
    }
}

/// Parses an expression. Returns the message of find(1), if it is wrong.
fn parse(words: Vec<OsString>, searched: &Searched) -> Result<Command, String> {
    let mut context = Context::from_environment();
    let paths = match searched {
        Searched::Live { path, .. } => vec![path.clone()],
        Searched::Snapshot(tree) => {
            let saved = saved_search(tree);
            let roots = saved.roots.clone();
            context = context.search_saved(Arc::new(saved));
            roots
        }
    };
    let parsed = parse_filter(&context, words, paths);
    let mut command = parsed.map_err(|refusal| match refusal {
        Refusal::Wrong(messages) => messages.join("\n"),
        Refusal::Help(_) | Refusal::Version => {
            "-help and -version cannot be used in a filter: it prints nothing".to_owned()
        }
    })?;
    if matches!(searched, Searched::Live { .. }) {
        command.follow = Follow::CommandLine;
    }
    Ok(command)
}

/// The host of the search.
struct FilterHost {
    shared: Arc<Shared>,
    searched: Searched,
    /// Paths then begin with the paths of their roots, which are the entries of the top.
    several_roots: bool,
}

impl Host for FilterHost {
    fn report(&self, message: &str) {
        self.shared.errors.fetch_add(1, Ordering::Relaxed);
        let mut messages = lock(&self.shared.messages);
        if messages.len() < MOST_MESSAGES {
            messages.push(message.to_owned());
        }
    }

    /// A filter has no action that writes.
    fn write(&self, _: &[u8]) -> io::Result<()> {
        Ok(())
    }

    fn is_terminal(&self) -> bool {
        false
    }

    fn set_up(&self, walk: Walk) -> Option<Walk> {
        Some(match &self.searched {
            Searched::Live { set_up, .. } => set_up(walk),
            Searched::Snapshot(_) => walk,
        })
    }

    fn watch(&self, _: Arc<Monitor>, run: &mut dyn FnMut() -> Option<Summary>) {
        run();
    }

    fn explains(&self) -> bool {
        false
    }

    fn found(&self, file: &dyn Facts) {
        let path = file.path();
        let path = if self.several_roots {
            path
        } else {
            path.get(file.root_len()..).unwrap_or_default()
        };
        let is_directory = file.file_type() == FileType::Directory;
        // A failure has been reported. The entry still matches.
        let metadata = file.metadata().ok();
        let links = metadata.and_then(Metadata::nlink);
        let is_linked = !is_directory && links.is_some_and(|links| links > 1);
        let link = metadata.and_then(Metadata::identity).filter(|_| is_linked);
        let size = metadata.and_then(Metadata::size);
        let blocks = metadata.and_then(Metadata::blocks);
        lock(&self.shared.matches).add(Match {
            path,
            is_directory,
            size: size.unwrap_or(0),
            alloc: blocks.map_or(0, |blocks| blocks.saturating_mul(512)),
            link: link.map(|file| (file.dev, file.ino)),
        });
        self.shared.matched.fetch_add(1, Ordering::Relaxed);
    }

    fn is_stopped(&self) -> bool {
        self.shared.stopped.load(Ordering::Relaxed)
    }
}

impl Drop for FilterHost {
    /// The search has ended, even if by a panic.
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.report("the search has failed");
        }
        self.shared.finished.store(true, Ordering::Release);
    }
}
