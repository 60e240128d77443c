//! A tree that is given depth first, for example by the importer of another program's file.

use super::merge::{repack, with_entry};
use super::pack::{Packer, Unpacker};
use super::piece::{PIECE, PieceBuilder};
use super::spill::unnamed_file;
use super::stage::{Stage, StageWriter};
use super::{Failures, WriteOptions, write};
use crate::entry::Entry;
use crate::info::{Info, RootInfo};
use crate::schema::LONGEST_PATH;
use crate::seal::seal;
use ringwalk_output::Unpublished;
use std::fs::File;
use std::io;
use std::path::Path;

/// Builds a snapshot of trees that are given depth first. Names may come in any order. A directory
/// may have a name twice, as a directory that is changed while it is read.
///
/// ```
/// use ringwalk::FileType;
/// use ringwalk_snapshot::{Entry, Info, Snapshot, TreeBuilder, WriteOptions};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("snapshot.parquet");
/// let mut tree = TreeBuilder::new(WriteOptions::default());
/// tree.begin_root(b"/data", &Entry::new(b"", FileType::Directory))?;
/// tree.file(&Entry::new(b"notes.txt", FileType::Regular))?;
/// tree.end_directory()?;
/// tree.finish(Info::default(), &path)?;
/// assert_eq!(Snapshot::open(&path)?.rows(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct TreeBuilder {
    options: WriteOptions,
    stage: Stage,
    /// The directories that have begun, from the list of roots on.
    open: Vec<OpenDirectory>,
    roots: Vec<RootInfo>,
    writer: StageWriter,
    /// Bytes of the entries of the open directories.
    bytes: usize,
}

/// A directory whose entries are being given.
#[derive(Debug)]
struct OpenDirectory {
    number: u64,
    /// The length of its path relative to the root.
    path: usize,
    /// Its own entry, packed alone. `None` for the list of roots.
    entry: Option<Vec<u8>>,
    /// The entries that are not in the stage yet: each name, and the entry packed alone.
    data: Vec<u8>,
    entries: Vec<StoredEntry>,
}

/// Where an entry is in the data of its directory.
#[derive(Clone, Copy, Debug)]
struct StoredEntry {
    name: usize,
    packed: usize,
    end: usize,
}

impl TreeBuilder {
    /// Creates a builder without roots.
    pub fn new(options: WriteOptions) -> Self {
        options.progress.begin(0);
        let stage = Stage::new(options.waiting());
        let roots = OpenDirectory::new(stage.new_directory(), 0, None);
        Self {
            options,
            stage,
            open: vec![roots],
            roots: Vec::new(),
            writer: StageWriter::default(),
            bytes: 0,
        }
    }

    /// Begins the tree at an absolute path, when the tree before has ended. A root that is no
    /// directory is given the same way, and ended.
    ///
    /// # Errors
    ///
    /// If a directory is still open.
    pub fn begin_root(&mut self, path: &[u8], entry: &Entry<'_>) -> io::Result<()> {
        if self.open.len() != 1 {
            return Err(misuse("a root was begun within a directory"));
        }
        let index = u32::try_from(self.roots.len()).map_err(|_| misuse("too many roots"))?;
        self.roots.push(RootInfo::new(path));
        let entry = Entry {
            name: &index.to_be_bytes(),
            ..*entry
        };
        self.begin(&entry);
        Ok(())
    }

    /// Begins a directory below the one that is open.
    ///
    /// # Errors
    ///
    /// If no root is open, the name cannot be a file name, the path is longer than
    /// [`LONGEST_PATH`], or the temporary file cannot be written.
    pub fn begin_directory(&mut self, entry: &Entry<'_>) -> io::Result<()> {
        self.check(entry)?;
        self.begin(entry);
        Ok(())
    }

    /// Adds a file to the directory that is open; also a directory that was not read.
    ///
    /// # Errors
    ///
    /// As [`begin_directory`](Self::begin_directory).
    pub fn file(&mut self, entry: &Entry<'_>) -> io::Result<()> {
        self.check(entry)?;
        self.options.progress.add(1);
        self.add(entry, None)
    }

    /// Ends the directory that is open.
    ///
    /// # Errors
    ///
    /// If none is open, or if the temporary file cannot be written.
    pub fn end_directory(&mut self) -> io::Result<()> {
        if self.open.len() < 2 {
            return Err(misuse("a directory was ended that has not begun"));
        }
        let Some(mut directory) = self.open.pop() else {
            return Ok(());
        };
        self.bytes -= directory.bytes();
        directory.hand_over(&self.stage, &mut self.writer)?;
        let own = directory.entry.as_deref();
        if let Some(entry) = own.and_then(|packed| Unpacker::default().next(packed)) {
            with_entry(&entry, |entry| self.add(entry, Some(directory.number)))?;
        }
        Ok(())
    }

    /// Sets the sizes of the directory that is open. They may become known only after its contents.
    ///
    /// # Errors
    ///
    /// If none is open.
    pub fn set_sizes(&mut self, size: u64, alloc: u64) -> io::Result<()> {
        let own = self.open.last_mut().and_then(|open| open.entry.as_mut());
        let own = own.ok_or_else(|| misuse("no directory is open"))?;
        let mut packed = Vec::new();
        if let Some(mut entry) = Unpacker::default().next(own) {
            let attributes = &mut entry.entry.attributes;
            (attributes.size, attributes.alloc) = (Some(size), Some(alloc));
            with_entry(&entry, |entry| {
                Packer::default().push(entry, None, &mut packed);
            });
        }
        *own = packed;
        Ok(())
    }

    /// Writes the snapshot to `output`, which appears whole or not at all. `info` says when and
    /// from what the trees were read, and what users, groups and file systems are called.
    ///
    /// # Errors
    ///
    /// If a directory is still open, or the file cannot be written.
    pub fn finish(self, info: Info, output: &Path) -> io::Result<Info> {
        let file = Unpublished::new(output)?;
        let options = self.options.clone();
        let info = self.finish_into(info, file.file())?;
        options.publish(file, output)?;
        Ok(info)
    }

    /// Writes the snapshot into an unnamed temporary file in the folder `TMPDIR`, or `/tmp`, and
    /// returns it.
    ///
    /// # Errors
    ///
    /// As [`finish`](Self::finish).
    pub fn finish_unnamed(self, info: Info) -> io::Result<File> {
        let file = unnamed_file()?;
        self.finish_into(info, &file)?;
        Ok(file)
    }

    fn finish_into(mut self, mut info: Info, file: &File) -> io::Result<Info> {
        if self.open.len() != 1 {
            return Err(misuse("a directory was not ended"));
        }
        self.hand_over()?;
        self.writer.close(&self.stage)?;
        info.roots = self.roots;
        let staged = self.stage.into_staged();
        let failures = Failures::default();
        let info = write(&staged, &failures, &self.options, info, |_, _| {}, file)?;
        seal(file)?;
        Ok(info)
    }

    /// Hands the entries of all open directories to the stage.
    fn hand_over(&mut self) -> io::Result<()> {
        self.bytes = 0;
        for directory in &mut self.open {
            directory.hand_over(&self.stage, &mut self.writer)?;
        }
        Ok(())
    }

    fn check(&self, entry: &Entry<'_>) -> io::Result<()> {
        if self.open.len() < 2 {
            return Err(misuse("an entry was given without a root"));
        }
        let name = entry.name;
        if name.is_empty()
            || name == b"."
            || name == b".."
            || name.iter().any(|b| matches!(b, b'/' | 0))
        {
            let name = name.escape_ascii();
            return Err(misuse(&format!("\"{name}\" is not a file name")));
        }
        if self.path_length(name) > LONGEST_PATH {
            return Err(misuse(&format!(
                "a path of more than {LONGEST_PATH} bytes is too long for a snapshot"
            )));
        }
        Ok(())
    }

    /// Returns the length of the path of an entry in the directory that is open.
    fn path_length(&self, name: &[u8]) -> usize {
        match &self.open[..] {
            [] | [_] => 0,
            [_, _] => name.len(),
            [.., directory] => directory.path + 1 + name.len(),
        }
    }

    fn begin(&mut self, entry: &Entry<'_>) {
        self.options.progress.add(1);
        let mut packed = Vec::new();
        Packer::default().push(entry, None, &mut packed);
        let path = self.path_length(entry.name);
        let number = self.stage.new_directory();
        let directory = OpenDirectory::new(number, path, Some(packed));
        self.open.push(directory);
    }

    fn add(&mut self, entry: &Entry<'_>, child: Option<u64>) -> io::Result<()> {
        if self.bytes > self.options.sorting().max(PIECE) {
            self.hand_over()?;
        }
        if let Some(directory) = self.open.last_mut() {
            let before = directory.bytes();
            directory.add(entry, child);
            self.bytes += directory.bytes() - before;
        }
        Ok(())
    }
}

impl OpenDirectory {
    fn new(number: u64, path: usize, entry: Option<Vec<u8>>) -> Self {
        Self {
            number,
            path,
            entry,
            data: Vec::new(),
            entries: Vec::new(),
        }
    }

    fn bytes(&self) -> usize {
        self.data.len() + self.entries.len() * size_of::<StoredEntry>()
    }

    fn add(&mut self, entry: &Entry<'_>, child: Option<u64>) {
        let name = self.data.len();
        self.data.extend_from_slice(entry.name);
        let packed = self.data.len();
        Packer::default().push(entry, child, &mut self.data);
        self.entries.push(StoredEntry {
            name,
            packed,
            end: self.data.len(),
        });
    }

    /// Hands the entries to the stage, as one run.
    fn hand_over(&mut self, stage: &Stage, writer: &mut StageWriter) -> io::Result<()> {
        let data = std::mem::take(&mut self.data);
        let mut entries = std::mem::take(&mut self.entries);
        let name = |entry: &StoredEntry| &data[entry.name..entry.packed];
        entries.sort_by(|a, b| name(a).cmp(name(b)));
        let mut piece = PieceBuilder::default();
        for entry in entries {
            let packed = &data[entry.packed..entry.end];
            if let Some(entry) = Unpacker::default().next(packed) {
                repack(&entry, &mut piece);
            }
            if piece.is_full() {
                writer.piece(stage, self.number, &mut piece)?;
            }
        }
        writer.end_run(stage, self.number, &mut piece)
    }
}

fn misuse(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, what.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entry::Skipped;
    use crate::schema::Attributes;
    use crate::{Column, Snapshot};
    use ringwalk::{FileType, Timestamp};
    use std::num::NonZeroUsize;

    fn sized(name: &str, size: u64) -> Entry<'_> {
        Entry {
            attributes: Attributes {
                size: Some(size),
                alloc: Some(size * 2),
                mtime: Some(Timestamp {
                    secs: size.cast_signed(),
                    nanos: 5,
                }),
                ..Attributes::default()
            },
            ..Entry::new(name.as_bytes(), FileType::Regular)
        }
    }

    fn directory(name: &str) -> Entry<'_> {
        Entry {
            file_type: FileType::Directory,
            ..sized(name, 100)
        }
    }

    fn linked(name: &str) -> Entry<'_> {
        let mut entry = sized(name, 7);
        entry.attributes.ino = Some(42);
        entry.attributes.nlink = Some(2);
        entry.attributes.charged_once = true;
        entry
    }

    fn with_memory(memory: usize) -> WriteOptions {
        WriteOptions {
            memory,
            ..WriteOptions::default()
        }
    }

    /// Builds `/r` with a/{x,l}, b, z/l.
    fn tree(options: WriteOptions, path: &Path) -> Info {
        let mut tree = TreeBuilder::new(options);
        tree.begin_root(b"/r", &directory("")).unwrap();
        tree.file(&sized("b", 3)).unwrap();
        tree.begin_directory(&directory("z")).unwrap();
        tree.file(&linked("l")).unwrap();
        tree.end_directory().unwrap();
        tree.begin_directory(&directory("a")).unwrap();
        tree.file(&sized("x.txt", 1)).unwrap();
        tree.file(&linked("l")).unwrap();
        tree.end_directory().unwrap();
        tree.end_directory().unwrap();
        tree.finish(Info::default(), path).unwrap()
    }

    fn column(snapshot: &Snapshot, column: Column) -> Vec<Option<i64>> {
        let mut scan = snapshot.scan(0..snapshot.rows(), &[column]).unwrap();
        let mut all = Vec::new();
        while let Some(chunk) = scan.next_chunk().unwrap() {
            all.extend((0..chunk.len()).map(|at| chunk.integer(column, at)));
        }
        all
    }

    fn paths(snapshot: &Snapshot) -> Vec<Vec<u8>> {
        let columns = [Column::Path, Column::PathRaw];
        let mut scan = snapshot.scan(0..snapshot.rows(), &columns).unwrap();
        let mut all = Vec::new();
        while let Some(chunk) = scan.next_chunk().unwrap() {
            all.extend((0..chunk.len()).map(|at| chunk.path(at).to_vec()));
        }
        all
    }

    #[test]
    fn progress_counts_what_is_collected_and_then_what_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let options = WriteOptions::default();
        let progress = options.progress.clone();
        let mut tree = TreeBuilder::new(options);
        tree.begin_root(b"/r", &directory("")).unwrap();
        tree.file(&sized("b", 3)).unwrap();
        assert_eq!((progress.done(), progress.total()), (2, None));
        tree.end_directory().unwrap();
        let path = folder.path().join("s");
        tree.finish(Info::default(), &path).unwrap();
        assert_eq!((progress.done(), progress.total()), (2, Some(2)));
    }

    #[test]
    fn rows_in_order_with_totals() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s");
        let info = tree(WriteOptions::default(), &path);
        assert_eq!((info.verdict.complete, info.verdict.entries), (true, 7));
        let snapshot = Snapshot::open(&path).unwrap();
        assert_eq!(snapshot.info(), &info);
        let expected: [&[u8]; 7] = [b"a/l", b"a/x.txt", b"z/l", b"a", b"b", b"z", b""];
        assert_eq!(paths(&snapshot), expected);
        let all = |column_| column(&snapshot, column_);
        let some = |values: [i64; 7]| values.map(Some).to_vec();
        assert_eq!(all(Column::Id), some([0, 1, 2, 3, 4, 5, 6]));
        assert_eq!(all(Column::Charged), some([1, 1, 0, 1, 1, 1, 1]));
        let n = None;
        assert_eq!(
            all(Column::Dir),
            [Some(0), Some(0), Some(1), Some(2), Some(2), Some(2), n]
        );
        assert_eq!(
            all(Column::SelfDir),
            [n, n, n, Some(0), n, Some(1), Some(2)]
        );
        assert_eq!(
            all(Column::TreeFirst),
            [n, n, n, Some(0), n, Some(2), Some(0)]
        );
        assert_eq!(
            all(Column::TreeLast),
            [n, n, n, Some(1), n, Some(2), Some(5)]
        );
        assert_eq!(
            all(Column::TreeEntries),
            [n, n, n, Some(3), n, Some(2), Some(7)]
        );
        assert_eq!(
            all(Column::TreeSize),
            [n, n, n, Some(108), n, Some(100), Some(311)]
        );
        // The linked file is free only if both names are removed.
        assert_eq!(
            all(Column::TreeFreeable),
            [n, n, n, Some(202), n, Some(200), Some(622)]
        );
        assert_eq!(all(Column::TreeMtime)[6], Some(100_000_000_005));
    }

    #[test]
    fn paths_are_located() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s");
        tree(WriteOptions::default(), &path);
        let snapshot = Snapshot::open(&path).unwrap();
        for (row, path) in paths(&snapshot).iter().enumerate() {
            assert_eq!(snapshot.locate(0, path).unwrap(), Some(row as u64));
        }
        for (root, path) in [(0, "c"), (0, "a/x"), (0, "zz/z"), (1, ""), (1, "a")] {
            assert_eq!(snapshot.locate(root, path.as_bytes()).unwrap(), None);
        }
    }

    #[test]
    fn the_bytes_do_not_depend_on_threads_and_memory() {
        let folder = tempfile::tempdir().unwrap();
        let bytes = |threads, memory| {
            let path = folder.path().join("s");
            let options = WriteOptions {
                threads: NonZeroUsize::new(threads).unwrap(),
                memory,
                ..WriteOptions::default()
            };
            tree(options, &path);
            std::fs::read(path).unwrap()
        };
        let one = bytes(1, usize::MAX);
        assert_eq!(one, bytes(2, 0));
        assert_eq!(one, bytes(3, 10));
    }

    /// Writes trees with many links: names of a file are far apart, in one directory, in two roots,
    /// and some are missing.
    fn links(memory: usize, path: &Path) -> Info {
        let mut tree = TreeBuilder::new(with_memory(memory));
        let mut seed = 1_u64;
        for root in [b"/a", b"/b"] {
            tree.begin_root(root, &directory("")).unwrap();
            for outer in 0..30 {
                let name = format!("d{outer}");
                tree.begin_directory(&directory(&name)).unwrap();
                for inner in 0..10 {
                    let name = format!("e{inner}");
                    tree.begin_directory(&directory(&name)).unwrap();
                    for file in 0..10 {
                        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                        let name = format!("{file}");
                        let mut entry = linked(&name);
                        entry.attributes.dev = Some(seed >> 63);
                        entry.attributes.ino = Some(seed >> 53 & 1023 | outer << 20);
                        entry.attributes.nlink = Some(2 + (seed >> 40) as u32 % 2);
                        tree.file(&entry).unwrap();
                    }
                    tree.end_directory().unwrap();
                }
                tree.end_directory().unwrap();
            }
            tree.end_directory().unwrap();
        }
        tree.finish(Info::default(), path).unwrap()
    }

    #[test]
    fn links_are_charged_alike_by_a_table_and_by_sorting() {
        let folder = tempfile::tempdir().unwrap();
        let bytes = |memory| {
            let path = folder.path().join("s");
            links(memory, &path);
            std::fs::read(path).unwrap()
        };
        let table = bytes(usize::MAX);
        assert!(table == bytes(0));
    }

    #[test]
    fn a_file_with_names_in_two_roots_is_free_with_neither() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s");
        for memory in [0, usize::MAX] {
            let mut tree = TreeBuilder::new(with_memory(memory));
            for root in [b"/a", b"/b"] {
                tree.begin_root(root, &directory("")).unwrap();
                tree.file(&linked("l")).unwrap();
                tree.end_directory().unwrap();
            }
            tree.finish(Info::default(), &path).unwrap();
            let snapshot = Snapshot::open(&path).unwrap();
            let n = None;
            let freeable = [n, Some(200), n, Some(200)];
            assert_eq!(column(&snapshot, Column::TreeFreeable), freeable);
            assert_eq!(column(&snapshot, Column::Charged), [1, 1, 0, 1].map(Some));
        }
    }

    #[test]
    fn a_large_directory_has_the_same_rows_with_little_memory() {
        let folder = tempfile::tempdir().unwrap();
        let bytes = |memory| {
            let path = folder.path().join("s");
            let mut tree = TreeBuilder::new(with_memory(memory));
            tree.begin_root(b"/r", &directory("")).unwrap();
            for number in 0..30_000_u64 {
                let name = format!("{:x}", number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
                if number % 3 == 0 {
                    tree.begin_directory(&directory(&name)).unwrap();
                    tree.file(&sized("x", number)).unwrap();
                    tree.end_directory().unwrap();
                } else {
                    tree.file(&sized(&name, number)).unwrap();
                }
            }
            tree.end_directory().unwrap();
            tree.finish(Info::default(), &path).unwrap();
            std::fs::read(path).unwrap()
        };
        let all = bytes(usize::MAX);
        assert!(all == bytes(0));
        assert!(all == bytes(1 << 20));
    }

    #[test]
    fn many_rows_and_names_that_are_not_text() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s");
        let mut tree = TreeBuilder::new(WriteOptions::default());
        tree.begin_root(b"/r", &directory("")).unwrap();
        let names: Vec<_> = (0..300_000_u32)
            .map(|number| {
                [
                    &[b'a', 0xff - (number % 9) as u8][..],
                    format!("{number:06}").as_bytes(),
                ]
                .concat()
            })
            .collect();
        for name in &names {
            tree.file(&Entry {
                name,
                ..sized("", 1)
            })
            .unwrap();
        }
        tree.end_directory().unwrap();
        tree.finish(Info::default(), &path).unwrap();
        let snapshot = Snapshot::open(&path).unwrap();
        assert_eq!(snapshot.row_groups().len(), 3);
        let mut expected = names;
        expected.sort();
        expected.push(Vec::new());
        assert!(paths(&snapshot) == expected);
        for row in (0..300_000).step_by(997) {
            let found = snapshot.locate(0, &expected[row]).unwrap();
            assert_eq!(found, Some(row as u64));
        }
    }

    #[test]
    fn left_out_files_count_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s");
        let mut tree = TreeBuilder::new(WriteOptions::default());
        tree.begin_root(b"/r", &directory("")).unwrap();
        let other = Entry {
            skipped: Some(Skipped::OtherFs),
            ..directory("m")
        };
        tree.file(&other).unwrap();
        tree.end_directory().unwrap();
        tree.finish(Info::default(), &path).unwrap();
        let snapshot = Snapshot::open(&path).unwrap();
        assert_eq!(column(&snapshot, Column::TreeSize), [Some(0), Some(100)]);
        assert_eq!(column(&snapshot, Column::Charged), [Some(0), Some(1)]);
        assert_eq!(column(&snapshot, Column::SelfDir), [None, Some(0)]);
    }

    #[test]
    fn misuse_is_an_error_and_leaves_the_output() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s");
        std::fs::write(&path, "old").unwrap();
        let mut builder = TreeBuilder::new(WriteOptions::default());
        assert!(builder.file(&sized("x", 1)).is_err());
        assert!(builder.end_directory().is_err());
        builder.begin_root(b"/r", &directory("")).unwrap();
        for name in ["", ".", "..", "a/b", "a\0"] {
            assert!(builder.file(&sized(name, 1)).is_err(), "{name:?}");
        }
        assert!(builder.begin_root(b"/q", &directory("")).is_err());
        builder.end_directory().unwrap();
        assert!(builder.set_sizes(1, 1).is_err());
        let mut open = TreeBuilder::new(WriteOptions::default());
        open.begin_root(b"/r", &directory("")).unwrap();
        assert!(open.finish(Info::default(), &path).is_err());
        assert_eq!(std::fs::read(&path).unwrap(), b"old");
    }

    #[test]
    fn a_directory_may_have_a_name_twice() {
        // A large directory is sorted in runs, a small one in memory.
        for (memory, names) in [(0, 8999), (usize::MAX, 1)] {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("s");
            let mut tree = TreeBuilder::new(with_memory(memory));
            tree.begin_root(b"/r", &directory("")).unwrap();
            for number in 0..=names {
                let name = format!("{}", number % names);
                tree.file(&sized(&name, number)).unwrap();
            }
            tree.end_directory().unwrap();
            tree.finish(Info::default(), &path).unwrap();
            let snapshot = Snapshot::open(&path).unwrap();
            let mut sizes = column(&snapshot, Column::Size);
            sizes[..2].sort_unstable();
            assert_eq!(sizes[..2], [Some(0), Some(names.cast_signed())]);
            assert_eq!(snapshot.rows(), names + 2);
        }
    }

    #[test]
    fn sizes_of_a_directory_may_come_after_its_contents() {
        for memory in [0, usize::MAX] {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("s");
            let mut tree = TreeBuilder::new(with_memory(memory));
            tree.begin_root(b"/r", &directory("")).unwrap();
            tree.begin_directory(&directory("d")).unwrap();
            tree.file(&sized("f", 1)).unwrap();
            tree.set_sizes(5, 6).unwrap();
            tree.end_directory().unwrap();
            tree.end_directory().unwrap();
            tree.finish(Info::default(), &path).unwrap();
            let snapshot = Snapshot::open(&path).unwrap();
            assert_eq!(paths(&snapshot), [&b"d/f"[..], b"d", b""]);
            assert_eq!(
                column(&snapshot, Column::Size),
                [Some(1), Some(5), Some(100)]
            );
            assert_eq!(
                column(&snapshot, Column::Alloc),
                [Some(2), Some(6), Some(200)]
            );
            assert_eq!(
                column(&snapshot, Column::TreeSize),
                [None, Some(6), Some(106)]
            );
            // The rest of its entry stays.
            assert_eq!(
                column(&snapshot, Column::Mtime)[1..],
                [Some(100_000_000_005); 2]
            );
        }
    }

    #[test]
    fn paths_that_are_too_long() {
        let mut builder = TreeBuilder::new(WriteOptions::default());
        builder.begin_root(b"/r", &directory("")).unwrap();
        let name = "d".repeat(LONGEST_PATH / 2);
        builder.begin_directory(&directory(&name)).unwrap();
        let rest = LONGEST_PATH - name.len() - 1;
        builder.file(&sized(&"f".repeat(rest), 1)).unwrap();
        let error = builder.file(&sized(&"f".repeat(rest + 1), 1));
        assert!(error.unwrap_err().to_string().contains("too long"));
    }
}
