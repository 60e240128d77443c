//! Writing a snapshot.
//!
//! ```text
//!   capture (a walk) ──┐
//!                      ├──> stage ──> assemble ──> encode ──> publish
//!   builder (a file) ──┘    any order    sorted post-order
//! ```
//!
//! | file | contents |
//! |---|---|
//! | `builder.rs` | a tree that is given depth first, by an importer |
//! | `run.rs` | entries in the order of a file, on their way into the stage |
//! | `stage.rs`, `piece.rs`, `pack.rs`, `heads.rs` | listings that wait for their turn, packed |
//! | `listing.rs`, `merge.rs` | the listing of a directory, merged from its parts |
//! | `spill.rs`, `sorter.rs` | the temporary file, and records sorted with its help |
//! | `assemble.rs`, `path.rs`, `totals.rs`, `failures.rs` | the rows, in order, with totals of subtrees |
//! | `links.rs` | files with several links: which name is charged |
//! | `rows.rs`, `file_cells.rs` | rows as columns |
//! | `encode.rs` | the columns as Parquet |

mod assemble;
pub(crate) mod builder;
pub(crate) mod encode;
mod failures;
pub(crate) mod file_cells;
mod heads;
mod links;
mod listing;
mod merge;
pub(crate) mod pack;
pub(crate) mod path;
pub(crate) mod piece;
pub(crate) mod rows;
pub(crate) mod run;
mod sorter;
pub(crate) mod spill;
pub(crate) mod stage;
mod totals;

pub(crate) use failures::Failures;

use crate::info::{FileSystemInfo, Info};
use crate::read::FirstRow;
use crate::row_counter::RowCounter;
use crate::schema::{Contents, Shape};
use assemble::Assembler;
pub(crate) use assemble::{Referred, Sink};
use encode::ParquetSink;
use ringwalk_output::{NotKept, Unpublished};
use rows::{Lists, Rows};
use stage::Staged;
use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::path::Path;
use std::thread::available_parallelism;

/// Bytes of listings in memory, by default. With the buffers of the encoder, a snapshot
/// of a million entries then takes less than 64 MiB.
pub const DEFAULT_MEMORY: usize = 24 << 20;

/// How a snapshot is written.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct WriteOptions {
    /// The optional parts.
    pub contents: Contents,
    /// Bytes of listings that wait in memory, and of names that are being sorted. The rest goes
    /// into an unnamed temporary file in the folder `TMPDIR`, or `/tmp`.
    pub memory: usize,
    /// Threads that encode columns. The file does not depend on their number.
    pub threads: NonZeroUsize,
    /// Counts first the rows that are collected, then those that are written, for a display of
    /// progress.
    pub progress: RowCounter,
    /// Called with the output and the rights of the old file there that the new one could not get.
    /// The user should know them.
    pub not_kept: fn(&Path, NotKept),
}

impl Default for WriteOptions {
    fn default() -> Self {
        Self {
            contents: Contents::default(),
            memory: DEFAULT_MEMORY,
            threads: available_parallelism().unwrap_or(NonZeroUsize::MIN),
            progress: RowCounter::default(),
            not_kept: |_, _| {},
        }
    }
}

impl WriteOptions {
    /// Writes the file to the disk, and lets it appear at `output`.
    pub(crate) fn publish(&self, file: Unpublished, output: &Path) -> io::Result<()> {
        if let Some(rights) = file.publish()? {
            (self.not_kept)(output, rights);
        }
        Ok(())
    }

    /// Bytes of listings that wait.
    pub(crate) fn waiting(&self) -> usize {
        self.memory - self.sorting()
    }

    /// Bytes of what is being sorted: listings of large directories, and names of files with
    /// several links.
    pub(crate) fn sorting(&self) -> usize {
        self.memory / 4
    }
}

/// Writes all that is staged. `name` adds names of users and groups. Returns what the snapshot says
/// of itself.
pub(crate) fn write(
    staged: &Staged,
    failures: &Failures,
    options: &WriteOptions,
    mut info: Info,
    name: impl FnOnce(&Referred, &mut Info),
    output: impl Write + Send,
) -> io::Result<Info> {
    let sink = ParquetSink::new(
        output,
        options.contents,
        Shape::Snapshot,
        options.threads.get(),
    )?;
    let progress = &options.progress;
    // Everything that was collected becomes a row.
    progress.begin(progress.done());
    let sink = Counted { sink, progress };
    let assembler = Assembler::new(staged, options, failures, sink)?;
    let (referred, Counted { sink, .. }) = assembler.run()?;
    info.file_systems = file_systems_of(&referred.devices, &info.file_systems);
    name(&referred, &mut info);
    let unplaced = failures.count() - referred.placed;
    info.verdict.entries = referred.rows;
    info.verdict.errors += referred.errors + unplaced;
    info.verdict.complete = info.verdict.errors == 0;
    let pairs = info.to_pairs(options.contents);
    sink.finish(pairs)?;
    Ok(info)
}

/// Counts rows on their way to a sink.
struct Counted<'p, S> {
    sink: S,
    progress: &'p RowCounter,
}

impl<S: Sink> Sink for Counted<'_, S> {
    fn lists(&mut self, lists: Lists) -> io::Result<()> {
        self.sink.lists(lists)
    }

    fn page(&mut self, rows: Rows, first: FirstRow) -> io::Result<()> {
        let number = rows.len() as u64;
        self.sink.page(rows, first)?;
        self.progress.add(number);
        Ok(())
    }

    fn buffer(&mut self) -> Rows {
        self.sink.buffer()
    }
}

/// Returns the file systems of these devices, which are in the order of the column `fs`.
pub(crate) fn file_systems_of(devices: &[u64], known: &[FileSystemInfo]) -> Vec<FileSystemInfo> {
    let of_device = |device: &u64| {
        let found = known.iter().find(|each| each.device == *device);
        found.cloned().unwrap_or_else(|| FileSystemInfo {
            device: *device,
            ..FileSystemInfo::default()
        })
    };
    devices.iter().map(of_device).collect()
}
