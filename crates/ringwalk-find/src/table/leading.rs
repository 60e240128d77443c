//! Options that stand before the starting points.

use super::{Entry, Meaning, Origin};

/// An option before the starting points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LeadingWord {
    FollowNever,
    FollowCommandLine,
    FollowAlways,
    Debug,
    Optimize,
    From,
}

pub(super) const ENTRIES: &[Entry] = &[
    Entry::new(
        Meaning::Leading(LeadingWord::FollowNever),
        &["-P"],
        &[],
        Origin::Posix,
        "Follow no symbolic link: tests look at the link itself. This is the default. Of several \
of -P, -H and -L the last counts; they may stand in one word, as in -HL.",
    ),
    Entry::new(
        Meaning::Leading(LeadingWord::FollowCommandLine),
        &["-H"],
        &[],
        Origin::Posix,
        "Follow only symbolic links that are starting points or arguments of tests such \
as -newer. If the target of a link does not exist, tests look at the link itself.",
    ),
    Entry::new(
        Meaning::Leading(LeadingWord::FollowAlways),
        &["-L"],
        &[],
        Origin::Posix,
        "Follow all symbolic links: tests look at the target of a link, and directories \
to which links lead are searched. If the target of a link does not exist, tests look at \
the link itself. With -L, -type l and -lname are true only of such links. A directory \
that contains itself through a link is reported and not entered again.",
    ),
    Entry::new(
        Meaning::Leading(LeadingWord::Debug),
        &["-D"],
        &["WHAT"],
        Origin::Gnu,
        "Write debug information to standard error. WHAT is a list of these words, \
separated by commas:
* exec: commands that are run, and their results.
* opt: the reasons for the plan.
* rates: how often each test was evaluated and was true.
* search: directories, as they are read.
* stat: calls for metadata.
* time: times that files are compared with.
* tree: the parsed expression, and the plan.
* all: all of these.
* help: a list of these words; find then does nothing else.

The form of this output may change between versions.",
    ),
    Entry::new(
        Meaning::Leading(LeadingWord::Optimize),
        &["-O"],
        &["LEVEL"],
        Origin::Gnu,
        "Set the optimization level, which controls whether tests may be reordered. The \
number follows without a space. With -O0, tests are evaluated in the order given, and \
directories are read even if nothing in them can match. From -O1, the default, cheaper \
tests come first if the order has no visible effect. Higher levels up to 65535 are \
accepted.",
    ),
    Entry::new(
        Meaning::Leading(LeadingWord::From),
        &["--from"],
        &["SNAP"],
        Origin::Ringwalk,
        "Search the snapshot SNAP, which ringwalk-snapshot(1) has written, and nothing else. \
Starting points are paths that lie in the snapshot. They are compared by their text, relative to \
the working directory; links on the way are not resolved. Without a starting point the search \
begins at each root of the snapshot. Names of users and groups and types of file systems are those \
of the snapshot. FILE of -samefile lies in the snapshot; FILE of -newer is a file of this system. \
Tests and actions that need the files themselves (-exec, -delete, -readable, -xtype, -L...), or \
times that the snapshot does not hold, are refused before the search begins.",
    ),
];
