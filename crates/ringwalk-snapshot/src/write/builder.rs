//! A tree that is given depth first, for example by the importer of another program's file.

use super::pack::Packer;
use super::publish::Unpublished;
use super::stage::{Stage, StageWriter, push_child};
use super::{Failures, WriteOptions, write};
use crate::entry::Entry;
use crate::info::{Info, RootInfo};
use crate::schema::LONGEST_PATH;
use std::io;
use std::path::Path;

/// Builds a snapshot of trees that are given depth first. Names may come in any order.
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
    /// Listings that have ended and are not in the stage yet.
    ended: Vec<(u64, Vec<u8>, Vec<u8>)>,
    /// Bytes of these listings.
    bytes: usize,
}

/// Bytes of listings that are handed to the stage at once.
const HAND_OVER: usize = 1 << 20;

/// A directory whose entries are being given.
#[derive(Debug)]
struct OpenDirectory {
    number: u64,
    /// The length of its path relative to the root.
    path: usize,
    /// The entries, each packed alone.
    entries: Vec<StoredEntry>,
}

/// One entry, packed alone.
#[derive(Debug)]
struct StoredEntry {
    name: Vec<u8>,
    packed: Vec<u8>,
    child: Option<u64>,
}

impl TreeBuilder {
    /// Creates a builder without roots.
    pub fn new(options: WriteOptions) -> Self {
        let stage = Stage::new(options.memory);
        let roots = OpenDirectory {
            number: stage.new_directory(),
            path: 0,
            entries: Vec::new(),
        };
        Self {
            options,
            stage,
            open: vec![roots],
            roots: Vec::new(),
            ended: Vec::new(),
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
    /// If no root is open, the name is none that a file can have, or the path is longer than
    /// [`LONGEST_PATH`].
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
        self.add(entry, None);
        Ok(())
    }

    /// Ends the directory that is open.
    ///
    /// # Errors
    ///
    /// If none is open, if two entries have the same name, or if the temporary file cannot be
    /// written.
    pub fn end_directory(&mut self) -> io::Result<()> {
        if self.open.len() < 2 {
            return Err(misuse("a directory was ended that has not begun"));
        }
        let Some(directory) = self.open.pop() else {
            return Ok(());
        };
        let (children, entries) = directory.to_run()?;
        self.bytes += children.len() + entries.len();
        let number = directory.number;
        self.ended.push((number, children, entries));
        if self.bytes > HAND_OVER {
            self.hand_over()?;
        }
        Ok(())
    }

    /// Writes the snapshot to `output`, which appears whole or not at all. `info` says when and
    /// from what the trees were read, and what users, groups and file systems are called.
    ///
    /// # Errors
    ///
    /// If a directory is still open, or the file cannot be written.
    pub fn finish(mut self, info: Info, output: &Path) -> io::Result<Info> {
        let file = Unpublished::new(output)?;
        let info = self.finish_into(info, file.file())?;
        file.publish()?;
        Ok(info)
    }

    fn finish_into(&mut self, mut info: Info, file: &std::fs::File) -> io::Result<Info> {
        if self.open.len() != 1 {
            return Err(misuse("a directory was not ended"));
        }
        if let Some(roots) = self.open.pop() {
            let (children, entries) = roots.to_run()?;
            self.ended.push((roots.number, children, entries));
        }
        self.hand_over()?;
        info.roots = std::mem::take(&mut self.roots);
        let stage = std::mem::replace(&mut self.stage, Stage::new(0));
        let staged = stage.into_staged();
        write(
            &staged,
            &Failures::new(),
            &self.options,
            info,
            |_, _| {},
            file,
        )
    }

    fn hand_over(&mut self) -> io::Result<()> {
        let mut writer: StageWriter<'_> = self.stage.writer();
        for (number, children, entries) in self.ended.drain(..) {
            writer.run(number, &children, &entries)?;
        }
        self.bytes = 0;
        writer.close()
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
            return Err(misuse(&format!("\"{name}\" is no name of a file")));
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
        let number = self.stage.new_directory();
        self.add(entry, Some(number));
        let path = self.path_length(entry.name);
        self.open.push(OpenDirectory {
            number,
            path,
            entries: Vec::new(),
        });
    }

    fn add(&mut self, entry: &Entry<'_>, child: Option<u64>) {
        let mut packed = Vec::new();
        Packer::default().push(entry, child, &mut packed);
        if let Some(directory) = self.open.last_mut() {
            directory.entries.push(StoredEntry {
                name: entry.name.to_vec(),
                packed,
                child,
            });
        }
    }
}

impl OpenDirectory {
    /// Returns the packed subdirectories and entries, sorted by name.
    fn to_run(&self) -> io::Result<(Vec<u8>, Vec<u8>)> {
        let mut order: Vec<_> = self.entries.iter().collect();
        order.sort_by(|a, b| a.name.cmp(&b.name));
        if let Some(pair) = order.windows(2).find(|pair| pair[0].name == pair[1].name) {
            let name = pair[0].name.escape_ascii();
            return Err(misuse(&format!("\"{name}\" is twice in one directory")));
        }
        let (mut children, mut entries) = (Vec::new(), Vec::new());
        let mut packer = Packer::default();
        for entry in order {
            if let Some(child) = entry.child {
                push_child(child, &entry.name, &mut children);
            }
            super::merge::repack_alone(&entry.packed, &mut packer, &mut entries);
        }
        Ok((children, entries))
    }
}

fn misuse(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, what.to_owned())
}

#[cfg(test)]
mod tests;
