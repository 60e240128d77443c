//! Sections of man pages that the definition of the command line does not contain.
//!
//! An empty line ends a paragraph; a line `* TERM: MEANING` is an item.

mod browse;
mod report;

use anyhow::{Result, bail};
use ringwalk::{SourceChoice, SourceNeeds};
use std::borrow::Cow;
use std::fmt::Write;

use browse::{BROWSE, BROWSE_DELETION, BROWSE_ENVIRONMENT, BROWSE_EXIT_STATUS, BROWSE_FILTER};
use report::{REPORT, REPORT_EXIT_STATUS, REPORT_FORMATS, REPORT_KEYS, REPORT_PAGE};
use report::{SQL, SQL_EXIT_STATUS, SQL_VIEWS};

const ENVIRONMENT: (&str, &str) = (
    "ENVIRONMENT",
    "\
* RINGWALK_SOURCE: used when --source is not given.
* RINGWALK_WORKERS: used when --workers is not given.
* RINGWALK_IN_FLIGHT: used when --in-flight is not given.
* RINGWALK_PREFETCH: used when --prefetch is not given.
* RINGWALK_SYNC, RINGWALK_EXPLAIN: 1 turns on --sync or --explain, 0 does not.
* RINGWALK_PROGRESS: used when --progress is not given.
* TERM: if it is dumb, empty or not set, ringwalk draws no line of progress.

An empty variable counts as not set. An invalid value is an error.",
);

const SNAPSHOT_ENVIRONMENT: (&str, &str) = (
    "ENVIRONMENT",
    "\
* TMPDIR: the folder of the unnamed file for what does not fit in memory; otherwise /tmp.
* RINGWALK_SOURCE, RINGWALK_WORKERS, RINGWALK_PREFETCH, RINGWALK_SYNC, RINGWALK_EXPLAIN, \
RINGWALK_PROGRESS: used when the option of the same name is not given.
* TERM: if it is dumb, empty or not set, ringwalk draws no line of progress.

An empty variable counts as not set. An invalid value is an error.",
);

const EXPORT_ENVIRONMENT: (&str, &str) = (
    "ENVIRONMENT",
    "\
* RINGWALK_PROGRESS: used when --progress is not given.
* TERM: if it is dumb, empty or not set, ringwalk draws no line of progress.",
);

const IMPORT_ENVIRONMENT: (&str, &str) = (
    "ENVIRONMENT",
    "\
* TMPDIR: the folder of the unnamed file for what does not fit in memory; otherwise /tmp.
* RINGWALK_PROGRESS: used when --progress is not given.
* TERM: if it is dumb, empty or not set, ringwalk draws no line of progress.",
);

const EXIT_STATUS: (&str, &str) = (
    "EXIT STATUS",
    "\
* 0: ringwalk read everything.
* 1: ringwalk could not read or write something. It reported each error on standard error, and \
continued.
* 2: the command line or an environment variable is invalid; ringwalk did nothing.",
);

const PROGRAM: (&str, &str) = (
    "DESCRIPTION OF THE PROGRAM",
    "\
Reads directory trees of any depth in parallel and in bounded memory. ringwalk follows a symbolic \
link only if an option requests it. If it cannot read something, it reports an error and \
continues.

If standard error is a terminal, work that takes more than half a second shows a line of progress \
there. For a walk it has the number of entries, their rate, and a directory. For work on a snapshot \
it has the rows that are done, the number of all rows, and the rate. --progress changes when there \
is such a line.

Called through a link named du or find, the program is ringwalk du or ringwalk find.",
);

/// The text of the page after the list of sources.
const AFTER_SOURCES: &str = "
The default is auto. auto uses the source for the file system under three conditions: the source \
can be used; this process has CAP_DAC_READ_SEARCH in the initial user namespace, so that system \
calls would read as much; and the tree is not small. Otherwise auto uses module or ring if the \
walk needs the metadata of every entry, and syscall if it does not.

It is an error if the source given with --source cannot read one of the given directories. Where a \
source cannot be sure of an answer, ringwalk makes system calls instead. An example is a file \
changed in the last half minute, because its data may not be written back yet; --sync writes the \
data back first. ringwalk doctor shows which sources can be used. --explain shows which source was \
used.

With --prefetch=auto, the default, ringwalk detects when a walk by system calls waits for a disk. \
It then reads the metadata of ext2, ext3 and ext4 ahead, in disk order, if the block device is \
readable. --prefetch=always does so without this check; --prefetch=never turns it off.";

/// Returns the section on sources: one line for each row of the engine's registry.
fn sources() -> String {
    let mut text =
        "A source is a way to read directories. All sources give the same answers:\n".to_owned();
    for source in SourceChoice::ALL {
        let _ = write!(text, "* {source}: {}", source.help());
        let needs = source.needs();
        if needs != SourceNeeds::Nothing {
            let _ = write!(text, "; needs {needs}");
        }
        text.push_str(".\n");
    }
    text + AFTER_SOURCES
}

const NO_EFFECT: (&str, &str) = (
    "OPTIONS WITHOUT EFFECT",
    "\
The page of a command lists the common options that it takes. A command that reads a snapshot in \
place of directories refuses some of these, because they have no effect then:
* find, du and count with --from: refuse --source, --prefetch and --sync.
* diff of two snapshots, report on a snapshot: refuse these three and --explain.
* browse of a snapshot: refuses these three, --in-flight and --workers.

Variables of the environment are for all commands. Where a variable has no effect, ringwalk ignores \
it.",
);

const PROGRAM_EXIT_STATUS: (&str, &str) = (
    "EXIT STATUS",
    "\
The page of each command lists its exit statuses. If the command line or an environment variable is \
invalid, or an option has no effect, the status depends on the command:
* find, du: 1, as that of GNU's programs.
* all others: 2, so that it differs from the status of an incomplete answer.",
);

const COUNT: (&str, &str) = (
    "OUTPUT",
    "\
One line for all directories together, such as

    83675 files, 1320102018 bytes

Every name below the directories counts, including names of directories, links and devices. A file \
with several names counts once for each name. The given directories themselves do not count. Sizes \
are apparent sizes (st_size), as find DIR -mindepth 1 -printf '%s\\n' lists them. A directory that \
a mount shows at two places, even below itself, counts at both places, with all names below it. \
With --from, DIR is a path in the \
snapshot, compared by its text, and the live file system is not looked at. ringwalk count follows a symbolic link given as DIR, and no other link. With --no-stat the line \
contains no bytes.

A name that vanishes before its size is read does not count, and is no error. With --no-stat the \
name counts, because no size is read.",
);

const COUNT_JSON: (&str, &str) = (
    "JSON",
    "\
With --json, the output is one object on one line, with these members:
* files: number of names.
* bytes: sum of sizes; null with --no-stat.
* types: number of names by type: block_device, character_device, directory, fifo, file, socket, \
symlink, unknown. unknown counts names whose type neither the directory nor a call for metadata \
returned.
* directories: number of opened directories, including the given ones.
* errors: number of read errors. A given DIR that is not a directory is a read error.
* vanished: number of names that were removed before the walk reached them.
* elapsed_seconds: time from start to end of the walk.
* source: the source used.
* workers: number of workers started.
* stopped: true if the walk ended before it had read everything.",
);

const DOCTOR: (&str, &str) = (
    "OUTPUT",
    "\
For each source, the report shows whether this user can use the source for DIR on this kernel. If \
not, the report lists the obstacles and their remedies. A source that this version of ringwalk \
does not contain is never reported as usable, but the report shows whether its requirements are \
met. For a usable source that auto does not choose here, the report states the reason.

The report then shows whether ringwalk can read blocks ahead of system calls (--prefetch), and the \
limits that affect a walk. With --source the report covers only that source. With --workers the \
limits show that number. --explain adds the reasons on standard error. --prefetch, --sync and \
--progress change nothing. ringwalk doctor tests everything on DIR itself.",
);

const DOCTOR_JSON: (&str, &str) = (
    "JSON",
    "\
With --json, the output is one object. Later versions may add members.
* version: version of ringwalk.
* kernel: release and machine (from uname(2)), openat2 (true if the kernel has this call) and \
io_uring.
* kernel.io_uring: available; operations (number of operations that the kernel performs), \
last_operation (number of the last known operation), features (bits of io_uring_setup), uring_cmd, \
getdents (true if io_uring can read directories), bounded_workers and unbounded_workers (limits of \
io-wq for a ring of 64 entries; null if the kernel does not report them), obstacle (null, or an \
object with problem and remedy).
* user: uid, sys_admin (true if CAP_SYS_ADMIN is effective), dac_read_search (true if \
CAP_DAC_READ_SEARCH is effective), initial_namespace (true in the user namespace of the host), \
seccomp_filter.
* directory: path, path_hex (bytes of the path in hexadecimal; only present if the path is not \
UTF-8), mount_point and file_system (null if the mount table does not contain them), mounts_unread \
(the reason why the mount table cannot be read; only present in that case), unreadable (null, or \
the reason), statx_mask, and device.
* directory.device: major, minor, path (null if there is no block device), unreadable (null, or \
the reason), rotational (null if unknown).
* sources: a list of objects with name, usable, details (null, or version and features), \
chosen_by_auto, why_not_auto (null unless the source is usable and auto chooses another one) and \
obstacles, a list of objects with problem and remedy.
* prefetch: available and obstacles, as for a source.
* limits: open_files_soft, open_files_hard, processes (null: unlimited); system_open_files, \
system_most_open_files, memory, memory_available (null: unknown); cpus (CPUs in the affinity \
mask), cpu_quota (in CPUs; null: none), memory_limit (of the control group; null: none), \
control_groups_unread (the reason why cpu_quota and memory_limit are unknown; only present in that \
case), workers. Memory is in bytes.",
);

const DOCTOR_EXIT_STATUS: (&str, &str) = (
    "EXIT STATUS",
    "\
* 0: ringwalk doctor printed the report, whatever the report shows.
* 1: DIR is not a directory or cannot be reached, or the report could not be written.
* 2: the command line or an environment variable is invalid.",
);

const HASH: (&str, &str) = (
    "THE HASHES",
    "\
Each line is the hash, two spaces and the path, as b3sum and sha256sum print them, in the order of \
the paths. A backslash before a line says that line feeds, carriage returns and backslashes of the \
path are written as \\n, \\r and \\\\. Only regular files are hashed. Symbolic links below a ROOT \
are not followed.

--check reads such lists, also those in the style of BSD. It prints OK, FAILED, or FAILED open or \
read for each file. Paths are relative to the working directory.

A file that is changed while it is read is reported and has no hash. A file that was just changed \
is read a moment later, after 2 s at most: before, its times might not show another change. Changes \
through a shared mapping (mmap) may stay unseen, and those that a file server does not report.

With --output, the snapshot has the column hash, which is always BLAKE3. It is null for a file that \
was not hashed, or was changed since. /usr/share/doc/ringwalk/duplicates.md describes more.",
);

const HASH_EXIT_STATUS: (&str, &str) = (
    "EXIT STATUS",
    "\
* 0: all files were hashed; with --check, all files of the list have their hashes.
* 1: something could not be read, or was changed while it was read; with --check, a file has \
another hash, or a line is no hash of this function.
* 2: the command line or an environment variable is invalid, the list cannot be read or has no \
hash, or the output cannot be written.",
);

const DUPES: (&str, &str) = (
    "WHAT IS FOUND",
    "\
Two files are copies if all their bytes are the same. Empty files are never copies. The names of a \
file with several hard links are one copy. The first copy of a group is the one to keep: a file of --keep-in, \
otherwise the oldest one by its modification time, otherwise the first one by its directory and \
name. Files of snapshots come behind live ones.

The bytes to free leave out copies that share their blocks already, and files with names elsewhere. \
On btrfs and XFS, copies that share all blocks are recognised without being read.

With --dirs, directories are the same if the names, types and contents of everything in them are. \
Only the topmost are shown. With a share, the bytes that two directories have in common are \
compared with those of the larger one.

A snapshot on the command line must have hashes: ringwalk hash --output makes one. \
/usr/share/doc/ringwalk/duplicates.md describes more.",
);

const DUPES_ACTIONS: (&str, &str) = (
    "ACTIONS",
    "\
With --do, ringwalk prints the answer, and then on standard error what the action frees. If \
standard input is a terminal, it asks; otherwise it acts without a question.

The first copy of a group and files of --keep-in are never changed. Rows of snapshots do not count \
as copies here. Right before each change both files must be those that were found, with the same \
contents, and no program may have one of them open for writing. Otherwise the copy is kept and the \
reason is printed.

A hard link is made only if both files have the same owner, group, permissions and extended \
attributes.

The log is ringwalk/deletions.jsonl in $XDG_STATE_HOME, or in ~/.local/state. Nothing is changed \
without it.",
);

const DUPES_CACHE: (&str, &str) = (
    "THE CACHE",
    "\
With --cache, the hash of a file is taken from FILE if its file system, inode number, time of birth, \
size, mtime and ctime are those with which it was kept. Only hashes of files on btrfs, ext4, f2fs \
and XFS are kept, and none of files that were changed a short time ago. An interrupted search goes on from what the cache has. One process at a time \
uses a cache.",
);

const DUPES_EXIT_STATUS: (&str, &str) = (
    "EXIT STATUS",
    "\
* 0: everything was compared, whether there are copies or not. With --do, everything was done, or \
the answer to the question was no.
* 1: something could not be read, a file was changed meanwhile, a file of a snapshot has no hash, or \
the cache could not be written. What was found is printed. With --do, a copy was kept.
* 2: the command line or an environment variable is invalid, a ROOT is missing, a snapshot or the \
cache cannot be used, the answer cannot be written, or the log of --do cannot be written.",
);

const SNAPSHOT: (&str, &str) = (
    "THE FILE",
    "\
The file is a Parquet file with one row for each file, which any reader of Parquet can read. The \
rows of a subtree follow each other. A directory's row has the totals of everything below it. \
/usr/share/doc/ringwalk/snapshot.md describes the columns and the footer.

The file does not depend on the number of workers or on the source, apart from the key \
ringwalk.run of the footer. It appears whole or not at all. A file that it replaces is not part of \
the snapshot.

What cannot be read is a row with an error number, and is reported on standard error. A file with \
several hard links is charged at its first name: the sum of alloc over the rows with charged = true \
is the number of du.",
);

const SNAPSHOT_EXIT_STATUS: (&str, &str) = (
    "EXIT STATUS",
    "\
* 0: everything was read and saved.
* 1: the snapshot was written, but something could not be read. Its rows and its verdict say so.
* 2: the command line or an environment variable is invalid, a ROOT is missing, a ROOT lies within \
another one, or FILE cannot be written. No file was changed.",
);

const DIFF: (&str, &str) = (
    "CHANGES",
    "\
Both snapshots must have the same roots. A file is identified by its file system, inode number, \
time of birth and type.
* modified: the same file has the same path, and other metadata.
* renamed: the same file has another path. A directory that was moved is one change; what it holds \
is listed only if it has changed, too. Without times of birth, or where inode numbers do not last, \
size and modification time must agree as well, and the rename is marked as likely.
* replaced: another file of the same type has the path. Where inode numbers do not last (FUSE, \
overlayfs and others), a file with the same size and modification time is the same one, and a \
replaced file is marked as likely.
* retyped: a file of another type has the path.
* link-added, link-removed: a name of a file that has kept another name.
* added, removed: all others.

Times of access, numbers of links, and times of directories do not count. A change time counts \
where nothing else explains it. Growth is the difference of the allocated bytes. A file with \
several names counts once.",
);

const DIFF_OUTPUT: (&str, &str) = (
    "OUTPUT",
    "\
The changes with the largest growth come first. On a terminal, they are a table. The line above it \
says when each tree was read. A directory that was added or removed as a whole is one line. \
Elsewhere, a line has growth in bytes, change, path, \
and for a rename the old path, with tabs between them. With --by dir, owner or ext, a line has \
growth in bytes, growth in number of names, and the name of the group. A directory includes everything \
below it.

--json, --ndjson and --parquet list each change. /usr/share/doc/ringwalk/diff.md describes their \
members and columns.

Paths below a directory that one of the snapshots could not read are not listed: nobody knows \
whether they were added or removed. The exit status is then 2.",
);

const DIFF_ENVIRONMENT: (&str, &str) = (
    "ENVIRONMENT",
    "\
* LS_COLORS: colours of names on a terminal.
* NO_COLOR: if set and not empty, there are no colours.
* TMPDIR: the folder of the unnamed file for the snapshot of a directory; otherwise /tmp.
* RINGWALK_SOURCE, RINGWALK_WORKERS, RINGWALK_PREFETCH, RINGWALK_SYNC, RINGWALK_EXPLAIN, \
RINGWALK_PROGRESS: used when the option of the same name is not given.
* TERM: if it is dumb, empty or not set, ringwalk draws no line of progress and uses no colours.",
);

const DIFF_EXIT_STATUS: (&str, &str) = (
    "EXIT STATUS",
    "\
* 0: the snapshots are the same.
* 1: they differ.
* 2: a snapshot is incomplete, so there may be more changes than those listed; or an input, the \
command line or an environment variable is invalid; or the output cannot be written.",
);

const DU: (&str, &str) = (
    "COMPATIBILITY",
    "\
Options, numbers, messages, exit statuses and the form of lines are those of du of GNU coreutils \
9.10; its documentation applies. Lines come in the order in which directories list their entries. \
The order is the same on every run on the same tree. A file with several names is counted once, \
for the name that comes first in that order.

With --from, files are paths in the snapshot, compared by their text, and the live file system is \
not looked at. Lines come in the order of names. -L, --exclusive, and times of access that the \
snapshot does not hold are refused.

--apparent-size (-A) and -b count the sizes of regular files and symbolic links, as GNU du has \
done since coreutils 9.2; a file of any other type counts as 0 bytes. A directory that a mount shows \
below itself counts once and is not entered again. As with GNU du, a directory that a mount shows \
beside itself counts at both places below one operand. With several operands or -L it counts once.

ringwalk du differs from GNU du in these points:
* Large directories: ringwalk reads a directory of more than 10000 entries in the order of its \
entries; GNU du sorts them by inode number. So a file with names in different directories may be \
charged to another one of these directories. The total is the same.
* Output: is written in blocks unless it goes to a terminal. When the reader closes the pipe, \
ringwalk ends with status 1, not by a signal.
* Terminals: ? replaces the control characters of paths, unless -0 is given.
* -L: uses one worker, whatever --workers says.
* -L, long chains of links: ringwalk counts files behind more than 40 links, where each link is in \
the directory to which the previous link leads. GNU du passes a path through all these links to \
the kernel, which refuses it (ELOOP).
* Several operands: a file mounted over another file counts each time the walk reaches it.
* --files0-from: ringwalk reads all names before it measures anything.
* --time=mtime: is accepted.
* Locale: only determines whether text is UTF-8. Digits are not grouped; names of days and months \
are English.
* Leap seconds: are ignored (TZ=right/...).",
);

const DU_EXCLUSIVE: (&str, &str) = (
    "EXCLUSIVE SPACE",
    "\
With --exclusive, a regular file counts as its space less the space that it shares. Space is \
shared if another file (a reflink), a snapshot, or another part of the same file refers to it too. \
Space that two files share counts for neither, even if both are below the measured directories. So \
removing everything measured frees at least as much space as reported. Directories, links and data \
stored among the metadata count as usual, and a file with several names counts once.

* ext2, ext3, ext4, tmpfs, FAT and the kernel's own file systems: share nothing, so everything \
counts.
* XFS: sharing is determined for each block.
* btrfs: sharing is determined for each whole extent, as in btrfs filesystem du: an extent is \
shared if another file uses a part of it. A compressed extent counts as the bytes that it takes on \
the disk; otherwise du counts the bytes before compression. Only a process with CAP_SYS_ADMIN can \
read that number; without this capability a compressed file is an error.
* All others (network file systems, FUSE, overlayfs...): do not report sharing, which is an error \
for each such mount.

Files must be readable. ringwalk syncs the file system first. If the exclusive space of a file \
cannot be determined exactly, for example because the file keeps changing, that is an error, and \
the file does not count. --exclusive cannot be combined with --apparent-size or -b; use -B1 for \
bytes.",
);

const DU_ENVIRONMENT: (&str, &str) = (
    "ENVIRONMENT",
    "\
* DU_BLOCK_SIZE, BLOCK_SIZE, BLOCKSIZE: the first one that is set is the block size, unless an \
option sets it.
* POSIXLY_CORRECT: if set, the default block size is 512 bytes, and options end at the first \
operand.
* TIME_STYLE: used when --time-style is not given.
* TZ: the time zone of times.
* RINGWALK_SOURCE: used when --source is not given.
* RINGWALK_WORKERS: used when --workers is not given.
* RINGWALK_IN_FLIGHT: used when --in-flight is not given.
* RINGWALK_PREFETCH: used when --prefetch is not given.
* RINGWALK_SYNC, RINGWALK_EXPLAIN: 1 turns on --sync or --explain, 0 does not.
* RINGWALK_PROGRESS: used when --progress is not given.
* TERM: if it is dumb, empty or not set, ringwalk draws no line of progress.",
);

const DU_EXIT_STATUS: (&str, &str) = (
    "EXIT STATUS",
    "\
* 0: ringwalk read everything.
* 1: ringwalk could not read or write something, and reported it on standard error; \
or the command line is invalid.",
);

const EXPORT: (&str, &str) = (
    "FORMATS",
    "\
* ncdu: the JSON that ncdu -e -f reads. It has one root; --root chooses it.
* ndjson: one object of JSON on a line for each file, with all columns.
* csv: comma-separated values (RFC 4180), a record of names first. A null is an empty field.

Names that are not UTF-8 stay as they are in the JSON of ncdu. In the other formats their bytes are \
written as \\xHH, and path_raw has the path in hexadecimal digits. /usr/share/doc/ringwalk/exchange.md \
lists what each format keeps and loses.

At a terminal, control characters are escaped.",
);

const IMPORT: (&str, &str) = (
    "FORMATS",
    "\
The contents of FILE say which format it has:
* the JSON of ncdu -o, also compressed by zstd (ncdu -c).
* the binary format of ncdu -O. It cannot be read from a pipe.

The rows have what the file has: ncdu writes owners, permissions and times with -e only. Entries \
that ncdu could not read, or left out, are rows that say so. /usr/share/doc/ringwalk/exchange.md has \
the details.",
);

const EXCHANGE_EXIT_STATUS: (&str, &str) = (
    "EXIT STATUS",
    "\
* 0: everything was written.
* 1: standard output could not be written.
* 2: the command line is invalid, an input is missing or damaged, or the output cannot be written. \
An existing output is as it was. The message has the line and the byte of FILE, if there is one.",
);

/// Returns the sections of the page with this title.
///
/// # Errors
///
/// If no sections are written for the page: a new subcommand needs some.
pub(crate) fn of(title: &str) -> Result<Vec<(&'static str, Cow<'static, str>)>> {
    let fixed = match title {
        "ringwalk" => vec![PROGRAM, NO_EFFECT, ENVIRONMENT, PROGRAM_EXIT_STATUS],
        "ringwalk-browse" => vec![
            BROWSE,
            BROWSE_FILTER,
            BROWSE_DELETION,
            BROWSE_ENVIRONMENT,
            BROWSE_EXIT_STATUS,
        ],
        "ringwalk-count" => vec![COUNT, COUNT_JSON, ENVIRONMENT, EXIT_STATUS],
        "ringwalk-diff" => vec![DIFF, DIFF_OUTPUT, DIFF_ENVIRONMENT, DIFF_EXIT_STATUS],
        "ringwalk-doctor" => vec![DOCTOR, DOCTOR_JSON, ENVIRONMENT, DOCTOR_EXIT_STATUS],
        "ringwalk-dupes" => vec![
            DUPES,
            DUPES_ACTIONS,
            DUPES_CACHE,
            ENVIRONMENT,
            DUPES_EXIT_STATUS,
        ],
        "ringwalk-export" => vec![EXPORT, EXPORT_ENVIRONMENT, EXCHANGE_EXIT_STATUS],
        "ringwalk-hash" => vec![HASH, ENVIRONMENT, HASH_EXIT_STATUS],
        "ringwalk-import" => vec![IMPORT, IMPORT_ENVIRONMENT, EXCHANGE_EXIT_STATUS],
        "ringwalk-report" => vec![
            REPORT,
            REPORT_KEYS,
            REPORT_FORMATS,
            REPORT_PAGE,
            ENVIRONMENT,
            REPORT_EXIT_STATUS,
        ],
        "ringwalk-sql" => vec![SQL, SQL_VIEWS, SQL_EXIT_STATUS],
        "ringwalk-snapshot" => vec![SNAPSHOT, SNAPSHOT_ENVIRONMENT, SNAPSHOT_EXIT_STATUS],
        "ringwalk-du" => vec![DU, DU_EXCLUSIVE, DU_ENVIRONMENT, DU_EXIT_STATUS],
        _ => bail!("sections.rs has no sections for the page {title}"),
    };
    let mut all: Vec<_> = fixed
        .into_iter()
        .map(|(heading, text)| (heading, text.into()))
        .collect();
    if title == "ringwalk" {
        all.insert(1, ("SOURCES", sources().into()));
    }
    if title == "ringwalk-browse" {
        all.insert(1, ("KEYS", browse::keys().into()));
    }
    Ok(all)
}
