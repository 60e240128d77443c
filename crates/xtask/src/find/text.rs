//! Sections of the man page that the table of words does not contain.
//!
//! An empty line ends a paragraph; a line `* TERM: MEANING` is an item; a line that begins with
//! four blanks is an example.

use ringwalk_find::table::Kind;

/// Sections before those of the words.
pub(super) const BEFORE: &[(&str, &str)] = &[(
    "DESCRIPTION",
    "\
Searches the directory trees that begin at the starting points. It evaluates the expression for \
each file in them, and performs the actions of the expression. The default starting point is the \
current directory; the default expression is -print.

ringwalk find has the options, the expressions and the output of GNU find, so it can replace GNU \
find. It reads directories with several workers. Words marked (GNU) are extensions of POSIX from \
GNU find; words marked (bfs) come from bfs.

The starting points end before the first word that is ( or !, or that begins with a hyphen and is \
longer than a hyphen. The remaining words are the expression. It consists of tests, which are true \
or false for a file, actions, which do something, options, and operators between them. It is \
evaluated from left to right until its value is known. ringwalk find reads only the metadata that \
the expression needs.

ringwalk find parses the whole command line before it does anything.

Called through a link named find, the program is ringwalk find.",
)];

/// Sections of words, each with its introduction.
pub(super) const KINDS: &[(&str, Kind, &str)] = &[
    (
        "OPTIONS",
        Kind::Leading,
        "\
The options of all subcommands stand before the word find (see ringwalk(1)): --source, --workers, \
--in-flight, --prefetch, --sync, --explain and --progress. On a terminal, ringwalk find shows a line of \
progress after half a second, unless it runs commands. The following options stand after the word \
find and before the starting points:",
    ),
    (
        "OPERATORS",
        Kind::Operator,
        "\
The operators that bind most tightly come first. Shells interpret parentheses and the exclamation \
mark, so quote them.",
    ),
    (
        "POSITIONAL OPTIONS",
        Kind::Positional,
        "\
A positional option applies to the words after it. As a test it is true.",
    ),
    (
        "GLOBAL OPTIONS",
        Kind::Global,
        "\
A global option applies to the whole search, at any place in the expression. Put global options \
before all tests; with -warn, ringwalk find warns of others. As a test a global option is true.",
    ),
    (
        "TESTS",
        Kind::Test,
        "\
For an argument N, +N means more than N, -N means less than N, and N means exactly N.

Ages are measured from the time at which ringwalk find read the command line. If the metadata of a \
file cannot be read, ringwalk find reports the file, and tests that need its metadata are false.",
    ),
    (
        "ACTIONS",
        Kind::Action,
        "\
If the expression has no action except -prune and -quit, it is read as ( EXPRESSION ) -print.",
    ),
];

/// Sections after those of the words.
pub(super) const AFTER: &[(&str, &str)] = &[
    (
        "FORMATS",
        "\
-printf and -fprintf replace these directives in FORMAT. As in printf(3), flags, a width, and a \
point with a precision may stand between the percent sign and the letter. The flags are - (align \
to the left), 0, +, a blank and #.
* %%: a percent sign.
* %a, %c, %t: time of last access, of last change of the inode, of last modification of the \
contents, in the form of ctime(3).
* %Ak, %Bk, %Ck, %Tk: time of last access, of birth, of last change of the inode, of last \
modification. k is @ for seconds since 1970 with a fraction, + for date and time with + between \
them, or a letter of strftime(3). Seconds have a fraction of ten digits.
* %b, %k: allocated space, in blocks of 512 bytes and of 1024 bytes.
* %d: depth, the number of levels below the starting point.
* %D: number of the device that holds the file.
* %f, %h: the last component of the path, and the part of the path before it (. if there is none).
* %F: type of the file system.
* %g, %G: group, by name and by number.
* %H, %P: the starting point, and the path without it.
* %i: inode number.
* %l: target of a symbolic link; empty for other files.
* %m, %M: permissions in octal, and in the form of ls -l.
* %n: number of hard links.
* %p: the path.
* %s: size in bytes.
* %S: sparseness, the allocated bytes divided by the size.
* %u, %U: owner, by name and by number.
* %y, %Y: type, as a letter of -type. %Y for a symbolic link: the type of its target; N if the \
target does not exist; L for a loop of links; ? after another error.
* %Z: SELinux label.

Escapes are \\a, \\b, \\f, \\n, \\r, \\t, \\v, \\\\, \\NNN (a byte in octal, including \\0), and \
\\c, which ends the output of this format. On a terminal, question marks replace unprintable \
characters in names.",
    ),
    (
        "EXIT STATUS",
        "\
* 0: ringwalk find completed the search without an error.
* 1: the command line is invalid, and ringwalk find did nothing; or it could not read, write, \
delete or run something; or a command of -exec ... {} + failed. It reported each error on standard \
error, and continued.",
    ),
    (
        "ENVIRONMENT",
        "\
* LC_ALL, LC_CTYPE, LANG: the first one that is set determines whether names are UTF-8.
* LS_COLORS: colours of names on a terminal.
* NO_COLOR: if set and not empty, there are no colours unless -color is given.
* TERM: if it is dumb, empty or not set, ringwalk find draws no line of progress, and there are \
no colours unless -color is given.
* PATH: the directories in which -exec, -execdir, -ok and -okdir search for commands.
* POSIXLY_CORRECT: if set, -ls counts blocks of 512 bytes, and there are no warnings.
* TZ: the time zone of dates.
* RINGWALK_SOURCE, RINGWALK_WORKERS, RINGWALK_IN_FLIGHT, RINGWALK_PREFETCH, RINGWALK_SYNC, \
RINGWALK_EXPLAIN, RINGWALK_PROGRESS: each is used if the option of the same name is not given before the word find.",
    ),
    (
        "EXAMPLES",
        "\
Print all files below src whose names end in .c or .h:

    ringwalk find src -name '*.[ch]'

Print files of more than 100 MiB that nobody has read for a year, with their sizes, on one file \
system:

    ringwalk find / -xdev -type f -size +100M -atime +365 -printf '%s %p\\n'

Search all C files except those below directories named .git:

    ringwalk find . -exclude -name .git -name '*.c' -exec grep -n main {} +

Do the same with words that every find supports:

    ringwalk find . -name .git -prune -o -name '*.c' -exec grep -n main {} +

Delete files older than a week below /var/tmp/work, and directories that are then empty:

    ringwalk find /var/tmp/work -mindepth 1 \\( -type f -mtime +7 -o -type d -empty \\) -delete

Print files modified since a date and time:

    ringwalk find . -newermt '2024-02-29 13:45'

Print one file that others may write, and end the search there:

    ringwalk find . -perm -o=w ! -type l -print -quit",
    ),
    (
        "DIFFERENCES",
        "\
These are the differences from GNU find (findutils 4.11). /usr/share/doc/ringwalk/find.md lists \
all of them, each with its reason.
* Order: workers print in parallel, so the order of directories is not guaranteed; -s sorts. A \
directory still comes before its contents, or after them with -depth. -exec with ;, -ok, -quit and \
-delete keep the guarantees of GNU find.
* Cheaper tests first: from -O1 on, cheaper tests run first if this has no visible effect.
* Closed pipe: ends the search without a message, with status 1, not by a signal.
* Output files: are opened after the whole command line is parsed.
* Unknown words: the message also names the nearest known word.
* Birth times: -newerBY and -newerXB work if the file system stores birth times.
* The comma: the value is that of the second expression; GNU find may exchange the two from -O2 on.
* Parentheses: a ) without a ( before it is an error everywhere, as in ) (. Parentheses nest at \
most 256 levels deep.
* Messages: a replacement character stands for bytes of words that are not UTF-8.
* As in POSIX.1-2024: -HL is -H -L; -perm +w ignores the bits of the file mode creation mask.
* -mount on overlays: files of the layers are not left out, though they have devices of their own.
* Regular expressions: emacs and findutils-default have shy groups, \\(?:a\\|b\\).
* -D: a list with an unknown name still turns on the known ones; a message names the unknown one.",
    ),
];

#[cfg(test)]
mod tests;
