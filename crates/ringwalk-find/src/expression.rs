//! The expression, understood: what the parser makes, what the plan orders, and what is evaluated.

use crate::execute::CommandTemplate;
use crate::format::Format;
use crate::pattern::Pattern;
use crate::regex::Regex;
use ringwalk::{FileType, Follow, Identity, Metadata, Stay, Timestamp};
use std::ffi::OsString;

bitflags::bitflags! {
    /// What `-D` asks to be told on standard error.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct Debug: u16 {
        /// Commands that are run, and how they end.
        const EXEC = 0x01;
        /// How the plan came to be.
        const OPT = 0x02;
        /// How often each test was asked and was true.
        const RATES = 0x04;
        /// Directories as they are read.
        const SEARCH = 0x08;
        /// Calls for metadata.
        const STAT = 0x10;
        /// Times that files are compared with.
        const TIME = 0x20;
        /// The expression as it was understood, and the plan.
        const TREE = 0x40;
    }
}

/// A whole command line, understood.
#[derive(Debug)]
pub struct Command {
    /// Where to begin, in order; `.` if nothing was given. Empty with [`Options::files0_from`].
    pub paths: Vec<OsString>,
    /// Which symbolic links are followed: `-P`, `-H`, `-L`, `-follow`.
    pub follow: Follow,
    /// What holds for the whole search.
    pub options: Options,
    /// What is asked of every file; `-print` has been added where GNU find adds it.
    pub expression: Expression,
    /// `-exclude`, `-nohidden`: files for which this is true are as if they were not there.
    pub exclude: Option<Expression>,
    /// Where actions write to; a [`SinkIndex`] is an index into this. Each file is named once.
    pub sinks: Vec<Sink>,
    /// What is odd about the command line, to be said on standard error before anything is done; without the
    /// program's name.
    pub warnings: Vec<String>,
}

/// What holds for the whole search, wherever it stands in the expression.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an option of find(1)"
)]
pub struct Options {
    /// `-depth`, `-d`, `-delete`: what is in a directory comes before the directory.
    pub depth_first: bool,
    /// `-mindepth`: nothing is asked of files above this depth; starting points have depth 0.
    pub min_depth: usize,
    /// `-maxdepth`: nothing below this depth is looked at.
    pub max_depth: usize,
    /// `-xdev`, `-mount`.
    pub stay: Stay,
    /// `-ignore_readdir_race`: files that vanish are no error.
    pub ignore_readdir_race: bool,
    /// `-files0-from`: a file (`-`: standard input) of starting points, each ended by a zero byte.
    pub files0_from: Option<OsString>,
    /// `-s`: files of a directory come by name, each with what is below it.
    pub sorted: bool,
    /// `-unique`: a file is looked at once, by the first name that is met.
    pub unique: bool,
    /// `-color` or `-nocolor`; none when neither was given.
    pub color: Option<bool>,
    /// `-D`.
    pub debug: Debug,
    /// `-O`: from 0 to 3; tests are reordered from 1 on.
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

/// Index into [`Command::sinks`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SinkIndex(pub usize);

/// Where actions write to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sink {
    /// Standard output, also by the name `/dev/stdout`.
    Stdout,
    /// Standard error, by the name `/dev/stderr`.
    Stderr,
    /// A file, made empty before the search begins.
    File(OsString),
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
    /// Whether there is a command in it, which may write to the terminal or read from it.
    pub fn runs_commands(&self) -> bool {
        match self {
            Self::Test(_) => false,
            Self::Action(action) => matches!(action.is, Action::Execute(_)),
            Self::Not(operand) => operand.runs_commands(),
            Self::And(operands) | Self::Or(operands) | Self::List(operands) => {
                operands.iter().any(Self::runs_commands)
            }
        }
    }
}

/// A test or action with the words it was given by, for `-D tree`.
#[derive(Debug)]
pub struct Leaf<T> {
    /// What it is.
    pub is: T,
    /// Its name and arguments, as given.
    pub words: Vec<OsString>,
}

/// A number with what stands before it: `-N`, `N`, `+N`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compare {
    /// `-N`.
    Less(u64),
    /// `N`.
    Exactly(u64),
    /// `+N`.
    More(u64),
}

impl Compare {
    /// Whether `value` compares so with the number.
    pub fn holds(self, value: u64) -> bool {
        match self {
            Self::Less(number) => value < number,
            Self::Exactly(number) => value == number,
            Self::More(number) => value > number,
        }
    }
}

/// Which time of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Time {
    /// Last access.
    Access,
    /// Birth.
    Birth,
    /// Last change of the inode.
    Change,
    /// Last change of the contents.
    Modification,
}

impl Time {
    /// That time of a file; none if the file system has none.
    pub fn of(self, metadata: &Metadata) -> Option<Timestamp> {
        use ringwalk::Fields;
        match self {
            Self::Access => Some(metadata.atime),
            Self::Birth => metadata
                .mask
                .contains(Fields::BTIME)
                .then_some(metadata.btime),
            Self::Change => Some(metadata.ctime),
            Self::Modification => Some(metadata.mtime),
        }
    }
}

/// A stretch of time: what `-mtime 3` and its like ask for, reckoned when the expression is parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Span {
    /// Before this moment.
    Before(Timestamp),
    /// After this moment.
    After(Timestamp),
    /// After the first moment, and not after the second.
    Within(Timestamp, Timestamp),
}

impl Span {
    /// Whether `time` lies in it.
    pub fn contains(self, time: Timestamp) -> bool {
        match self {
            Self::Before(end) => time < end,
            Self::After(begin) => time > begin,
            Self::Within(begin, end) => time > begin && time <= end,
        }
    }
}

/// A set of file types.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TypeSet(u16);

impl TypeSet {
    /// Adds a type.
    pub fn insert(&mut self, file_type: FileType) {
        self.0 |= Self::bit(file_type);
    }

    /// Whether the type is in the set.
    pub fn contains(self, file_type: FileType) -> bool {
        self.0 & Self::bit(file_type) != 0
    }

    fn bit(file_type: FileType) -> u16 {
        1 << (file_type as u16)
    }
}

/// How permission bits are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PermissionMatch {
    /// `-perm MODE`: the bits are these.
    Exactly,
    /// `-perm -MODE`: all of these are set.
    All,
    /// `-perm /MODE`: any of these is set, or none was named.
    Any,
}

/// `-perm`. The bits (octal 07777) differ for directories where the mode has an `X`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Permission {
    /// How they are compared.
    pub how: PermissionMatch,
    /// The bits for files that are no directories.
    pub file: u32,
    /// The bits for directories.
    pub directory: u32,
}

/// What access(2) is asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessMode {
    /// `-readable`.
    Read,
    /// `-writable`.
    Write,
    /// `-executable`.
    Execute,
}

/// A test: it changes nothing.
#[derive(Debug)]
pub enum Test {
    /// `-true`, and options, which are true where they stand.
    True,
    /// `-false`.
    False,
    /// `-name`, `-iname`: the last component of the path.
    Name(Pattern),
    /// `-path`, `-ipath`, `-wholename`, `-iwholename`: the whole path.
    Path(Pattern),
    /// `-lname`, `-ilname`: what a symbolic link holds.
    LinkName(Pattern),
    /// `-regex`, `-iregex`: the whole path.
    Regex(Regex),
    /// `-type`.
    Type(TypeSet),
    /// `-xtype`: the type as it is when links are followed if they are not, and the other way round.
    XType(TypeSet),
    /// `-size`: in units of so many bytes, rounded up.
    Size {
        /// How many units.
        count: Compare,
        /// Bytes in a unit.
        unit: u64,
    },
    /// `-empty`: a regular file of no bytes, or a directory of no entries.
    Empty,
    /// `-links`.
    Links(Compare),
    /// `-inum`.
    Inode(Compare),
    /// `-samefile`.
    SameFile(Identity),
    /// `-perm`.
    Permission(Permission),
    /// `-uid`, `-user`.
    Uid(Compare),
    /// `-gid`, `-group`.
    Gid(Compare),
    /// `-nouser`.
    NoUser,
    /// `-nogroup`.
    NoGroup,
    /// `-readable`, `-writable`, `-executable`.
    Access(AccessMode),
    /// `-amin`, `-atime`, `-cmin`, `-ctime`, `-mmin`, `-mtime`.
    Age(Time, Span),
    /// `-used`: the last access is not before the last change of the inode, and the time between them, as a moment that
    /// long after 1970 began, lies in the span.
    Used(Span),
    /// `-newer`, `-anewer`, `-cnewer`, `-newerXY`: later than that.
    Newer(Time, Timestamp),
    /// `-fstype`.
    FileSystem(Vec<u8>),
    /// `-context`: the label of `SELinux`.
    Context(Pattern),
    /// `-hidden`: the name begins with a dot, and is neither `.` nor `..`.
    Hidden,
}

/// An action: something that can be seen from outside.
#[derive(Debug)]
pub enum Action {
    /// `-print`, `-print0`, `-fprint`, `-fprint0`: the path and a newline or a zero byte.
    Print {
        /// Where to.
        sink: SinkIndex,
        /// What ends it.
        end: u8,
    },
    /// `-printf`, `-fprintf`.
    Printf {
        /// Where to.
        sink: SinkIndex,
        /// What.
        format: Format,
    },
    /// `-ls`, `-fls`.
    Ls {
        /// Where to.
        sink: SinkIndex,
    },
    /// `-exec`, `-execdir`, `-ok`, `-okdir`.
    Execute(CommandTemplate),
    /// `-delete`.
    Delete,
    /// `-prune`: do not descend.
    Prune,
    /// `-quit`: end everything.
    Quit,
}
