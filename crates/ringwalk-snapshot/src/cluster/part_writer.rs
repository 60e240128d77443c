//! Writes the rows of a task while it walks.
//!
//! Each worker fills a page of rows of its own. A page that is full goes to the encoders, which all
//! workers share. So a task holds a page for each worker, and the pages of the encoders.

use super::files::create_file;
use super::part::directory_number;
use crate::capture::keeper::{Keeper, ListingPlace};
use crate::entry::Entry;
use crate::read::FirstRow;
use crate::schema::{Column, Contents, PAGE_ROWS, Shape};
use crate::seal::seal;
use crate::write::encode::ParquetSink;
use crate::write::path::RowPath;
use crate::write::rows::Rows;
use crate::write::{Sink, file_cells};
use ringwalk_sys::sync::{IgnorePoison, lock};
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// A part that is being written.
pub(super) struct PartWriter {
    file: File,
    task: u32,
    contents: Contents,
    sink: Mutex<ParquetSink<File>>,
    /// The next local number of a directory.
    next: AtomicU64,
    /// The devices of the rows, in the order of the column `fs`.
    devices: Mutex<Vec<u64>>,
    /// The last pages of the workers, which are not full.
    rests: Mutex<Vec<(Rows, FirstRow)>>,
    rows: AtomicU64,
}

/// A part whose rows are all there.
pub(super) struct FullPart {
    file: File,
    sink: ParquetSink<File>,
    /// The devices of the rows, in the order of the column `fs`.
    pub(super) devices: Vec<u64>,
    pub(super) rows: u64,
    /// The number of directories that have a number.
    pub(super) directories: u32,
}

impl PartWriter {
    /// Creates the part of a task. `name` is its path below the folder of the walk.
    pub(super) fn create(
        folder: &Path,
        name: &Path,
        task: u32,
        contents: Contents,
        threads: usize,
    ) -> io::Result<Self> {
        let file = create_file(folder, name)?;
        let sink = ParquetSink::new(file.try_clone()?, contents, Shape::Part, threads)?;
        Ok(Self {
            file,
            task,
            contents,
            sink: Mutex::new(sink),
            next: AtomicU64::new(1),
            devices: Mutex::default(),
            rests: Mutex::default(),
            rows: AtomicU64::new(0),
        })
    }

    fn page(&self, mut rows: Rows, first: FirstRow) -> io::Result<()> {
        self.rows.fetch_add(rows.len() as u64, Ordering::Relaxed);
        rows.end_page();
        lock(&self.sink).page(rows, first)
    }

    /// Writes the last pages of all workers. A page that is not full ends a row group.
    pub(super) fn fill(self) -> io::Result<FullPart> {
        let rests = std::mem::take(&mut *lock(&self.rests));
        let mut last: Option<(Rows, FirstRow)> = None;
        for (mut rows, first) in rests {
            match &mut last {
                Some((before, _)) if before.len() + rows.len() <= PAGE_ROWS => {
                    before.append(&mut rows);
                }
                _ => {
                    if let Some((rows, first)) = last.replace((rows, first)) {
                        self.page(rows, first)?;
                        lock(&self.sink).end_group()?;
                    }
                }
            }
        }
        if let Some((rows, first)) = last {
            self.page(rows, first)?;
        }
        let directories = u32::try_from(self.next.into_inner() - 1);
        Ok(FullPart {
            file: self.file,
            sink: self.sink.into_inner().ignore_poison(),
            devices: self.devices.into_inner().ignore_poison(),
            rows: self.rows.into_inner(),
            directories: directories.map_err(|_| too_many())?,
        })
    }
}

fn too_many() -> io::Error {
    io::Error::other("the task has found more than 4294967295 directories: give it a budget")
}

impl FullPart {
    /// Writes the footer with these keys and values, and the file to the disk. Returns its bytes.
    pub(super) fn finish(self, pairs: Vec<(&'static str, String)>) -> io::Result<u64> {
        drop(self.sink.finish(pairs)?);
        seal(&self.file)?;
        self.file.sync_all()?;
        Ok(self.file.metadata()?.len())
    }
}

/// Keeps the entries of one worker.
pub(super) struct PartKeeper<'p> {
    part: &'p PartWriter,
    rows: Rows,
    first: FirstRow,
    directory: u64,
    root: usize,
    path: RowPath,
    /// The length of the path of the directory.
    prefix: usize,
    /// The device of the last row, and its index.
    device: Option<(u64, i64)>,
}

impl<'p> PartKeeper<'p> {
    pub(super) fn new(part: &'p PartWriter) -> Self {
        Self {
            part,
            rows: Rows::default(),
            first: FirstRow::default(),
            directory: 0,
            root: 0,
            path: RowPath::default(),
            prefix: 0,
            device: None,
        }
    }

    /// Returns the index of the file system with this device.
    fn file_system(&mut self, device: u64) -> i64 {
        if let Some((known, index)) = self.device
            && known == device
        {
            return index;
        }
        let mut devices = lock(&self.part.devices);
        let index = devices.iter().position(|known| *known == device);
        let index = index.unwrap_or_else(|| {
            devices.push(device);
            devices.len() - 1
        });
        // A machine has fewer file systems.
        let index = i64::try_from(index).unwrap_or(i64::MAX);
        self.device = Some((device, index));
        index
    }

    /// Sets root and path of an entry.
    fn place(&mut self, name: &[u8]) {
        if self.directory == 0 {
            let index = name.first_chunk().copied().unwrap_or_default();
            self.root = u32::from_be_bytes(index) as usize;
            self.path.set(b"");
        } else {
            self.path.truncate(self.prefix);
            self.path.push(name);
        }
        if self.rows.len() == 0 {
            self.first = FirstRow {
                root: u32::try_from(self.root).unwrap_or(u32::MAX),
                path: self.path.raw().into(),
            };
        }
    }
}

impl Keeper for PartKeeper<'_> {
    fn new_directory(&self) -> u64 {
        let local = self.part.next.fetch_add(1, Ordering::Relaxed);
        // Numbers that are too large are an error at the end.
        directory_number(self.part.task, u32::try_from(local).unwrap_or(u32::MAX))
    }

    fn begin_run(&mut self, listing: &ListingPlace<'_>) {
        self.directory = listing.directory;
        self.root = listing.root;
        self.path.set(&(listing.path)());
        self.prefix = self.path.len();
    }

    #[expect(
        clippy::cast_possible_wrap,
        reason = "numbers of directories and roots are below 2^63"
    )]
    fn push(&mut self, entry: &Entry<'_>, child: Option<u64>) -> io::Result<()> {
        self.place(entry.name);
        let fs = entry.attributes.dev.map(|device| self.file_system(device));
        let dir = (self.directory != 0).then_some(self.directory as i64);
        let contents = self.part.contents;
        let rows = &mut self.rows;
        rows.number(Column::Root, Some(self.root as i64));
        rows.number(Column::Dir, dir);
        rows.number(Column::SelfDir, child.map(|child| child as i64));
        rows.number(Column::Fs, fs);
        self.path.write(rows);
        rows.boolean(Column::Charged, entry.attributes.charged_once);
        file_cells::write(entry, entry.failure, contents, rows);
        if contents.xattrs {
            let unread = entry.failure.is_some() && entry.xattrs.is_empty();
            let pairs = entry.xattrs.iter();
            let pairs = pairs.map(|(name, value)| (&name[..], &value[..]));
            rows.xattrs((!unread).then_some(pairs));
        }
        rows.end_row();
        if self.rows.len() == PAGE_ROWS {
            let rows = std::mem::take(&mut self.rows);
            self.part.page(rows, std::mem::take(&mut self.first))?;
            self.rows = lock(&self.part.sink).buffer();
        }
        Ok(())
    }

    fn end_run(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn close(self) -> io::Result<()> {
        if self.rows.len() > 0 {
            lock(&self.part.rests).push((self.rows, self.first));
        }
        Ok(())
    }
}
