//! Trees in memory: edits, and the rows that a snapshot of them has.

use crate::diff::change::Location;
use crate::diff::classify::{Classified, Files, classify};
use crate::diff::file_systems::Numbers;
use crate::diff::merge::{Block, Merge, Rows};
use crate::diff::version::InodeKey;
use crate::diff::{Diff, Renames, Which};
use ringwalk::FileType;
use ringwalk_snapshot::{
    Column, FileSystemInfo, HASH_BYTES, Info, ReadError, RootInfo, Text, order,
};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

/// An inode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Inode {
    pub(crate) ino: i64,
    pub(crate) btime: i64,
    pub(crate) file_type: FileType,
    pub(crate) size: i64,
    pub(crate) alloc: i64,
    pub(crate) mtime: i64,
    pub(crate) ctime: i64,
    pub(crate) mode: i64,
    pub(crate) uid: i64,
    pub(crate) hash: Option<[u8; HASH_BYTES]>,
}

/// A tree: names of inodes. The root has the path "".
#[derive(Clone, Debug)]
pub(crate) struct Tree {
    /// The number of an inode in `inodes` identifies a file.
    pub(crate) names: BTreeMap<Vec<u8>, usize>,
    pub(crate) inodes: Vec<Inode>,
    pub(crate) now: i64,
    /// Paths that cannot be read.
    pub(crate) unread: HashSet<Vec<u8>>,
    /// Inode numbers that are free.
    free: Vec<i64>,
}

impl Default for Tree {
    fn default() -> Self {
        let mut tree = Self {
            names: BTreeMap::new(),
            inodes: Vec::new(),
            now: 1000,
            unread: HashSet::new(),
            free: Vec::new(),
        };
        tree.create(b"", FileType::Directory, 0);
        tree
    }
}

impl Tree {
    /// Creates a new file. A file that has the path is replaced.
    pub(crate) fn create(&mut self, path: &[u8], file_type: FileType, blocks: i64) {
        self.now += 1;
        let fresh = i64::try_from(self.inodes.len()).unwrap() + 10;
        self.inodes.push(Inode {
            ino: self.free.pop().unwrap_or(fresh),
            btime: self.now,
            file_type,
            size: blocks * 4096,
            alloc: blocks * 4096,
            mtime: self.now,
            ctime: self.now,
            mode: 0o644,
            uid: blocks % 3,
            hash: None,
        });
        let number = self.inodes.len() - 1;
        let old = self.names.insert(path.to_vec(), number);
        self.release(old);
        self.touch_parent(path);
    }

    fn release(&mut self, number: Option<usize>) {
        let Some(number) = number else { return };
        if self.names.values().any(|other| *other == number) {
            self.inodes[number].ctime = self.now;
        } else {
            self.free.push(self.inodes[number].ino);
        }
    }

    fn touch_parent(&mut self, path: &[u8]) {
        if let Some(parent) = crate::diff::version::ancestors(path).next() {
            let number = self.names[parent];
            (self.inodes[number].mtime, self.inodes[number].ctime) = (self.now, self.now);
        }
    }

    pub(crate) fn inode(&mut self, path: &[u8]) -> &mut Inode {
        self.now += 1;
        let inode = &mut self.inodes[self.names[path]];
        inode.ctime = self.now;
        inode
    }

    pub(crate) fn write(&mut self, path: &[u8], blocks: i64) {
        let now = self.now + 1;
        let inode = self.inode(path);
        (inode.size, inode.alloc, inode.mtime) = (blocks * 4096 - 1, blocks * 4096, now);
    }

    pub(crate) fn link(&mut self, path: &[u8], to: &[u8]) {
        self.now += 1;
        let number = self.names[path];
        self.inodes[number].ctime = self.now;
        self.names.insert(to.to_vec(), number);
        self.touch_parent(to);
    }

    /// Removes a file, or a directory with everything below it.
    pub(crate) fn remove(&mut self, path: &[u8]) {
        self.now += 1;
        for below in self.below(path) {
            let number = self.names.remove(&below);
            self.release(number);
        }
        self.touch_parent(path);
    }

    pub(crate) fn rename(&mut self, from: &[u8], to: &[u8]) {
        self.now += 1;
        if self.names.contains_key(to) {
            self.remove(to);
        }
        let number = self.names[from];
        self.inodes[number].ctime = self.now;
        for below in self.below(from) {
            let mut path = to.to_vec();
            path.extend_from_slice(&below[from.len()..]);
            if let Some(number) = self.names.remove(&below) {
                self.names.insert(path, number);
            }
        }
        self.touch_parent(from);
        self.touch_parent(to);
    }

    /// Mounts the tree anew: inode numbers move on from file to file, and files are born anew.
    pub(crate) fn remount(&mut self) {
        let inos: Vec<_> = self.inodes.iter().map(|inode| inode.ino).collect();
        let moved = inos.iter().cycle().skip(1);
        for (inode, ino) in self.inodes.iter_mut().zip(moved) {
            (inode.ino, inode.btime) = (*ino, inode.btime + 1);
        }
    }

    /// Returns the path and all paths below it.
    pub(crate) fn below(&self, path: &[u8]) -> Vec<Vec<u8>> {
        let lies = |other: &&Vec<u8>| {
            *other == path || other.starts_with(path) && other.get(path.len()) == Some(&b'/')
        };
        let all = path.is_empty();
        let names = self.names.keys();
        names.filter(|other| all || lies(other)).cloned().collect()
    }

    /// Returns the rows of a snapshot.
    pub(crate) fn rows(&self, has_births: bool) -> Vec<Row> {
        let is_hidden = |path: &[u8]| {
            crate::diff::version::ancestors(path).any(|above| self.unread.contains(above))
        };
        let mut paths: Vec<_> = self.names.keys().filter(|path| !is_hidden(path)).collect();
        paths.sort_by(|a, b| order::compare(a, b));
        let mut links: HashMap<usize, i64> = HashMap::new();
        for number in self.names.values() {
            *links.entry(*number).or_default() += 1;
        }
        let mut seen = HashSet::new();
        let rows = paths.into_iter().map(|path| {
            let number = self.names[path];
            let inode = self.inodes[number].clone();
            Row {
                path: path.clone(),
                file: number,
                is_charged: seen.insert(number),
                links: links[&number],
                btime: has_births.then_some(inode.btime),
                is_unread: self.unread.contains(path),
                inode,
            }
        });
        rows.collect()
    }
}

/// A row of a snapshot.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) path: Vec<u8>,
    /// Identifies the file.
    pub(crate) file: usize,
    pub(crate) inode: Inode,
    pub(crate) links: i64,
    pub(crate) is_charged: bool,
    pub(crate) btime: Option<i64>,
    pub(crate) is_unread: bool,
}

impl Row {
    pub(crate) fn bytes(&self) -> i64 {
        if self.is_charged { self.inode.alloc } else { 0 }
    }

    fn integer(&self, column: Column) -> Option<i64> {
        Some(match column {
            Column::Size => self.inode.size,
            Column::Alloc => self.inode.alloc,
            Column::Mtime => self.inode.mtime,
            Column::Ctime => self.inode.ctime,
            Column::Btime => return self.btime,
            Column::Ino => self.inode.ino,
            Column::Mode => self.inode.mode,
            Column::Nlink => self.links,
            Column::Uid => self.inode.uid,
            Column::Fs | Column::Gid => 0,
            Column::Charged => self.is_charged.into(),
            Column::Errno if self.is_unread => 13,
            _ => return None,
        })
    }
}

/// Rows that are read some at a time.
struct Blocks {
    blocks: std::vec::IntoIter<Rowset>,
    current: Option<Rowset>,
}

struct Rowset {
    first: u64,
    rows: Vec<Row>,
    columns: HashMap<u8, Vec<i64>>,
}

fn blocks(rows: &[Row], length: usize) -> Blocks {
    let mut first = 0;
    let blocks: Vec<_> = rows
        .chunks(length)
        .map(|rows| {
            let columns = Column::all().map(|column| {
                let values = rows.iter().map(|row| row.integer(column).unwrap_or(0));
                (column as u8, values.collect())
            });
            let block = Rowset {
                first,
                rows: rows.to_vec(),
                columns: columns.collect(),
            };
            first += rows.len() as u64;
            block
        })
        .collect();
    Blocks {
        blocks: blocks.into_iter(),
        current: None,
    }
}

impl Rows for Blocks {
    type Block = Rowset;

    fn next(&mut self) -> Result<Option<&Rowset>, ReadError> {
        self.current = self.blocks.next();
        Ok(self.current.as_ref())
    }
}

impl Block for Rowset {
    fn first_row(&self) -> u64 {
        self.first
    }

    fn len(&self) -> usize {
        self.rows.len()
    }

    fn path(&self, at: usize) -> &[u8] {
        &self.rows[at].path
    }

    fn file_type(&self, at: usize) -> FileType {
        self.rows[at].inode.file_type
    }

    fn integers(&self, column: Column) -> &[i64] {
        &self.columns[&(column as u8)]
    }

    fn integer(&self, column: Column, at: usize) -> Option<i64> {
        self.rows[at].integer(column)
    }

    fn text(&self, column: Column, at: usize) -> Option<&[u8]> {
        (column == Column::Operation && self.rows[at].is_unread).then_some(b"open")
    }

    fn is_absent(&self, _column: Column) -> bool {
        false
    }

    fn hash(&self, at: usize) -> Option<&[u8; HASH_BYTES]> {
        self.rows[at].inode.hash.as_ref()
    }

    fn has_same_types(&self, rows: Range<usize>, other: &Self, other_first: usize) -> bool {
        let others = &other.rows[other_first..][..rows.len()];
        let pairs = self.rows[rows].iter().zip(others);
        let mut types = pairs.map(|(a, b)| (a.inode.file_type, b.inode.file_type));
        types.all(|(a, b)| a == b)
    }
}

/// The rows of both snapshots.
struct AllRows<'a> {
    old: &'a [Row],
    new: &'a [Row],
}

impl AllRows<'_> {
    fn of(&self, which: Which) -> &[Row] {
        match which {
            Which::Old => self.old,
            Which::New => self.new,
        }
    }
}

impl Files for AllRows<'_> {
    fn rows_of(
        &self,
        which: Which,
        wanted: &HashSet<InodeKey>,
    ) -> Result<Vec<(InodeKey, u64)>, ReadError> {
        let rows = (0..).zip(self.of(which));
        let rows = rows.map(|(at, row)| ((0, row.inode.ino), at));
        Ok(rows.filter(|(inode, _)| wanted.contains(inode)).collect())
    }

    fn locations(&self, which: Which, rows: &[u64]) -> Result<Vec<Location>, ReadError> {
        let rows_of = self.of(which);
        let location = |row: &u64| Location {
            root: 0,
            path: Arc::from(&rows_of[usize::try_from(*row).unwrap()].path[..]),
        };
        Ok(rows.iter().map(location).collect())
    }
}

/// Compares two lists of rows of an ext4, read `length` at a time.
pub(crate) fn compare(old: &[Row], new: &[Row], renames: Renames, length: usize) -> Diff {
    compare_on("ext4", old, new, renames, length)
}

/// Compares two lists of rows of a file system of this type.
pub(crate) fn compare_on(
    kind: &str,
    old: &[Row],
    new: &[Row],
    renames: Renames,
    length: usize,
) -> Diff {
    let mut file_system = FileSystemInfo::default();
    file_system.kind = Some(kind.to_owned());
    file_system.mount_point = Some(Text::from(&b"/r"[..]));
    let file_systems = [file_system];
    let numbers = Numbers::of(&file_systems, &file_systems);
    let merge = Merge {
        root: 0,
        numbers: &numbers,
    };
    let found = merge.run(
        &mut blocks(old, length),
        &mut blocks(new, length + 1),
        |_| {},
    );
    let found = found.expect("rows in memory");
    let classified: Classified =
        classify(found, renames, &numbers, &AllRows { old, new }).expect("rows in memory");
    let mut info = Info::default();
    info.roots.push(RootInfo::new(b"/r"));
    info.verdict.complete = true;
    Diff::of(classified, info.clone(), info)
}
