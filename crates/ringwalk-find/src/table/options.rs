//! Options within the expression.

use super::{Entry, Meaning, Origin};

/// An option for the words after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PositionalWord {
    DayStart,
    Follow,
    RegexType,
    Warn,
    NoWarn,
}

/// An option for the whole search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GlobalWord {
    Color,
    NoColor,
    Depth,
    DepthShort,
    Files0From,
    Help,
    IgnoreReaddirRace,
    NoIgnoreReaddirRace,
    MaxDepth,
    MinDepth,
    XDev,
    Mount,
    NoHidden,
    NoLeaf,
    Sorted,
    Unique,
    Version,
}

pub(super) const POSITIONAL: &[Entry] = &[
    Entry::new(
        Meaning::Positional(PositionalWord::DayStart),
        &["-daystart"],
        &[],
        Origin::Gnu,
        "Tests after it (-amin, -atime, -cmin, -ctime, -mmin, -mtime) measure age from the end of \
today instead of from now: -daystart -mtime 0 is true of files modified today, -daystart \
-mtime 1 of those modified yesterday.",
    ),
    Entry::new(
        Meaning::Positional(PositionalWord::Follow),
        &["-follow"],
        &[],
        Origin::Gnu,
        "As -L, which should be used instead. Links given as arguments of -newer and \
similar tests are followed only if the test comes after -follow.",
    ),
    Entry::new(
        Meaning::Positional(PositionalWord::RegexType),
        &["-regextype"],
        &["SYNTAX"],
        Origin::Gnu,
        "Set the syntax of the regular expressions after it. SYNTAX is emacs (the \
default), findutils-default, ed, sed, grep, egrep, awk, gnu-awk, posix-awk, posix-basic, \
posix-minimal-basic, posix-extended or posix-egrep.",
    ),
    Entry::new(
        Meaning::Positional(PositionalWord::Warn),
        &["-warn"],
        &[],
        Origin::Gnu,
        "Warn of questionable words after it. This is the default if standard input is a \
terminal. There are no warnings if POSIXLY_CORRECT is set.",
    ),
    Entry::new(
        Meaning::Positional(PositionalWord::NoWarn),
        &["-nowarn"],
        &[],
        Origin::Gnu,
        "Do not warn of questionable words after it.",
    ),
];

pub(super) const GLOBAL: &[Entry] = &[
    Entry::new(
        Meaning::Global(GlobalWord::Color),
        &["-color", "-colour"],
        &[],
        Origin::Bfs,
        "Write names in the colours of LS_COLORS, even if standard output is not a \
terminal.",
    ),
    Entry::new(
        Meaning::Global(GlobalWord::NoColor),
        &["-nocolor", "-nocolour"],
        &[],
        Origin::Bfs,
        "Write names without colours, even if standard output is a terminal.",
    ),
    Entry::new(
        Meaning::Global(GlobalWord::Depth),
        &["-depth"],
        &[],
        Origin::Posix,
        "Evaluate the files in a directory before the directory itself. -delete implies \
it.",
    ),
    Entry::new(
        Meaning::Global(GlobalWord::DepthShort),
        &["-d"],
        &[],
        Origin::Gnu,
        "As -depth, which should be used instead.",
    ),
    Entry::new(
        Meaning::Global(GlobalWord::Files0From),
        &["-files0-from"],
        &["FILE"],
        Origin::Gnu,
        "Read the starting points from FILE (from standard input if FILE is -), each \
followed by a zero byte. No other starting points may be given. If FILE is empty, \
nothing is searched. Empty names are reported and left out. -ok and -okdir cannot be \
used with -, because they read answers from standard input.",
    ),
    Entry::new(
        Meaning::Global(GlobalWord::Help),
        &["-help", "--help"],
        &[],
        Origin::Gnu,
        "Write a summary of all words to standard output, and do nothing else.",
    ),
    Entry::new(
        Meaning::Global(GlobalWord::IgnoreReaddirRace),
        &["-ignore_readdir_race"],
        &[],
        Origin::Gnu,
        "Ignore files that vanish after their directory was read, or before -delete \
deletes them: they are not reported and are no error. The same holds for a directory \
that is replaced before it is opened. A starting point that does not exist is still an \
error.",
    ),
    Entry::new(
        Meaning::Global(GlobalWord::NoIgnoreReaddirRace),
        &["-noignore_readdir_race"],
        &[],
        Origin::Gnu,
        "Turn off -ignore_readdir_race.",
    ),
    Entry::new(
        Meaning::Global(GlobalWord::MaxDepth),
        &["-maxdepth"],
        &["LEVELS"],
        Origin::Gnu,
        "Go down at most so many levels below the starting points. With 0, only the \
starting points are evaluated.",
    ),
    Entry::new(
        Meaning::Global(GlobalWord::MinDepth),
        &["-mindepth"],
        &["LEVELS"],
        Origin::Gnu,
        "Evaluate no files at fewer levels below the starting points. With 1, the \
starting points are not evaluated.",
    ),
    Entry::new(
        Meaning::Global(GlobalWord::XDev),
        &["-xdev"],
        &[],
        Origin::Posix,
        "Do not enter directories on other file systems than that of their starting \
point. The directories on which these file systems are mounted are still evaluated.",
    ),
    Entry::new(
        Meaning::Global(GlobalWord::Mount),
        &["-mount"],
        &[],
        Origin::Posix,
        "Treat files on other file systems than that of their starting point as absent: \
as with -xdev, but mount points are not evaluated either. Before findutils 4.11 -mount was \
another name of -xdev.",
    ),
    Entry::new(
        Meaning::Global(GlobalWord::NoHidden),
        &["-nohidden"],
        &[],
        Origin::Bfs,
        "Treat files whose names begin with a dot as absent, as with -exclude -hidden. \
This holds for starting points too, except . and .. themselves.",
    ),
    Entry::new(
        Meaning::Global(GlobalWord::NoLeaf),
        &["-noleaf"],
        &[],
        Origin::Gnu,
        "Accepted for compatibility, without effect. ringwalk find does not rely on the \
link counts of directories.",
    ),
    Entry::new(
        Meaning::Global(GlobalWord::Sorted),
        &["-s"],
        &[],
        Origin::Bfs,
        "Sort the files of a directory by the bytes of their names. Each file is \
followed by the files below it.",
    ),
    Entry::new(
        Meaning::Global(GlobalWord::Unique),
        &["-unique"],
        &[],
        Origin::Bfs,
        "Evaluate each file once, by the first of its names that the search finds. \
Further hard links are skipped, and with -L further links to the same file.",
    ),
    Entry::new(
        Meaning::Global(GlobalWord::Version),
        &["-version", "--version"],
        &[],
        Origin::Gnu,
        "Write the version to standard output, and do nothing else.",
    ),
];
