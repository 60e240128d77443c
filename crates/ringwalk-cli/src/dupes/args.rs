//! The options of `ringwalk dupes`.

use crate::common_args::parse_memory;
use crate::output::{OutputArgs, formats};
use crate::sizes::SizeArgs;
use clap::{Args, ValueEnum, ValueHint};
use ringwalk_dupes::Directories;
use ringwalk_dupes::act::Action;
use std::ffi::OsString;

formats! {
    /// The formats of `dupes`.
    pub DupesFormat: Table, Fdupes, Json, Csv, Parquet
}

/// What is done with copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Do {
    /// Let the file system share the blocks (FIDEDUPERANGE). The kernel compares the contents, and
    /// the files stay files of their own. Needs btrfs, XFS, or another file system with reflinks.
    Dedupe,
    /// Make each copy a hard link of the file that is kept.
    Hardlink,
    /// Delete the copies.
    Delete,
    /// Move the copies to the trash.
    Trash,
}

impl From<Do> for Action {
    fn from(action: Do) -> Self {
        match action {
            Do::Dedupe => Self::Dedupe,
            Do::Hardlink => Self::Hardlink,
            Do::Delete => Self::Delete,
            Do::Trash => Self::Trash,
        }
    }
}

fn parse_size(text: &str) -> Result<u64, String> {
    Ok(parse_memory(text)? as u64)
}

fn parse_directories(text: &str) -> Result<Directories, String> {
    let digits = text.strip_suffix('%').unwrap_or(text);
    let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
    let share = if is_number { digits.parse().ok() } else { None };
    match share {
        Some(100) => Ok(Directories::Same),
        Some(share @ 1..=99) => Ok(Directories::Similar(share)),
        _ => Err("expected a share from 1% to 100%".to_owned()),
    }
}

/// Arguments of `ringwalk dupes`.
#[derive(Debug, Args)]
pub struct DupesArgs {
    /// Directories to search, and snapshots with hashes. A regular file is a snapshot. Symbolic
    /// links given here are followed
    #[arg(value_name = "ROOT|SNAP", required = true, value_hint = ValueHint::AnyPath)]
    pub roots: Vec<OsString>,

    /// Also compare with the files below the directory REF, and never change those. Only groups
    /// with a file of REF are shown. May be given several times
    #[arg(long, value_name = "REF", value_hint = ValueHint::DirPath)]
    pub keep_in: Vec<OsString>,

    /// Also find directories with the same contents. With a share, such as 90%, also find
    /// directories that have at least this share in common. Needs --format table or json
    #[arg(
        long,
        value_name = "SHARE",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "100%",
        value_parser = parse_directories
    )]
    pub dirs: Option<Directories>,

    /// Report files of at least SIZE bytes. SIZE may end in K, M or G
    #[arg(long, value_name = "SIZE", value_parser = parse_size, default_value = "1")]
    pub min: u64,

    /// Keep hashes in FILE for the next search, which reads only files that have changed. After an
    /// interruption the next search goes on from there
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub cache: Option<OsString>,

    /// How sizes are shown.
    #[command(flatten)]
    pub sizes: SizeArgs,

    /// Where the answer goes, and its form.
    #[command(flatten)]
    pub output: OutputArgs<DupesFormat>,

    /// Do this with all copies but the one to keep. Asks first if standard input and standard error
    /// are terminals. Without this option nothing is changed
    #[arg(long = "do", value_name = "ACTION", value_enum)]
    pub action: Option<Do>,

    /// With --do, show what would be freed and which copies would be kept, and change nothing
    #[arg(long, requires = "action")]
    pub dry_run: bool,

    /// Leave out other file systems below the roots
    #[arg(short = 'x', long)]
    pub one_file_system: bool,
}
