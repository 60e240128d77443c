//! The registry of commands: a row for each. The help, the man pages, the completions and the
//! choice of the program follow from it. Tests compare the README and the description of the
//! package.
//!
//! The text for the manual is not in the row: `NAME/man.md` has it, beside the code of the command.

use std::process::ExitCode;

use clap::{ArgMatches, Args, FromArgMatches};

#[cfg(feature = "browse")]
use crate::browse::{self, BrowseArgs};
use crate::count::{self, CountArgs};
use crate::diff::{self, DiffArgs};
use crate::doctor::{self, DoctorArgs};
use crate::du::{self, DuArgs};
use crate::dupes::{self, DupesArgs};
use crate::engine_options::{EngineOptions, Lacks};
use crate::export::{self, ExportArgs};
use crate::find::{self, FindArgs};
use crate::hash::{self, HashArgs};
use crate::import::{self, ImportArgs};
use crate::report::{self, ReportArgs};
use crate::snapshot::{self, SnapshotArgs};
use crate::sql::{self, SqlArgs};
use crate::status::{Ended, trouble};

/// What commands are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// Looking at trees.
    Look,
    /// Searching.
    Find,
    /// Snapshots, and what has changed.
    Save,
    /// Contents of files.
    Contents,
    /// Other programs.
    Exchange,
    /// The machine, and help.
    Diagnose,
}

impl Group {
    /// All groups, in the order of the help.
    pub const ALL: [Self; 6] = [
        Self::Look,
        Self::Find,
        Self::Save,
        Self::Contents,
        Self::Exchange,
        Self::Diagnose,
    ];

    /// Returns the heading in the help.
    pub fn heading(self) -> &'static str {
        match self {
            Self::Look => "See what takes space",
            Self::Find => "Find files",
            Self::Save => "Save and compare",
            Self::Contents => "Contents and duplicates",
            Self::Exchange => "Exchange with other programs",
            Self::Diagnose => "Diagnose, and help",
        }
    }
}

/// A command of the program.
#[derive(Debug)]
pub struct Command {
    /// The word on the command line.
    pub name: &'static str,
    /// What it does, in a line of the help.
    pub about: &'static str,
    /// What it is for.
    pub group: Group,
    /// What it lacks whatever its arguments are.
    pub lacks: Lacks,
    /// Adds the arguments.
    arguments: fn(clap::Command) -> clap::Command,
    /// Runs it with the words of its command line.
    run: fn(&mut ArgMatches, &EngineOptions) -> Result<ExitCode, Ended>,
}

impl Command {
    /// Returns the definition for clap, without the common options.
    pub fn definition(&self) -> clap::Command {
        (self.arguments)(clap::Command::new(self.name)).about(self.about)
    }

    /// Returns true if a snapshot is an operand, in the place of a directory. The other commands
    /// that read one have `--from`.
    pub fn takes_snapshots(&self) -> bool {
        let definition = self.definition();
        definition.get_positionals().any(|operand| {
            let names = operand.get_value_names().unwrap_or_default();
            names
                .iter()
                .any(|name| name.split('|').any(|word| matches!(word, "SNAP" | "OLD")))
        })
    }

    /// Runs the command. Takes its arguments out of `words`.
    ///
    /// # Errors
    ///
    /// The end of a command that cannot go on.
    pub fn run(&self, words: &mut ArgMatches, options: &EngineOptions) -> Result<ExitCode, Ended> {
        (self.run)(words, options)
    }
}

/// Returns the command of this name.
pub fn command(name: &str) -> Option<&'static Command> {
    COMMANDS.iter().find(|command| command.name == name)
}

/// Takes the arguments of a command out of its words. To copy all words costs a start more.
fn parsed<A: FromArgMatches>(words: &mut ArgMatches) -> Result<A, Ended> {
    A::from_arg_matches_mut(words).map_err(trouble)
}

/// All commands, those for one thing together.
pub static COMMANDS: &[Command] = &[
    #[cfg(feature = "browse")]
    Command {
        name: "browse",
        about: "Look at what takes space, on the terminal, and delete it",
        group: Group::Look,
        lacks: Lacks::Lines,
        arguments: BrowseArgs::augment_args,
        run: |words, options| browse::run(&parsed(words)?, options),
    },
    Command {
        name: "report",
        about: "Add up a snapshot or a directory by owner, age, and other keys",
        group: Group::Look,
        lacks: Lacks::Nothing,
        arguments: ReportArgs::augment_args,
        run: |words, options| report::run(&parsed(words)?, options),
    },
    Command {
        name: "du",
        about: "Estimate how much space files take, as GNU du does",
        group: Group::Look,
        lacks: Lacks::Nothing,
        arguments: DuArgs::augment_args,
        run: |words, options| du::run(&parsed(words)?, options),
    },
    Command {
        name: "count",
        about: "Count files and directories, and add up their sizes",
        group: Group::Look,
        lacks: Lacks::Nothing,
        arguments: CountArgs::augment_args,
        run: |words, options| count::run(&parsed(words)?, options),
    },
    Command {
        name: "find",
        about: "Search for files, as GNU find does",
        group: Group::Find,
        lacks: Lacks::Nothing,
        arguments: FindArgs::augment_args,
        run: |words, options| find::run(parsed::<FindArgs>(words)?.words, options),
    },
    Command {
        name: "snapshot",
        about: "Save directory trees in a Parquet file, a row for each file",
        group: Group::Save,
        lacks: Lacks::Nothing,
        arguments: SnapshotArgs::augment_args,
        run: |words, options| snapshot::run(&parsed(words)?, options),
    },
    Command {
        name: "diff",
        about: "Show what has changed between two snapshots",
        group: Group::Save,
        lacks: Lacks::Nothing,
        arguments: DiffArgs::augment_args,
        run: |words, options| diff::run(&parsed(words)?, options),
    },
    Command {
        name: "dupes",
        about: "Find files and directories with the same contents",
        group: Group::Contents,
        lacks: Lacks::Nothing,
        arguments: DupesArgs::augment_args,
        run: |words, options| dupes::run(&parsed(words)?, options),
    },
    Command {
        name: "hash",
        about: "Hash the contents of files, or check a list of hashes",
        group: Group::Contents,
        lacks: Lacks::Nothing,
        arguments: HashArgs::augment_args,
        run: |words, options| hash::run(&parsed(words)?, options),
    },
    Command {
        name: "export",
        about: "Write a snapshot in the format of another program",
        group: Group::Exchange,
        lacks: Lacks::Workers,
        arguments: ExportArgs::augment_args,
        run: |words, options| export::run(&parsed(words)?, options),
    },
    Command {
        name: "import",
        about: "Make a snapshot from a file of ncdu",
        group: Group::Exchange,
        lacks: Lacks::Workers,
        arguments: ImportArgs::augment_args,
        run: |words, options| import::run(&parsed(words)?, options),
    },
    Command {
        name: "sql",
        about: "Query snapshots with DuckDB",
        group: Group::Exchange,
        lacks: Lacks::Progress,
        arguments: SqlArgs::augment_args,
        run: |words, _| sql::run(&parsed(words)?),
    },
    Command {
        name: "doctor",
        about: "Report which sources can be used here, and why others cannot",
        group: Group::Diagnose,
        lacks: Lacks::Nothing,
        arguments: DoctorArgs::augment_args,
        run: |words, options| doctor::run(&parsed(words)?, options),
    },
];
