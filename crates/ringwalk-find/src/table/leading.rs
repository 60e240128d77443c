//! Options that stand before the starting points.

use super::{Entry, Kind, Origin, Word};

pub(super) const ENTRIES: &[Entry] = &[
    Entry::new(
        Kind::Leading,
        Word::FollowNever,
        &["-P"],
        &[],
        Origin::Posix,
        "Follow no symbolic link: what is asked of a link is asked of the link itself. This is the default. Of several of \
-P, -H and -L the last counts; they may stand in one word, as in -HL.",
    ),
    Entry::new(
        Kind::Leading,
        Word::FollowCommandLine,
        &["-H"],
        &[],
        Origin::Posix,
        "Follow symbolic links that are starting points, or arguments of tests such as -newer, and no others. A link that \
leads nowhere is taken as it is.",
    ),
    Entry::new(
        Kind::Leading,
        Word::FollowAlways,
        &["-L"],
        &[],
        Origin::Posix,
        "Follow all symbolic links: what is asked is asked of what a link leads to, and directories that links lead to are \
searched. A link that leads nowhere is taken as it is. -type l and -lname are then true only of such links. A directory that \
contains itself through a link is reported and not entered again.",
    ),
    Entry::new(
        Kind::Leading,
        Word::Debug,
        &["-D"],
        &["WHAT"],
        Origin::Gnu,
        "Tell on standard error what is done. WHAT is a list with commas between:
* exec: commands that are run, and how they end.
* opt: how the plan came to be.
* rates: how often each test was asked and was true.
* search: directories as they are read.
* stat: calls for metadata.
* time: times that files are compared with.
* tree: the expression as it was understood, and the plan.
* all: all of these.
* help: a list of these, and nothing else is done.

Its form may change between versions.",
    ),
    Entry::new(
        Kind::Leading,
        Word::Optimize,
        &["-O"],
        &["LEVEL"],
        Origin::Gnu,
        "How freely tests may be reordered; the number follows without a space. With -O0 they are asked in the order given, \
and directories are read even if nothing in them can match. From -O1, the default, cheaper tests come first where that cannot be seen from outside. Higher levels up to 65535 are accepted.",
    ),
];
