//! What snapshots answer: what has changed, who uses the space, and the same in other formats.
//!
//! Each command of the program is a function here:
//!
//! | command | here |
//! |---|---|
//! | `ringwalk diff` | [`diff::diff`] |
//! | `ringwalk report` | [`report::report`] |
//! | `ringwalk import`, `export` | [`exchange`] |
//! | `ringwalk sql` | [`sql::views`] |
//!
//! `ringwalk-snapshot` writes and reads the files; this crate knows nothing of their bytes.
//!
//! A directory is saved, changed, compared and added up:
//!
//! ```
//! use ringwalk_answers::diff::{DiffOptions, Kind, diff};
//! use ringwalk_answers::report::{Key, ReportOptions, report};
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
//! | `diff/` | the comparison of two snapshots |
//! | `report/` | sums by owner, age, and other keys |
//! | `exchange/` | import and export: ncdu, NDJSON, CSV |
//! | `sql.rs` | views for DuckDB |
//! | `table_file/` | results of `diff`, `report` and `dupes` as Parquet files and as CSV |

#![warn(clippy::print_stdout, clippy::print_stderr)]

pub mod diff;
pub mod exchange;
pub mod report;
pub mod sql;
pub mod table_file;
