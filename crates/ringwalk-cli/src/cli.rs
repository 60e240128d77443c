//! The command line as clap reads it: flags that are not yet resolved with the environment.
//!
//! The help, the man pages and the completions come from these definitions and from `DuArgs` in the
//! `du` module.

use std::ffi::OsString;
use std::fmt::Write as _;

use clap::{Arg, Args, CommandFactory, Parser, Subcommand, ValueHint};

#[cfg(feature = "browse")]
use crate::browse::BrowseArgs;
use crate::common_args::{CommonArgs, parse_memory};
use crate::diff::DiffArgs;
use crate::du::DuArgs;
use crate::dupes::DupesArgs;
use crate::engine_options::Lacks;
use crate::export::ExportArgs;
use crate::hash::HashArgs;
use crate::import::ImportArgs;
use crate::output::{OutputArgs, formats, snapshot_name};
use crate::report::ReportArgs;
use crate::sql::SqlArgs;

/// Read directory trees and their metadata at the speed the kernel and the disk allow
#[derive(Debug, Parser)]
#[command(name = "ringwalk", version, arg_required_else_help = true)]
pub struct Cli {
    /// Options before or after the subcommand.
    #[command(flatten)]
    pub common: CommonArgs,
    /// The program to run.
    #[command(subcommand)]
    pub command: Command,
}

/// The programs.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Count the files below directories and add up their sizes
    Count(CountArgs),
    /// Show what has changed between two snapshots
    Diff(DiffArgs),
    /// Estimate how much space files take, as GNU du does
    Du(DuArgs),
    /// Find files and directories with the same contents
    Dupes(DupesArgs),
    /// Search for files, as GNU find does
    Find(FindArgs),
    /// Hash the contents of files, or check a list of hashes
    Hash(HashArgs),
    /// Save directory trees in a Parquet file, a row for each file
    Snapshot(SnapshotArgs),
    /// Write a snapshot in the format of another program
    Export(ExportArgs),
    /// Make a snapshot from a file of ncdu
    Import(ImportArgs),
    /// Report which sources can be used here, and why others cannot
    Doctor(DoctorArgs),
    /// Add up a snapshot or a directory by owner, age, and other keys
    Report(ReportArgs),
    /// Query snapshots with DuckDB
    Sql(SqlArgs),
    /// Look at what takes space, on the terminal, and delete it
    #[cfg(feature = "browse")]
    Browse(BrowseArgs),
}

/// The commands by what they are for, as `ringwalk --help` lists them.
const GROUPS: [(&str, &[&str]); 6] = [
    ("See what takes space", &["browse", "report", "du", "count"]),
    ("Find files", &["find"]),
    ("Save and compare", &["snapshot", "diff"]),
    ("Contents and duplicates", &["dupes", "hash"]),
    ("Exchange with other programs", &["export", "import", "sql"]),
    ("Diagnose, and help", &["doctor", "help"]),
];

/// Returns the help of the program: the commands in groups, and the options.
fn help_template(command: &clap::Command) -> String {
    let mut text = "{about-with-newline}\n{usage-heading} {usage}\n".to_owned();
    for (group, names) in GROUPS {
        let _ = write!(text, "\n{group}:\n");
        for name in names {
            let about = match command.find_subcommand(name).map(clap::Command::get_about) {
                Some(about) => about.map(ToString::to_string),
                // Clap adds this command later.
                None if *name == "help" => Some("Print the help of a command".to_owned()),
                // A command that was not compiled.
                None => continue,
            };
            let _ = writeln!(text, "  {name:<9} {}", about.unwrap_or_default());
        }
    }
    text + "\nOptions (most commands also take them after the command; find does not):\n{options}"
}

impl Cli {
    /// Returns the command line. The common options stand before the subcommand, or after a
    /// subcommand on which they can have an effect.
    pub fn definition() -> clap::Command {
        let command = Self::command();
        let help = help_template(&command);
        let command = command.help_template(help);
        // Global: `Cli::common` has the values that stand after the subcommand, too.
        let common: Vec<Arg> = command
            .get_arguments()
            .map(|option| option.clone().global(true))
            .collect();
        command.mut_subcommands(|subcommand| {
            let lacks = Lacks::always(subcommand.get_name());
            let has_effect = |option: &&Arg| {
                lacks.is_none_or(|lacks| option.get_long().is_some_and(|name| lacks.leaves(name)))
            };
            subcommand.args(common.iter().filter(has_effect))
        })
    }
}

/// Estimate how much space files take, as GNU du does
///
/// This is the program when it is called through a link named du.
#[derive(Debug, Parser)]
#[command(name = "du")]
pub struct DuLink {
    /// The common options.
    #[command(flatten)]
    pub common: CommonArgs,
    /// Options of du.
    #[command(flatten)]
    pub du: DuArgs,
}

/// `ringwalk count` without the other subcommands.
#[derive(Debug, Parser)]
#[command(name = "count")]
pub struct CountAlone {
    /// The common options.
    #[command(flatten)]
    pub common: CommonArgs,
    /// Options of count.
    #[command(flatten)]
    pub count: CountArgs,
}

/// Arguments of `ringwalk find`: the words of its own language, which clap does not read.
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

formats! {
    /// The formats of `count` and `doctor`.
    pub TextFormat: Table, Json
}

/// Arguments of `ringwalk count`.
#[derive(Debug, Args)]
pub struct CountArgs {
    /// Directories whose files to count; symbolic links given here are followed [default: the
    /// current directory, or all of the snapshot]
    // Clap's parser of paths would refuse an empty path, and with it the whole command line.
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub directories: Vec<OsString>,

    /// Count the files of the snapshot SNAP, and read nothing else; DIR is a directory in the
    /// snapshot
    #[arg(
        long,
        value_name = "SNAP",
        value_hint = ValueHint::FilePath,
        allow_hyphen_values = true
    )]
    pub from: Option<OsString>,

    /// Count names only: no sizes, and no system call for each file
    #[arg(long)]
    pub no_stat: bool,

    /// Where the answer goes, and its form.
    #[command(flatten)]
    pub output: OutputArgs<TextFormat>,
}

/// Arguments of `ringwalk snapshot`.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option")]
pub struct SnapshotArgs {
    /// Directories to save; symbolic links given here are followed
    #[arg(value_name = "ROOT", required = true, value_hint = ValueHint::DirPath)]
    pub roots: Vec<OsString>,

    /// Write the snapshot to FILE. A crash at any moment leaves the old file or the new one
    #[arg(
        short,
        long,
        value_name = "FILE",
        value_hint = ValueHint::FilePath,
        value_parser = snapshot_name()
    )]
    pub output: OsString,

    /// Take from the snapshot OLD what has certainly not changed since, instead of reading it. The
    /// result is the same. --explain shows how much was taken
    #[arg(long, value_name = "OLD", value_hint = ValueHint::FilePath)]
    pub since: Option<OsString>,

    /// Leave out other file systems below the roots
    #[arg(short = 'x', long)]
    pub one_file_system: bool,

    /// Save hashes of contents too, for dupes and diff: of the files with the size of another file.
    /// This is hash --save; there, --all hashes the others too
    #[arg(long, conflicts_with = "since")]
    pub hash: bool,

    /// Save extended attributes too, with further system calls for each file
    #[arg(long)]
    pub xattrs: bool,

    /// Save times of the last access too
    #[arg(long)]
    pub atime: bool,

    /// Save the ids of projects of quotas too, with a further system call for each file unless the
    /// source has them
    #[arg(long)]
    pub projid: bool,

    /// Keep at most SIZE bytes of listings in memory, the rest in an unnamed file in TMPDIR or
    /// /tmp. SIZE may end in K, M or G
    #[arg(long, value_name = "SIZE", value_parser = parse_memory, default_value = "24M")]
    pub memory: usize,
}

/// Arguments of `ringwalk doctor`.
#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// A directory on the file system to examine
    #[arg(value_name = "DIR", default_value = ".", value_hint = ValueHint::DirPath)]
    pub directory: OsString,

    /// Where the answer goes, and its form.
    #[command(flatten)]
    pub output: OutputArgs<TextFormat>,
}

#[cfg(test)]
mod tests;
