//! The parsed expression: the parser builds it, the plan orders it, and the search evaluates it.

pub use crate::actions::{Action, Sink, SinkIndex};
pub use crate::predicates::{
    AccessMode, CallTest, Compare, EntryTest, MetadataTest, Permission, PermissionMatch, Span,
    Test, TypeSet,
};

use crate::saved::SavedSearch;
use ringwalk::{Follow, Stay};
use std::ffi::OsString;
use std::sync::Arc;

bitflags::bitflags! {
    /// The reports on standard error that `-D` asks for.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct Debug: u16 {
        /// The commands that are run, and how they end.
        const EXEC = 0x01;
        /// The reasons of the plan.
        const OPT = 0x02;
        /// How often each test was evaluated and was true.
        const RATES = 0x04;
        /// The directories, as they are read.
        const SEARCH = 0x08;
        /// Calls for metadata.
        const STAT = 0x10;
        /// The times that files are compared with.
        const TIME = 0x20;
        /// The parsed expression, and the plan.
        const TREE = 0x40;
    }
}

impl Debug {
    /// Returns the word of `-D` for a single flag.
    pub(crate) fn word(self) -> String {
        let (name, _) = self.iter_names().next().unwrap_or_default();
        name.to_ascii_lowercase()
    }

    /// Returns the flag of a word of `-D`, or all flags for `all`.
    pub(crate) fn from_word(word: &[u8]) -> Option<Self> {
        if word == b"all" {
            return Some(Self::all());
        }
        Self::all()
            .iter()
            .find(|flag| flag.word().as_bytes() == word)
    }
}

/// A parsed command line.
#[derive(Debug)]
pub struct Command {
    /// The starting points, in order; `.` if none was given. Empty with [`Options::files0_from`].
    pub paths: Vec<OsString>,
    /// Which symbolic links are followed: `-P`, `-H`, `-L`, `-follow`.
    pub follow: Follow,
    /// The options of the whole search.
    pub options: Options,
    /// The expression that is evaluated for every file. The parser has added `-print` where GNU
    /// find adds it.
    pub expression: Expression,
    /// `-exclude`, `-nohidden`: files for which this is true are treated as absent.
    pub exclude: Option<Expression>,
    /// The files that actions write to, each listed once. A [`SinkIndex`] is an index into this.
    pub sinks: Vec<Sink>,
    /// The saved tree that is searched: `--from`.
    pub saved: Option<Arc<SavedSearch>>,
    /// Warnings about the command line, for standard error before the search begins, without the
    /// program's name.
    pub warnings: Vec<String>,
}

/// The options that hold for the whole search, wherever they stand in the expression.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an option of find(1)"
)]
pub struct Options {
    /// `-depth`, `-d`, `-delete`: the files in a directory come before the directory.
    pub depth_first: bool,
    /// `-mindepth`: files above this depth are not evaluated. Starting points have depth 0.
    pub min_depth: usize,
    /// `-maxdepth`: files below this depth are not looked at.
    pub max_depth: usize,
    /// `-xdev`, `-mount`. The latter also adds to [`Command::exclude`].
    pub stay: Stay,
    /// `-ignore_readdir_race`: a file that vanishes is no error.
    pub ignore_readdir_race: bool,
    /// `-files0-from`: a file (`-`: standard input) of starting points, each with a zero byte after
    /// it.
    pub files0_from: Option<OsString>,
    /// `-s`: the files of a directory come by name, each with the files below it.
    pub sorted: bool,
    /// `-unique`: each file is looked at once, by the first of its names that is seen.
    pub unique: bool,
    /// `-color` or `-nocolor`. None if neither was given.
    pub color: Option<bool>,
    /// `-D`.
    pub debug: Debug,
    /// `-O`: from 0 to 3. Tests are reordered from 1 on.
    pub optimization: u8,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            depth_first: false,
            min_depth: 0,
            max_depth: usize::MAX,
            stay: Stay::Anywhere,
            ignore_readdir_race: false,
            files0_from: None,
            sorted: false,
            unique: false,
            color: None,
            debug: Debug::empty(),
            optimization: 1,
        }
    }
}

/// The expression.
#[derive(Debug)]
pub enum Expression {
    /// A test.
    Test(Leaf<Test>),
    /// An action.
    Action(Leaf<Action>),
    /// `! E`.
    Not(Box<Expression>),
    /// `E -a E...`: evaluated from the left until one is false. At least two.
    And(Vec<Expression>),
    /// `E -o E...`: evaluated from the left until one is true. At least two.
    Or(Vec<Expression>),
    /// `E , E...`: all are evaluated, the last one's value counts. At least two.
    List(Vec<Expression>),
}

impl Expression {
    /// Returns true if the expression runs a command, which may write to the terminal or read from
    /// it.
    pub fn runs_commands(&self) -> bool {
        match self {
            Self::Test(_) => false,
            Self::Action(action) => action.is.runs_command(),
            Self::Not(operand) => operand.runs_commands(),
            Self::And(operands) | Self::Or(operands) | Self::List(operands) => {
                operands.iter().any(Self::runs_commands)
            }
        }
    }
}

/// A test or action with the words that were given for it, for `-D tree`.
#[derive(Debug)]
pub struct Leaf<T> {
    /// The test or action.
    pub is: T,
    /// Its name and its arguments, as given.
    pub words: Vec<OsString>,
}
