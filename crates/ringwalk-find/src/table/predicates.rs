//! Tests.

use super::{Entry, Meaning, Origin};

/// A test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TestWord {
    AccessMinutes,
    AccessNewer,
    AccessDays,
    ChangeMinutes,
    ChangeNewer,
    Context,
    ChangeDays,
    Empty,
    Executable,
    False,
    FileSystem,
    Gid,
    Group,
    Hidden,
    LinkNameFold,
    NameFold,
    Inode,
    PathFold,
    RegexFold,
    Links,
    LinkName,
    ModificationMinutes,
    ModificationDays,
    Name,
    Newer,
    NewerXY,
    NoGroup,
    NoUser,
    Path,
    Permission,
    Readable,
    Regex,
    SameFile,
    Size,
    True,
    Type,
    Uid,
    Used,
    User,
    Writable,
    XType,
}

const N: &[&str] = &["N"];
const PATTERN: &[&str] = &["PATTERN"];
const FILE: &[&str] = &["FILE"];

pub(super) const ENTRIES: &[Entry] = &[
    Entry::new(
        Meaning::Test(TestWord::AccessMinutes),
        &["-amin"],
        N,
        Origin::Gnu,
        "Last accessed N minutes ago; see -mmin.",
    ),
    Entry::new(
        Meaning::Test(TestWord::AccessNewer),
        &["-anewer"],
        FILE,
        Origin::Gnu,
        "Last accessed after FILE was last modified; as -neweram.",
    ),
    Entry::new(
        Meaning::Test(TestWord::AccessDays),
        &["-atime"],
        N,
        Origin::Posix,
        "Last accessed N days ago; see -mtime.",
    ),
    Entry::new(
        Meaning::Test(TestWord::ChangeMinutes),
        &["-cmin"],
        N,
        Origin::Gnu,
        "Inode (owner, permissions, names, contents) last changed N minutes ago; see -mmin.",
    ),
    Entry::new(
        Meaning::Test(TestWord::ChangeNewer),
        &["-cnewer"],
        FILE,
        Origin::Gnu,
        "Inode last changed after FILE was last modified; as -newercm.",
    ),
    Entry::new(
        Meaning::Test(TestWord::Context),
        &["-context"],
        PATTERN,
        Origin::Gnu,
        "The SELinux label of the file matches the shell pattern. An error if SELinux is \
not enabled.",
    ),
    Entry::new(
        Meaning::Test(TestWord::ChangeDays),
        &["-ctime"],
        N,
        Origin::Posix,
        "Inode last changed N days ago; see -mtime.",
    ),
    Entry::new(
        Meaning::Test(TestWord::Empty),
        &["-empty"],
        &[],
        Origin::Gnu,
        "Is a regular file of 0 bytes, or a directory without entries.",
    ),
    Entry::new(
        Meaning::Test(TestWord::Executable),
        &["-executable"],
        &[],
        Origin::Gnu,
        "May be executed by this user, or searched if it is a directory, as access(2) \
reports. This takes into account access control lists and file systems mounted without \
execution, which -perm ignores.",
    ),
    Entry::new(
        Meaning::Test(TestWord::False),
        &["-false"],
        &[],
        Origin::Gnu,
        "False.",
    ),
    Entry::new(
        Meaning::Test(TestWord::FileSystem),
        &["-fstype"],
        &["TYPE"],
        Origin::Gnu,
        "Is on a file system of this type: ext4, xfs, btrfs, tmpfs, nfs4, proc... -printf %F writes \
the type.",
    ),
    Entry::new(
        Meaning::Test(TestWord::Gid),
        &["-gid"],
        N,
        Origin::Gnu,
        "Belongs to the group with number N.",
    ),
    Entry::new(
        Meaning::Test(TestWord::Group),
        &["-group"],
        &["NAME"],
        Origin::Posix,
        "Belongs to the group NAME. NAME may be a number if no group has that name.",
    ),
    Entry::new(
        Meaning::Test(TestWord::Hidden),
        &["-hidden"],
        &[],
        Origin::Bfs,
        "The name begins with a dot; the names . and .. do not count.",
    ),
    Entry::new(
        Meaning::Test(TestWord::LinkNameFold),
        &["-ilname"],
        PATTERN,
        Origin::Gnu,
        "As -lname, but ignores case.",
    ),
    Entry::new(
        Meaning::Test(TestWord::NameFold),
        &["-iname"],
        PATTERN,
        Origin::Gnu,
        "As -name, but ignores case.",
    ),
    Entry::new(
        Meaning::Test(TestWord::Inode),
        &["-inum"],
        N,
        Origin::Gnu,
        "Has inode number N. -samefile is usually better.",
    ),
    Entry::new(
        Meaning::Test(TestWord::PathFold),
        &["-ipath", "-iwholename"],
        PATTERN,
        Origin::Gnu,
        "As -path, but ignores case.",
    ),
    Entry::new(
        Meaning::Test(TestWord::RegexFold),
        &["-iregex"],
        PATTERN,
        Origin::Gnu,
        "As -regex, but ignores case.",
    ),
    Entry::new(
        Meaning::Test(TestWord::Links),
        &["-links"],
        N,
        Origin::Posix,
        "Has N hard links.",
    ),
    Entry::new(
        Meaning::Test(TestWord::LinkName),
        &["-lname"],
        PATTERN,
        Origin::Gnu,
        "Is a symbolic link whose target matches the shell pattern. Wildcards match \
slashes and leading dots too. With -L, true only of links whose target does not exist.",
    ),
    Entry::new(
        Meaning::Test(TestWord::ModificationMinutes),
        &["-mmin"],
        N,
        Origin::Gnu,
        "Contents last modified N minutes ago: with N at least N-1 and less than N minutes, with \
+N more, with -N less. N may have a fraction.",
    ),
    Entry::new(
        Meaning::Test(TestWord::ModificationDays),
        &["-mtime"],
        N,
        Origin::Posix,
        "Contents last modified N times 24 hours ago, where the rest of a day is not counted: \
-mtime 0 within the last day, -mtime +0 before that, -mtime +1 at least two days ago, \
-mtime -1 less than a day ago. With -N the age may exceed N days by less than a second, \
as in GNU find. N may have a fraction.",
    ),
    Entry::new(
        Meaning::Test(TestWord::Name),
        &["-name"],
        PATTERN,
        Origin::Posix,
        "The last component of the path matches the shell pattern: * stands for any characters, ? \
for one, [abc] for one of these, [!abc] for one that is none of these, and \\ makes the \
next character literal. Wildcards match a leading dot too. A pattern with a slash \
matches nothing, as no name has one; see -path. Quote patterns, so that the shell does \
not replace them.",
    ),
    Entry::new(
        Meaning::Test(TestWord::Newer),
        &["-newer"],
        FILE,
        Origin::Posix,
        "Contents modified later than those of FILE; as -newermm. The time of FILE is \
read once, before the search. With -H and -L, FILE is followed if it is a symbolic link.",
    ),
    Entry::new(
        Meaning::Test(TestWord::NewerXY),
        &["-newerXY"],
        &["REFERENCE"],
        Origin::Gnu,
        "Time X of the file is later than time Y of REFERENCE. X and Y are letters:
* a: last access.
* B: birth. If the file system does not store birth times, the test is false for the \
file, and an error for REFERENCE.
* c: last change of the inode.
* m: last modification of the contents.
* t: only as Y: REFERENCE is itself a time, such as '2024-02-29 13:45', \
'2024-02-29T13:45:00+01:00', @1709214300, yesterday, or '3 weeks ago', in the forms of \
date -d.",
    ),
    Entry::new(
        Meaning::Test(TestWord::NoGroup),
        &["-nogroup"],
        &[],
        Origin::Posix,
        "Belongs to a group that has no name.",
    ),
    Entry::new(
        Meaning::Test(TestWord::NoUser),
        &["-nouser"],
        &[],
        Origin::Posix,
        "Belongs to a user who has no name.",
    ),
    Entry::new(
        Meaning::Test(TestWord::Path),
        &["-path", "-wholename"],
        PATTERN,
        Origin::Posix,
        "The whole path, beginning with the starting point as it was given, matches the shell \
pattern. Wildcards match slashes and leading dots too. To leave out a directory and all \
files below it use -exclude or -prune, which do not read it. -wholename is GNU's name \
for it.",
    ),
    Entry::new(
        Meaning::Test(TestWord::Permission),
        &["-perm"],
        &["MODE"],
        Origin::Posix,
        "Permissions: MODE has the forms
* MODE: the permissions are exactly these.
* -MODE: all of these are set.
* /MODE: any of these is set; true if MODE names none.

A mode is octal, or symbolic as for chmod, applied to 0: u=rw,g=r is 640, and a+X is 111 \
for directories. A part without u, g, o and a, such as +w, ignores the bits of the file \
mode creation mask, as in POSIX; a+w does not. The older form +MODE for /MODE is an \
error with octal digits; with letters it has the meaning that it has for chmod.",
    ),
    Entry::new(
        Meaning::Test(TestWord::Readable),
        &["-readable"],
        &[],
        Origin::Gnu,
        "May be read by this user, as access(2) reports; see -executable.",
    ),
    Entry::new(
        Meaning::Test(TestWord::Regex),
        &["-regex"],
        PATTERN,
        Origin::Gnu,
        "The whole path matches the regular expression, in the syntax that -regextype sets. The \
match must span the whole path: for ./fubar3, .*b.*3 does, and b.*3 does not.",
    ),
    Entry::new(
        Meaning::Test(TestWord::SameFile),
        &["-samefile"],
        FILE,
        Origin::Gnu,
        "Is the same file as FILE, by this or another name. With -L, also true of \
symbolic links to it.",
    ),
    Entry::new(
        Meaning::Test(TestWord::Size),
        &["-size"],
        &["N[bcwkMG]"],
        Origin::Posix,
        "Has N units of data, rounded up to whole units. Units are
* b: 512 bytes; also without a letter.
* c: bytes.
* w: 2 bytes.
* k: 1024 bytes.
* M: 1048576 bytes.
* G: 1073741824 bytes.

As sizes are rounded up first, -size -1M is true of empty files only.",
    ),
    Entry::new(
        Meaning::Test(TestWord::True),
        &["-true"],
        &[],
        Origin::Gnu,
        "True.",
    ),
    Entry::new(
        Meaning::Test(TestWord::Type),
        &["-type"],
        &["LETTERS"],
        Origin::Posix,
        "Is of this type. GNU find's extension allows several types, separated by \
commas:
* b: block device.
* c: character device.
* d: directory.
* f: regular file.
* l: symbolic link; with -L only one whose target does not exist.
* p: named pipe.
* s: socket.",
    ),
    Entry::new(
        Meaning::Test(TestWord::Uid),
        &["-uid"],
        N,
        Origin::Gnu,
        "Belongs to the user with number N.",
    ),
    Entry::new(
        Meaning::Test(TestWord::Used),
        &["-used"],
        N,
        Origin::Gnu,
        "Last accessed N days after its inode last changed: with N at least N-1 and less \
than N days, with +N more, with -N less. Never true of a file that was accessed before \
its inode changed.",
    ),
    Entry::new(
        Meaning::Test(TestWord::User),
        &["-user"],
        &["NAME"],
        Origin::Posix,
        "Belongs to the user NAME. NAME may be a number if no user has that name.",
    ),
    Entry::new(
        Meaning::Test(TestWord::Writable),
        &["-writable"],
        &[],
        Origin::Gnu,
        "May be written by this user, as access(2) reports; see -executable.",
    ),
    Entry::new(
        Meaning::Test(TestWord::XType),
        &["-xtype"],
        &["LETTERS"],
        Origin::Gnu,
        "As -type, but tests the other end of a symbolic link: without -L the type of \
its target, with -L the type of the link itself. So -xtype l is true of links whose \
target does not exist or that form a loop, and with -L of all links.",
    ),
];
