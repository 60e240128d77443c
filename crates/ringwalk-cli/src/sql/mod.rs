//! `ringwalk sql`: queries of snapshots by the DuckDB of the user.
//!
//! | file | contents |
//! |---|---|
//! | `words.rs` | which words are snapshots, and which one is the query |
//! | `duckdb.rs` | DuckDB: the program, or else the Python module |
//! | `duckdb.py` | the script that runs the Python module |
//!
//! Ringwalk does not contain DuckDB, whose library has 65 MB. The module `sql` of the crate
//! `ringwalk-snapshot` defines the views.

mod duckdb;
mod words;

use crate::console;
use crate::quote::quoted;
use crate::status::{Ended, answered, failed, trouble};
use clap::{Args, ValueHint};
use ringwalk_answers::sql;
use ringwalk_snapshot::{ReadError, Snapshot};
use rustix::io::{FdFlags, fcntl_setfd};
use std::ffi::{OsStr, OsString};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use words::Words;

/// Arguments of `ringwalk sql`.
#[derive(Debug, Args)]
pub struct SqlArgs {
    /// Snapshots, then perhaps a query in SQL
    #[arg(value_name = "SNAP|QUERY", required = true, value_hint = ValueHint::FilePath)]
    pub words: Vec<OsString>,

    /// Print the definitions of the views, and run nothing
    #[arg(long)]
    pub views: bool,
}

/// Runs a query of snapshots.
///
/// # Errors
///
/// If there is no answer.
pub fn run(args: &SqlArgs) -> Result<ExitCode, Ended> {
    let words = Words::of(&args.words).map_err(trouble)?;
    let mut tables = Vec::new();
    let mut incomplete = Vec::new();
    // DuckDB reads those without a name by their descriptors.
    let mut unnamed = Vec::new();
    for name in words.snapshots {
        let snapshot =
            ringwalk_snapshot::open(Path::new(name)).map_err(|error| unreadable(&error))?;
        let errors = snapshot.info().verdict.errors;
        if errors > 0 || !snapshot.info().verdict.complete {
            incomplete.push((name.as_os_str(), errors));
        }
        if Path::new(name).is_dir() {
            if args.views {
                return Err(trouble(format_args!(
                    "{} has no views of its own; make a snapshot of it with ringwalk-cluster \
                     compact",
                    quoted(name)
                )));
            }
            let path = inherited(&snapshot).map_err(|error| failed(name, error))?;
            tables.push(sql::Table::new(&path, &snapshot));
            unnamed.push(snapshot);
        } else {
            tables.push(sql::Table::new(&absolute(name)?, &snapshot));
        }
    }
    let views = sql::views(&tables).map_err(|error| {
        let name = quoted(error.path().as_os_str());
        trouble(format_args!("{name}: {error}; give the file another name"))
    })?;
    if args.views {
        if let Some(query) = words.query {
            let query = quoted(query);
            return Err(trouble(format_args!(
                "unexpected query {query}: --views runs nothing"
            )));
        }
        console::print_lines(views.as_bytes())?;
        return Ok(ExitCode::SUCCESS);
    }
    // The program duckdb may take the place of this process.
    let complete = report_incomplete(&incomplete);
    let is_answered = duckdb::run(&views, words.query)?;
    Ok(answered(complete && is_answered))
}

/// Lets the program that this process becomes inherit the file of a snapshot. Returns a path of the
/// file that holds as long as this process. `duckdb` may be a script that starts the real program
/// without other descriptors. The script of the Python package `duckdb-cli` does so.
fn inherited(snapshot: &Snapshot) -> Result<PathBuf, String> {
    let file = snapshot.file();
    let inherit = fcntl_setfd(file, FdFlags::empty());
    inherit.map_err(|errno| console::reason(&errno.into()))?;
    let (process, descriptor) = (std::process::id(), file.as_raw_fd());
    Ok(PathBuf::from(format!("/proc/{process}/fd/{descriptor}")))
}

/// Returns the path of a file from the root directory. DuckDB reads some relative names, such as
/// `s3://x`, as names of other places.
fn absolute(name: &OsStr) -> Result<PathBuf, Ended> {
    std::path::absolute(name).map_err(|failure| {
        let reason = console::reason(&failure);
        trouble(format_args!(
            "cannot find the directory of {}: {reason}",
            quoted(name)
        ))
    })
}

/// Reports the snapshots that are incomplete. Returns true if all are complete.
fn report_incomplete(incomplete: &[(&OsStr, u64)]) -> bool {
    for (name, errors) in incomplete {
        let plural = if *errors == 1 { "" } else { "s" };
        console::error(format_args!(
            "{} is incomplete: {errors} error{plural}; see the view errors",
            quoted(name)
        ));
    }
    incomplete.is_empty()
}

fn unreadable(error: &ReadError) -> Ended {
    failed(error.path(), error.reason())
}
