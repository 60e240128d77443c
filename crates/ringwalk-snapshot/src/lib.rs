//! Snapshots of directory trees: Parquet files with a row for each file.
//!
//! `docs/snapshot.md` describes the file for users of other readers.
//!
//! Each command of the program is a function here:
//!
//! | command | here |
//! |---|---|
//! | `ringwalk snapshot` | [`Capture`]; with `--since` [`OlderSnapshot`] |
//! | `ringwalk diff` | [`diff::diff`] |
//! | `ringwalk report` | [`report::report`] |
//! | `ringwalk find`, `du` and `count` with `--from` | [`SnapshotTree`], in a `ringwalk::Walk` |
//! | `ringwalk import`, `export` | [`exchange`] |
//! | `ringwalk sql` | [`sql::views`] |
//!
//! A directory is saved, changed, compared and added up:
//!
//! ```
//! use ringwalk_snapshot::diff::{DiffOptions, Kind, diff};
//! use ringwalk_snapshot::report::{Key, ReportOptions, report};
//! use ringwalk_snapshot::{Capture, Snapshot};
//!
//! # let folder = tempfile::tempdir()?;
//! # let top = folder.path().join("top");
//! # std::fs::create_dir(&top)?;
//! let save = |name| {
//!     let file = folder.path().join(name);
//!     let capture = Capture::new([&top])?;
//!     capture.run(capture.walk(), &file)?;
//!     Ok::<_, Box<dyn std::error::Error>>(Snapshot::open(&file)?)
//! };
//! let old = save("monday.parquet")?;
//! std::fs::write(top.join("new.log"), "twelve bytes")?;
//! let new = save("today.parquet")?;
//!
//! let differences = diff(&old, &new, &DiffOptions::default())?;
//! let mut added = differences.changes.iter().filter(|change| change.kind == Kind::Added);
//! assert_eq!(*added.next().unwrap().version().path, *b"new.log");
//!
//! let sums = report(&new, &ReportOptions::by([Key::Extension]))?;
//! assert_eq!(sums.total.entries, 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | folder or file | contents |
//! |---|---|
//! | `schema.rs` | the columns: names, types, encodings, descriptions |
//! | `order.rs` | the order of the rows |
//! | `info.rs` | what a snapshot says of itself, in the footer |
//! | `seal.rs` | the checksum of the footer |
//! | `entry.rs` | what a snapshot keeps of one file |
//! | `stored_entry.rs` | the entry of a row of a file |
//! | `excerpt.rs` | a part of a snapshot as a snapshot of its own |
//! | `kind.rs` | the letter of a type, and the extension of a name |
//! | `row_counter.rs` | the progress of long work |
//! | `table_file.rs` | results of `diff`, `report` and `dupes` as Parquet files |
//! | `time.rs` | times in 64 bits |
//! | `columnar/` | Parquet files: encodings, columns, indexes, footer |
//! | `write/` | writing: staging, order, totals, encoding, publication |
//! | `capture/` | the walk whose entries are written |
//! | `cluster/` | walks that several processes share: tasks, parts, the snapshot of parts |
//! | `report/` | sums by owner, age, and other keys |
//! | `sql.rs` | views for DuckDB |
//! | `saved/` | snapshots that a walk reads in place of the live file system |
//! | `places.rs` | where a snapshot has a file of the file system |
//! | `open.rs` | opening what a user names: a file, or the folder of a shared walk |
//! | `read/` | reading: opening, checks, columns of a range of rows, the row of a path |
//! | `exchange/` | import and export: ncdu, NDJSON, CSV |
//! | `diff.rs`, `diff/` | the comparison of two snapshots |

#![warn(clippy::print_stdout, clippy::print_stderr)]

mod capture;
pub mod cluster;
mod columnar;
pub mod diff;
mod entry;
mod excerpt;
pub mod exchange;
mod info;
mod kind;
mod open;
pub mod order;
mod places;
mod read;
pub mod report;
mod row_counter;
mod saved;
mod schema;
mod seal;
pub mod sql;
mod stored_entry;
pub mod table_file;
mod time;
mod write;

pub use capture::file_systems::{describe as describe_file_system, uuid_text};
pub use capture::{Capture, CaptureError, Captured, FileHashes};
pub use entry::{Attributes, Entry, FailedOperation, Failure, Skipped};
pub use excerpt::excerpt;
pub use info::{FileSystemInfo, Info, Moment, RootInfo, Run, Text, Tool};
pub use info::{Transaction, Verdict};
pub use kind::{extension, type_letter};
pub use open::open;
pub use places::places;
pub use read::{Chunk, Cursor, ReadError, Scan, Snapshot};
pub use ringwalk_output::NotKept;
pub use row_counter::RowCounter;
pub use saved::{OlderSnapshot, SnapshotTree};
pub use schema::{Column, Contents, GROUP_ROWS, LONGEST_PATH, PAGE_ROWS, VERSION};
pub use time::{clamp, rfc3339, timestamp};
pub use write::builder::TreeBuilder;
pub use write::{DEFAULT_MEMORY, WriteOptions};
