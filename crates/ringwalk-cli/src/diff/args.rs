//! The options of `ringwalk diff`.

use crate::output::{OutputArgs, formats};
use crate::sizes::SizeArgs;
use clap::{Args, ValueEnum, ValueHint};
use std::ffi::OsString;
use std::num::NonZeroUsize;

/// What the output lists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ByKey {
    /// Each change
    #[default]
    Path,
    /// Growth of directories
    Dir,
    /// Growth by owner
    Owner,
    /// Growth by extension of the file names
    Ext,
}

/// How renamed files are found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum RenamesBy {
    /// By inode number and time of birth
    #[default]
    Inode,
    /// Not at all: a renamed file is removed and added
    Off,
}

formats! {
    /// The formats of `diff`.
    pub DiffFormat: Table, Json, Ndjson, Parquet
}

/// Arguments of `ringwalk diff`.
#[derive(Debug, Args)]
pub struct DiffArgs {
    /// The older snapshot
    #[arg(value_name = "OLD", value_hint = ValueHint::FilePath)]
    pub old: OsString,

    /// The newer snapshot, or a directory to read now
    #[arg(value_name = "NEW|DIR", value_hint = ValueHint::AnyPath)]
    pub new: OsString,

    /// What to list
    #[arg(long, value_name = "KEY", value_enum, default_value_t)]
    pub by: ByKey,

    /// With --by dir, list directories down to N levels below the roots [default: 1]
    #[arg(long, value_name = "N")]
    pub depth: Option<usize>,

    /// List N lines only, those with the largest growth [default: 20 on a terminal, else all]
    #[arg(long, value_name = "N")]
    pub top: Option<NonZeroUsize>,

    /// How to find renamed files
    #[arg(long, value_name = "HOW", value_enum, default_value_t)]
    pub renames: RenamesBy,

    /// How sizes are shown.
    #[command(flatten)]
    pub sizes: SizeArgs,

    /// Where the answer goes, and its form.
    #[command(flatten)]
    pub output: OutputArgs<DiffFormat>,
}
