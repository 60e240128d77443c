//! What man pages say beyond options.
//!
//! An empty line ends a paragraph; a line `* TERM: MEANING` is an item.

const ENVIRONMENT: (&str, &str) = (
    "ENVIRONMENT",
    "\
* RINGWALK_SOURCE: used when --source is not given.
* RINGWALK_WORKERS: used when --workers is not given.
* RINGWALK_PREFETCH: used when --prefetch is not given.
* RINGWALK_SYNC, RINGWALK_EXPLAIN: 1 for --sync and --explain, 0 for neither.
* RINGWALK_PROGRESS: used when --progress is not given.
* TERM: with the value dumb no line of progress is drawn.

A variable that is empty counts as not set. A value that cannot be used is an error.",
);

const EXIT_STATUS: (&str, &str) = (
    "EXIT STATUS",
    "\
* 0: everything was read.
* 1: something could not be read or written; each such thing was told on standard error, and the rest was done.
* 2: the command line or an environment variable cannot be used; nothing was done.",
);

const PROGRAM: (&str, &str) = (
    "DESCRIPTION OF THE PROGRAM",
    "\
Reads directory trees in parallel, without following links that it was not asked to, at any depth, in bounded memory. What \
cannot be read is told and does not end the work.

Called through a link named du or find, the program is ringwalk du or ringwalk find.",
);

const SOURCES: (&str, &str) = (
    "SOURCES",
    "\
Where directory data comes from, with the same answers:
* syscall: plain system calls, on any file system and without privileges.
* ext4: inode tables and directories of ext2, ext3 and ext4 from the block device, which must be readable.
* xfs: metadata of XFS by BULKSTAT; needs CAP_SYS_ADMIN.
* btrfs: names and metadata of btrfs by searches of its trees; needs CAP_SYS_ADMIN.
* auto: the one for the file system at hand, if it can be used, if this process has CAP_DAC_READ_SEARCH in the initial user namespace (with \
which system calls would read as much), and if the tree is not a small one; else syscall. This is the default.

A source that is asked for by name and cannot read one of the directories given is an error. What a source is not sure of is asked for \
by system calls, such as files changed in the last half minute, whose data may not have been written back; --sync has that done first. \
ringwalk doctor tells which sources can be used, --explain which one was.

With --prefetch=auto, the default, a walk by system calls that is found to wait for a disk has the metadata of ext2, ext3 and ext4 read \
in the order of the disk first, if the block device is readable; always does so without looking, never not at all.",
);

const PROGRAM_EXIT_STATUS: (&str, &str) = ("EXIT STATUS", "See the page of each subcommand.");

const COUNT: (&str, &str) = (
    "OUTPUT",
    "\
One line, such as

    83675 files, 1320102018 bytes

for all directories together. Every name below them counts, those of directories, links and devices too, and a file as often \
as it has names; the directories given themselves do not count. Sizes are apparent ones (st_size), as find DIR -mindepth 1 \
-printf '%s\\n' lists them. A directory that a mount shows at two places, even below itself, counts at both \
with all names below it. A symbolic link given as DIR is followed, no other is. With --no-stat the bytes are left out.

A name that vanished between the reading of its directory and that of its size is not counted, and is no error; with --no-stat \
it is counted, as nothing looks whether it is still there.",
);

const COUNT_JSON: (&str, &str) = (
    "JSON",
    "\
With --json there is one object on one line instead, with the members
* files: number of names.
* bytes: sum of sizes; null with --no-stat.
* types: number of names by type: block_device, character_device, directory, fifo, file, socket, symlink, unknown. \
unknown are those whose type the file system does not tell with their name and that were not, or could not be, asked for it.
* directories: directories opened, those given included.
* errors: things that could not be read, also directories given that are none.
* vanished: names that were gone before they could be looked at.
* elapsed_seconds: time from start to end of the walk.
* source: the source used.
* workers: number of workers started.
* stopped: true if the walk ended before everything was looked at.",
);

const DOCTOR: (&str, &str) = (
    "OUTPUT",
    "\
For each source whether it can be used for DIR by this user on this kernel; if not, what stands in the way and what would \
help. A source that this version of ringwalk does not have yet is never called usable; whether its needs are met here is told \
all the same. One that is usable although auto does not take it here says why. Then whether blocks can be read ahead of system calls \
(--prefetch), and the limits that matter to a walk. With --source only that source is reported on, with --workers that number \
stands in the limits, and --explain adds on standard error what the verdicts rest on. --prefetch, --sync and --progress change \
nothing. Everything is found by trying it, on DIR.",
);

const DOCTOR_JSON: (&str, &str) = (
    "JSON",
    "\
With --json there is one object instead. Members may be added by later versions.
* version: of ringwalk.
* kernel: release and machine (as uname tells), openat2 (true if the call answers) and io_uring.
* kernel.io_uring: available; operations (number performed), last_operation (number of the last one known), features (bits of \
io_uring_setup), uring_cmd, getdents (it can read directories), bounded_workers and unbounded_workers (limits of io-wq for a \
ring of 64 entries; null if the kernel does not tell), obstacle (null, or an object with problem and remedy).
* user: uid, sys_admin (CAP_SYS_ADMIN is effective), dac_read_search (CAP_DAC_READ_SEARCH is), initial_namespace (the user namespace is the host's), seccomp_filter.
* directory: path, path_hex (its bytes in hexadecimal, only there if they are not UTF-8), mount_point and file_system (null \
if the table of mounts does not tell), mounts_unread (the reason why that table cannot be read; only there if so), unreadable (null, or the reason), statx_mask, and device.
* directory.device: major, minor, path (null if there is no block device), unreadable (null, or the reason), rotational (null \
if not known).
* sources: a list of objects with name, usable, details (null, or what it is: version and features), chosen_by_auto, why_not_auto \
(null unless it is usable and another one is chosen) and obstacles, a list of objects with problem and remedy.
* prefetch: available and obstacles, as above.
* limits: open_files_soft, open_files_hard, processes (null: unlimited); system_open_files, system_most_open_files, memory, \
memory_available (null: not known); cpus (by affinity), cpu_quota (CPUs, null: none), memory_limit (by control group, null: \
none), control_groups_unread (the reason why these two are not known; only there if so), workers. Memory is in bytes.",
);

const DOCTOR_EXIT_STATUS: (&str, &str) = (
    "EXIT STATUS",
    "\
* 0: the report was printed, whatever it says.
* 1: DIR is not a directory that can be reached, or the report could not be written.
* 2: the command line or an environment variable cannot be used.",
);

const DU: (&str, &str) = (
    "COMPATIBILITY",
    "\
Options, numbers, messages, exit statuses and the form of lines are those of du of GNU coreutils 9.7; its documentation applies. \
The order of lines is that in which directories list their entries, and the same on every run on the same tree. A file with several \
names is counted once, for the name that comes first in that order.

--apparent-size and -b count the sizes of regular files and symbolic links, as GNU du has done since \
coreutils 9.2; a file of any other type counts as 0 bytes. A directory that a mount shows below itself \
counts once and is not entered again. As with GNU du, a directory that a mount shows beside itself \
counts at both places below one operand, and once where there are several operands or -L.

What differs:
* Large directories: one of more than 10000 entries is listed in its own order, where GNU du goes by inode number; so of several \
names of a file in different directories another one may be charged. The sum of all is the same.
* Output: is written in blocks unless it goes to a terminal. A reader that goes away ends the work with status 1, not by a signal.
* Terminals: ? replaces the control characters of paths, unless -0 is given.
* -L: uses one worker, whatever --workers says.
* -L, long chains of links: what lies below more than 40 links, each in the directory that the one \
before it leads to, is counted. GNU du names it to the kernel by a path through all of them, which \
the kernel refuses (ELOOP).
* Several operands: a file mounted over another file counts each time it is met.
* --files0-from: all names are read before anything is measured.
* --time=mtime: is understood.
* Locale: only says whether text is UTF-8. Digits are not grouped; names of days and months are English.
* Leap seconds: are not known (TZ=right/...).",
);

const DU_EXCLUSIVE: (&str, &str) = (
    "EXCLUSIVE SPACE",
    "\
With --exclusive a regular file counts as the space it takes less what something else refers to as well: another file (a \
reflink), a snapshot, or the file itself a second time. What two files share counts for neither, whether or not both are below \
what is measured; so at least as much comes free if everything measured is removed. Directories, links and what is stored \
among the metadata count as ever, and a file with several names once.

* ext2, ext3, ext4, tmpfs, FAT and the kernel's own file systems: share nothing, so everything counts.
* XFS: block by block.
* btrfs: by whole extents, as btrfs filesystem du does: one of which another file has a part is shared. A compressed extent \
counts as the bytes it takes on the disk, where du otherwise counts those that were compressed; that is only told to \
CAP_SYS_ADMIN, and without it a compressed file is an error.
* All others (network file systems, FUSE, overlayfs...): do not tell, which is an error for each such mount.

Files must be readable. The file system is synced first. What cannot be told exactly is an error and does not count, also a \
file that goes on changing. It does not go with --apparent-size or -b; for bytes there is -B1.",
);

const DU_ENVIRONMENT: (&str, &str) = (
    "ENVIRONMENT",
    "\
* DU_BLOCK_SIZE, BLOCK_SIZE, BLOCKSIZE: the block size, the first of them that is set, unless an option gives one.
* POSIXLY_CORRECT: if set, blocks are of 512 bytes unless something else says otherwise, and options end at the first operand.
* TIME_STYLE: used when --time-style is not given.
* TZ: the time zone of times.
* RINGWALK_SOURCE: used when --source is not given.
* RINGWALK_WORKERS: used when --workers is not given.
* RINGWALK_PREFETCH: used when --prefetch is not given.
* RINGWALK_SYNC, RINGWALK_EXPLAIN: 1 for --sync and --explain, 0 for neither.
* RINGWALK_PROGRESS: used when --progress is not given.
* TERM: with the value dumb no line of progress is drawn.",
);

const DU_EXIT_STATUS: (&str, &str) = (
    "EXIT STATUS",
    "\
* 0: everything was read.
* 1: something could not be read or written, which was told on standard error; or the command line cannot be used.",
);

/// The sections of the page with this title.
pub(crate) fn of(title: &str) -> Vec<(&'static str, &'static str)> {
    match title {
        "ringwalk" => vec![PROGRAM, SOURCES, ENVIRONMENT, PROGRAM_EXIT_STATUS],
        "ringwalk-count" => vec![COUNT, COUNT_JSON, ENVIRONMENT, EXIT_STATUS],
        "ringwalk-doctor" => vec![DOCTOR, DOCTOR_JSON, ENVIRONMENT, DOCTOR_EXIT_STATUS],
        "ringwalk-du" => vec![DU, DU_EXCLUSIVE, DU_ENVIRONMENT, DU_EXIT_STATUS],
        _ => vec![ENVIRONMENT],
    }
}
