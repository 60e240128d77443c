//! Deletion, on a thread of its own.

use crate::live::LiveTree;
use crate::service::{Deleter, Deletion, DeletionProgress, Description, IsWanted, Results};
use crate::tree::{Id, Tree};
use ringwalk_delete::{
    Log, LogError, Observer, Outcome, Reason, Root, Selection, TrashOptions, trash,
};
use ringwalk_sys::sync::lock;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{Builder, JoinHandle};

/// Where deletion writes, beside the tree.
pub(super) struct Places {
    /// Opens the log.
    pub(super) log: Box<dyn Fn() -> Result<Log, LogError> + Send + Sync>,
    /// The trash. `None` to delete for good.
    pub(super) trash: Option<TrashOptions>,
}

impl Places {
    /// Returns the places of the user.
    pub(super) fn of_user(trash: bool) -> Self {
        Self {
            log: Box::new(Log::open_default),
            trash: trash.then(TrashOptions::from_environment),
        }
    }
}

/// Deletes entries of a live tree.
pub(super) struct LiveDeleter {
    tree: Arc<LiveTree>,
    places: Places,
}

impl LiveDeleter {
    pub(super) fn new(tree: Arc<LiveTree>, places: Places) -> Self {
        Self { tree, places }
    }
}

impl Deleter for LiveDeleter {
    fn uses_trash(&self) -> bool {
        self.places.trash.is_some()
    }

    fn preparation(&self) -> &'static str {
        "adding up"
    }

    fn describe(&self, ids: &[Id], _: IsWanted<'_>) -> Result<Description, String> {
        let mut description = Description::default();
        let mut deleted = Vec::new();
        for id in self.tree.outermost(ids) {
            if let Err(reason) = self.tree.selection(id) {
                description.refusals.push((id, reason.to_owned()));
                continue;
            }
            deleted.push(id);
            let items = self.tree.items(&[id]).map_err(|error| error.to_string())?;
            description.entries += items.iter().map(|item| item.entries).sum::<u64>();
            for (mount, entries) in self.tree.mounts_below(id) {
                let reason = "it is a mount point";
                description.refusals.push((mount, reason.to_owned()));
                description.entries = description.entries.saturating_sub(entries);
            }
            if let Some((first, last)) = self.tree.changes_below(id) {
                let oldest = description.oldest.map_or(first, |oldest| oldest.min(first));
                let newest = description.newest.map_or(last, |newest| newest.max(last));
                (description.oldest, description.newest) = (Some(oldest), Some(newest));
            }
        }
        let freed = self.tree.freeable(&deleted);
        description.freed = freed.map_err(|error| error.to_string())?;
        Ok(description)
    }

    fn start(&self, ids: &[Id]) -> Result<Box<dyn Deletion>, String> {
        let path = self.tree.path_of_top();
        let path = Path::new(OsStr::from_bytes(&path));
        let root = Root::open(path, self.tree.identity_of_top());
        let root = root.map_err(|error| error.to_string())?;
        let log = (self.places.log)().map_err(|error| error.to_string())?;
        let shared = Arc::new(Shared::default());
        let mut selections = Vec::new();
        for id in self.tree.outermost(ids) {
            match self.tree.selection(id) {
                Ok(selection) => selections.push(selection),
                Err(reason) => lock(&shared.state).kept.push((id, reason.to_owned())),
            }
        }
        let work = Work {
            tree: Arc::clone(&self.tree),
            root,
            log,
            selections,
            trash: self.places.trash.clone(),
            shared: Arc::clone(&shared),
        };
        let thread = Builder::new().name("deletion".to_owned());
        let thread = thread.spawn(move || work.run());
        let thread = thread.map_err(|error| ringwalk_gnu::no_thread(error).to_string())?;
        Ok(Box::new(Running {
            shared,
            thread: Some(thread),
        }))
    }
}

/// The state that a deletion and its watchers share.
#[derive(Default)]
struct Shared {
    cancelled: AtomicBool,
    finished: AtomicBool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    deleted: u64,
    freed: u64,
    /// The entries that are gone, of those that were selected.
    selected: Vec<Id>,
    kept: Vec<(Id, String)>,
}

/// The work of the thread.
struct Work {
    tree: Arc<LiveTree>,
    root: Root,
    log: Log,
    selections: Vec<Selection<Id>>,
    trash: Option<TrashOptions>,
    shared: Arc<Shared>,
}

impl Work {
    fn run(self) {
        let mut watcher = Watcher { work: &self };
        let (root, selections) = (&self.root, &self.selections);
        let done = match &self.trash {
            Some(options) => trash(root, selections, options, &self.log, &mut watcher),
            None => ringwalk_delete::delete(root, selections, &*self.tree, &self.log, &mut watcher),
        };
        if let Err(error) = done.map(|_: Outcome| ()) {
            // The log is full, for example: nothing more is deleted.
            let mut state = lock(&self.shared.state);
            for selection in &self.selections {
                let id = selection.entry.id;
                if !state.selected.contains(&id) {
                    state.kept.push((id, error.to_string()));
                }
            }
        }
        self.shared.finished.store(true, Ordering::Release);
    }
}

/// Takes what is deleted out of the tree.
struct Watcher<'w> {
    work: &'w Work,
}

impl Observer<Id> for Watcher<'_> {
    fn deleted(&mut self, id: Id, freed: u64) {
        let is_selected = {
            let mut selections = self.work.selections.iter();
            selections.any(|selection| selection.entry.id == id)
        };
        self.work.tree.remove(id, self.work.trash.is_some());
        let mut state = lock(&self.work.shared.state);
        state.deleted += 1;
        state.freed += freed;
        if is_selected {
            state.selected.push(id);
        }
    }

    fn kept(&mut self, id: Id, reason: &Reason) {
        let mut state = lock(&self.work.shared.state);
        state.kept.push((id, reason.to_string()));
    }

    fn cancelled(&mut self) -> bool {
        self.work.shared.cancelled.load(Ordering::Relaxed)
    }
}

/// A deletion that runs.
struct Running {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl Deletion for Running {
    fn progress(&self) -> DeletionProgress {
        let finished = self.shared.finished.load(Ordering::Acquire);
        let state = lock(&self.shared.state);
        DeletionProgress {
            deleted: state.deleted,
            failed: state.kept.len() as u64,
            freed: state.freed,
            finished,
        }
    }

    fn cancel(&self) {
        self.shared.cancelled.store(true, Ordering::Relaxed);
    }

    fn results(&self) -> Results {
        let state = lock(&self.shared.state);
        Results {
            deleted: state.selected.clone(),
            kept: state.kept.clone(),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.cancel();
        // A panic of the thread has been reported.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}
