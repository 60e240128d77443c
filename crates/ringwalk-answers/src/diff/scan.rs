//! The work on files: threads, and reading single values.

use super::change::Location;
use super::choices::Which;
use super::classify::Files;
use super::file_systems::Numbers;
use super::merge::{Block, Findings, Merge, Rows};
use super::pieces::SharedRoot;
use super::same::SamePages;
use super::version::InodeKey;
use ringwalk::FileType;
use ringwalk_snapshot::{Column, Decoder, HASH_BYTES, Page, ReadError, RowCounter, Snapshot};
use ringwalk_sys::sync::lock;
use std::collections::HashSet;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::atomic::{self, AtomicBool, AtomicUsize};
use std::sync::{Arc, Mutex};

/// The columns of a path.
pub(super) const PATH: [Column; 2] = [Column::Path, Column::PathRaw];

/// Reads a range of rows, a page at a time.
#[derive(Debug)]
pub(super) struct Pages<'s> {
    snapshot: &'s Snapshot,
    /// The rows that are still to be read.
    rows: Range<u64>,
    columns: &'s [Column],
    decoder: Decoder,
    block: PageBlock,
}

impl<'s> Pages<'s> {
    pub(super) fn new(snapshot: &'s Snapshot, rows: Range<u64>, columns: &'s [Column]) -> Self {
        Self {
            snapshot,
            rows,
            columns,
            decoder: Decoder::default(),
            block: PageBlock {
                page: Page::default(),
                rows: 0..0,
                begin: 0,
            },
        }
    }

    /// Goes on with these rows.
    pub(super) fn turn_to(&mut self, rows: Range<u64>) {
        self.rows = rows;
    }

    /// Turns to a whole page, and reads these columns of it.
    pub(super) fn load_page(
        &mut self,
        page: &Range<u64>,
        is_wanted: impl Fn(Column) -> bool,
    ) -> Result<&mut PageBlock, ReadError> {
        self.block.page.turn_to(self.snapshot, page.start);
        self.block.rows = page.clone();
        self.block.begin = 0;
        self.load_more(is_wanted)
    }

    /// Reads more columns of this page.
    pub(super) fn load_more(
        &mut self,
        is_wanted: impl Fn(Column) -> bool,
    ) -> Result<&mut PageBlock, ReadError> {
        for column in self.columns.iter().filter(|column| is_wanted(**column)) {
            let page = &mut self.block.page;
            page.load(self.snapshot, &[*column], &mut self.decoder)?;
        }
        Ok(&mut self.block)
    }
}

impl Rows for Pages<'_> {
    type Block = PageBlock;

    fn next(&mut self) -> Result<Option<&PageBlock>, ReadError> {
        if self.rows.is_empty() {
            return Ok(None);
        }
        let block = &mut self.block;
        block.page.turn_to(self.snapshot, self.rows.start);
        let page = block.page.rows();
        if page.is_empty() {
            return Err(self.snapshot.damaged("it has too few rows"));
        }
        block
            .page
            .load(self.snapshot, self.columns, &mut self.decoder)?;
        block.begin = usize::try_from(self.rows.start - page.start).unwrap_or(usize::MAX);
        block.rows = self.rows.start..page.end.min(self.rows.end);
        self.rows.start = block.rows.end;
        Ok(Some(&self.block))
    }
}

/// The rows of a page that lie in a range.
#[derive(Debug)]
pub(super) struct PageBlock {
    page: Page,
    rows: Range<u64>,
    /// Index in the page of the first row.
    begin: usize,
}

impl Block for PageBlock {
    fn first_row(&self) -> u64 {
        self.rows.start
    }

    fn len(&self) -> usize {
        usize::try_from(self.rows.end - self.rows.start).unwrap_or(usize::MAX)
    }

    #[inline]
    fn path(&self, at: usize) -> &[u8] {
        self.page.chunk().path(self.begin + at)
    }

    #[inline]
    fn file_type(&self, at: usize) -> FileType {
        self.page.chunk().file_type(self.begin + at)
    }

    fn integers(&self, column: Column) -> &[i64] {
        let numbers = self.page.chunk().integers(column);
        numbers.get(self.begin..).unwrap_or_default()
    }

    #[inline]
    fn integer(&self, column: Column, at: usize) -> Option<i64> {
        self.page.chunk().integer(column, self.begin + at)
    }

    fn is_absent(&self, column: Column) -> bool {
        self.page.chunk().is_absent(column)
    }

    fn hash(&self, at: usize) -> Option<&[u8; HASH_BYTES]> {
        self.page.chunk().hash(self.begin + at)
    }

    fn has_same_types(&self, rows: Range<usize>, other: &Self, other_first: usize) -> bool {
        self.page.chunk().has_same_texts(
            Column::Type,
            self.begin + rows.start..self.begin + rows.end,
            other.page.chunk(),
            other.begin + other_first,
        )
    }

    #[inline]
    fn text(&self, column: Column, at: usize) -> Option<&[u8]> {
        self.page.chunk().bytes(column, self.begin + at)
    }
}

/// Two snapshots and how to read them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reader<'a> {
    pub(super) old: &'a Snapshot,
    pub(super) new: &'a Snapshot,
    /// The columns that are compared.
    pub(super) columns: &'a [Column],
    pub(super) numbers: &'a Numbers<'a>,
    pub(super) roots: &'a [SharedRoot],
    pub(super) threads: NonZeroUsize,
    /// Counts rows of both snapshots that were compared.
    pub(super) progress: &'a RowCounter,
    /// True if the work is to end early. Results may then be missing.
    pub(super) stop: &'a AtomicBool,
}

impl Reader<'_> {
    fn snapshot(&self, which: Which) -> &Snapshot {
        match which {
            Which::Old => self.old,
            Which::New => self.new,
        }
    }

    /// Merges all roots.
    pub(super) fn merge(&self) -> Result<Findings, ReadError> {
        let mut pieces = Vec::new();
        for root in self.roots {
            self.cut(root, &mut pieces)?;
        }
        let merged = self.each(&pieces, |piece| {
            let merge = Merge {
                root: piece.root,
                numbers: self.numbers,
            };
            SamePages::new(self, merge).run(piece, |rows| self.progress.add(rows))
        })?;
        let mut all = Findings::default();
        for found in merged {
            all.append(found);
        }
        Ok(all)
    }

    /// Calls `work` for each item on several threads. Returns the results in the order of the
    /// items, or the first error.
    fn each<I: Sync, T: Send>(
        &self,
        items: &[I],
        work: impl Fn(&I) -> Result<T, ReadError> + Sync,
    ) -> Result<Vec<T>, ReadError> {
        let next = AtomicUsize::new(0);
        let results = Mutex::new(Vec::with_capacity(items.len()));
        let run = || {
            while !self.stop.load(atomic::Ordering::Relaxed) {
                let at = next.fetch_add(1, atomic::Ordering::Relaxed);
                let Some(item) = items.get(at) else { return };
                let result = work(item);
                if result.is_err() {
                    next.store(items.len(), atomic::Ordering::Relaxed);
                }
                lock(&results).push((at, result));
            }
        };
        std::thread::scope(|scope| {
            let others = self.threads.get().min(items.len()).saturating_sub(1);
            for _ in 0..others {
                // Without another thread the work takes longer.
                let _ = std::thread::Builder::new().spawn_scoped(scope, run);
            }
            run();
        });
        let mut results = std::mem::take(&mut *lock(&results));
        results.sort_unstable_by_key(|(at, _)| *at);
        results.into_iter().map(|(_, result)| result).collect()
    }
}

impl Files for Reader<'_> {
    fn rows_of(
        &self,
        which: Which,
        wanted: &HashSet<InodeKey>,
    ) -> Result<Vec<(InodeKey, u64)>, ReadError> {
        let snapshot = self.snapshot(which);
        let numbers = match which {
            Which::Old => &self.numbers.old,
            Which::New => &self.numbers.new,
        };
        let groups = snapshot.row_groups();
        let found = self.each(groups, |rows| {
            let mut found = Vec::new();
            let mut pages = Pages::new(snapshot, rows.clone(), &[Column::Ino, Column::Fs]);
            while let Some(block) = pages.next()? {
                for (at, ino) in block.integers(Column::Ino).iter().enumerate() {
                    let fs = block.integer(Column::Fs, at);
                    let fs = fs.and_then(|fs| usize::try_from(fs).ok());
                    let number = fs.and_then(|fs| numbers.get(fs));
                    if let Some(number) = number
                        && wanted.contains(&(*number, *ino))
                        && block.integer(Column::Ino, at).is_some()
                    {
                        found.push(((*number, *ino), block.first_row() + at as u64));
                    }
                }
            }
            Ok(found)
        })?;
        Ok(found.into_iter().flatten().collect())
    }

    fn locations(&self, which: Which, rows: &[u64]) -> Result<Vec<Location>, ReadError> {
        let snapshot = self.snapshot(which);
        let mut locations = Vec::with_capacity(rows.len());
        read_rows(snapshot, rows, &PATH, |block, at| {
            let row = block.first_row() + at as u64;
            let has_row = |root: &&SharedRoot| match which {
                Which::Old => root.old.contains(&row),
                Which::New => root.new.contains(&row),
            };
            let root = self.roots.iter().find(has_row);
            locations.push(Location {
                root: root.map_or(0, |root| root.root),
                path: Arc::from(block.path(at)),
            });
        })?;
        Ok(locations)
    }
}

/// Returns the targets of the symbolic links at these sorted rows.
pub(super) fn targets(
    snapshot: &Snapshot,
    rows: &[u64],
) -> Result<Vec<Option<Vec<u8>>>, ReadError> {
    let mut targets = Vec::with_capacity(rows.len());
    read_rows(snapshot, rows, &[Column::Target], |block, at| {
        targets.push(block.text(Column::Target, at).map(<[u8]>::to_vec));
    })?;
    Ok(targets)
}

/// Calls `take` for each of these sorted rows. Rows of one page are read together.
fn read_rows(
    snapshot: &Snapshot,
    rows: &[u64],
    columns: &'static [Column],
    mut take: impl FnMut(&PageBlock, usize),
) -> Result<(), ReadError> {
    let mut rest = rows;
    while let Some(first) = rest.first() {
        let page = snapshot.page_of(*first);
        let mut pages = Pages::new(snapshot, *first..page.end, columns);
        let block = pages.next()?;
        let block = block.ok_or_else(|| snapshot.damaged("it has too few rows"))?;
        let (here, later) = rest.split_at(rest.partition_point(|row| *row < page.end));
        for row in here {
            take(block, usize::try_from(row - first).unwrap_or(usize::MAX));
        }
        rest = later;
    }
    Ok(())
}

/// Returns the rows of each root.
pub(super) fn root_rows(snapshot: &Snapshot) -> Result<Vec<Range<u64>>, ReadError> {
    let mut rows = Vec::new();
    let mut start = 0;
    for root in 0..snapshot.info().roots.len() {
        // The row of a root is the last of its tree.
        let last = snapshot.locate(root, b"")?.filter(|row| *row >= start);
        let last = last.ok_or_else(|| snapshot.damaged("a root has no row"))?;
        rows.push(start..last + 1);
        start = last + 1;
    }
    if start != snapshot.rows() {
        return Err(snapshot.damaged("rows follow the last root"));
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use crate::diff::{Diff, DiffError, DiffOptions, Kind, Which, diff};
    use ringwalk::{FileType, Timestamp};
    use ringwalk_snapshot::{
        Attributes, Entry, FileSystemInfo, Info, Snapshot, Text, TreeBuilder, WriteOptions,
    };
    use std::num::NonZeroUsize;

    /// Writes a tree of 70 directories with 40 files each. `is_new` has some changes.
    fn snapshot(roots: &[&str], is_new: bool) -> Snapshot {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("snapshot");
        let mut tree = TreeBuilder::new(WriteOptions::default());
        for root in roots {
            let begin = if *root == "/r" { 10_000 } else { 20_000 };
            let entry = entry("", FileType::Directory, begin);
            tree.begin_root(root.as_bytes(), &entry).unwrap();
            for directory in 0..70_u64 {
                let ino = begin + directory * 100 + 1;
                let is_moved = is_new && directory == 33;
                let name = format!("{}{directory}", if is_moved { "moved" } else { "d" });
                tree.begin_directory(&self::entry(&name, FileType::Directory, ino))
                    .unwrap();
                for file in 0..40_u64 {
                    let number = ino + 1 + file;
                    let mut name = format!("f{file}");
                    if is_new && number.is_multiple_of(97) {
                        continue;
                    }
                    if is_new && number.is_multiple_of(101) {
                        name.push_str(".bak");
                    }
                    let link = format!("target {}", is_new && number.is_multiple_of(103));
                    let mut entry = self::entry(&name, FileType::Symlink, number);
                    entry.target = Some(link.as_bytes());
                    if is_new && number.is_multiple_of(103) {
                        entry.attributes.mtime = None;
                        entry.attributes.btime = Some(Timestamp { secs: 1, nanos: 1 });
                    }
                    tree.file(&entry).unwrap();
                }
                tree.end_directory().unwrap();
            }
            tree.end_directory().unwrap();
        }
        let mut file_system = FileSystemInfo::default();
        file_system.kind = Some("ext4".to_owned());
        file_system.mount_point = Some(Text::from(&b"/"[..]));
        file_system.device = 1;
        let mut info = Info::default();
        info.file_systems.push(file_system);
        tree.finish(info, &path).unwrap();
        Snapshot::open(&path).unwrap()
    }

    fn entry(name: &str, file_type: FileType, ino: u64) -> Entry<'_> {
        let mut entry = Entry::new(name.as_bytes(), file_type);
        let time = Timestamp { secs: 1, nanos: 0 };
        entry.attributes = Attributes {
            ino: Some(ino),
            dev: Some(1),
            nlink: Some(1),
            alloc: Some(ino % 7 * 512),
            mtime: Some(time),
            btime: Some(time),
            ..Attributes::default()
        };
        entry
    }

    fn compare(old: &Snapshot, new: &Snapshot, threads: usize) -> Diff {
        let options = DiffOptions {
            threads: NonZeroUsize::new(threads).unwrap(),
            ..DiffOptions::default()
        };
        let diff = diff(old, new, &options).unwrap();
        let progress = options.progress;
        assert_eq!(progress.done(), old.rows() + new.rows());
        assert_eq!(progress.total(), Some(progress.done()));
        diff
    }

    #[test]
    fn the_number_of_threads_changes_nothing() {
        let (old, new) = (
            snapshot(&["/r", "/s"], false),
            snapshot(&["/s", "/r"], true),
        );
        let one = compare(&old, &new, 1);
        // Two directories and 80 files, of which two have another time of birth.
        assert_eq!(one.count(Kind::Renamed), 2 + 80 - 2);
        assert_eq!(one.count(Kind::Replaced), 52);
        assert!(one.count(Kind::Removed) >= 54);
        for threads in [2, 3, 8] {
            assert_eq!(compare(&old, &new, threads).changes, one.changes);
        }
        let back = compare(&new, &old, 3);
        assert_eq!(back.changes.len(), one.changes.len());
        assert_eq!(back.growth(), -one.growth());
    }

    #[test]
    fn targets_of_links_are_those_of_the_rows() {
        let diff = compare(&snapshot(&["/r"], false), &snapshot(&["/r"], true), 3);
        let replaced = diff
            .changes
            .iter()
            .filter(|change| change.kind == Kind::Replaced);
        let targets: Vec<_> = replaced.map(|change| change.targets.clone()).collect();
        assert!(targets.len() > 20);
        let expected = [b"target false".to_vec(), b"target true".to_vec()];
        assert!(
            targets
                .iter()
                .all(|targets| targets.as_ref() == Some(&expected)),
            "{targets:?}"
        );
    }

    #[test]
    fn a_root_that_one_snapshot_lacks_is_named() {
        let (one, two) = (snapshot(&["/r"], false), snapshot(&["/r", "/s"], false));
        let missing = |old, new| match diff(old, new, &DiffOptions::default()) {
            Err(DiffError::Root {
                path, missing_in, ..
            }) => (path, missing_in),
            other => panic!("{other:?}"),
        };
        assert_eq!(missing(&one, &two), (b"/s".to_vec(), Which::Old));
        assert_eq!(missing(&two, &one), (b"/s".to_vec(), Which::New));
    }
}
