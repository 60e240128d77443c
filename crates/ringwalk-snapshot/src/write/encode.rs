//! Encodes pages of rows into a Parquet file, with several threads.
//!
//! ```text
//!   assembler ── pages ──> thread 0: columns path, ino, ...  ──┐
//!                  └─────> thread 1: columns mtime, ctime, ... ┴─> row group ──> file
//! ```
//!
//! Each thread encodes its columns of every page. At the end of a row group, the columns are
//! written to the file in their order. So the bytes do not depend on the number of threads.

use super::assemble::Sink;
use super::rows::{Lists, Rows, XATTR_NAMES, XATTR_VALUES};
use crate::columnar::{
    Cells, Chunk, ColumnWriter, Encoding, FileWriter, Leaf, Settings, compressor,
};
use crate::info::{CREATED_BY, json, keys};
use crate::read::FirstRow;
use crate::schema::{
    Column, Contents, FULL_ATTRIBUTE_BYTES, FULL_ATTRIBUTES, GROUP_ROWS, MOST_ATTRIBUTES,
    MOST_TEXT, Shape,
};
use ringwalk_gnu::no_thread;
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::{self, JoinHandle};
use zstd::bulk::Compressor;

/// Pages that may wait for a thread.
const WAITING: usize = 2;

/// The most threads. The assembler keeps no more busy.
const MOST_THREADS: usize = 3;

/// Returns true if there are more different values than half of the values.
fn is_mostly_distinct(values: &[i64], scratch: &mut Vec<i64>) -> bool {
    scratch.clear();
    scratch.extend_from_slice(values);
    scratch.sort_unstable();
    scratch.dedup();
    scratch.len() > values.len() / 2
}

/// A column of the file.
#[derive(Clone, Debug)]
struct FileColumn {
    /// Its index in the file.
    index: usize,
    /// Its index in the rows.
    cells: usize,
    leaf: Leaf,
    settings: Settings,
    /// True if a row group may do without a dictionary.
    may_differ: bool,
    /// How long encoding takes, compared with other columns.
    weight: u32,
}

impl FileColumn {
    /// Begins the column in a row group. `first` is the first page of the group.
    ///
    /// If most values occur once, their dictionary takes more space than their differences, and
    /// most of the time that a row group takes. The choice depends on the rows only.
    fn begin(&self, first: &Cells, scratch: &mut Vec<i64>) -> ColumnWriter {
        let mut settings = self.settings;
        if self.may_differ && is_mostly_distinct(&first.numbers, scratch) {
            settings.dictionary = false;
        }
        ColumnWriter::new(self.leaf.clone(), settings)
    }
}

fn columns(contents: Contents, shape: Shape, leaves: &[Leaf]) -> Vec<FileColumn> {
    let columns = contents.columns(shape).map(|facts| {
        let weight = match facts.column {
            Column::Path => 8,
            Column::Mtime | Column::Ctime | Column::Btime | Column::Atime => 6,
            Column::Size | Column::Alloc | Column::Ino => 4,
            // Zstd finds nothing in hashes, and gives up soon.
            Column::Hash => 2,
            _ => 1,
        };
        let (dictionary, encoding) = facts.encoding();
        let settings = Settings {
            dictionary,
            encoding,
            bounds: true,
        };
        (facts.column as usize, settings, facts.may_differ(), weight)
    });
    let settings = Settings {
        dictionary: true,
        encoding: Encoding::Plain,
        // Nobody needs the maximum of values, and a value may have 64 KiB.
        bounds: false,
    };
    let xattrs = [
        (XATTR_NAMES, settings, false, 2),
        (XATTR_VALUES, settings, false, 4),
    ];
    let xattrs = xattrs.into_iter().filter(|_| contents.xattrs);
    let columns = columns.chain(xattrs).zip(leaves).enumerate();
    columns
        .map(
            |(index, ((cells, settings, may_differ, weight), leaf))| FileColumn {
                index,
                cells,
                leaf: leaf.clone(),
                settings,
                may_differ,
                weight,
            },
        )
        .collect()
}

/// Shares the columns out: each goes to the thread that has the least to do so far.
fn shares(mut columns: Vec<FileColumn>, threads: usize) -> Vec<Vec<FileColumn>> {
    columns.sort_by_key(|column| std::cmp::Reverse(column.weight));
    let mut shares = vec![Vec::new(); threads];
    let weight = |share: &[FileColumn]| share.iter().map(|column| column.weight).sum::<u32>();
    for column in columns {
        if let Some(least) = shares.iter_mut().min_by_key(|share| weight(share)) {
            least.push(column);
        }
    }
    shares
}

/// An encoded column of a row group.
struct Encoded {
    index: usize,
    chunk: Chunk,
}

enum Job {
    /// Extended attributes of rows of the next page.
    Lists(Arc<Lists>),
    Page(Arc<Rows>),
    EndGroup,
}

type Group = io::Result<Vec<Encoded>>;

/// A thread that encodes some columns.
struct Encoder {
    jobs: SyncSender<Job>,
    groups: Receiver<Group>,
    thread: JoinHandle<()>,
}

/// Writes pages of rows to a Parquet file.
pub(crate) struct ParquetSink<W: Write + Send> {
    file: FileWriter<W>,
    encoders: Vec<Encoder>,
    /// Pages that the encoders have been given, to be filled again.
    pages: Vec<Arc<Rows>>,
    /// Rows of the group that is being encoded.
    rows: usize,
    /// True if a group is encoded and not yet written.
    is_pending: bool,
    first_rows: Vec<FirstRow>,
}

impl<W: Write + Send> ParquetSink<W> {
    pub(crate) fn new(
        output: W,
        contents: Contents,
        shape: Shape,
        threads: usize,
    ) -> io::Result<Self> {
        let file = FileWriter::new(output, contents.schema(shape))?;
        let columns = columns(contents, shape, file.leaves());
        let encoders = shares(columns, threads.clamp(1, MOST_THREADS))
            .into_iter()
            .map(Encoder::start)
            .collect::<io::Result<_>>()?;
        Ok(Self {
            file,
            encoders,
            pages: Vec::new(),
            rows: 0,
            is_pending: false,
            first_rows: Vec::new(),
        })
    }

    fn send(&self, job: impl Fn() -> Job) -> io::Result<()> {
        for encoder in &self.encoders {
            encoder.jobs.send(job()).map_err(|_| ended())?;
        }
        Ok(())
    }

    /// Ends the group that is being encoded, and writes the one before.
    pub(crate) fn end_group(&mut self) -> io::Result<()> {
        self.write_pending()?;
        self.send(|| Job::EndGroup)?;
        self.rows = 0;
        self.is_pending = true;
        Ok(())
    }

    fn write_pending(&mut self) -> io::Result<()> {
        if !std::mem::take(&mut self.is_pending) {
            return Ok(());
        }
        let mut columns = Vec::new();
        for encoder in &self.encoders {
            let group = encoder.groups.recv().map_err(|_| ended())?;
            columns.extend(group?);
        }
        columns.sort_by_key(|column| column.index);
        let chunks = columns.into_iter().map(|column| column.chunk);
        self.file.group(chunks.collect())
    }

    /// Writes the footer with these keys and values. Returns the output.
    pub(crate) fn finish(mut self, mut pairs: Vec<(&'static str, String)>) -> io::Result<W> {
        if self.rows > 0 {
            self.end_group()?;
        }
        self.write_pending()?;
        pairs.push((keys::ROW_GROUPS, json(&self.first_rows)));
        for encoder in self.encoders {
            drop(encoder.jobs);
            encoder.thread.join().map_err(|_| ended())?;
        }
        self.file.finish(CREATED_BY, &pairs)
    }
}

impl<W: Write + Send> Sink for ParquetSink<W> {
    fn lists(&mut self, lists: Lists) -> io::Result<()> {
        let lists = Arc::new(lists);
        self.send(|| Job::Lists(Arc::clone(&lists)))
    }

    fn page(&mut self, rows: Rows, first: FirstRow) -> io::Result<()> {
        if self.rows == 0 {
            self.first_rows.push(first);
        }
        self.rows += rows.len();
        let page = Arc::new(rows);
        self.send(|| Job::Page(Arc::clone(&page)))?;
        self.pages.push(page);
        if self.rows == GROUP_ROWS {
            self.end_group()?;
        }
        Ok(())
    }

    fn buffer(&mut self) -> Rows {
        let free = self
            .pages
            .iter()
            .position(|page| Arc::strong_count(page) == 1);
        let page = free.and_then(|at| Arc::into_inner(self.pages.swap_remove(at)));
        let mut rows = page.unwrap_or_default();
        rows.clear();
        rows
    }
}

impl Encoder {
    fn start(share: Vec<FileColumn>) -> io::Result<Self> {
        let (jobs, next_job) = sync_channel(WAITING);
        let (finished, groups) = channel();
        let thread = thread::Builder::new()
            .name("ringwalk-encode".to_owned())
            .spawn(move || encode(&share, &next_job, &finished))
            .map_err(no_thread)?;
        Ok(Self {
            jobs,
            groups,
            thread,
        })
    }
}

/// Encodes groups until no more jobs come.
fn encode(share: &[FileColumn], jobs: &Receiver<Job>, finished: &Sender<Group>) {
    while let Ok(job) = jobs.recv() {
        if matches!(job, Job::EndGroup) {
            continue;
        }
        if finished.send(encode_group(job, share, jobs)).is_err() {
            return;
        }
    }
}

/// Encodes the pages of one group. The first of its jobs has arrived.
fn encode_group(first: Job, share: &[FileColumn], jobs: &Receiver<Job>) -> Group {
    let mut group = GroupWriter::begin(share);
    let mut job = first;
    while !matches!(job, Job::EndGroup) {
        // After an error, the pages of the group are still taken, or the assembler would wait.
        group = group.and_then(|group| group.with(share, &job));
        drop(job);
        let Ok(next) = jobs.recv() else { break };
        job = next;
    }
    group?.finish(share)
}

/// Writes a thread's columns of a row group.
struct GroupWriter {
    zstd: Compressor<'static>,
    /// Memory that is used for each column.
    scratch: Vec<i64>,
    /// Of each column, from its first page on.
    writers: Vec<Option<ColumnWriter>>,
}

impl GroupWriter {
    fn begin(share: &[FileColumn]) -> io::Result<Self> {
        Ok(Self {
            zstd: compressor()?,
            scratch: Vec::new(),
            writers: share.iter().map(|_| None).collect(),
        })
    }

    /// Writes a page of each of the columns that the job has.
    fn with(mut self, share: &[FileColumn], job: &Job) -> io::Result<Self> {
        for (column, writer) in share.iter().zip(&mut self.writers) {
            let cells = match job {
                Job::Page(rows) => rows.cells(column.cells),
                Job::Lists(lists) if column.cells == XATTR_NAMES => &lists[0],
                Job::Lists(lists) if column.cells == XATTR_VALUES => &lists[1],
                Job::Lists(_) | Job::EndGroup => continue,
            };
            let writer = writer.get_or_insert_with(|| column.begin(cells, &mut self.scratch));
            if cells.repetitions.is_empty() {
                writer.page(cells, &mut self.zstd)?;
            } else {
                write_lists(cells, writer, &mut self.zstd)?;
            }
        }
        Ok(self)
    }

    fn finish(mut self, share: &[FileColumn]) -> Group {
        let columns = share.iter().zip(self.writers);
        columns
            .filter_map(|(column, writer)| writer.map(|writer| (column.index, writer)))
            .map(|(index, writer)| {
                Ok(Encoded {
                    index,
                    chunk: writer.finish(&mut self.zstd)?,
                })
            })
            .collect()
    }
}

/// Writes the extended attributes of a page of rows, as one page or several.
///
/// # Errors
///
/// If the attributes of a file are more than a reader takes, or as for a page.
fn write_lists(
    cells: &Cells,
    writer: &mut ColumnWriter,
    zstd: &mut Compressor<'_>,
) -> io::Result<()> {
    let parts = cells.divided(FULL_ATTRIBUTES, FULL_ATTRIBUTE_BYTES);
    let parts = parts.as_deref().unwrap_or(std::slice::from_ref(cells));
    for part in parts {
        let bytes = part.data.len() + 4 * part.ends.len();
        if bytes > MOST_TEXT || part.repetitions.len() > MOST_ATTRIBUTES {
            let number = part.ends.len();
            let why = format!("a page cannot have {number} extended attributes of {bytes} bytes");
            return Err(io::Error::other(why));
        }
        writer.page(part, zstd)?;
    }
    Ok(())
}

fn ended() -> io::Error {
    io::Error::other("a thread that encodes has ended")
}
