//! The common options as clap reads them, and values that several commands take.

#![expect(
    clippy::doc_markdown,
    reason = "these comments are the help, where backticks would show"
)]

use std::num::NonZeroUsize;

use clap::Args;
use ringwalk::{Prefetch, SourceChoice};

use crate::source_name::SourceNameParser;

/// The largest number of workers. More threads on one tree never helped. The limit keeps a typing
/// error from starting 100 000 threads.
pub const MOST_WORKERS: usize = 1024;

/// When the line of progress is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum ProgressWhen {
    /// If standard error is a terminal and the work takes more than half a second.
    #[default]
    Auto,
    /// Even if standard error is not a terminal; then in plain lines.
    Always,
    /// Not at all.
    Never,
}

/// When blocks are read ahead of a walk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum PrefetchWhen {
    /// If they are not in memory.
    #[default]
    Auto,
    /// Even if they are in memory.
    Always,
    /// Not at all.
    Never,
}

impl From<PrefetchWhen> for Prefetch {
    fn from(when: PrefetchWhen) -> Self {
        match when {
            PrefetchWhen::Auto => Self::Auto,
            PrefetchWhen::Always => Self::Always,
            PrefetchWhen::Never => Self::Never,
        }
    }
}

/// The common options.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Args)]
#[command(next_help_heading = "Common options")]
pub struct CommonArgs {
    /// Read directories with this source [environment: RINGWALK_SOURCE] [default: auto]
    #[arg(long, value_name = "NAME", value_parser = SourceNameParser)]
    pub source: Option<SourceChoice>,

    /// Use exactly N workers. By default their number adapts to the work [environment:
    /// RINGWALK_WORKERS]
    #[arg(long, value_name = "N", value_parser = parse_workers)]
    pub workers: Option<NonZeroUsize>,

    /// Have at most N requests for metadata in flight at a time, to be kind to a server
    /// [environment: RINGWALK_IN_FLIGHT]
    #[arg(long, value_name = "N", value_parser = parse_workers)]
    pub in_flight: Option<NonZeroUsize>,

    /// When to read ahead, in disk order, the blocks of ext2, ext3 and ext4 that the walk will need
    /// [environment: RINGWALK_PREFETCH] [default: auto]
    #[arg(long, value_name = "WHEN", value_enum)]
    pub prefetch: Option<PrefetchWhen>,

    /// Write changed data back to the disk before a source other than system calls reads it
    /// [environment: RINGWALK_SYNC=1]
    #[arg(long)]
    pub sync: bool,

    /// Report on standard error, after the work, which source and workers were used, and why
    /// [environment: RINGWALK_EXPLAIN=1]
    #[arg(long)]
    pub explain: bool,

    /// When to show progress on standard error [environment: RINGWALK_PROGRESS] [default: auto]
    #[arg(long, value_name = "WHEN", value_enum)]
    pub progress: Option<ProgressWhen>,
}

/// Reads a number of workers.
///
/// # Errors
///
/// Returns the expected form if `text` is not a whole number from 1 to [`MOST_WORKERS`].
pub fn parse_workers(text: &str) -> Result<NonZeroUsize, String> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let number = if digits { text.parse().ok() } else { None };
    number
        .and_then(NonZeroUsize::new)
        .filter(|workers| workers.get() <= MOST_WORKERS)
        .ok_or_else(|| format!("expected a whole number from 1 to {MOST_WORKERS}"))
}

/// Reads a number of bytes: a whole number, which may be followed by `K`, `M` or `G` for powers of
/// 1024.
///
/// # Errors
///
/// Returns the expected form if `text` is not a number of bytes, or too large for this machine.
pub fn parse_memory(text: &str) -> Result<usize, String> {
    let (digits, shift) = match text.as_bytes().last() {
        Some(b'K') => (&text[..text.len() - 1], 10),
        Some(b'M') => (&text[..text.len() - 1], 20),
        Some(b'G') => (&text[..text.len() - 1], 30),
        _ => (text, 0),
    };
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let number = if is_number { digits.parse().ok() } else { None };
    number
        .and_then(|number: usize| number.checked_mul(1 << shift))
        .ok_or_else(|| "expected a number of bytes, such as 500000, 64M or 2G".to_owned())
}
