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
use super::pages::ChecksummedPages;
use super::rows::{Cells, Rows, XATTR_NAMES, XATTR_VALUES};
use crate::info::{CREATED_BY, json, keys};
use crate::read::FirstRow;
use crate::schema::{Column, Contents, GROUP_ROWS, PAGE_ROWS, Shape, Values, XATTRS};
use crate::table_file::io_error;
use bytes::Bytes;
use parquet::basic::{Compression, ZstdLevel};
use parquet::column::writer::{
    ColumnCloseResult, ColumnWriter, ColumnWriterImpl, get_column_writer,
};
use parquet::data_type::{ByteArray, ByteArrayType, DataType};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesPtr};
use parquet::file::writer::{SerializedFileWriter, TrackedWrite};
use parquet::schema::types::{ColumnPath, SchemaDescriptor};
use ringwalk_gnu::no_thread;
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::{self, JoinHandle};

/// Pages that may wait for a thread.
const WAITING: usize = 2;

/// The most threads. The assembler keeps no more busy.
const MOST_THREADS: usize = 3;

/// The settings of the file.
#[derive(Clone)]
struct Settings {
    /// With a dictionary for each column that may have one.
    usual: WriterPropertiesPtr,
    /// Without a dictionary for columns that may do without one.
    distinct: WriterPropertiesPtr,
}

impl Settings {
    fn new(contents: Contents, shape: Shape) -> Result<Self, ParquetError> {
        Ok(Self {
            usual: properties(contents, shape, true)?,
            distinct: properties(contents, shape, false)?,
        })
    }

    /// Returns the settings of a column in a row group. `first` is the first page of the group.
    ///
    /// If most values occur once, their dictionary takes more space than their differences, and
    /// most of the time that a row group takes. The choice depends on the rows only.
    fn of(&self, leaf: Leaf, first: &Cells, scratch: &mut Vec<i64>) -> WriterPropertiesPtr {
        let settings = if leaf.may_differ && is_mostly_distinct(&first.i64s, scratch) {
            &self.distinct
        } else {
            &self.usual
        };
        Arc::clone(settings)
    }
}

/// Returns true if there are more different values than half of the values.
fn is_mostly_distinct(values: &[i64], scratch: &mut Vec<i64>) -> bool {
    scratch.clear();
    scratch.extend_from_slice(values);
    scratch.sort_unstable();
    scratch.dedup();
    scratch.len() > values.len() / 2
}

/// Returns the settings of the file. `dictionaries` is about columns that may do without one.
fn properties(
    contents: Contents,
    shape: Shape,
    dictionaries: bool,
) -> Result<WriterPropertiesPtr, ParquetError> {
    let mut builder = WriterProperties::builder()
        .set_created_by(CREATED_BY.to_owned())
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(1)?))
        .set_max_row_group_row_count(Some(GROUP_ROWS))
        .set_write_batch_size(PAGE_ROWS)
        .set_data_page_row_count_limit(PAGE_ROWS)
        // Pages end after the same rows in all columns, so never for their size.
        .set_data_page_size_limit(usize::MAX)
        .set_statistics_enabled(EnabledStatistics::Page)
        // A cut path would be no path: readers could not skip by it.
        .set_statistics_truncate_length(None)
        .set_column_index_truncate_length(None);
    for facts in contents.columns(shape) {
        let path = ColumnPath::from(facts.name);
        let (dictionary, encoding) = facts.encoding();
        let dictionary = dictionary && (dictionaries || !facts.may_differ());
        builder = builder
            .set_column_dictionary_enabled(path.clone(), dictionary)
            .set_column_encoding(path, encoding);
    }
    for leaf in ["key", "value"] {
        let path = [XATTRS, "key_value", leaf].map(str::to_owned).to_vec();
        let path = ColumnPath::new(path);
        // Nobody needs the maximum of values, and a value may have 64 KiB.
        builder = builder.set_column_statistics_enabled(path, EnabledStatistics::None);
    }
    Ok(Arc::new(builder.build()))
}

/// A column of the file.
#[derive(Clone, Copy, Debug)]
struct Leaf {
    /// Its index in the file.
    index: usize,
    /// Its index in the rows.
    cells: usize,
    values: Values,
    /// True if a row group may do without a dictionary.
    may_differ: bool,
    /// How long encoding takes, compared with other columns.
    weight: u32,
}

fn leaves(contents: Contents, shape: Shape) -> Vec<Leaf> {
    let columns = contents.columns(shape).map(|facts| {
        let weight = match facts.column {
            Column::Path => 8,
            Column::Mtime | Column::Ctime | Column::Btime | Column::Atime => 6,
            Column::Size | Column::Alloc | Column::Ino => 4,
            // Zstd finds nothing in hashes, and gives up soon.
            Column::Hash => 2,
            _ => 1,
        };
        let may_differ = facts.may_differ();
        (facts.column as usize, facts.values, may_differ, weight)
    });
    let xattrs = [
        (XATTR_NAMES, Values::Bytes, false, 2),
        (XATTR_VALUES, Values::Bytes, false, 4),
    ];
    let xattrs = xattrs.into_iter().filter(|_| contents.xattrs);
    columns
        .chain(xattrs)
        .enumerate()
        .map(|(index, (cells, values, may_differ, weight))| Leaf {
            index,
            cells,
            values,
            may_differ,
            weight,
        })
        .collect()
}

/// Shares the columns out: each goes to the thread that has the least to do so far.
fn shares(mut leaves: Vec<Leaf>, threads: usize) -> Vec<Vec<Leaf>> {
    leaves.sort_by_key(|leaf| std::cmp::Reverse(leaf.weight));
    let mut shares = vec![Vec::new(); threads];
    let weight = |share: &Vec<Leaf>| share.iter().map(|leaf: &Leaf| leaf.weight).sum::<u32>();
    for leaf in leaves {
        if let Some(least) = shares.iter_mut().min_by_key(|share| weight(share)) {
            least.push(leaf);
        }
    }
    shares
}

/// An encoded column of a row group.
struct Encoded {
    index: usize,
    data: Bytes,
    close: ColumnCloseResult,
}

enum Job {
    Page(Arc<Rows>),
    EndGroup,
}

type Group = Result<Vec<Encoded>, ParquetError>;

/// A thread that encodes some columns.
struct Encoder {
    jobs: SyncSender<Job>,
    groups: Receiver<Group>,
    thread: JoinHandle<()>,
}

/// Writes pages of rows to a Parquet file.
pub(crate) struct ParquetSink<W: Write + Send> {
    file: SerializedFileWriter<W>,
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
        let settings = Settings::new(contents, shape).map_err(io_error)?;
        let schema = contents.schema(shape).map_err(io_error)?;
        let descriptor = Arc::new(SchemaDescriptor::new(Arc::clone(&schema)));
        let file = SerializedFileWriter::new(output, schema, Arc::clone(&settings.usual));
        let encoders = shares(leaves(contents, shape), threads.clamp(1, MOST_THREADS))
            .into_iter()
            .map(|share| Encoder::start(share, Arc::clone(&descriptor), settings.clone()))
            .collect::<io::Result<_>>()?;
        Ok(Self {
            file: file.map_err(io_error)?,
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
            columns.extend(group.map_err(io_error)?);
        }
        columns.sort_by_key(|column| column.index);
        let mut group = self.file.next_row_group().map_err(io_error)?;
        for column in columns {
            group
                .append_column(&column.data, column.close)
                .map_err(io_error)?;
        }
        group.close().map_err(io_error)?;
        Ok(())
    }

    /// Writes the footer with these keys and values. Returns the output.
    pub(crate) fn finish(mut self, pairs: Vec<(&'static str, String)>) -> io::Result<W> {
        if self.rows > 0 {
            self.end_group()?;
        }
        self.write_pending()?;
        let first_rows = json(&self.first_rows);
        for (key, value) in pairs.into_iter().chain([(keys::ROW_GROUPS, first_rows)]) {
            let pair = KeyValue::new(key.to_owned(), value);
            self.file.append_key_value_metadata(pair);
        }
        for encoder in self.encoders {
            drop(encoder.jobs);
            encoder.thread.join().map_err(|_| ended())?;
        }
        self.file.into_inner().map_err(io_error)
    }
}

impl<W: Write + Send> Sink for ParquetSink<W> {
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
    fn start(
        share: Vec<Leaf>,
        schema: Arc<SchemaDescriptor>,
        settings: Settings,
    ) -> io::Result<Self> {
        let (jobs, next_job) = sync_channel(WAITING);
        let (finished, groups) = channel();
        let thread = thread::Builder::new()
            .name("ringwalk-encode".to_owned())
            .spawn(move || encode(&share, &schema, &settings, &next_job, &finished))
            .map_err(no_thread)?;
        Ok(Self {
            jobs,
            groups,
            thread,
        })
    }
}

/// Encodes groups until no more jobs come.
fn encode(
    share: &[Leaf],
    schema: &SchemaDescriptor,
    settings: &Settings,
    jobs: &Receiver<Job>,
    finished: &Sender<Group>,
) {
    while let Ok(job) = jobs.recv() {
        let Job::Page(first) = job else { continue };
        let group = encode_group(first, share, schema, settings, jobs);
        if finished.send(group).is_err() {
            return;
        }
    }
}

/// Encodes the pages of one group. The first page has arrived.
fn encode_group(
    first: Arc<Rows>,
    share: &[Leaf],
    schema: &SchemaDescriptor,
    settings: &Settings,
    jobs: &Receiver<Job>,
) -> Group {
    let mut sinks: Vec<_> = share
        .iter()
        .map(|_| TrackedWrite::new(Vec::new()))
        .collect();
    let mut numbers = Vec::new();
    let mut writers: Vec<_> = sinks
        .iter_mut()
        .zip(share)
        .map(|(sink, leaf)| {
            let pages = Box::new(ChecksummedPages::new(sink));
            let settings = settings.of(*leaf, first.cells(leaf.cells), &mut numbers);
            get_column_writer(schema.column(leaf.index), settings, pages)
        })
        .collect();
    let mut scratch = Vec::new();
    let mut job = Job::Page(first);
    let mut result = Ok(());
    while let Job::Page(rows) = job {
        // After an error, the pages of the group are still taken, or the assembler would wait.
        for (leaf, writer) in share.iter().zip(&mut writers) {
            if result.is_ok() {
                result = write_cells(*leaf, rows.cells(leaf.cells), writer, &mut scratch);
            }
        }
        drop(rows);
        let Ok(next) = jobs.recv() else { break };
        job = next;
    }
    result?;
    let mut closed = Vec::new();
    for writer in writers {
        closed.push(writer.close()?);
    }
    let data = sinks.into_iter().map(TrackedWrite::into_inner);
    let mut columns = Vec::new();
    for ((leaf, close), data) in share.iter().zip(closed).zip(data) {
        columns.push(Encoded {
            index: leaf.index,
            data: data?.into(),
            close,
        });
    }
    Ok(columns)
}

fn write_cells(
    leaf: Leaf,
    cells: &Cells,
    writer: &mut ColumnWriter<'_>,
    scratch: &mut Vec<ByteArray>,
) -> Result<(), ParquetError> {
    match (leaf.values, writer) {
        (Values::Int32 | Values::Uint32, ColumnWriter::Int32ColumnWriter(writer)) => {
            write(writer, &cells.i32s, cells)
        }
        (
            Values::Int64 | Values::Uint64 | Values::Time,
            ColumnWriter::Int64ColumnWriter(writer),
        ) => write(writer, &cells.i64s, cells),
        (Values::Boolean, ColumnWriter::BoolColumnWriter(writer)) => {
            write(writer, &cells.booleans, cells)
        }
        (Values::Text | Values::Bytes, ColumnWriter::ByteArrayColumnWriter(writer)) => {
            write_bytes(writer, cells, scratch)
        }
        _ => Err(ParquetError::General(
            "a column has another type than the schema".to_owned(),
        )),
    }
}

fn write<T: DataType>(
    writer: &mut ColumnWriterImpl<'_, T>,
    values: &[T::T],
    cells: &Cells,
) -> Result<(), ParquetError> {
    let some = |levels: &[i16]| !levels.is_empty();
    let definitions = some(&cells.definitions).then_some(&cells.definitions[..]);
    let repetitions = some(&cells.repetitions).then_some(&cells.repetitions[..]);
    writer
        .write_batch(values, definitions, repetitions)
        .map(drop)
}

/// All bytes, for values of one byte: types, and many extensions.
static BYTES: [u8; 256] = {
    let mut bytes = [0; 256];
    let mut byte = u8::MAX;
    while byte > 0 {
        bytes[byte as usize] = byte;
        byte -= 1;
    }
    bytes
};

fn write_bytes(
    writer: &mut ColumnWriterImpl<'_, ByteArrayType>,
    cells: &Cells,
    scratch: &mut Vec<ByteArray>,
) -> Result<(), ParquetError> {
    let data = Bytes::copy_from_slice(&cells.data);
    let mut begin = 0;
    scratch.clear();
    scratch.extend(cells.ends.iter().map(|&end| {
        let value = match data[begin..end] {
            // No counting of references.
            [byte] => Bytes::from_static(std::slice::from_ref(&BYTES[usize::from(byte)])),
            _ => data.slice(begin..end),
        };
        begin = end;
        ByteArray::from(value)
    }));
    write(writer, scratch, cells)
}

fn ended() -> io::Error {
    io::Error::other("a thread that encodes has ended")
}
