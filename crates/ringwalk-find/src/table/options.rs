//! Options within the expression.

use super::{Entry, Kind, Origin, Word};

pub(super) const POSITIONAL: &[Entry] = &[
    Entry::new(
        Kind::Positional,
        Word::DayStart,
        &["-daystart"],
        &[],
        Origin::Gnu,
        "Tests that come after it (-amin, -atime, -cmin, -ctime, -mmin, -mtime) measure age from the end of today instead \
of from now: -daystart -mtime 0 is true of files modified today, -daystart -mtime 1 of those modified yesterday.",
    ),
    Entry::new(
        Kind::Positional,
        Word::Follow,
        &["-follow"],
        &[],
        Origin::Gnu,
        "As -L, which should be used instead. The arguments of -newer and its like are followed only if they come after it.",
    ),
    Entry::new(
        Kind::Positional,
        Word::RegexType,
        &["-regextype"],
        &["SYNTAX"],
        Origin::Gnu,
        "The syntax of regular expressions that come after it. SYNTAX is emacs (at first), findutils-default, ed, sed, grep, \
egrep, awk, gnu-awk, posix-awk, posix-basic, posix-minimal-basic, posix-extended or posix-egrep.",
    ),
    Entry::new(
        Kind::Positional,
        Word::Warn,
        &["-warn"],
        &[],
        Origin::Gnu,
        "Warn of what is odd about the words that come after it. This is the default if standard input is a terminal. \
Nothing is warned of if POSIXLY_CORRECT is set.",
    ),
    Entry::new(
        Kind::Positional,
        Word::NoWarn,
        &["-nowarn"],
        &[],
        Origin::Gnu,
        "Do not warn of what is odd about the words that come after it.",
    ),
];

pub(super) const GLOBAL: &[Entry] = &[
    Entry::new(
        Kind::Global,
        Word::Color,
        &["-color", "-colour"],
        &[],
        Origin::Bfs,
        "Write names in the colours of LS_COLORS, also if standard output is not a terminal.",
    ),
    Entry::new(
        Kind::Global,
        Word::NoColor,
        &["-nocolor", "-nocolour"],
        &[],
        Origin::Bfs,
        "Write names without colours, also if standard output is a terminal.",
    ),
    Entry::new(
        Kind::Global,
        Word::Depth,
        &["-depth"],
        &[],
        Origin::Posix,
        "What is in a directory comes before the directory. -delete implies it.",
    ),
    Entry::new(
        Kind::Global,
        Word::DepthShort,
        &["-d"],
        &[],
        Origin::Gnu,
        "As -depth, which should be used instead.",
    ),
    Entry::new(
        Kind::Global,
        Word::Files0From,
        &["-files0-from"],
        &["FILE"],
        Origin::Gnu,
        "The starting points are in FILE (in standard input if it is -), each followed by a zero byte. No others may then \
be given. If FILE is empty nothing is searched; names that are empty are reported and left out. With - there can be no -ok and \
-okdir, which read answers from standard input.",
    ),
    Entry::new(
        Kind::Global,
        Word::Help,
        &["-help", "--help"],
        &[],
        Origin::Gnu,
        "Write a summary of all words to standard output, and do nothing else.",
    ),
    Entry::new(
        Kind::Global,
        Word::IgnoreReaddirRace,
        &["-ignore_readdir_race"],
        &[],
        Origin::Gnu,
        "Files that vanish after their names were read from their directories, or before -delete deletes them, are not \
reported and are no error. The same holds for a directory that something else replaces before it is opened. A starting \
point that does not exist is an error all the same.",
    ),
    Entry::new(
        Kind::Global,
        Word::NoIgnoreReaddirRace,
        &["-noignore_readdir_race"],
        &[],
        Origin::Gnu,
        "Undoes -ignore_readdir_race.",
    ),
    Entry::new(
        Kind::Global,
        Word::MaxDepth,
        &["-maxdepth"],
        &["LEVELS"],
        Origin::Gnu,
        "Go down at most so many levels below the starting points. With 0 only the starting points are looked at.",
    ),
    Entry::new(
        Kind::Global,
        Word::MinDepth,
        &["-mindepth"],
        &["LEVELS"],
        Origin::Gnu,
        "Ask nothing of files at fewer levels below the starting points. With 1 the starting points are left out.",
    ),
    Entry::new(
        Kind::Global,
        Word::OneFileSystem,
        &["-xdev", "-mount"],
        &[],
        Origin::Posix,
        "Do not enter directories on other file systems than that of their starting point. -mount does the same, as in GNU find: the \
directories on which they are mounted are shown.",
    ),
    Entry::new(
        Kind::Global,
        Word::NoHidden,
        &["-nohidden"],
        &[],
        Origin::Bfs,
        "Files whose names begin with a dot are as if they were not there, as with -exclude -hidden. That goes for \
starting points too, except for . and .. themselves.",
    ),
    Entry::new(
        Kind::Global,
        Word::NoLeaf,
        &["-noleaf"],
        &[],
        Origin::Gnu,
        "Accepted for the sake of scripts. Link counts of directories are not relied on, so there is nothing to turn off.",
    ),
    Entry::new(
        Kind::Global,
        Word::Sorted,
        &["-s"],
        &[],
        Origin::Bfs,
        "The files of a directory come in the order of their names by bytes, each followed by what is below it.",
    ),
    Entry::new(
        Kind::Global,
        Word::Unique,
        &["-unique"],
        &[],
        Origin::Bfs,
        "Look at a file once, by the first of its names that is met: no second hard link, and with -L nothing twice that \
several links lead to.",
    ),
    Entry::new(
        Kind::Global,
        Word::Version,
        &["-version", "--version"],
        &[],
        Origin::Gnu,
        "Write the version to standard output, and do nothing else.",
    ),
];
