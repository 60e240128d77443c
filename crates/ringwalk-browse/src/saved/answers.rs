//! The answers to the questions of `tree/`.

use super::cells::{OF_ITEM, Row};
use super::freeable::Apart;
use super::{SnapshotView, groups, largest, listing, read_error};
use crate::tree::{Group, GroupKey, Id, Item, Order, Progress, Tree, Unreadable, Weight};
use ringwalk::sync::lock;
use ringwalk_snapshot::{Column, Cursor, ReadError};
use std::cmp::Reverse;
use std::io;
use std::ops::Range;

/// Rows of an entry: those of everything in it, and its own unless it is no row.
#[derive(Debug)]
struct Rows {
    below: Range<u64>,
    own: Option<u64>,
}

impl SnapshotView {
    /// Returns the rows of an entry; `None` if there is no such entry.
    fn rows_of(&self, id: Id) -> io::Result<Option<Rows>> {
        let rows = self.snapshot().rows();
        if id.0 >= rows {
            let is_top = self.has_several_roots() && id == self.top.id;
            return Ok(is_top.then_some(Rows {
                below: 0..rows,
                own: None,
            }));
        }
        let mut kept = lock(&self.kept);
        let below = kept.cursor.subtree(self.snapshot(), id.0);
        Ok(Some(Rows {
            below: below.map_err(|error| read_error(&error))?,
            own: Some(id.0),
        }))
    }

    /// Reads entries that are not kept.
    fn read_items(&self, missing: &[Id], cursor: &mut Cursor) -> Result<Vec<Item>, ReadError> {
        let mut items = Vec::with_capacity(missing.len());
        for id in missing {
            let (chunk, at) = cursor.row(self.snapshot(), id.0, &OF_ITEM)?;
            let name = self.root_name(id.0);
            if name.is_none() && chunk.name(at).is_empty() {
                return Err(self.snapshot().damaged("an entry has no name"));
            }
            items.push(Row { chunk, at }.item(*id, name));
        }
        Ok(items)
    }

    fn find_parent(&self, row: u64) -> Result<Option<u64>, ReadError> {
        let snapshot = self.snapshot();
        let mut kept = lock(&self.kept);
        if let Some(directory) = kept.directory_of(row) {
            return Ok(Some(directory));
        }
        let columns = [Column::Root, Column::Path, Column::PathRaw];
        let (chunk, at) = kept.cursor.row(snapshot, row, &columns)?;
        let root = chunk.integer(Column::Root, at);
        let root = root.and_then(|root| usize::try_from(root).ok());
        let path = chunk.path(at);
        let slash = path.iter().rposition(|byte| *byte == b'/');
        let directory = path[..slash.unwrap_or(0)].to_vec();
        let found = kept
            .cursor
            .locate(snapshot, root.unwrap_or(usize::MAX), &directory)?;
        // A directory comes behind everything in it.
        let found = found.filter(|found| *found > row);
        found.map_or_else(
            || Err(snapshot.damaged("an entry lies in no directory")),
            |found| Ok(Some(found)),
        )
    }
}

impl Tree for SnapshotView {
    fn top(&self) -> Id {
        self.top.id
    }

    /// Returns the path of the root; empty for a snapshot of several trees, in which the names of
    /// the entries of the top are absolute paths.
    fn path_of_top(&self) -> Vec<u8> {
        self.absolute(b"")
    }

    fn progress(&self) -> Progress {
        Progress {
            entries: self.snapshot().rows(),
            alloc: self.top.alloc,
            errors: self.errors(),
            finished: true,
            generation: 0,
        }
    }

    fn unreadable(&self) -> Vec<Unreadable> {
        self.find_unreadable()
    }

    fn items(&self, ids: &[Id]) -> io::Result<Vec<Item>> {
        let rows = self.snapshot().rows();
        let mut kept = lock(&self.kept);
        let mut found: Vec<Option<Item>> = Vec::with_capacity(ids.len());
        let mut missing = Vec::new();
        for id in ids {
            let item = if *id == self.top.id {
                Some(self.top.clone())
            } else if id.0 >= rows {
                None
            } else {
                let item = kept.item(*id);
                if item.is_none() {
                    missing.push((*id, found.len()));
                }
                item
            };
            found.push(item);
        }
        // In the order of the rows each page is read once.
        missing.sort_unstable();
        let rows: Vec<Id> = missing.iter().map(|(id, _)| *id).collect();
        let read = self.read_items(&rows, &mut kept.cursor);
        for (item, (_, at)) in read
            .map_err(|error| read_error(&error))?
            .into_iter()
            .zip(missing)
        {
            kept.keep(item.clone());
            found[at] = Some(item);
        }
        Ok(found.into_iter().flatten().collect())
    }

    fn parent(&self, id: Id) -> io::Result<Option<Id>> {
        if id == self.top.id || id.0 >= self.snapshot().rows() {
            return Ok(None);
        }
        if self.root_name(id.0).is_some() {
            return Ok(Some(self.top.id));
        }
        let parent = self.find_parent(id.0);
        Ok(parent.map_err(|error| read_error(&error))?.map(Id))
    }

    fn listing(&self, directory: Id, order: Order) -> io::Result<Vec<Id>> {
        if self.has_several_roots() && directory == self.top.id {
            let ids: Vec<Id> = self.roots.iter().map(|(row, _)| Id(*row)).collect();
            let mut items = self.items(&ids)?;
            items.sort_by(|a, b| order.compare(a, b));
            return Ok(items.into_iter().map(|item| item.id).collect());
        }
        let snapshot = self.snapshot();
        if directory.0 >= snapshot.rows() {
            return Ok(Vec::new());
        }
        let rows = {
            let mut kept = lock(&self.kept);
            let rows = kept.cursor.listing(snapshot, directory.0);
            let rows = rows.map_err(|error| read_error(&error))?;
            kept.note_listing(rows.clone(), directory.0);
            rows
        };
        let sorted = listing::sorted(snapshot, rows, order);
        let sorted = sorted.map_err(|error| read_error(&error))?;
        Ok(sorted.into_iter().map(Id).collect())
    }

    fn largest_files(&self, directory: Id, weight: Weight, most: usize) -> io::Result<Vec<Id>> {
        let Some(rows) = self.rows_of(directory)? else {
            return Ok(Vec::new());
        };
        let largest = largest::largest(self.snapshot(), rows.below, weight, most);
        let largest = largest.map_err(|error| read_error(&error))?;
        Ok(largest.into_iter().map(Id).collect())
    }

    fn groups(&self, directory: Id, key: GroupKey) -> io::Result<Vec<Group>> {
        if directory.0 > self.snapshot().rows() {
            return Ok(Vec::new());
        }
        let under = if directory == self.top.id {
            None
        } else {
            Some(self.absolute(&self.path(directory)?))
        };
        groups::groups(self.snapshot(), under, key)
    }

    fn freeable(&self, ids: &[Id]) -> io::Result<Option<u64>> {
        let mut all = Vec::new();
        for id in ids {
            match self.rows_of(*id)? {
                Some(Rows {
                    own: Some(row),
                    below,
                }) => all.push((row, below)),
                Some(Rows { own: None, .. }) => {
                    for (row, _) in &self.roots {
                        if let Some(rows) = self.rows_of(Id(*row))? {
                            all.push((*row, rows.below));
                        }
                    }
                }
                None => {}
            }
        }
        // A directory comes before everything in it.
        all.sort_unstable_by_key(|(row, _)| Reverse(*row));
        let mut apart = Apart::default();
        for (row, below) in all {
            apart.add(row, below);
        }
        let ids: Vec<Id> = apart.rows.iter().map(|row| Id(*row)).collect();
        let items = self.items(&ids)?;
        if let [item] = &items[..] {
            return Ok(item.freeable);
        }
        // A file with names in several entries counts in the first of them, and is not freeable
        // there. So if there is no difference, there is no such file.
        let counts = |item: &Item| if item.charged { item.alloc } else { 0 };
        if items.iter().all(|item| item.freeable == Some(counts(item))) {
            let freeable = items.iter().filter_map(|item| item.freeable);
            return Ok(Some(freeable.fold(0, u64::saturating_add)));
        }
        let freeable = apart.freeable(self.snapshot());
        freeable.map_err(|error| read_error(&error))
    }

    fn path(&self, id: Id) -> io::Result<Vec<u8>> {
        if id == self.top.id {
            return Ok(Vec::new());
        }
        if id.0 >= self.snapshot().rows() {
            return Err(io::ErrorKind::NotFound.into());
        }
        let mut kept = lock(&self.kept);
        let path = self.path_of_row(id.0, &mut kept.cursor);
        path.map_err(|error| read_error(&error))
    }
}
