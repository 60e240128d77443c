//! Deletion of what a snapshot shows: it is read again first, and what was read is deleted.

use super::Request;
use super::deletion::{LiveDeleter, Places};
use crate::live::LiveTree;
use crate::saved::{Place, SnapshotView, join};
use crate::service::{Deleter, Deletion, DeletionProgress, Description, IsWanted, Results, Totals};
use crate::tree::{Id, Item, Tree};
use ringwalk_sys::sync::lock;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread::sleep;
use std::time::Duration;

/// The pause between two looks at a walk.
const PAUSE: Duration = Duration::from_millis(5);

/// Deletes entries of a snapshot.
pub(super) struct SavedDeleter {
    view: Arc<SnapshotView>,
    request: Request,
    /// Opens what a deletion writes, beside the tree.
    places: Arc<dyn Fn() -> Places + Send + Sync>,
    uses_trash: bool,
    /// What was read again for the last description.
    again: Mutex<Option<Arc<Again>>>,
}

/// Entries that were read again.
struct Again {
    tree: Arc<LiveTree>,
    deleter: LiveDeleter,
    root: usize,
    view: Arc<SnapshotView>,
    /// The numbers in the new tree, by those in the snapshot.
    entries: HashMap<Id, Id>,
}

impl SavedDeleter {
    pub(super) fn new(
        view: Arc<SnapshotView>,
        request: Request,
        places: Arc<dyn Fn() -> Places + Send + Sync>,
    ) -> Self {
        let uses_trash = request.trash;
        Self {
            view,
            request,
            places,
            uses_trash,
            again: Mutex::default(),
        }
    }

    /// Reads entries again. Returns what was read, and which entries are refused.
    fn read(
        &self,
        ids: &[Id],
        is_wanted: IsWanted<'_>,
    ) -> Result<(Again, Vec<(Id, String)>), String> {
        let places = self.places_of(ids)?;
        let root = places[0].1.clone();
        let path = Path::new(OsStr::from_bytes(&root.root_path));
        let name = ringwalk_gnu::quote::file_always(&root.root_path);
        let set_up = Arc::clone(&self.request.set_up);
        let stays = self.request.one_file_system;
        let tree = LiveTree::unread(path, stays, Box::new(move |walk| set_up(walk)));
        let tree = tree.map_err(|error| format!("{name}: {}", ringwalk_gnu::reason(&error)))?;
        let was = self.view.find(root.root, b"").map_err(|e| e.to_string())?;
        let was = was.map(|id| self.view.place(id)).transpose();
        let was = was.map_err(|error| error.to_string())?.flatten();
        let is_other = |place: &Place, now: u64| place.inode.is_some_and(|inode| inode != now);
        if was.is_some_and(|was| is_other(&was, tree.identity_of_top().inode)) {
            return Err(format!("{name} is another directory than in the snapshot"));
        }
        let mut entries = HashMap::new();
        let mut refusals = Vec::new();
        for (id, place) in places {
            if place.below.is_empty() {
                refusals.push((id, "it is the directory at the top".to_owned()));
                continue;
            }
            let (now, reading) = match tree.read_path(&place.below) {
                Ok(read) => read,
                Err(error) => {
                    refusals.push((id, gone(&error)));
                    continue;
                }
            };
            // Dropping a walk ends it.
            while reading
                .as_ref()
                .is_some_and(|reading| !reading.is_finished())
            {
                if !is_wanted() {
                    return Err("given up".to_owned());
                }
                sleep(PAUSE);
            }
            let selection = tree.selection(now);
            let is_same = |inode| !is_other(&place, inode);
            match selection {
                Ok(selection) if is_same(selection.entry.identity.inode) => {
                    entries.insert(id, now);
                }
                Ok(_) => refusals.push((id, "it is another file than in the snapshot".to_owned())),
                Err(reason) => refusals.push((id, reason.to_owned())),
            }
        }
        let again = Again {
            deleter: LiveDeleter::new(Arc::clone(&tree), (self.places)()),
            tree,
            root: root.root,
            view: Arc::clone(&self.view),
            entries,
        };
        Ok((again, refusals))
    }

    /// Returns the places of entries without those that lie below another one, in one tree.
    fn places_of(&self, ids: &[Id]) -> Result<Vec<(Id, Place)>, String> {
        let mut places = Vec::new();
        for id in ids {
            let place = self.view.place(*id).map_err(|error| error.to_string())?;
            let place = place.ok_or("it is the list of all trees of the snapshot")?;
            places.push((*id, place));
        }
        let paths: std::collections::HashSet<Vec<u8>> = places
            .iter()
            .map(|(_, place)| place.below.clone())
            .collect();
        let is_below_another = |path: &[u8]| {
            let slashes = path.iter().enumerate().filter(|(_, byte)| **byte == b'/');
            let mut above = slashes.map(|(at, _)| &path[..at]);
            above.any(|above| paths.contains(above))
        };
        places.retain(|(_, place)| !is_below_another(&place.below));
        let first = places.first().ok_or("nothing is marked")?.1.root;
        if places.iter().any(|(_, place)| place.root != first) {
            return Err("the entries are in several trees: delete those of one tree".to_owned());
        }
        Ok(places)
    }
}

impl Deleter for SavedDeleter {
    fn uses_trash(&self) -> bool {
        self.uses_trash
    }

    fn preparation(&self) -> &'static str {
        "reading it again from the file system"
    }

    fn describe(&self, ids: &[Id], is_wanted: IsWanted<'_>) -> Result<Description, String> {
        *lock(&self.again) = None;
        let (again, mut refusals) = self.read(ids, is_wanted)?;
        let now: Vec<Id> = again.entries.values().copied().collect();
        let mut description = again.deleter.describe(&now, is_wanted)?;
        let more = std::mem::take(&mut description.refusals);
        refusals.extend(more.into_iter().map(|(id, why)| again.in_snapshot(id, why)));
        description.refusals = refusals;
        let shown: Vec<Id> = again.entries.keys().copied().collect();
        let shown = self.view.items(&shown).map_err(|error| error.to_string())?;
        let sum = |of: fn(&Item) -> u64| shown.iter().map(of).fold(0, u64::saturating_add);
        description.shown = Some(Totals {
            entries: sum(|item| item.entries),
            size: sum(|item| item.size),
            alloc: sum(|item| item.alloc),
        });
        *lock(&self.again) = Some(Arc::new(again));
        Ok(description)
    }

    fn start(&self, ids: &[Id]) -> Result<Box<dyn Deletion>, String> {
        let again = lock(&self.again).take();
        let again = again.ok_or("it was not read again")?;
        // Those below another one of them are deleted with that one.
        let now: Vec<Id> = ids
            .iter()
            .filter_map(|id| again.entries.get(id))
            .copied()
            .collect();
        let deletion = again.deleter.start(&now)?;
        Ok(Box::new(Running { again, deletion }))
    }
}

impl Again {
    /// Returns the number in the snapshot of an entry that was read again, with what is said of it.
    fn in_snapshot(&self, now: Id, why: String) -> (Id, String) {
        if let Some((id, _)) = self.entries.iter().find(|(_, known)| **known == now) {
            return (*id, why);
        }
        let path = self.tree.path(now).unwrap_or_default();
        // A snapshot that cannot be read does not have the entry, either: it is named in words.
        if let Some(id) = self.view.find(self.root, &path).ok().flatten() {
            return (id, why);
        }
        let path = join(&self.tree.path_of_top(), &path);
        let path = ringwalk_gnu::quote::file_always(&path);
        (Id::default(), format!("{path}: {why}"))
    }
}

/// A deletion that runs, of entries that were read again.
struct Running {
    again: Arc<Again>,
    deletion: Box<dyn Deletion>,
}

impl Deletion for Running {
    fn progress(&self) -> DeletionProgress {
        self.deletion.progress()
    }

    fn cancel(&self) {
        self.deletion.cancel();
    }

    fn results(&self) -> Results {
        let results = self.deletion.results();
        let in_snapshot = |id| self.again.in_snapshot(id, String::new()).0;
        Results {
            deleted: results.deleted.into_iter().map(in_snapshot).collect(),
            kept: results
                .kept
                .into_iter()
                .map(|(id, why)| self.again.in_snapshot(id, why))
                .collect(),
        }
    }
}

/// Says why an entry cannot be read again.
fn gone(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::NotFound => "it is no longer there".to_owned(),
        _ => ringwalk_gnu::reason(error),
    }
}
