//! The options of `ringwalk report`.

use clap::{Args, ValueHint};
use ringwalk_snapshot::report::{Key, KeyError};
use std::ffi::OsString;

/// The keys of `--by`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Keys(pub Vec<Key>);

fn parse_keys(text: &str) -> Result<Keys, KeyError> {
    Key::parse_list(text).map(Keys)
}

/// Arguments of `ringwalk report`.
#[derive(Debug, Args)]
pub struct ReportArgs {
    /// A snapshot, or a directory to read now
    #[arg(value_name = "SNAP|DIR", value_hint = ValueHint::AnyPath)]
    pub input: OsString,

    /// The keys of the groups, separated by commas: owner, group, age, size, type, dir, ext
    #[arg(long, value_name = "KEY,...", value_parser = parse_keys)]
    pub by: Keys,

    /// Report on this file or directory only, with everything below it. The path is that in the
    /// file system; it need not exist any more
    #[arg(long, value_name = "PATH", value_hint = ValueHint::AnyPath)]
    pub under: Option<OsString>,

    /// Show the N largest groups, and the sums of the others [default: 20 in a table on a
    /// terminal, else all]
    #[arg(long, value_name = "N")]
    pub top: Option<usize>,

    /// Print one JSON object
    #[arg(long, conflicts_with_all = ["csv", "parquet"])]
    pub json: bool,

    /// Print CSV
    #[arg(long, conflicts_with = "parquet")]
    pub csv: bool,

    /// Write a Parquet file instead of printing
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub parquet: Option<OsString>,
}
