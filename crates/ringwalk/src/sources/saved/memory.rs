//! A saved tree in memory, for unit tests.

use super::{Listed, SavedBatch, SavedEntry, SavedReader, SavedTree};
use crate::visit::error::Operation;
use crate::visit::metadata::{Fields, Metadata};
use ringwalk_sys::RawFileType as FileType;
use rustix::io::Errno;
use std::sync::Arc;

/// Entries of one call of `list`, so that larger directories need several.
const AT_A_TIME: usize = 50;

/// One file. File and listing numbers are indexes into [`MemoryTree::files`].
#[derive(Clone, Debug, Default)]
pub(super) struct MemoryFile {
    pub(super) name: Vec<u8>,
    pub(super) children: Option<Vec<usize>>,
    /// `None` if it is not known.
    pub(super) size: Option<u64>,
    pub(super) device: u64,
    pub(super) target: Option<Vec<u8>>,
    pub(super) failure: Option<(Operation, Errno)>,
}

/// A tree whose root is the file with number 0, at the path `/top`.
#[derive(Debug)]
pub(super) struct MemoryTree {
    pub(super) files: Vec<MemoryFile>,
}

impl MemoryTree {
    /// Creates a tree with an empty root.
    pub(super) fn new() -> Self {
        let root = MemoryFile {
            children: Some(Vec::new()),
            size: Some(1),
            ..MemoryFile::default()
        };
        Self { files: vec![root] }
    }

    /// Adds a file to a directory, behind all names that it has. Returns its number.
    pub(super) fn add(&mut self, parent: usize, name: &str, file: MemoryFile) -> usize {
        let number = self.files.len();
        self.files.push(MemoryFile {
            name: name.into(),
            ..file
        });
        let siblings = self.files[parent].children.get_or_insert_default();
        siblings.push(number);
        number
    }

    fn push(&self, number: usize, name: &[u8], batch: &mut SavedBatch<'_>) {
        let file = &self.files[number];
        batch.push(&SavedEntry {
            name,
            file_type: file.file_type(),
            ino: number as u64 + 100,
            file: number as u64,
            listing: number as u64,
        });
        match file.failure {
            Some((Operation::Stat, errno)) => batch.failed(errno),
            _ => batch.metadata(&self.metadata(number)),
        }
    }

    fn metadata(&self, number: usize) -> Metadata {
        let file = &self.files[number];
        let mut mask = Fields::TYPE | Fields::INO | Fields::MNT_ID;
        mask.set(Fields::SIZE, file.size.is_some());
        Metadata {
            mask,
            mode: u32::from(file.file_type() as u8) << 12,
            size: file.size.unwrap_or(0),
            ino: number as u64 + 100,
            dev: file.device,
            mnt_id: file.device,
            ..Metadata::default()
        }
    }
}

impl MemoryFile {
    fn file_type(&self) -> FileType {
        match (&self.children, &self.target) {
            (Some(_), _) => FileType::Directory,
            (None, Some(_)) => FileType::Symlink,
            (None, None) => FileType::Regular,
        }
    }
}

impl SavedTree for MemoryTree {
    fn describe(&self) -> String {
        "a tree in memory".into()
    }

    fn fields(&self) -> Fields {
        Fields::TYPE | Fields::INO | Fields::SIZE | Fields::MNT_ID
    }

    fn find(&self, path: &[u8], _follow: bool) -> Result<Metadata, Errno> {
        match path {
            b"/top" => Ok(self.metadata(0)),
            _ => Err(Errno::NOENT),
        }
    }

    fn reader(self: Arc<Self>, _fields: Fields) -> Box<dyn SavedReader> {
        Box::new(MemoryReader(self))
    }
}

struct MemoryReader(Arc<MemoryTree>);

impl SavedReader for MemoryReader {
    fn root(&mut self, path: &[u8], follow: bool, batch: &mut SavedBatch<'_>) -> Result<(), Errno> {
        self.0.find(path, follow)?;
        self.0.push(0, path, batch);
        Ok(())
    }

    fn list(&mut self, listing: u64, from: Option<u64>, batch: &mut SavedBatch<'_>) -> Listed {
        let directory = &self.0.files[number(listing)];
        let children = directory.children.as_deref().unwrap_or_default();
        let from = number(from.unwrap_or(0));
        let end = children.len().min(from + AT_A_TIME);
        for &child in &children[from..end] {
            self.0.push(child, &self.0.files[child].name, batch);
        }
        let next = (end < children.len()).then_some(end as u64);
        let failure = directory.failure.filter(|_| next.is_none());
        Listed { next, failure }
    }

    fn metadata(&mut self, file: u64, _fields: Fields) -> Result<Metadata, Errno> {
        Ok(self.0.metadata(number(file)))
    }

    fn target(&mut self, file: u64) -> Result<Vec<u8>, Errno> {
        let target = &self.0.files[number(file)].target;
        target.clone().ok_or(Errno::NODATA)
    }

    fn is_empty(&mut self, file: u64) -> Result<bool, Errno> {
        let children = &self.0.files[number(file)].children;
        Ok(children.as_ref().is_none_or(Vec::is_empty))
    }
}

fn number(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}
