//! Pages that have the same paths in both files.
//!
//! Most directories keep their names from one snapshot to the next. Then many pages have the same
//! paths at the same rows, and most of their columns are stored alike in both files. Such a column
//! is decoded once at most. Everything between these pages is merged row by row:
//!
//! ```text
//!   old  | merged | same | same | merged     | same |
//!   new  | merged     | same | same | merged | same |      same: equal row numbers
//! ```

use super::choices::Which;
use super::merge::{Block, Findings, Merge, is_compared};
use super::pieces::SharedRoot;
use super::scan::{PageBlock, Pages, Reader};
use ringwalk::FileType;
use ringwalk_snapshot::{Column, ColumnSet, HASH_BYTES, ReadError, StoredAlike};
use std::ops::Range;

const PATHS: [Column; 2] = [Column::PathRaw, Column::Path];

/// The columns that say what a snapshot does not know.
const NOTES: [Column; 3] = [Column::Errno, Column::Operation, Column::Skipped];

/// The merge of a piece of one root.
pub(super) struct SamePages<'a> {
    reader: &'a Reader<'a>,
    merge: Merge<'a>,
    stored: StoredAlike<'a>,
    old: Pages<'a>,
    new: Pages<'a>,
    is_dirty: Vec<bool>,
    found: Findings,
}

impl<'a> SamePages<'a> {
    pub(super) fn new(reader: &'a Reader<'a>, merge: Merge<'a>) -> Self {
        Self {
            reader,
            merge,
            stored: StoredAlike::new(reader.old, reader.new),
            old: Pages::new(reader.old, 0..0, reader.columns),
            new: Pages::new(reader.new, 0..0, reader.columns),
            is_dirty: Vec::new(),
            found: Findings::default(),
        }
    }

    /// Merges a piece. Calls `compared` with numbers of rows.
    pub(super) fn run(
        mut self,
        piece: &SharedRoot,
        mut compared: impl FnMut(u64),
    ) -> Result<Findings, ReadError> {
        let mut rest = piece.clone();
        let both = piece.old.start.max(piece.new.start)..piece.old.end.min(piece.new.end);
        let mut at = both.start;
        while at < both.end {
            let page = self.reader.old.page_of(at);
            at = page.end.max(at + 1);
            let is_within = both.start <= page.start && page.end <= both.end;
            if !is_within || page.is_empty() || !has_same_paths(&mut self.stored, &page)? {
                continue;
            }
            self.merge_rows(&rest, page.start, page.start, &mut compared)?;
            self.compare_page(&page)?;
            compared(2 * (page.end - page.start));
            (rest.old.start, rest.new.start) = (page.end, page.end);
        }
        self.merge_rows(&rest, rest.old.end, rest.new.end, &mut compared)?;
        Ok(self.found)
    }

    /// Merges the rows before these.
    fn merge_rows(
        &mut self,
        rest: &SharedRoot,
        old: u64,
        new: u64,
        compared: &mut impl FnMut(u64),
    ) -> Result<(), ReadError> {
        if rest.old.start == old && rest.new.start == new {
            return Ok(());
        }
        self.old.turn_to(rest.old.start..old);
        self.new.turn_to(rest.new.start..new);
        let found = self.merge.run(&mut self.old, &mut self.new, |rows| {
            compared(rows as u64);
        })?;
        self.found.append(found);
        Ok(())
    }

    /// Compares a page that has the same paths in both files.
    fn compare_page(&mut self, page: &Range<u64>) -> Result<(), ReadError> {
        let mut alike = ColumnSet::default();
        for &column in self.reader.columns {
            if PATHS.contains(&column) || self.stored.has(column, page)? {
                alike.insert(column);
            }
        }
        let numbers = self.merge.numbers;
        let mut compared = self
            .reader
            .columns
            .iter()
            .filter(|column| is_compared(**column));
        let is_same = compared.all(|column| alike.contains(*column)) && numbers.old == numbers.new;
        let old = self.old.load_page(page, |column| NOTES.contains(&column))?;
        let new = self.new.load_page(page, |column| NOTES.contains(&column))?;
        let has_notes = |block: &PageBlock| NOTES.iter().any(|column| !block.is_absent(*column));
        let has_notes = has_notes(old) || has_notes(new);
        if is_same && !has_notes {
            return Ok(());
        }
        let old = &*self.old.load_more(|_| true)?;
        let new = &*self.new.load_more(|column| !alike.contains(column))?;
        let (old, new) = (
            View {
                own: old,
                other: old,
                alike: ColumnSet::default(),
            },
            View {
                own: new,
                other: old,
                alike,
            },
        );
        let (merge, found) = (&self.merge, &mut self.found);
        merge.note_unread(Which::Old, &old, found);
        merge.note_unread(Which::New, &new, found);
        merge.compare_run((&old, 0), (&new, 0), old.len(), &mut self.is_dirty, found);
        Ok(())
    }
}

/// Returns true if both files have the same paths in a page, and store them alike.
pub(super) fn has_same_paths(
    stored: &mut StoredAlike<'_>,
    page: &Range<u64>,
) -> Result<bool, ReadError> {
    for column in PATHS {
        if !stored.has(column, page)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// A whole page, with columns that the page of the other snapshot has, too.
struct View<'b> {
    own: &'b PageBlock,
    other: &'b PageBlock,
    /// The columns that are read from the other page.
    alike: ColumnSet,
}

impl View<'_> {
    fn of(&self, column: Column) -> &PageBlock {
        if self.alike.contains(column) {
            self.other
        } else {
            self.own
        }
    }
}

impl Block for View<'_> {
    fn first_row(&self) -> u64 {
        self.own.first_row()
    }

    fn len(&self) -> usize {
        self.own.len()
    }

    fn path(&self, at: usize) -> &[u8] {
        self.of(Column::Path).path(at)
    }

    fn file_type(&self, at: usize) -> FileType {
        self.of(Column::Type).file_type(at)
    }

    fn integers(&self, column: Column) -> &[i64] {
        self.of(column).integers(column)
    }

    fn integer(&self, column: Column, at: usize) -> Option<i64> {
        self.of(column).integer(column, at)
    }

    fn text(&self, column: Column, at: usize) -> Option<&[u8]> {
        self.of(column).text(column, at)
    }

    fn is_absent(&self, column: Column) -> bool {
        self.of(column).is_absent(column)
    }

    fn hash(&self, at: usize) -> Option<&[u8; HASH_BYTES]> {
        self.of(Column::Hash).hash(at)
    }

    fn has_same_types(&self, rows: Range<usize>, other: &Self, other_first: usize) -> bool {
        let (own, other) = (self.of(Column::Type), other.of(Column::Type));
        std::ptr::eq(own, other) || own.has_same_types(rows, other, other_first)
    }
}

#[cfg(test)]
mod tests {
    use crate::diff::{Diff, DiffOptions, diff};
    use proptest::prelude::*;
    use ringwalk::{Errno, FileType, Timestamp};
    use ringwalk_snapshot::{
        Attributes, Column, Entry, FailedOperation, Failure, FileSystemInfo, Info, Snapshot,
        TreeBuilder, WriteOptions,
    };
    use std::num::NonZeroUsize;

    /// Files of a tree, in three pages.
    const FILES: u64 = 18_000;

    /// A change of one file of the newer tree.
    #[derive(Clone, Copy, Debug)]
    enum Edit {
        Size,
        Owner,
        Times,
        Inode,
        Type,
        /// The file is gone, and another one is there instead: the numbers of the next rows stay.
        Name,
        Gone,
        New,
        Unread,
        Hash,
        Unhashed,
    }

    const EDITS: [Edit; 11] = [
        Edit::Size,
        Edit::Owner,
        Edit::Times,
        Edit::Inode,
        Edit::Type,
        Edit::Name,
        Edit::Gone,
        Edit::New,
        Edit::Unread,
        Edit::Hash,
        Edit::Unhashed,
    ];

    /// Writes a tree with these edits, sorted by the numbers of the files. Every third file has a
    /// hash.
    fn snapshot(edits: &[(u64, Edit)], device: u64) -> Snapshot {
        written(edits, device, true)
    }

    fn written(edits: &[(u64, Edit)], device: u64, hash: bool) -> Snapshot {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("snapshot");
        let mut options = WriteOptions::default();
        options.contents.hash = hash;
        let mut tree = TreeBuilder::new(options);
        let mut root = Entry::new(b"", FileType::Directory);
        root.attributes.dev = Some(device);
        tree.begin_root(b"/r", &root).unwrap();
        let mut edits = edits.iter().peekable();
        for number in 0..FILES {
            let mut name = format!("{number:05}").into_bytes();
            let mut entry = Entry::new(b"", FileType::Regular);
            let time = |seconds: u64| Timestamp {
                secs: seconds.cast_signed(),
                nanos: 0,
            };
            entry.attributes = Attributes {
                ino: Some(number + 10),
                dev: Some(device),
                nlink: Some(1),
                uid: Some(1),
                size: Some(number % 7 * 100),
                alloc: Some(number % 7 * 512),
                mtime: Some(time(number % 50)),
                ctime: Some(time(number * 13)),
                btime: Some(time(number)),
                hash: number.is_multiple_of(3).then_some([3; 32]),
                ..Attributes::default()
            };
            let mut is_new = false;
            while let Some((_, edit)) = edits.next_if(|(at, _)| *at == number) {
                let attributes = &mut entry.attributes;
                match edit {
                    Edit::Size => attributes.alloc = Some(1 << 20),
                    Edit::Owner => attributes.uid = Some(7),
                    Edit::Times => attributes.mtime = Some(time(1 << 30)),
                    Edit::Inode => attributes.btime = Some(time(1 << 30)),
                    Edit::Type => entry.file_type = FileType::Fifo,
                    Edit::Name => name[0] = b'x',
                    Edit::Gone => name.clear(),
                    Edit::New => is_new = true,
                    Edit::Hash => attributes.hash = Some([4; 32]),
                    Edit::Unhashed => attributes.hash = None,
                    Edit::Unread => {
                        entry.failure = Some(Failure {
                            operation: FailedOperation::Stat,
                            errno: Errno::IO,
                        });
                    }
                }
            }
            if !name.is_empty() {
                tree.file(&Entry {
                    name: &name,
                    ..entry
                })
                .unwrap();
            }
            if is_new {
                name = format!("{number:05}-new").into_bytes();
                entry.attributes.ino = Some(1_000_000 + number);
                tree.file(&Entry {
                    name: &name,
                    ..entry
                })
                .unwrap();
            }
        }
        tree.end_directory().unwrap();
        let mut file_system = FileSystemInfo::default();
        file_system.uuid = Some(format!("{device}"));
        file_system.kind = Some("ext4".to_owned());
        file_system.device = device;
        let mut info = Info::default();
        info.file_systems.push(file_system);
        tree.finish(info, &path).unwrap();
        Snapshot::open(&path).unwrap()
    }

    fn compare(old: &Snapshot, new: &Snapshot, threads: usize) -> Diff {
        let options = DiffOptions {
            threads: NonZeroUsize::new(threads).unwrap(),
            ..DiffOptions::default()
        };
        diff(old, new, &options).unwrap()
    }

    /// Compares as a whole, and in pieces that are shorter than a page: those are merged row by
    /// row.
    fn check(old: &Snapshot, new: &Snapshot) -> Diff {
        let whole = compare(old, new, 1);
        let merged = compare(old, new, 2);
        assert_eq!(whole.changes, merged.changes);
        assert_eq!(whole.unread, merged.unread);
        assert_eq!(whole.unknown, merged.unknown);
        whole
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4))]

        #[test]
        fn pages_that_are_alike_change_no_answer(
            edits in prop::collection::vec((0..FILES, 0..EDITS.len()), 0..12),
        ) {
            let mut edits: Vec<_> = edits.into_iter().map(|(at, edit)| (at, EDITS[edit])).collect();
            edits.sort_by_key(|(at, _)| *at);
            let (old, new) = (snapshot(&[], 1), snapshot(&edits, 1));
            check(&old, &new);
            check(&new, &old);
        }
    }

    #[test]
    fn each_difference_in_a_page_with_the_same_paths_is_found() {
        let old = snapshot(&[], 1);
        assert!(check(&old, &snapshot(&[], 1)).is_same());
        for edit in [
            Edit::Size,
            Edit::Owner,
            Edit::Times,
            Edit::Inode,
            Edit::Type,
            Edit::Hash,
        ] {
            let diff = check(&old, &snapshot(&[(9999, edit)], 1));
            assert_eq!(diff.changes.len(), 1, "{edit:?}");
            assert_eq!(diff.changes[0].version().path[..], *b"09999", "{edit:?}");
        }
        let diff = check(&old, &snapshot(&[(9999, Edit::Unread)], 1));
        assert_eq!(diff.unread.len(), 1);
        assert_eq!(diff.unread[0].path[..], *b"09999");
    }

    #[test]
    fn hashes_that_one_side_does_not_know_are_no_change() {
        let old = snapshot(&[], 1);
        assert!(check(&old, &snapshot(&[(9999, Edit::Unhashed)], 1)).is_same());
        // 10 000 has none.
        assert!(check(&old, &snapshot(&[(10_000, Edit::Hash)], 1)).is_same());
        let without = written(&[], 1, false);
        let changed = [(9999, Edit::Hash)];
        for with in [&old, &snapshot(&changed, 1)] {
            assert!(check(with, &without).is_same());
            assert!(check(&without, with).is_same());
        }
        // All else is compared as ever.
        let edits = [(9000, Edit::Hash), (9999, Edit::Size)];
        assert_eq!(check(&without, &snapshot(&edits, 1)).changes.len(), 1);
        let both = check(&old, &snapshot(&edits, 1));
        let fields = both.changes.iter().map(|change| {
            let names: Vec<_> = change.changed.iter().map(Column::name).collect();
            names.join(",")
        });
        assert_eq!(fields.collect::<Vec<_>>(), ["hash", "alloc"]);
    }

    #[test]
    fn the_numbers_of_file_systems_need_not_mean_the_same() {
        let (old, new) = (snapshot(&[], 1), snapshot(&[], 2));
        assert_eq!(check(&old, &new).changes.len() as u64, FILES + 1);
    }
}
