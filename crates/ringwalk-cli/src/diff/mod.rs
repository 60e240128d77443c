//! `ringwalk diff`: what has changed between two snapshots, or a snapshot and a live tree.
//!
//! | file | contents |
//! |---|---|
//! | `args.rs` | the options |
//! | `input.rs` | the two snapshots; the newer one may be taken now |
//! | `period.rs` | the line about the times of the snapshots |
//! | `text.rs` | lines of text, and the table on a terminal |
//! | `paint.rs` | colours, numbers and names |
//! | `unknown.rs` | what the snapshots do not know |
//!
//! The module `diff` of the crate `ringwalk-snapshot` finds the changes, and makes JSON and
//! Parquet.

mod args;
pub(crate) mod input;
mod paint;
mod period;
mod text;
mod unknown;

pub use args::{ByKey, DiffArgs, DiffFormat, RenamesBy};

use crate::engine_options::EngineOptions;
use crate::output::Output;
use crate::progress::Progress;
use crate::quote::{quoted, quoted_bytes};
use crate::status::{Ended, TROUBLE, answered, trouble};
use ringwalk_answers::diff::{
    By, Diff, DiffError, DiffOptions, Renames, View, diff, json, ndjson, write_table,
};
use ringwalk_snapshot::Snapshot;
use std::ffi::OsStr;
use std::path::Path;
use std::process::ExitCode;

/// Exit status if the snapshots differ.
const DIFFERENT: u8 = 1;

/// Changes listed on a terminal, unless `--top` gives another number.
const TOP_ON_TERMINAL: usize = 20;

/// Levels below the roots, unless `--depth` gives another number.
const DEPTH: usize = 1;

/// Compares `args.old` with `args.new` and prints the result.
///
/// # Errors
///
/// If there is no answer, or none that is certain.
pub fn run(args: &DiffArgs, options: &EngineOptions) -> Result<ExitCode, Ended> {
    if args.depth.is_some() && args.by != ByKey::Dir {
        return Err(trouble("--depth needs --by dir"));
    }
    args.sizes.refuse(args.output.format).map_err(trouble)?;
    let output = args.output.open(&[&args.old, &args.new])?;
    let old = input::open(&args.old)?;
    let new = input::open_or_take(&args.new, &old, options)?;
    let diff = compare(&old, &new, args, options)?;
    let written = write(&diff, args, &period::period(&old, &new), output);
    // Status 1 would say that the snapshots differ.
    written.map_err(|_| Ended::with(TROUBLE))?;
    if unknown::report(&diff, [&args.old, &args.new]) {
        return Err(Ended::with(TROUBLE));
    }
    Ok(if diff.is_same() {
        answered(true)
    } else {
        ExitCode::from(DIFFERENT)
    })
}

fn compare(
    old: &Snapshot,
    new: &Snapshot,
    args: &DiffArgs,
    options: &EngineOptions,
) -> Result<Diff, Ended> {
    let mut wanted = DiffOptions::default();
    wanted.renames = match args.renames {
        RenamesBy::Inode => Renames::Inode,
        RenamesBy::Off => Renames::Off,
    };
    if let Some(workers) = options.workers {
        wanted.threads = workers;
    }
    let progress = Progress::of_rows(options.progress, wanted.progress.clone());
    let result = diff(old, new, &wanted);
    drop(progress);
    result.map_err(|error| trouble(message(&error, [&args.old, &args.new])))
}

/// Returns the message about snapshots that cannot be compared. `names` are the names of the files.
pub(crate) fn message(error: &DiffError, names: [&OsStr; 2]) -> String {
    match error {
        DiffError::Root {
            path,
            missing_in,
            roots,
        } => {
            let roots = roots.iter().map(|root| quoted_bytes(root).to_string());
            format!(
                "{} has no root {}; both must have the same roots, and it has {}",
                quoted(names[*missing_in as usize]),
                quoted_bytes(path),
                roots.collect::<Vec<_>>().join(", ")
            )
        }
        DiffError::Read(error) => format!("{}: {}", quoted(error.path()), error.reason()),
        error => error.to_string(),
    }
}

fn view(args: &DiffArgs) -> View<'_> {
    let mut view = View::default();
    view.files = [Some(Path::new(&args.old)), Some(Path::new(&args.new))];
    view.by = by(args);
    view.top = args.top.map(Into::into);
    view
}

fn by(args: &DiffArgs) -> Option<By> {
    Some(match args.by {
        ByKey::Path => return None,
        ByKey::Dir => By::Directory {
            depth: args.depth.unwrap_or(DEPTH),
        },
        ByKey::Owner => By::Owner,
        ByKey::Ext => By::Extension,
    })
}

fn write(diff: &Diff, args: &DiffArgs, period: &str, output: Output<'_>) -> Result<(), Ended> {
    let view = view(args);
    match args.output.format {
        DiffFormat::Table => {
            let text = text::text(diff, args, period, output.is_terminal());
            output.write_all(&text)
        }
        DiffFormat::Json => output.write_all(json(diff, &view).as_bytes()),
        DiffFormat::Ndjson => output.write(|mut out| Ok(ndjson(diff, &view, &mut out)?)),
        DiffFormat::Parquet => output.write(|out| Ok(write_table(diff, &view, out)?)),
    }
}

#[cfg(test)]
mod tests;
