//! Puts the staged listings in order, and makes rows of them.
//!
//! The directories are gone through depth first, in the order of their names. When all below a
//! directory is written, its own listing follows. So totals and row numbers of the subdirectories
//! are known when their rows are written.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    reason = "numbers of rows, directories and roots are far below 2^31 and 2^63"
)]

use super::failures::Failures;
use super::file_cells;
use super::links::Links;
use super::listing::Listing;
use super::pack::{Unpacked, Unpacker};
use super::rows::{Lists, Rows};
use super::spill::Spool;
use super::stage::Staged;
use super::totals::{Finished, Totals};
use crate::entry::Failure;
use crate::read::FirstRow;
use crate::schema::{Attributes, Column, Contents, PAGE_ROWS};
use crate::time::clamp;
use crate::write::WriteOptions;
use crate::write::path::RowPath;
use ringwalk::FileType;
use std::collections::{BTreeMap, BTreeSet};
use std::io;

/// What the rows refer to, in the order in which it came up.
#[derive(Debug, Default)]
pub(crate) struct Referred {
    /// Device numbers, by the index of the file system.
    pub(crate) devices: Vec<u64>,
    pub(crate) users: BTreeSet<u32>,
    pub(crate) groups: BTreeSet<u32>,
    pub(crate) rows: u64,
    /// The number of rows with an error.
    pub(crate) errors: u64,
    /// The number of failures reported with a path for which there is a row.
    pub(crate) placed: u64,
}

/// Takes rows, a page at a time.
pub(crate) trait Sink {
    /// Takes the extended attributes of the first rows of the next page, or of the rows after
    /// those that it was given before.
    fn lists(&mut self, lists: Lists) -> io::Result<()>;

    /// Takes a page, and what its first row is. It has the extended attributes of the last rows.
    fn page(&mut self, rows: Rows, first: FirstRow) -> io::Result<()>;

    /// Returns an empty buffer.
    fn buffer(&mut self) -> Rows;
}

/// A directory that is being gone through.
#[derive(Debug)]
struct Frame<'a> {
    listing: Listing<'a>,
    /// Bytes that the listing took in memory at first.
    kept: usize,
    /// The finished subdirectories, packed.
    finished: Spool,
    first_row: u64,
    /// The length of the path of this directory.
    path: usize,
    totals: Totals,
}

/// Makes the rows of all trees.
pub(crate) struct Assembler<'a, S> {
    staged: &'a Staged,
    contents: Contents,
    failures: &'a Failures,
    sink: S,
    rows: Rows,
    /// The first row of `rows`.
    first: FirstRow,
    frames: Vec<Frame<'a>>,
    /// Bytes of merged listings that may be in memory.
    keep: usize,
    /// The ranks of the directories in `frames`.
    ranks: Vec<u64>,
    next_rank: u64,
    next_number: u64,
    links: Links<'a>,
    devices: BTreeMap<u64, i64>,
    path: RowPath,
    referred: Referred,
    /// Owner and group of the row before.
    owners: (Option<u32>, Option<u32>),
    root: usize,
}

impl<'a, S: Sink> Assembler<'a, S> {
    pub(crate) fn new(
        staged: &'a Staged,
        options: &WriteOptions,
        failures: &'a Failures,
        mut sink: S,
    ) -> io::Result<Self> {
        let half = options.sorting() / 2;
        Ok(Self {
            staged,
            contents: options.contents,
            failures,
            rows: sink.buffer(),
            sink,
            first: FirstRow::default(),
            frames: Vec::new(),
            keep: half,
            ranks: Vec::new(),
            next_rank: 1,
            next_number: 0,
            links: Links::new(staged, half)?,
            devices: BTreeMap::new(),
            path: RowPath::default(),
            referred: Referred::default(),
            owners: (None, None),
            root: 0,
        })
    }

    /// Makes the rows of all roots. Returns what they refer to, and the sink.
    pub(crate) fn run(mut self) -> io::Result<(Referred, S)> {
        self.staged.listing(0, 0)?.entries(|roots| {
            let mut unpacker = Unpacker::default();
            while let Some(root) = unpacker.next(roots) {
                self.path.set(b"");
                let finished = match root.child {
                    Some(child) => Some(self.tree(child)?),
                    None => None,
                };
                self.path.set(b"");
                self.row(&root, None, finished.as_ref())?;
                self.root += 1;
            }
            Ok(())
        })?;
        if self.rows.len() > 0 {
            let mut rows = std::mem::take(&mut self.rows);
            rows.end_page();
            self.sink.page(rows, std::mem::take(&mut self.first))?;
        }
        Ok((self.referred, self.sink))
    }

    /// Makes the rows below a root.
    fn tree(&mut self, directory: u64) -> io::Result<Finished> {
        self.enter(directory)?;
        loop {
            if self.enter_next()? {
                continue;
            }
            let finished = self.leave()?;
            match self.frames.last_mut() {
                Some(parent) => finished.pack(parent.finished.buffer(&self.staged.spill)?),
                None => return Ok(finished),
            }
        }
    }

    fn enter(&mut self, directory: u64) -> io::Result<()> {
        let listing = self.staged.listing(directory, self.keep)?;
        let kept = listing.kept();
        self.keep = self.keep.saturating_sub(kept);
        self.frames.push(Frame {
            listing,
            kept,
            finished: Spool::default(),
            first_row: self.referred.rows,
            path: self.path.len(),
            totals: Totals::default(),
        });
        self.ranks.push(self.next_rank);
        self.next_rank += 1;
        Ok(())
    }

    /// Enters the next subdirectory of the last frame. Returns false if there is none.
    fn enter_next(&mut self) -> io::Result<bool> {
        let Some(frame) = self.frames.last_mut() else {
            return Ok(false);
        };
        self.path.truncate(frame.path);
        let child = frame.listing.next_child(|name| self.path.push(name))?;
        let Some(directory) = child else {
            return Ok(false);
        };
        self.enter(directory)?;
        Ok(true)
    }

    /// Writes the listing of the last frame, and removes the frame.
    fn leave(&mut self) -> io::Result<Finished> {
        let number = self.next_number;
        self.next_number += 1;
        let Some(frame) = self.frames.last_mut() else {
            return Ok(Finished::default());
        };
        let spill = &self.staged.spill;
        let listing = std::mem::replace(&mut frame.listing, Listing::new(self.staged, Vec::new()));
        let mut finished = std::mem::take(&mut frame.finished);
        finished.rewind(spill)?;
        let (path, first, kept) = (frame.path, frame.first_row, frame.kept);
        listing.entries(|entries| {
            let mut unpacker = Unpacker::default();
            while let Some(entry) = unpacker.next(entries) {
                self.path.truncate(path);
                self.path.push(entry.entry.name);
                let child = match entry.child {
                    Some(_) => Some(finished.next(spill, Finished::unpack)?),
                    None => None,
                };
                self.row(&entry, Some(number), child.as_ref())?;
            }
            Ok(())
        })?;
        self.keep += kept;
        self.ranks.pop();
        let frame = self.frames.pop();
        Ok(Finished {
            number,
            first,
            end: self.referred.rows,
            below: frame.map(|frame| frame.totals).unwrap_or_default(),
        })
    }

    /// Writes the row of an entry whose path is set.
    fn row(
        &mut self,
        entry: &Unpacked<'_>,
        dir: Option<u64>,
        finished: Option<&Finished>,
    ) -> io::Result<()> {
        let failure = self.failure(entry);
        let is_charged = self.charge(entry)?;
        let a = &entry.entry.attributes;
        let own = own_totals(entry, is_charged, failure.is_some());
        let mut tree = own;
        if let Some(finished) = finished {
            tree.add(&finished.below);
        }
        if let Some(frame) = self.frames.last_mut() {
            frame.totals.add(&tree);
        }
        if self.rows.len() == 0 {
            self.first.root = self.root as u32;
            self.first.path = self.path.raw().into();
        }
        let id = self.referred.rows;
        let rows = &mut self.rows;
        rows.number(Column::Id, Some(id as i64));
        rows.number(Column::Root, Some(self.root as i64));
        rows.number(Column::Dir, dir.map(|dir| dir as i64));
        self.path.write(rows);
        rows.boolean(Column::Charged, is_charged);
        file_cells::write(&entry.entry, failure, self.contents, rows);
        let is_directory = entry.entry.file_type == FileType::Directory;
        subtree(is_directory.then_some(&tree), finished, rows);
        if self.contents.xattrs {
            let unread = failure.is_some() && entry.xattrs().next().is_none();
            if let Some(lists) = rows.full_lists(entry.xattrs()) {
                self.sink.lists(lists)?;
            }
            rows.xattrs((!unread).then(|| entry.xattrs()));
        }
        let fs = a.dev.map(|dev| self.file_system(dev));
        self.rows.number(Column::Fs, fs);
        self.note_owners(a);
        self.referred.errors += u64::from(failure.is_some());
        self.end_row()
    }

    fn end_row(&mut self) -> io::Result<()> {
        self.rows.end_row();
        self.referred.rows += 1;
        if self.rows.len() == PAGE_ROWS {
            let next = self.sink.buffer();
            let mut rows = std::mem::replace(&mut self.rows, next);
            rows.end_page();
            self.sink.page(rows, std::mem::take(&mut self.first))?;
        }
        Ok(())
    }

    fn failure(&mut self, entry: &Unpacked<'_>) -> Option<Failure> {
        let reported = self.failures.get(self.root, self.path.raw());
        self.referred.placed += u64::from(reported.is_some());
        reported.or(entry.entry.failure)
    }

    /// Returns true if the entry counts in sums. Adds the space of a file, whose links all lie
    /// below one directory, to the freeable bytes of that directory.
    fn charge(&mut self, entry: &Unpacked<'_>) -> io::Result<bool> {
        let Some((file, nlink)) = entry.link() else {
            return Ok(entry.entry.skipped.is_none());
        };
        let name = self.links.add(file, nlink, &self.ranks)?;
        if entry.has_links()
            && let Some(depth) = name.all_below
            && let Some(holder) = self.frames.get_mut(depth)
        {
            let freed = entry.entry.attributes.alloc.unwrap_or_default();
            holder.totals.freeable = holder.totals.freeable.saturating_add(freed);
        }
        Ok(name.is_first)
    }

    /// Notes owner and group, which are mostly the same as in the row before.
    fn note_owners(&mut self, a: &Attributes) {
        let owners = (a.uid, a.gid);
        if self.owners != owners {
            self.owners = owners;
            self.referred.users.extend(a.uid);
            self.referred.groups.extend(a.gid);
        }
    }

    fn file_system(&mut self, dev: u64) -> i64 {
        let devices = &mut self.referred.devices;
        *self.devices.entry(dev).or_insert_with(|| {
            devices.push(dev);
            devices.len() as i64 - 1
        })
    }
}

/// Returns the totals of one row.
fn own_totals(entry: &Unpacked<'_>, is_charged: bool, failed: bool) -> Totals {
    let a = &entry.entry.attributes;
    let counted = |value: Option<u64>| {
        if is_charged {
            value.unwrap_or_default()
        } else {
            0
        }
    };
    Totals {
        entries: 1,
        size: counted(a.size),
        alloc: counted(a.alloc),
        freeable: if entry.has_links() {
            0
        } else {
            counted(a.alloc)
        },
        errors: u64::from(failed),
        mtime: a.mtime.map(|time| clamp(time).0),
    }
}

/// Adds the columns of a directory: its number, the rows below it, and its totals.
fn subtree(tree: Option<&Totals>, finished: Option<&Finished>, rows: &mut Rows) {
    let number = finished.map(|finished| finished.number as i64);
    rows.number(Column::SelfDir, number);
    let below = finished.filter(|finished| finished.end > finished.first);
    rows.number(Column::TreeFirst, below.map(|below| below.first as i64));
    rows.number(Column::TreeLast, below.map(|below| below.end as i64 - 1));
    let total =
        |value: fn(&Totals) -> u64| tree.map(|tree| i64::try_from(value(tree)).unwrap_or(i64::MAX));
    rows.number(Column::TreeEntries, total(|tree| tree.entries));
    rows.number(Column::TreeSize, total(|tree| tree.size));
    rows.number(Column::TreeAlloc, total(|tree| tree.alloc));
    rows.number(Column::TreeFreeable, total(|tree| tree.freeable));
    rows.number(Column::TreeMtime, tree.and_then(|tree| tree.mtime));
    rows.number(Column::TreeErrors, total(|tree| tree.errors));
}
