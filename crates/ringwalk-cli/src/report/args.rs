//! The options of `ringwalk report`.

use crate::sizes::SizeArgs;
use clap::{Args, ValueHint};
use ringwalk_answers::report::{Key, KeyError};
use std::ffi::OsString;

/// The largest number of `--nodes`. The page then has up to 80 MB.
const MOST_NODES: i64 = 1_000_000;

/// Options that have no effect with `--html`.
const NOT_ON_A_PAGE: [&str; 7] = ["by", "top", "json", "csv", "parquet", "si", "bytes"];

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

    /// The keys of the groups, separated by commas: owner, group, project, age, size, type,
    /// dir, ext [default: dir]
    #[arg(long, value_name = "KEY,...", value_parser = parse_keys)]
    pub by: Option<Keys>,

    /// Report on this file or directory only, with everything below it. The path is the one in the
    /// file system; it need not exist any more
    #[arg(long, value_name = "PATH", value_hint = ValueHint::AnyPath)]
    pub under: Option<OsString>,

    /// Show the N largest groups, and the sums of the others [default: 20 in a table on a
    /// terminal, else all]
    #[arg(long, value_name = "N")]
    pub top: Option<usize>,

    /// How sizes are shown.
    #[command(flatten)]
    pub sizes: SizeArgs,

    /// Print one JSON object
    #[arg(long, conflicts_with_all = ["csv", "parquet"])]
    pub json: bool,

    /// Print CSV
    #[arg(long, conflicts_with = "parquet")]
    pub csv: bool,

    /// Write a Parquet file instead of printing
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub parquet: Option<OsString>,

    /// Write a page of HTML instead of printing: diagrams of the directories, the largest files,
    /// owners and ages. The page is one file that needs no network
    #[arg(
        long,
        value_name = "FILE",
        value_hint = ValueHint::FilePath,
        conflicts_with_all = NOT_ON_A_PAGE
    )]
    pub html: Option<OsString>,

    /// With --html, show the growth since the snapshot OLD
    // Clap does not ask for --html beside an option that excludes it, so the two say it themselves.
    #[arg(
        long,
        value_name = "OLD",
        value_hint = ValueHint::FilePath,
        requires = "html",
        conflicts_with_all = NOT_ON_A_PAGE
    )]
    pub compare: Option<OsString>,

    /// With --html, show at most N files and directories in the diagrams, the largest, and add up
    /// the others [default: 20000]
    #[arg(
        long,
        value_name = "N",
        requires = "html",
        conflicts_with_all = NOT_ON_A_PAGE,
        value_parser = clap::value_parser!(u32).range(1..=MOST_NODES)
    )]
    pub nodes: Option<u32>,
}
