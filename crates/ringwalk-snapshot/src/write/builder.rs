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
mod tests;
