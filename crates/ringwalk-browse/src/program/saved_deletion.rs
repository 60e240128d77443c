//! Deletion of entries that a snapshot shows. The entries are first read again, and only what was
//! read then is deleted.

use super::Request;
use super::deletion::{LiveDeleter, Places};
use crate::live::LiveTree;
use crate::saved::{Place, SnapshotView, join};
use crate::service::{Deleter, Deletion, DeletionProgress, Description, IsWanted, Results, Totals};
use crate::tree::{Id, Item, ReadState, Tree};
use ringwalk_delete::Identity;
use ringwalk_sys::sync::lock;
use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread::sleep;
use std::time::Duration;

/// The pause between two looks at a walk.
const PAUSE: Duration = Duration::from_millis(1);

/// Deletes entries of a snapshot.
pub(super) struct SavedDeleter {
    view: Arc<SnapshotView>,
    request: Request,
    /// What was read again for the last description.
    again: Mutex<Option<Arc<Again>>>,
}

/// Entries that were read again.
struct Again {
    tree: Arc<LiveTree>,
    deleter: LiveDeleter,
    root: usize,
    view: Arc<SnapshotView>,
    /// The numbers in the new tree, by the numbers in the snapshot.
    entries: HashMap<Id, Id>,
    /// The numbers in the snapshot, by the numbers in the new tree.
    shown: HashMap<Id, Id>,
    /// Marked entries that lie below other marked entries, each with the entry above it, by their
    /// numbers in the snapshot.
    inner: Vec<(Id, Id)>,
}

impl SavedDeleter {
    pub(super) fn new(view: Arc<SnapshotView>, request: Request) -> Self {
        Self {
            view,
            request,
            again: Mutex::default(),
        }
    }

    /// Reads entries again. Returns what was read, and which entries are refused.
    fn read(
        &self,
        ids: &[Id],
        is_wanted: IsWanted<'_>,
    ) -> Result<(Again, Vec<(Id, String)>), String> {
        let chosen = self.choose(ids)?;
        let first = &chosen.outer.first().ok_or("nothing is marked")?.1;
        let tree = self.open(first)?;
        let mut entries = HashMap::new();
        let mut refusals = Vec::new();
        for (id, place) in &chosen.outer {
            if !is_wanted() {
                return Err("given up".to_owned());
            }
            match read_place(&tree, place, is_wanted)? {
                Ok(now) => drop(entries.insert(*id, now)),
                Err(reason) => refusals.push((*id, reason)),
            }
        }
        let (allowed, refused): (Vec<_>, Vec<_>) = chosen
            .inner
            .into_iter()
            .partition(|(_, outer)| entries.contains_key(outer));
        let why = "the directory that it is in is refused";
        refusals.extend(refused.into_iter().map(|(id, _)| (id, why.to_owned())));
        let again = Again {
            deleter: LiveDeleter::new(Arc::clone(&tree), Places::of_user(self.request.trash)),
            tree,
            root: first.root,
            view: Arc::clone(&self.view),
            shown: entries.iter().map(|(id, now)| (*now, *id)).collect(),
            entries,
            inner: allowed,
        };
        Ok((again, refusals))
    }

    /// Creates the tree of the root of an entry, if the root is the directory that it was.
    fn open(&self, place: &Place) -> Result<Arc<LiveTree>, String> {
        let name = ringwalk_gnu::quote::file_always(&place.root_path);
        let path = Path::new(OsStr::from_bytes(&place.root_path));
        let set_up = Arc::clone(&self.request.set_up);
        let stays = self.request.one_file_system;
        let tree = LiveTree::unread(path, stays, Box::new(move |walk| set_up(walk)));
        let tree = tree.map_err(|error| format!("{name}: {}", ringwalk_gnu::reason(&error)))?;
        let failed = |error: std::io::Error| error.to_string();
        let was = self.view.find(place.root, b"").map_err(failed)?;
        let was = was.map(|id| self.view.place(id)).transpose();
        let was = was.map_err(failed)?.flatten();
        // Where that cannot be known, its entries decide.
        let other = was.and_then(|was| compare(&was, tree.identity_of_top(), true).err());
        if other == Some(OTHER) {
            return Err(format!("{name} is another directory than in the snapshot"));
        }
        Ok(tree)
    }

    /// Returns the entries that lie below no other one, and the others. All are in one tree.
    fn choose(&self, ids: &[Id]) -> Result<Chosen, String> {
        let mut places = Vec::new();
        for id in ids {
            let place = self.view.place(*id).map_err(|error| error.to_string())?;
            let place = place.ok_or("it is the list of all trees of the snapshot")?;
            places.push((*id, place));
        }
        let mut roots = places.iter().map(|(_, place)| place.root);
        let first = roots.next();
        if roots.any(|root| Some(root) != first) {
            return Err(
                "the entries are in several trees: mark entries of one tree only".to_owned(),
            );
        }
        let by_path: HashMap<Vec<u8>, Id> = places
            .iter()
            .map(|(id, place)| (place.below.clone(), *id))
            .collect();
        // The first slashes first: the outermost entry above a path.
        let above = |path: &[u8]| {
            let slashes = path.iter().enumerate().filter(|(_, byte)| **byte == b'/');
            let mut above = slashes.map(|(at, _)| &path[..at]);
            above.find_map(|above| by_path.get(above).copied())
        };
        let mut chosen = Chosen::default();
        for (id, place) in places {
            match above(&place.below) {
                Some(outer) => chosen.inner.push((id, outer)),
                None => chosen.outer.push((id, place)),
            }
        }
        Ok(chosen)
    }
}

/// Entries that were chosen.
#[derive(Default)]
struct Chosen {
    /// Entries that lie below no other chosen entry.
    outer: Vec<(Id, Place)>,
    /// The other entries, each with the chosen entry that it lies below.
    inner: Vec<(Id, Id)>,
}

/// Reads an entry again. Returns its number in the tree, or why it is refused.
///
/// # Errors
///
/// If nobody waits any more.
fn read_place(
    tree: &Arc<LiveTree>,
    place: &Place,
    is_wanted: IsWanted<'_>,
) -> Result<Result<Id, String>, String> {
    if place.below.is_empty() {
        return Ok(Err("it is the directory at the top".to_owned()));
    }
    let (now, reading) = match tree.read_path(&place.below) {
        Ok(read) => read,
        Err(error) => return Ok(Err(gone(&error))),
    };
    if let Some(reading) = reading {
        while !reading.is_finished() {
            if !is_wanted() {
                // Dropping the walk ends it, and all later ones of this tree.
                return Err("given up".to_owned());
            }
            sleep(PAUSE);
        }
        reading.wait();
    }
    let selection = match tree.selection(now) {
        Ok(selection) => selection,
        Err(reason) => return Ok(Err(reason.to_owned())),
    };
    let entry = &selection.entry;
    if let Err(why) = compare(place, entry.identity, entry.is_directory) {
        return Ok(Err(why.to_owned()));
    }
    // The screen shows the snapshot, and so no errors of this reading.
    let items = tree.items(&[now]).map_err(|error| error.to_string())?;
    let is_whole = |item: &Item| item.state == ReadState::Done && item.errors == 0;
    if !items.iter().all(is_whole) || items.is_empty() {
        let unreadable = tree.unreadable();
        let first = unreadable.first().map(|it| format!(": {}", it.reason));
        let first = first.unwrap_or_default();
        return Ok(Err(format!("something in it cannot be read{first}")));
    }
    Ok(Ok(now))
}

/// Why a file with the name is not the one in the snapshot.
const OTHER: &str = "it is another file than in the snapshot";

/// Compares a file with the one in the snapshot. The error is the reason why it may be another one.
fn compare(was: &Place, now: Identity, is_directory: bool) -> Result<(), &'static str> {
    let unknown = "the snapshot does not know which file it was: browse the directory itself";
    let inode = was.inode.ok_or(unknown)?;
    if was.is_directory != is_directory || inode != now.inode {
        return Err(OTHER);
    }
    let mark = now.mark.ok_or(unknown)?;
    match was.known.has_mark(mark) {
        Some(true) => Ok(()),
        Some(false) if mark.is_birth() => Err(OTHER),
        Some(false) => Err("it has changed, and may be another file: browse the directory itself"),
        None => Err(unknown),
    }
}

impl Deleter for SavedDeleter {
    fn uses_trash(&self) -> bool {
        self.request.trash
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
        // Entries below another marked entry are deleted with that entry.
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
        if let Some(id) = self.shown.get(&now) {
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
        let mut deleted: Vec<Id> = results.deleted.into_iter().map(in_snapshot).collect();
        let gone: HashSet<Id> = deleted.iter().copied().collect();
        let inner = self.again.inner.iter();
        deleted.extend(
            inner
                .filter(|(_, outer)| gone.contains(outer))
                .map(|(id, _)| *id),
        );
        Results {
            deleted,
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
