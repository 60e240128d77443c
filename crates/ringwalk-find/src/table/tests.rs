//! Tests.

use super::{Entry, Kind, Origin, Word};

const N: &[&str] = &["N"];
const PATTERN: &[&str] = &["PATTERN"];
const FILE: &[&str] = &["FILE"];

pub(super) const ENTRIES: &[Entry] = &[
    Entry::new(
        Kind::Test,
        Word::AccessMinutes,
        &["-amin"],
        N,
        Origin::Gnu,
        "Last accessed N minutes ago; see -mmin.",
    ),
    Entry::new(
        Kind::Test,
        Word::AccessNewer,
        &["-anewer"],
        FILE,
        Origin::Gnu,
        "Last accessed after FILE was last modified; as -neweram.",
    ),
    Entry::new(
        Kind::Test,
        Word::AccessDays,
        &["-atime"],
        N,
        Origin::Posix,
        "Last accessed N days ago; see -mtime.",
    ),
    Entry::new(
        Kind::Test,
        Word::ChangeMinutes,
        &["-cmin"],
        N,
        Origin::Gnu,
        "Inode (owner, permissions, names, contents) last changed N minutes ago; see -mmin.",
    ),
    Entry::new(
        Kind::Test,
        Word::ChangeNewer,
        &["-cnewer"],
        FILE,
        Origin::Gnu,
        "Inode last changed after FILE was last modified; as -newercm.",
    ),
    Entry::new(
        Kind::Test,
        Word::Context,
        &["-context"],
        PATTERN,
        Origin::Gnu,
        "The label that SELinux has for the file matches the shell pattern. An error where SELinux is not enabled.",
    ),
    Entry::new(
        Kind::Test,
        Word::ChangeDays,
        &["-ctime"],
        N,
        Origin::Posix,
        "Inode last changed N days ago; see -mtime.",
    ),
    Entry::new(
        Kind::Test,
        Word::Empty,
        &["-empty"],
        &[],
        Origin::Gnu,
        "A regular file without a byte in it, or a directory without an entry.",
    ),
    Entry::new(
        Kind::Test,
        Word::Executable,
        &["-executable"],
        &[],
        Origin::Gnu,
        "May be executed by this user, or searched if it is a directory, as access(2) says: that includes access control \
lists and file systems mounted without execution, which -perm knows nothing of.",
    ),
    Entry::new(Kind::Test, Word::False, &["-false"], &[], Origin::Gnu, "False."),
    Entry::new(
        Kind::Test,
        Word::FileSystem,
        &["-fstype"],
        &["TYPE"],
        Origin::Gnu,
        "Is on a file system of this type: ext4, xfs, btrfs, tmpfs, nfs4, proc... -printf %F writes it.",
    ),
    Entry::new(
        Kind::Test,
        Word::Gid,
        &["-gid"],
        N,
        Origin::Gnu,
        "Belongs to the group with number N.",
    ),
    Entry::new(
        Kind::Test,
        Word::Group,
        &["-group"],
        &["NAME"],
        Origin::Posix,
        "Belongs to the group NAME, which may be a number if no group has that name.",
    ),
    Entry::new(
        Kind::Test,
        Word::Hidden,
        &["-hidden"],
        &[],
        Origin::Bfs,
        "The name begins with a dot; the names . and .. do not count.",
    ),
    Entry::new(
        Kind::Test,
        Word::LinkNameFold,
        &["-ilname"],
        PATTERN,
        Origin::Gnu,
        "As -lname, but upper and lower case are the same.",
    ),
    Entry::new(
        Kind::Test,
        Word::NameFold,
        &["-iname"],
        PATTERN,
        Origin::Gnu,
        "As -name, but upper and lower case are the same.",
    ),
    Entry::new(
        Kind::Test,
        Word::Inode,
        &["-inum"],
        N,
        Origin::Gnu,
        "Has inode number N. -samefile is usually what is wanted.",
    ),
    Entry::new(
        Kind::Test,
        Word::PathFold,
        &["-ipath", "-iwholename"],
        PATTERN,
        Origin::Gnu,
        "As -path, but upper and lower case are the same.",
    ),
    Entry::new(
        Kind::Test,
        Word::RegexFold,
        &["-iregex"],
        PATTERN,
        Origin::Gnu,
        "As -regex, but upper and lower case are the same.",
    ),
    Entry::new(
        Kind::Test,
        Word::Links,
        &["-links"],
        N,
        Origin::Posix,
        "Has N hard links.",
    ),
    Entry::new(
        Kind::Test,
        Word::LinkName,
        &["-lname"],
        PATTERN,
        Origin::Gnu,
        "Is a symbolic link, and what it holds matches the shell pattern, in which wildcards match slashes and leading dots \
too. With -L only of links that lead nowhere.",
    ),
    Entry::new(
        Kind::Test,
        Word::ModificationMinutes,
        &["-mmin"],
        N,
        Origin::Gnu,
        "Contents last modified N minutes ago: with N at least N-1 and less than N minutes, with +N more, with -N less. N \
may have a fraction.",
    ),
    Entry::new(
        Kind::Test,
        Word::ModificationDays,
        &["-mtime"],
        N,
        Origin::Posix,
        "Contents last modified N times 24 hours ago, where what is left over of a day is not counted: -mtime 0 within the \
last day, -mtime +0 before that, -mtime +1 at least two days ago, -mtime -1 less than a day ago. With -N the age may exceed N days by \
less than a second, as in GNU find. N may have a fraction.",
    ),
    Entry::new(
        Kind::Test,
        Word::Name,
        &["-name"],
        PATTERN,
        Origin::Posix,
        "The last component of the path matches the shell pattern: * stands for any characters, ? for one, [abc] for one of \
these, [!abc] for one that is none of these, and \\ takes the meaning from what comes after it. Wildcards match a leading dot too. A \
pattern with a slash matches nothing, as no name has one; see -path. Quote patterns, so that the shell does not replace them.",
    ),
    Entry::new(
        Kind::Test,
        Word::Newer,
        &["-newer"],
        FILE,
        Origin::Posix,
        "Contents modified later than those of FILE; as -newermm. FILE is looked at once, before the search; a symbolic \
link is followed with -H and -L.",
    ),
    Entry::new(
        Kind::Test,
        Word::NewerXY,
        &["-newerXY"],
        &["REFERENCE"],
        Origin::Gnu,
        "Time X of the file is later than time Y of REFERENCE. X and Y are letters:
* a: last access.
* B: birth. A file system that does not keep it makes the test false, or an error if it is that of REFERENCE.
* c: last change of the inode.
* m: last modification of the contents.
* t: only as Y: REFERENCE is itself a time, such as '2024-02-29 13:45', '2024-02-29T13:45:00+01:00', @1709214300, yesterday, or '3 \
weeks ago', as date -d takes them.",
    ),
    Entry::new(
        Kind::Test,
        Word::NoGroup,
        &["-nogroup"],
        &[],
        Origin::Posix,
        "Belongs to a group that has no name.",
    ),
    Entry::new(
        Kind::Test,
        Word::NoUser,
        &["-nouser"],
        &[],
        Origin::Posix,
        "Belongs to a user who has no name.",
    ),
    Entry::new(
        Kind::Test,
        Word::Path,
        &["-path", "-wholename"],
        PATTERN,
        Origin::Posix,
        "The whole path, beginning with the starting point as it was given, matches the shell pattern. Wildcards match \
slashes and leading dots too. To leave out a directory with all below it use -exclude or -prune, which do not read it. -wholename is \
GNU's name for it.",
    ),
    Entry::new(
        Kind::Test,
        Word::Permission,
        &["-perm"],
        &["MODE"],
        Origin::Posix,
        "Permissions: MODE has the forms
* MODE: they are exactly these.
* -MODE: all of these are set.
* /MODE: any of these is set; true if none is named.

A mode is octal, or symbolic as chmod takes it, changing 0: u=rw,g=r is 640, and a+X is 111 for directories. A \
part of it that names nobody, as +w does, leaves the bits of the file mode creation mask alone, as POSIX has it: a+w does not. The older form +MODE for \
/MODE is an error with octal digits; with letters it is what chmod would make of it.",
    ),
    Entry::new(
        Kind::Test,
        Word::Readable,
        &["-readable"],
        &[],
        Origin::Gnu,
        "May be read by this user, as access(2) says; see -executable.",
    ),
    Entry::new(
        Kind::Test,
        Word::Regex,
        &["-regex"],
        PATTERN,
        Origin::Gnu,
        "The whole path matches the regular expression, whose syntax -regextype sets. It must match from beginning to end: \
for ./fubar3, .*b.*3 does, and b.*3 does not.",
    ),
    Entry::new(
        Kind::Test,
        Word::SameFile,
        &["-samefile"],
        FILE,
        Origin::Gnu,
        "Is the same file as FILE, by this or another name. With -L also links that lead to it.",
    ),
    Entry::new(
        Kind::Test,
        Word::Size,
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
    Entry::new(Kind::Test, Word::True, &["-true"], &[], Origin::Gnu, "True."),
    Entry::new(
        Kind::Test,
        Word::Type,
        &["-type"],
        &["LETTERS"],
        Origin::Posix,
        "Is of this type, or of one of several with commas between, which is GNU's extension:
* b: block device.
* c: character device.
* d: directory.
* f: regular file.
* l: symbolic link; with -L only one that leads nowhere.
* p: named pipe.
* s: socket.",
    ),
    Entry::new(
        Kind::Test,
        Word::Uid,
        &["-uid"],
        N,
        Origin::Gnu,
        "Belongs to the user with number N.",
    ),
    Entry::new(
        Kind::Test,
        Word::Used,
        &["-used"],
        N,
        Origin::Gnu,
        "Last accessed N days after its inode last changed: with N at least N-1 and less than N days, with +N more, with \
-N less. Never true of a file that was accessed before its inode changed.",
    ),
    Entry::new(
        Kind::Test,
        Word::User,
        &["-user"],
        &["NAME"],
        Origin::Posix,
        "Belongs to the user NAME, which may be a number if no user has that name.",
    ),
    Entry::new(
        Kind::Test,
        Word::Writable,
        &["-writable"],
        &[],
        Origin::Gnu,
        "May be written by this user, as access(2) says; see -executable.",
    ),
    Entry::new(
        Kind::Test,
        Word::XType,
        &["-xtype"],
        &["LETTERS"],
        Origin::Gnu,
        "As -type, but of symbolic links it looks at what -type does not look at: without -L at what the link leads to, \
with -L at the link. So -xtype l is true of links that lead nowhere or in circles, and with -L of all.",
    ),
];
