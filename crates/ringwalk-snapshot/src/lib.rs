//! Snapshots of directory trees: Parquet files with a row for each file.
//!
//! `docs/snapshot.md` describes the file for users of other readers.
//!
//! Each command of the program is a function here:
//!
//! | command | here |
//! |---|---|
//! | `ringwalk snapshot` | [`Capture`]; with `--since` [`OlderSnapshot`] |
//! | `ringwalk find`, `du` and `count` with `--from` | [`SnapshotTree`], in a `ringwalk::Walk` |
//!
//! `ringwalk-answers` compares snapshots, adds them up and exchanges them. It reads them with what
//! is public here. `cluster/` and `excerpt.rs` are here because they write files, with the inner
//! parts of `write/`.
//!
//! | folder or file | contents |
//! |---|---|
//! | `schema/`, `schema/columns.rs` | the table of columns, and what follows from it |
//! | `order.rs` | the order of the rows |
//! | `info.rs` | what a snapshot says of itself, in the footer |
//! | `seal.rs` | the checksum of the footer |
//! | `entry.rs` | what a snapshot keeps of one file |
//! | `stored_entry.rs` | the entry of a row of a file |
//! | `export_error.rs` | why a snapshot cannot be written in another form |
//! | `import_format.rs` | the formats that `ringwalk import` reads |
//! | `excerpt.rs` | a part of a snapshot as a snapshot of its own |
//! | `kind.rs` | the letter of a type, and the extension of a name |
//! | `row_counter.rs` | the progress of long work |
//! | `time.rs` | times in 64 bits |
//! | `columnar/` | Parquet files: encodings, columns, indexes, footer |
//! | `write/` | writing: staging, order, totals, encoding, publication |
//! | `capture/` | the walk whose entries are written |
//! | `cluster/` | walks that several processes share: tasks, parts, the snapshot of parts |
//! | `saved/` | snapshots that a walk reads in place of the live file system |
//! | `places.rs` | where a snapshot has a file of the file system |
//! | `open.rs` | opening what a user names: a file, or the folder of a shared walk |
//! | `read/` | reading: opening, checks, columns of a range of rows, the row of a path |

#![warn(clippy::print_stdout, clippy::print_stderr)]

mod capture;
pub mod cluster;
pub mod columnar;
mod entry;
mod excerpt;
mod export_error;
mod import_format;
mod info;
mod kind;
mod open;
pub mod order;
mod places;
mod read;
mod row_counter;
mod saved;
mod schema;
mod seal;
pub mod stored_entry;
mod time;
mod write;

pub use capture::file_systems::describe as describe_file_system;
pub use capture::{Capture, CaptureError, Captured, FileHashes};
pub use entry::{Entry, FailedOperation, Failure, Skipped};
pub use excerpt::excerpt;
pub use export_error::ExportError;
pub use import_format::ImportFormat;
pub use info::{
    CREATED_BY, FileSystemInfo, Info, Moment, RootInfo, Run, Text, Tool, Transaction, Verdict,
};
pub use kind::{LETTERS, extension, type_letter};
pub use open::open;
pub use places::places;
pub use read::{
    Chunk, Cursor, Decoder, Page, PageCache, ReadError, Scan, Snapshot, StoredAlike, XattrReader,
};
pub use ringwalk_output::NotKept;
pub use row_counter::RowCounter;
pub use saved::{OlderSnapshot, SnapshotTree};
pub use schema::{
    ATTRIBUTES, AttributeSink, AttributeSource, Attributes, COLUMN_COUNT, Column, ColumnSet,
    Compared, Contents, Facts, GROUP_ROWS, HASH_BYTES, LONGEST_PATH, PAGE_ROWS, VERSION, Values,
    count_numbers, numbers,
};
pub use time::{clamp, rfc3339, timestamp};
pub use write::builder::TreeBuilder;
pub use write::{DEFAULT_MEMORY, WriteOptions};
