//! What the man page says beyond single words.
//!
//! An empty line ends a paragraph; a line `* TERM: MEANING` is an item; a line that begins with four blanks is an example.

use ringwalk_find::table::Kind;

/// Sections before those of the words.
pub(super) const BEFORE: &[(&str, &str)] = &[(
    "DESCRIPTION",
    "\
Searches the directory trees that begin at the starting points, evaluates the expression for each file in them, and does what \
its actions say. Without a starting point it is the current directory; without an expression it is -print.

It takes what GNU find takes and does what GNU find does, so that it can stand in its place, and reads directories with several \
workers. Words marked (GNU) are GNU find's beyond POSIX, those marked (bfs) are bfs's.

The starting points end before the first word that is ( or ! or begins with a hyphen and has more than that. All that follows is \
the expression: tests, which are true or false of a file, actions, which do something, options, and operators between them. It is evaluated \
from left to right until its value is known. What is asked of a file is only what the expression needs.

Nothing is done before the whole command line is understood.

Called through a link named find, the program is ringwalk find.",
)];

/// Sections of words, with what stands before them.
pub(super) const KINDS: &[(&str, Kind, &str)] = &[
    (
        "OPTIONS",
        Kind::Leading,
        "\
Before the word find stand the options that all programs have (see ringwalk(1)): --source, --workers, --prefetch, --sync, --explain and --progress. On a \
terminal a line of progress is shown from half a second on, unless commands are run. After the word find, and before the starting points:",
    ),
    (
        "OPERATORS",
        Kind::Operator,
        "Those that bind most tightly come first. Parentheses and the exclamation mark mean something to shells and must be quoted.",
    ),
    (
        "POSITIONAL OPTIONS",
        Kind::Positional,
        "They hold for what comes after them. As tests they are true.",
    ),
    (
        "GLOBAL OPTIONS",
        Kind::Global,
        "\
They hold for the whole search, wherever they stand; best before all tests, and with -warn it is said if they do not. As \
tests they are true.",
    ),
    (
        "TESTS",
        Kind::Test,
        "\
Where an argument is N, +N means more than N, -N less than N, and N exactly that.

Times are those of the beginning of the search: an age is measured from when the command line was read. A file whose metadata cannot be \
read is reported, and tests that need them are false.",
    ),
    (
        "ACTIONS",
        Kind::Action,
        "\
If there is none but -prune and -quit, the expression is taken as ( EXPRESSION ) -print.",
    ),
];

/// Sections after those of the words.
pub(super) const AFTER: &[(&str, &str)] = &[
    (
        "FORMATS",
        "\
In the FORMAT of -printf and -fprintf these are replaced; between the percent sign and the letter may stand the flags - (to the left), 0, + , \
a blank and #, a width, and a point with a precision, as in printf(3):
* %%: a percent sign.
* %a, %c, %t: time of last access, of last change of the inode, of last modification of the contents, as ctime(3) writes it.
* %Ak, %Bk, %Ck, %Tk: time of last access, of birth, of last change of the inode, of last modification; k is @ for seconds since \
1970 with a fraction, + for date and time with + between them, or a letter of strftime(3). Seconds have a fraction of ten digits.
* %b, %k: space allocated, in blocks of 512 and of 1024 bytes.
* %d: levels below the starting point.
* %D: number of the device that it is on.
* %f, %h: the last component of the path, and what stands before it (. if there is nothing).
* %F: type of the file system.
* %g, %G: group, by name and by number.
* %H, %P: the starting point, and the path without it.
* %i: inode number.
* %l: what a symbolic link holds; empty for other files.
* %m, %M: permissions in octal, and as ls -l writes them.
* %n: number of hard links.
* %p: the path.
* %s: size in bytes.
* %S: sparseness, allocated bytes to a byte of size.
* %u, %U: owner, by name and by number.
* %y, %Y: type as -type has it; %Y for a symbolic link that of what it leads to, N if that is nothing, L if it leads in circles, ? after \
another error.
* %Z: the label that SELinux has for it.

Escapes are \\a, \\b, \\f, \\n, \\r, \\t, \\v, \\\\, \\NNN (a byte in octal, \\0 among them), and \\c, which ends the output of this format. On a \
terminal, characters of names that are not printable are written as question marks.",
    ),
    (
        "EXIT STATUS",
        "\
* 0: everything was read and done.
* 1: the command line cannot be used, and nothing was done; or something could not be read, written, deleted or run, or a command of \
-exec ... {} + failed, which was told on standard error, and the rest was done.",
    ),
    (
        "ENVIRONMENT",
        "\
* LC_ALL, LC_CTYPE, LANG: the first of them that is set says whether names are UTF-8.
* LS_COLORS: colours of names on a terminal.
* NO_COLOR: if set and not empty, there are no colours unless -color is given.
* TERM: with the value dumb no line of progress is drawn.
* PATH: where commands of -exec and its like are looked for.
* POSIXLY_CORRECT: if set, -ls counts blocks of 512 bytes, and nothing is warned of.
* TZ: the time zone of dates.
* RINGWALK_SOURCE, RINGWALK_WORKERS, RINGWALK_PREFETCH, RINGWALK_SYNC, RINGWALK_EXPLAIN, RINGWALK_PROGRESS: used when the option of that name is not given before find.",
    ),
    (
        "EXAMPLES",
        "\
All files below src whose names end in .c or .h:

    ringwalk find src -name '*.[ch]'

Files of more than 100 MiB that nobody has read for a year, with sizes, without entering other file systems:

    ringwalk find / -xdev -type f -size +100M -atime +365 -printf '%s %p\\n'

Search all C files but those below directories named .git:

    ringwalk find . -exclude -name .git -name '*.c' -exec grep -n main {} +

The same in words that every find knows:

    ringwalk find . -name .git -prune -o -name '*.c' -exec grep -n main {} +

Delete what is older than a week below /var/tmp/work, and directories that have become empty:

    ringwalk find /var/tmp/work -mindepth 1 \\( -type f -mtime +7 -o -type d -empty \\) -delete

What was modified since a moment:

    ringwalk find . -newermt '2024-02-29 13:45'

Whether there is a file that others may write, ending with the first:

    ringwalk find . -perm -o=w ! -type l -print -quit",
    ),
    (
        "DIFFERENCES",
        "\
From GNU find (findutils 4.10); docs/find.md has them all, each with its reason.
* Order: workers print in parallel, so directories come in no promised order; -s gives one. A directory still comes before what is in it, or \
after it with -depth; -exec with ;, -ok, -quit and -delete keep what GNU find promises.
* Cheaper tests first: where it cannot be seen from outside, at every level from -O1 on.
* Closed pipe: ends the search quietly with status 1, not by a signal.
* Output files: are opened when the whole command line is understood.
* Unknown words: the nearest known one is named too.
* Birth times: -newerBY and -newerXB work where the file system keeps them.
* The comma: the value of the second expression counts; GNU find may exchange the two from -O2 on.
* Parentheses: that close nothing and open again, ) (, are an error everywhere. They may be nested 256 levels deep.
* Messages: show bytes of words that are not UTF-8 as a replacement character.
* As POSIX.1-2024 has it: -HL is -H -L; only a + after the word {} ends a command; -perm +w \
leaves the bits of the file mode creation mask alone.
* Regular expressions: emacs and findutils-default have shy groups, \\(?:a\\|b\\).
* -D: a list in which one name is unknown still turns on the others, and the unknown one is named.",
    ),
];
