//! Services whose answers a test knows.

use super::FakeTree;
use crate::service::{
    Actions, Comparison, Deleter, Deletion, DeletionProgress, Description, Export, Filter,
    IsWanted, MatchProgress, Matches, Results, Totals, Unshared,
};
use crate::tree::{Id, Kind, Order, SortKey, Tree};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// A filter that knows `-name '*END'` only.
pub(crate) struct FakeFilter(pub(crate) Arc<FakeTree>);

struct EndMatches {
    tree: Arc<FakeTree>,
    end: Vec<u8>,
}

impl Filter for FakeFilter {
    fn start(&self, words: &[String]) -> Result<Arc<dyn Matches>, String> {
        match words {
            [test, pattern] if test == "-name" && pattern.starts_with('*') => {
                let end = pattern.as_bytes()[1..].to_vec();
                Ok(Arc::new(EndMatches {
                    tree: Arc::clone(&self.0),
                    end,
                }))
            }
            _ => Err(format!("unknown predicate '{}'", words[0])),
        }
    }
}

impl EndMatches {
    /// Returns the entry with a path.
    fn find(&self, path: &[u8]) -> Option<Id> {
        let mut at = self.tree.top();
        let order = Order {
            key: SortKey::Name,
            ..Order::default()
        };
        for name in path
            .split(|&byte| byte == b'/')
            .filter(|name| !name.is_empty())
        {
            let items = self.tree.items(&self.tree.listing(at, order).ok()?).ok()?;
            at = items.iter().find(|item| item.name == name)?.id;
        }
        Some(at)
    }
}

impl Matches for EndMatches {
    fn progress(&self) -> MatchProgress {
        let progress = self.tree.progress();
        MatchProgress {
            entries: progress.entries,
            finished: progress.finished,
        }
    }

    fn error(&self) -> Option<String> {
        None
    }

    fn matched(&self, _directory: &[u8], name: &[u8]) -> bool {
        name.ends_with(&self.end)
    }

    fn totals(&self, path: &[u8]) -> Totals {
        let mut totals = Totals::default();
        let mut pending: Vec<Id> = self.find(path).into_iter().collect();
        while let Some(id) = pending.pop() {
            let item = self.tree.items(&[id]).unwrap().pop().unwrap();
            pending.extend(self.tree.listing(id, Order::default()).unwrap());
            if item.name.ends_with(&self.end) {
                totals.entries += 1;
                if item.kind != Kind::Directory {
                    totals.size += item.size;
                    totals.alloc += item.alloc;
                }
            }
        }
        totals
    }
}

/// Growth by the first letter of a name, and what is gone from the top.
pub(crate) struct FakeComparison;

impl Comparison for FakeComparison {
    fn growth(&self, _directory: &[u8], name: &[u8], alloc_now: u64) -> Option<i64> {
        match name[0] {
            b'm' => Some(i64::try_from(alloc_now).unwrap()),
            b's' => Some(-5_000_000),
            b'n' => None,
            _ => Some(0),
        }
    }

    fn departed(&self, directory: &[u8]) -> Vec<(Vec<u8>, u64)> {
        match directory {
            b"" => vec![(b"old\x1b.log".to_vec(), 70_000_000)],
            _ => Vec::new(),
        }
    }

    fn error(&self) -> Option<String> {
        None
    }
}

/// Deletes from a [`FakeTree`] what is not called `keep`.
pub(crate) struct FakeDeleter {
    pub(crate) tree: Arc<FakeTree>,
    pub(crate) into_trash: bool,
    /// The number of entries that the description holds, if it is not the true one.
    pub(crate) entries: Option<u64>,
    /// The deletion ends only when it is cancelled.
    pub(crate) is_endless: bool,
}

struct FakeDeletion {
    results: Results,
    finished: AtomicBool,
}

impl Deleter for FakeDeleter {
    fn uses_trash(&self) -> bool {
        self.into_trash
    }

    fn preparation(&self) -> &'static str {
        "adding up"
    }

    fn describe(&self, ids: &[Id], _: IsWanted<'_>) -> Result<Description, String> {
        let mut description = Description::default();
        for item in self.tree.items(ids).unwrap() {
            if item.name == b"mount" {
                description
                    .refusals
                    .push((item.id, "it is a mount point".to_owned()));
                continue;
            }
            description.entries += item.entries;
            description.freed = Some(description.freed.unwrap_or(0) + item.freeable.unwrap_or(0));
            description.oldest = Some(1_600_000_000);
            description.newest = description.newest.max(item.mtime);
        }
        description.entries = self.entries.unwrap_or(description.entries);
        Ok(description)
    }

    fn start(&self, ids: &[Id]) -> Result<Box<dyn Deletion>, String> {
        let mut results = Results::default();
        for item in self.tree.items(ids).unwrap() {
            if item.name.starts_with(b"keep") {
                results
                    .kept
                    .push((item.id, "Operation not permitted".to_owned()));
            } else {
                self.tree.remove(item.id);
                results.deleted.push(item.id);
            }
        }
        Ok(Box::new(FakeDeletion {
            results,
            finished: AtomicBool::new(!self.is_endless),
        }))
    }
}

impl Deletion for FakeDeletion {
    fn progress(&self) -> DeletionProgress {
        DeletionProgress {
            deleted: self.results.deleted.len() as u64,
            failed: self.results.kept.len() as u64,
            freed: 4096,
            finished: self.finished.load(Ordering::Relaxed),
        }
    }

    fn cancel(&self) {
        self.finished.store(true, Ordering::Relaxed);
    }

    fn results(&self) -> Results {
        self.results.clone()
    }
}

/// Remembers what was asked.
#[derive(Default)]
pub(crate) struct FakeActions(pub(crate) Mutex<Vec<String>>);

impl FakeActions {
    fn note(&self, text: String) {
        self.0.lock().unwrap().push(text);
    }
}

impl Actions for FakeActions {
    fn shell(&self, directory: &[u8]) -> Result<(), String> {
        self.note(format!("shell {}", String::from_utf8_lossy(directory)));
        Ok(())
    }

    fn rescan(&self, id: Id) -> Result<(), String> {
        self.note(format!("rescan {}", id.0));
        Ok(())
    }

    fn unshared(&self, ids: &[Id], _: IsWanted<'_>) -> Result<Unshared, String> {
        Ok(Unshared {
            freed: 1 << 20,
            unknown: ids.len() as u64 - 1,
            reason: (ids.len() > 1).then(|| "one: it is compressed".to_owned()),
        })
    }

    fn export(&self, id: Id, export: &Export<'_>) -> Result<Option<String>, String> {
        if export.file.ends_with("exists.json") {
            return Err("the file exists".to_owned());
        }
        let (format, file) = (export.format, export.file.display());
        let part = if export.matches.is_some() {
            " matches"
        } else {
            ""
        };
        self.note(format!("export {} {format:?} {file}{part}", id.0));
        Ok(None)
    }
}
