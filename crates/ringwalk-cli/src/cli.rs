//! The command line as clap reads it: raw flags, not yet resolved with the environment.
//!
//! Every option, its help, its place in the man page and its completion come from the definitions here (and from
//! `DuArgs` in the `du` module).

#![expect(
    clippy::doc_markdown,
    reason = "these comments are the help, where backticks would show"
)]

use std::ffi::OsString;
use std::num::NonZeroUsize;

use clap::{Args, Parser, Subcommand, ValueHint};

use crate::du::DuArgs;
use crate::engine_options::{PrefetchWhen, ProgressWhen, parse_workers};
use crate::source_name::{SourceName, SourceNameParser};

/// Read directory trees and their metadata at the speed the kernel and the disk allow
#[derive(Debug, Parser)]
#[command(name = "ringwalk", version, arg_required_else_help = true)]
pub struct Cli {
    /// Options that stand before or after the subcommand.
    #[command(flatten)]
    pub common: CommonArgs,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The programs.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Count the files below directories and add up their sizes
    Count(CountArgs),
    /// Estimate how much space files take, as GNU du does
    Du(DuArgs),
    /// Search for files, as GNU find does
    Find(FindArgs),
    /// Tell what this kernel, user and file system allow, and why not more
    Doctor(DoctorArgs),
}

/// Estimate how much space files take, as GNU du does
///
/// The program when it is called through a link named du.
#[derive(Debug, Parser)]
#[command(name = "du")]
pub struct DuLink {
    /// Options of all programs, beside du's own.
    #[command(flatten)]
    pub common: CommonArgs,
    /// Those of du.
    #[command(flatten)]
    pub du: DuArgs,
}

/// Options common to all programs.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Options common to all programs")]
pub struct CommonArgs {
    /// Where directory data comes from [environment: RINGWALK_SOURCE] [default: auto]
    #[arg(long, global = true, value_name = "NAME", value_parser = SourceNameParser)]
    pub source: Option<SourceName>,

    /// Use exactly N workers rather than as many as the work is found to need [environment: RINGWALK_WORKERS]
    #[arg(long, global = true, value_name = "N", value_parser = parse_workers)]
    pub workers: Option<NonZeroUsize>,

    /// Whether to read what the walk will need of ext2, ext3 and ext4 ahead, in the order of the disk
    /// [environment: RINGWALK_PREFETCH] [default: auto]
    #[arg(long, global = true, value_name = "WHEN", value_enum)]
    pub prefetch: Option<PrefetchWhen>,

    /// Have file systems write back what has been changed before they are read past system calls
    /// [environment: RINGWALK_SYNC=1]
    #[arg(long, global = true)]
    pub sync: bool,

    /// Say on standard error afterwards what was used to do the work, and why
    /// [environment: RINGWALK_EXPLAIN=1]
    #[arg(long, global = true)]
    pub explain: bool,

    /// When to show progress on standard error [environment: RINGWALK_PROGRESS] [default: auto]
    #[arg(long, global = true, value_name = "WHEN", value_enum)]
    pub progress: Option<ProgressWhen>,
}

/// Arguments of `ringwalk find`: the words of its own language, which is not read by clap.
#[derive(Debug, Args)]
#[command(disable_help_flag = true)]
pub struct FindArgs {
    /// Starting points and an expression, as in find(1); see ringwalk-find(1)
    #[arg(
        value_name = "WORD",
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    pub words: Vec<OsString>,
}

/// Arguments of `ringwalk count`.
#[derive(Debug, Args)]
pub struct CountArgs {
    /// Directories to count below of; a link to a directory named here is followed
    // Not paths for clap: its parser of paths refuses an empty one, and with it the whole command line.
    #[arg(value_name = "DIR", default_value = ".", value_hint = ValueHint::DirPath)]
    pub directories: Vec<OsString>,

    /// Count names only: no sizes, and no system call for each file
    #[arg(long)]
    pub no_stat: bool,

    /// Print one JSON object with counts by type, errors, time and means
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `ringwalk doctor`.
#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// A directory on the file system to look at
    #[arg(value_name = "DIR", default_value = ".", value_hint = ValueHint::DirPath)]
    pub directory: OsString,

    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definition_holds_together() {
        Cli::command().debug_assert();
        DuLink::command().debug_assert();
    }

    #[test]
    fn common_options_stand_before_or_after_the_subcommand() {
        for line in [
            "ringwalk --workers 3 --explain count x",
            "ringwalk count --workers=3 x --explain",
        ] {
            let cli = Cli::try_parse_from(line.split(' ')).unwrap();
            assert_eq!(cli.common.workers, NonZeroUsize::new(3), "{line}");
            assert!(cli.common.explain, "{line}");
        }
    }

    #[test]
    fn du_takes_the_common_options_by_either_name() {
        let link = DuLink::try_parse_from(["du", "-sh", "--workers", "2", "x"]).unwrap();
        assert_eq!(link.common.workers, NonZeroUsize::new(2));
        let cli = Cli::try_parse_from(["ringwalk", "--workers=2", "du", "-s", "-h", "x"]).unwrap();
        assert_eq!(cli.common.workers, NonZeroUsize::new(2));
        let Command::Du(du) = cli.command else {
            panic!("not du")
        };
        assert_eq!(du, link.du);
    }

    #[test]
    fn an_empty_operand_is_an_operand() {
        let cli = Cli::try_parse_from(["ringwalk", "count", "", "x"]).unwrap();
        let Command::Count(count) = cli.command else {
            panic!("not count")
        };
        assert_eq!(count.directories, ["", "x"]);
    }

    #[test]
    fn a_bad_value_is_named_with_what_was_expected() {
        let error = Cli::try_parse_from(["ringwalk", "count", "--source", "rings"])
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("'rings'") && error.contains("no such source"),
            "{error}"
        );
        let error = Cli::try_parse_from(["ringwalk", "--workers", "0", "count"])
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("'0'") && error.contains("from 1 to 1024"),
            "{error}"
        );
    }
}
