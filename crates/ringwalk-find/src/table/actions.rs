//! Actions.

use super::{Entry, Kind, Origin, Word};

const FILE: &[&str] = &["FILE"];
const ONE: &[&str] = &["COMMAND", ";"];
const ONE_OR_MANY: &[&str] = &["COMMAND", ";|{} +"];

pub(super) const ENTRIES: &[Entry] = &[
    Entry::new(
        Kind::Action,
        Word::Delete,
        &["-delete"],
        &[],
        Origin::Gnu,
        "Delete the file; true if that succeeded. Directories must be empty, so it implies -depth: what is in a directory \
is deleted before it. As -depth makes -prune useless, both together are an error unless -depth was given too. Words are read from left \
to right: with -delete first everything below the starting points is deleted. Try an expression with -print before.",
    ),
    Entry::new(
        Kind::Action,
        Word::Exec,
        &["-exec"],
        ONE_OR_MANY,
        Origin::Posix,
        "Run COMMAND; every {} in it stands for the path of the file. Ended by ; it is run once for each file, and true if \
its status is 0. Ended by {} + it is run with as many paths as fit in place of {}, and always true; if a status is not 0, that of \
find becomes 1. So it does if the command cannot be run. Only a + after {} alone ends a command. The command is run in the directory in which find was started. Quote ; and {} where a shell would take them for itself.",
    ),
    Entry::new(
        Kind::Action,
        Word::ExecDir,
        &["-execdir"],
        ONE_OR_MANY,
        Origin::Gnu,
        "As -exec, but the command is run in the directory that the file is in, and {} stands for ./NAME. So nobody can make \
it work on another file by exchanging a directory for a link meanwhile. PATH must hold no empty and no relative directory.",
    ),
    Entry::new(
        Kind::Action,
        Word::Fls,
        &["-fls"],
        FILE,
        Origin::Gnu,
        "As -ls, but into FILE; see -fprint.",
    ),
    Entry::new(
        Kind::Action,
        Word::Fprint,
        &["-fprint"],
        FILE,
        Origin::Gnu,
        "As -print, but into FILE, which is made empty before the search even if nothing is ever written to it. /dev/stdout \
and /dev/stderr are standard output and standard error.",
    ),
    Entry::new(
        Kind::Action,
        Word::Fprint0,
        &["-fprint0"],
        FILE,
        Origin::Gnu,
        "As -print0, but into FILE; see -fprint.",
    ),
    Entry::new(
        Kind::Action,
        Word::Fprintf,
        &["-fprintf"],
        &["FILE", "FORMAT"],
        Origin::Gnu,
        "As -printf, but into FILE; see -fprint.",
    ),
    Entry::new(
        Kind::Action,
        Word::Ls,
        &["-ls"],
        &[],
        Origin::Gnu,
        "Write a line as ls -dils does: inode number, blocks of 1024 bytes (512 if POSIXLY_CORRECT is set), permissions, \
links, owner, group, size, time of modification, path. True.",
    ),
    Entry::new(
        Kind::Action,
        Word::Ok,
        &["-ok"],
        ONE,
        Origin::Posix,
        "As -exec with ;, but the user is asked first, on standard error. Unless the answer, from standard input, is yes, \
the command is not run and the action is false. The command's standard input is /dev/null.",
    ),
    Entry::new(
        Kind::Action,
        Word::OkDir,
        &["-okdir"],
        ONE,
        Origin::Gnu,
        "As -execdir with ;, but the user is asked first, as for -ok.",
    ),
    Entry::new(
        Kind::Action,
        Word::Print,
        &["-print"],
        &[],
        Origin::Posix,
        "Write the path and a newline. True. This is done for every file for which the expression is true if there is no \
action in it but -prune and -quit. On a terminal, characters that are not printable are written as question marks.",
    ),
    Entry::new(
        Kind::Action,
        Word::Print0,
        &["-print0"],
        &[],
        Origin::Gnu,
        "Write the path and a zero byte. True. As no path has such a byte, programs that are told so (xargs -0) take any name \
for what it is.",
    ),
    Entry::new(
        Kind::Action,
        Word::Printf,
        &["-printf"],
        &["FORMAT"],
        Origin::Gnu,
        "Write what FORMAT says, without a newline of its own. True. See the section on formats.",
    ),
    Entry::new(
        Kind::Action,
        Word::Prune,
        &["-prune"],
        &[],
        Origin::Posix,
        "Do not enter the directory. True. Without effect with -depth. To leave out a directory: -name .git -prune -o -print.",
    ),
    Entry::new(
        Kind::Action,
        Word::Quit,
        &["-quit"],
        &[],
        Origin::Gnu,
        "End the search. Commands that -exec and -execdir with {} + have collected paths for are run first. The status is 0 if \
there was no error before.",
    ),
];
