//! Actions.

use super::{Entry, Meaning, Origin};

/// An action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ActionWord {
    Delete,
    Exec,
    ExecDir,
    Fls,
    Fprint,
    Fprint0,
    Fprintf,
    Ls,
    Ok,
    OkDir,
    Print,
    Print0,
    Printf,
    Prune,
    Quit,
}

const FILE: &[&str] = &["FILE"];
const ONE: &[&str] = &["COMMAND", ";"];
const ONE_OR_MANY: &[&str] = &["COMMAND", ";|{} +"];

pub(super) const ENTRIES: &[Entry] = &[
    Entry::new(
        Meaning::Action(ActionWord::Delete),
        &["-delete"],
        &[],
        Origin::Gnu,
        "Delete the file. True if that succeeded. A directory must be empty, so -delete implies \
-depth: the files in a directory are deleted before it. With -depth, -prune has no \
effect; so -delete and -prune together are an error unless -depth is given too. Words \
are read from left to right: with -delete first, all files below the starting points are \
deleted. Try an expression with -print before.",
    ),
    Entry::new(
        Meaning::Action(ActionWord::Exec),
        &["-exec"],
        ONE_OR_MANY,
        Origin::Posix,
        "Run COMMAND. Each {} in it is replaced by the path of the file. Ended by ; COMMAND runs \
once for each file, and the action is true if its status is 0. Ended by {} + COMMAND \
runs with as many paths as fit in place of {}, and the action is always true; if a \
status is not 0, the status of find is 1. The status of find is 1 too if COMMAND cannot \
be run. Only a + after {} alone ends a command. COMMAND runs in the directory in which \
find was started. Quote ; and {} if a shell would interpret them.",
    ),
    Entry::new(
        Meaning::Action(ActionWord::ExecDir),
        &["-execdir"],
        ONE_OR_MANY,
        Origin::Gnu,
        "As -exec, but COMMAND runs in the directory of the file, and {} is replaced by \
./NAME. So nobody can redirect COMMAND to another file by replacing a directory with a \
link. PATH must contain no empty and no relative directory, and the first word of COMMAND \
no {}, so that no name of a file decides which program runs.",
    ),
    Entry::new(
        Meaning::Action(ActionWord::Fls),
        &["-fls"],
        FILE,
        Origin::Gnu,
        "As -ls, but writes to FILE; see -fprint.",
    ),
    Entry::new(
        Meaning::Action(ActionWord::Fprint),
        &["-fprint"],
        FILE,
        Origin::Gnu,
        "As -print, but writes to FILE, which is truncated before the search even if \
nothing is ever written to it. /dev/stdout and /dev/stderr are standard output and \
standard error.",
    ),
    Entry::new(
        Meaning::Action(ActionWord::Fprint0),
        &["-fprint0"],
        FILE,
        Origin::Gnu,
        "As -print0, but writes to FILE; see -fprint.",
    ),
    Entry::new(
        Meaning::Action(ActionWord::Fprintf),
        &["-fprintf"],
        &["FILE", "FORMAT"],
        Origin::Gnu,
        "As -printf, but writes to FILE; see -fprint.",
    ),
    Entry::new(
        Meaning::Action(ActionWord::Ls),
        &["-ls"],
        &[],
        Origin::Gnu,
        "Write a line in the form of ls -dils: inode number, blocks of 1024 bytes (512 if \
POSIXLY_CORRECT is set), permissions, links, owner, group, size, time of modification, \
path. True.",
    ),
    Entry::new(
        Meaning::Action(ActionWord::Ok),
        &["-ok"],
        ONE,
        Origin::Posix,
        "As -exec with ;, but asks the user first, on standard error. If the answer from \
standard input is not yes, COMMAND does not run and the action is false. The standard \
input of COMMAND is /dev/null.",
    ),
    Entry::new(
        Meaning::Action(ActionWord::OkDir),
        &["-okdir"],
        ONE,
        Origin::Gnu,
        "As -execdir with ;, but asks the user first, as for -ok.",
    ),
    Entry::new(
        Meaning::Action(ActionWord::Print),
        &["-print"],
        &[],
        Origin::Posix,
        "Write the path and a newline. True. If an expression has no action except -prune and \
-quit, -print is done for each file for which the expression is true. On a terminal, \
unprintable characters are written as question marks.",
    ),
    Entry::new(
        Meaning::Action(ActionWord::Print0),
        &["-print0"],
        &[],
        Origin::Gnu,
        "Write the path and a zero byte. True. No path has a zero byte, so programs that expect \
this form (xargs -0) read any name correctly.",
    ),
    Entry::new(
        Meaning::Action(ActionWord::Printf),
        &["-printf"],
        &["FORMAT"],
        Origin::Gnu,
        "Write FORMAT, without a newline after it. True. See the section FORMATS.",
    ),
    Entry::new(
        Meaning::Action(ActionWord::Prune),
        &["-prune"],
        &[],
        Origin::Posix,
        "Do not enter the directory. True. Has no effect with -depth. To leave out a directory: \
-name .git -prune -o -print.",
    ),
    Entry::new(
        Meaning::Action(ActionWord::Quit),
        &["-quit"],
        &[],
        Origin::Gnu,
        "End the search. Commands with {} + run first for the paths that they have collected. The \
status is 0 if there was no error before.",
    ),
];
