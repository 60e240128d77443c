//! Sections of the pages of `ringwalk report` and `ringwalk sql`.

pub(super) const REPORT: (&str, &str) = (
    "OUTPUT",
    "\
A table with a line for each group of files that have the same values of all keys. A line has the \
number of entries, their apparent size, their allocated size, and the share of the allocated size \
in the total. Each name counts as an entry. The sizes of a file with several hard links count once, \
at its first name in the order of the snapshot, so the total of alloc is the number of du. The \
group with the largest allocated size comes first. With age or size as the only key, the classes \
come in the order below.

On a terminal, the table has the 20 largest groups, a line for the others, and bars if there is \
room. With two keys, of which the second one is age, size or type, the values of the second key \
stand side by side if there is room, with allocated sizes.

With --under, hard links count once within PATH, even if their first name lies elsewhere. PATH is a \
path in the file system, absolute or relative to the working directory.

If names of directories and extensions make more than 100000 groups, the rows of the further groups \
are added up as others. Groups are counted in the order of the rows of the snapshot.",
);

pub(super) const REPORT_KEYS: (&str, &str) = (
    "KEYS",
    "\
* owner, group: the names that the snapshot has, else the numbers.
* age: time from the last change of the contents to the start of the snapshot: less than a day, a week, \
a month (30 days), 3 months (90 days), a year (365 days), 2 years, 5 years, or older. Times after \
the end of the snapshot are in the future.
* size: apparent size: 0, or less than 4K, 64K, 1M, 16M, 256M, 4G, 64G, 1T, or more. A file is in \
the first class that holds it.
* type: the type of the file.
* dir: the directory directly below the root or below PATH. The directory . stands for that \
directory itself, with the files directly in it. If there are several roots, paths are absolute.
* ext: the extension of a regular file: at most 16 bytes of UTF-8 after the last dot of the name. A \
dot at the beginning begins no extension.",
);

pub(super) const REPORT_FORMATS: (&str, &str) = (
    "JSON, CSV AND PARQUET",
    "\
The columns of the keys are:
* owner, group: owner and uid; group and gid. The name is null if the snapshot has none.
* age: age, and age_days: the least age of the class in days.
* size: size_class, and size_least: the least size of the class in bytes.
* type: type, as the letter of find: f, d, l, b, c, p, s; null if unknown.
* dir: dir, with bytes that are not UTF-8 as \\xHH, and dir_hex: all bytes in hexadecimal if some \
are not UTF-8.
* ext: ext; null for files without extension.

The columns entries, size, alloc (in bytes) and share (in percent, with two decimals) follow.

With --csv and --parquet there is one more column, others. If groups were left out, the last row \
has their sums and, in others, their number. In all other rows others is null. Null is an empty \
field in CSV.

With --json, the output is one object on one line, with these members:
* by: the keys.
* start: when the snapshot began, in seconds since 1970.
* complete, errors: whether everything could be read, and the number of failures.
* rows: a list of objects with the columns above. dir_hex is only present if it is not null.
* others: null, or the sums of the groups that were left out, with their number in groups. If more \
is true, there are groups beyond the limit, which are not in that number.
* total: the sums of everything.",
);

pub(super) const REPORT_PAGE: (&str, &str) = (
    "PAGE",
    "\
With --html, FILE is a page for a browser. It has:
* Treemap and sunburst: the largest files and directories, by allocated size. What exceeds --nodes \
is added up in each directory, as n smaller. A click opens a directory. So do the keys: arrows \
choose, Enter opens, Backspace goes up, and Home goes to the top.
* Largest files: a table of 100 files.
* Owners and age: allocated sizes by owner and age.
* Largest changes: with --compare, a table of 100 changes, and the growth of each file and \
directory of the diagrams. Both snapshots must have the same roots.
* Could not be read: the first 100 failures, with their reasons.

The tables need no script. The page loads nothing from a network, and its policy forbids that. Names \
are shown as text: bytes that are not UTF-8 as \\xHH, and characters that control or turn text as \
\\u{HH}.

The page has 2 MiB at most with the default of --nodes, and 80 bytes for each node with more. If \
names are very long, fewer nodes are shown.

The growth of a directory is the difference of its totals in the two snapshots. A file with several \
hard links counts at its first name in each snapshot, with --under too.",
);

pub(super) const REPORT_EXIT_STATUS: (&str, &str) = (
    "EXIT STATUS",
    "\
* 0: the report is complete.
* 1: the report was printed, but files are missing from it, because they could not be read; or the \
output could not be written; or the snapshot of --compare is incomplete.
* 2: the command line or an environment variable is invalid, the snapshot cannot be read or does not \
have PATH, or FILE cannot be written. No file was changed.",
);

pub(super) const SQL: (&str, &str) = (
    "DUCKDB",
    "\
ringwalk sql runs the program duckdb, or else the module duckdb of python3, and defines views of \
the snapshots. Without a query it reads SQL from standard input. At a terminal the program duckdb \
shows its prompt; the module has none.

On a terminal, results are tables in the style of DuckDB, which may be cut to the size of the \
terminal. Otherwise they are CSV with a line of names.

The last word is the query if it has several words or a semicolon and is not the name of a file. A \
word that begins with /, ./, ../ or ~, or ends with .parquet, is the name of a file.",
);

pub(super) const SQL_VIEWS: (&str, &str) = (
    "VIEWS",
    "\
* snapshot: the rows of the file, with the columns that /usr/share/doc/ringwalk/snapshot.md describes.
* entries: the same, with more columns: name (the last component of the path), full_path, owner and \
group_name.
* files, directories: those of type f and d.
* errors: those that could not be read.
* users, groups, roots: numbers with names of owners and groups, and the paths of roots.

DuckDB does not compare the checksums of pages: a row that a disk has damaged can go unnoticed. \
ringwalk find, du, diff and report notice it.

With several snapshots a number from 1 follows each name: snapshot1, entries1, snapshot2, and so \
on. --views prints the definitions.

A condition such as starts_with(path, 'home/') on the column path reads only the row groups that \
hold this part of the tree.",
);

pub(super) const SQL_EXIT_STATUS: (&str, &str) = (
    "EXIT STATUS",
    "\
* 0: DuckDB succeeded.
* 1: DuckDB reported an error; or a snapshot is incomplete, which a message says.
* 2: the command line is invalid, a snapshot cannot be read, or DuckDB is missing.

When DuckDB shows its prompt, the status is that of DuckDB.",
);
