// Ringwalk: reads directory trees and their metadata at the speed the kernel and the disk allow.
// This file is generated (cargo run -p xtask -- header): changes belong in crates/ringwalk-capi.
//
// A walk is opened with options, and then either read batch by batch (ringwalk_next_batch, ringwalk_release), or run
// with a callback (ringwalk_run). It is closed in the end, wherever it is.
//
//     struct ringwalk_options options = {.size = sizeof options, .roots = roots, .fields = RINGWALK_FIELD_SIZE};
//     struct ringwalk_walk *walk;
//     struct ringwalk_batch batch;
//     int got = ringwalk_open(&options, &walk);
//
//     while (got >= 0 && (got = ringwalk_next_batch(walk, &batch, sizeof batch)) > 0) {
//         for (size_t i = 0; i < batch.entry_count; i++)
//             if (batch.entries[i].metadata)
//                 bytes += batch.entries[i].metadata->size;
//         if (batch.kind == RINGWALK_ERROR)
//             fprintf(stderr, "%s\n", batch.error->message);
//         ringwalk_release(&batch);
//     }
//     ringwalk_close(walk);
//
// Results. Functions return 0 or a positive number, or -errno. What cannot be read is no failure of a function: it
// comes among the batches, and the walk goes on. No function prints anything, changes the working directory or a
// signal's handler, or sets errno on purpose. -ENOTRECOVERABLE is a mistake of this library, told on standard error.
//
// Handles. Walks, and the ids of batches, are numbers that are looked up. So what has been closed or released, closing
// or releasing again included, is -EBADF: on machines of 64 bits always, on those of 32 bits until half a million more
// walks have been opened. What a batch points to is memory, though: names that are read after they were released are as
// bad as any memory that was freed.
//
// Threads. Every function may be called by every thread, also for the same walk; ringwalk_cancel by signal handlers
// too. A walk has threads of its own, which are gone when it is at its end or closed. Those of ringwalk_next_batch take
// no signals; those of ringwalk_run, which call back, take the signals of the thread that called it.
//
// Forks. To a child process the walks and batches of its parent are not open (-EBADF), and it has no part in them; what
// they hold in its memory stays until it ends or executes something. It may open walks of its own. A child that was
// forked in a callback must not return from it.
//
// Names are bytes in no particular encoding. Sizes are in bytes, except for blocks of 512 bytes. Times are since
// 1970-01-01 UTC.
//
// Versions. Structs only grow at their end, and functions are told the sizes that a program was built with; struct
// ringwalk_entry, ringwalk_metadata and ringwalk_error stay as they are while the library is libringwalk.so.0. Symbols
// have versions.

#ifndef RINGWALK_H
#define RINGWALK_H

#include <stddef.h>
#include <stdint.h>

// Kind of a batch: entries of one directory, or the roots.
#define RINGWALK_ENTRIES 1

// Kind of a batch: something could not be read; there are no entries, and the member error says what.
#define RINGWALK_ERROR 2

// Kind of a batch, in callbacks only and with RINGWALK_FLAG_LEAVES: everything below the directory is done.
#define RINGWALK_LEAVE 3

// Answer of a callback: go on.
#define RINGWALK_CONTINUE 0

// Answer of a callback: be done with this directory; read no more of it and go into none of its subdirectories.
#define RINGWALK_PRUNE 1

// Answer of a callback: end the walk. Other workers may still make one last call each.
#define RINGWALK_STOP 2

// Type of an entry (the values of DT_ in dirent.h): its file system did not say, and nobody had to know.
#define RINGWALK_TYPE_UNKNOWN 0

// Type of an entry: named pipe.
#define RINGWALK_TYPE_FIFO 1

// Type of an entry: character device.
#define RINGWALK_TYPE_CHARACTER_DEVICE 2

// Type of an entry: directory.
#define RINGWALK_TYPE_DIRECTORY 4

// Type of an entry: block device.
#define RINGWALK_TYPE_BLOCK_DEVICE 6

// Type of an entry: regular file.
#define RINGWALK_TYPE_REGULAR 8

// Type of an entry: symbolic link.
#define RINGWALK_TYPE_SYMLINK 10

// Type of an entry: Unix-domain socket.
#define RINGWALK_TYPE_SOCKET 12

// Flag of an entry: a symbolic link that was followed; type and metadata are those of its target.
#define RINGWALK_FOLLOWED 1

// Field of metadata (STATX_TYPE of statx(2)): file type.
#define RINGWALK_FIELD_TYPE 1

// Field of metadata (STATX_MODE of statx(2)): permission bits.
#define RINGWALK_FIELD_MODE 2

// Field of metadata (STATX_NLINK of statx(2)): number of hard links.
#define RINGWALK_FIELD_NLINK 4

// Field of metadata (STATX_UID of statx(2)): owner.
#define RINGWALK_FIELD_UID 8

// Field of metadata (STATX_GID of statx(2)): group.
#define RINGWALK_FIELD_GID 16

// Field of metadata (STATX_ATIME of statx(2)): time of last access.
#define RINGWALK_FIELD_ATIME 32

// Field of metadata (STATX_MTIME of statx(2)): time of last change of the contents.
#define RINGWALK_FIELD_MTIME 64

// Field of metadata (STATX_CTIME of statx(2)): time of last change of the inode.
#define RINGWALK_FIELD_CTIME 128

// Field of metadata (STATX_INO of statx(2)): inode number.
#define RINGWALK_FIELD_INO 256

// Field of metadata (STATX_SIZE of statx(2)): apparent size.
#define RINGWALK_FIELD_SIZE 512

// Field of metadata (STATX_BLOCKS of statx(2)): allocated blocks.
#define RINGWALK_FIELD_BLOCKS 1024

// Field of metadata (STATX_BTIME of statx(2)): time of birth.
#define RINGWALK_FIELD_BTIME 2048

// Field of metadata (STATX_MNT_ID of statx(2)): mount (Linux 5.8).
#define RINGWALK_FIELD_MNT_ID 4096

// Symbolic links that are followed: none (the default).
#define RINGWALK_FOLLOW_NEVER 0

// Symbolic links that are followed: those given as roots.
#define RINGWALK_FOLLOW_ROOTS 1

// Symbolic links that are followed: all. A directory met again through a link below itself is told as RINGWALK_LOOP
// and not entered.
#define RINGWALK_FOLLOW_ALWAYS 2

// Where a walk goes: everywhere below its roots (the default).
#define RINGWALK_STAY_ANYWHERE 0

// Where a walk goes: into directories on the device of their root.
#define RINGWALK_STAY_DEVICE 1

// Where a walk goes: into directories on the mount of their root, so not into bind mounts either (Linux 5.8; else as
// the device).
#define RINGWALK_STAY_MOUNT 2

// Order of the entries of one directory: as they come (the default).
#define RINGWALK_ORDER_ANY 0

// Order of the entries of one directory: as getdents64(2) lists them, whatever source they are read from.
#define RINGWALK_ORDER_LISTED 1

// Order of the entries of one directory: by the bytes of their names. A directory is then one batch.
#define RINGWALK_ORDER_NAME 2

// Blocks read ahead in the order of the disk: where they are found not to be in memory (the default).
#define RINGWALK_PREFETCH_AUTO 0

// Blocks read ahead in the order of the disk: without looking.
#define RINGWALK_PREFETCH_ALWAYS 1

// Blocks read ahead in the order of the disk: never.
#define RINGWALK_PREFETCH_NEVER 2

// Flag of a walk: have the file systems of the roots write back what is dirty first (syncfs(2)).
#define RINGWALK_FLAG_SYNC 1

// Flag of a walk: it may raise the process's soft limit on open files (RLIMIT_NOFILE) to the hard one when it needs
// more.
#define RINGWALK_FLAG_RAISE_LIMITS 2

// Flag of a walk: go below each directory before the entries behind it. With one worker, entries come as in a
// recursive walk.
#define RINGWALK_FLAG_PREORDER 4

// Flag of a walk that is run with a callback: call it with RINGWALK_LEAVE when all below a directory is done. A
// directory that could not be opened is left as well. After RINGWALK_STOP, directories are not left.
#define RINGWALK_FLAG_LEAVES 8

// For max_depth of options: look at the roots only.
#define RINGWALK_ROOTS_ONLY (-1)

// Operation of an error: asking for metadata.
#define RINGWALK_STAT 1

// Operation of an error: opening a directory.
#define RINGWALK_OPEN 2

// Operation of an error: reading an open directory. What had been read of it has been delivered.
#define RINGWALK_READ 3

// Operation of an error: going, through a link that is followed, into a directory that the walk is inside of (code
// ELOOP).
#define RINGWALK_LOOP 4

// Flag of an error: a race rather than a failure; what was listed had been removed, moved or replaced when it was
// looked at.
#define RINGWALK_VANISHED 1

// The directory that a callback is called for. The pointer is a number, as that of a walk; it says something only to
// the thread that the callback runs on, and only until the callback returns.
struct ringwalk_visit;

// A walk. The pointer is a number that names it, not an address: never read through it.
struct ringwalk_walk;

// What a walk is asked for. Set everything to zero, then size and roots, then what is wanted: zero is the default of
// every member.
//
// Later versions may add members at the end. One that was built with an older header is understood as if they were
// zero; one that was built with a newer header is refused with -E2BIG if a member that this library does not know is
// not zero.
struct ringwalk_options {
    // sizeof(struct ringwalk_options).
    size_t size;
    // Paths of files and directories to begin with; the last is followed by NULL. Copied.
    char *const *roots;
    // NULL, or an open directory for each root, which is then shown under its path; negative where the path is to be
    // opened. Descriptors are duplicated: they stay the caller's, and their positions are not touched.
    const int *root_descriptors;
    // Metadata wanted with every entry: RINGWALK_FIELD_ bits. With 0 no file is asked for any, unless its directory
    // does not tell whether it is a directory.
    uint32_t fields;
    // RINGWALK_FLAG_... bits.
    uint32_t flags;
    // RINGWALK_FOLLOW_...
    uint32_t follow;
    // RINGWALK_STAY_...
    uint32_t stay;
    // RINGWALK_ORDER_...
    uint32_t order;
    // RINGWALK_PREFETCH_...
    uint32_t prefetch;
    // Number of threads that read, 65536 at most. 0: as many as processors, at most 16, and more while they wait for a
    // device.
    uint32_t workers;
    // Entries above this depth are not delivered; roots have depth 0.
    uint32_t min_depth;
    // The walk does not go below this depth. 0: no limit; RINGWALK_ROOTS_ONLY: it looks at the roots only.
    int64_t max_depth;
    // Bytes read from a directory at a time, from 1024 to 67108864. 0: as the file system rewards it.
    size_t buffer_size;
    // Where data is read from: "auto", "syscall", "module", "ring", "ext4", "xfs" or "btrfs"; NULL is "auto". One that
    // is named and cannot be used for all roots that are directories is an error of ringwalk_open.
    const char *source;
    // NULL, or where ringwalk_open writes a sentence for people if it fails, ended by NUL and cut to fit.
    char *message;
    // Bytes at message.
    size_t message_size;
    // Descriptors that the walk leaves free for the rest of the process, beside those that it has
    // open; what the callback opens comes out of them. 0: 64, or a quarter of the free ones if
    // that is less. The walk always uses the few that one worker needs. All walks of the process
    // count together.
    size_t descriptor_reserve;
};

// A point in time: seconds since 1970-01-01 00:00 UTC, negative before, and nanoseconds from 0 to 999999999 after that
// second.
struct ringwalk_timestamp {
    // Seconds since the epoch.
    int64_t seconds;
    // Nanoseconds within the second.
    uint32_t nanoseconds;
};

// What is known of a file. Only the members that mask names hold an answer; those of devices, block_size and
// attributes always do.
struct ringwalk_metadata {
    // What was answered: RINGWALK_FIELD_ bits.
    uint32_t mask;
    // Type and permission bits, as in st_mode.
    uint32_t mode;
    // Number of hard links.
    uint32_t nlink;
    // Owner.
    uint32_t uid;
    // Group.
    uint32_t gid;
    // Preferred size of an I/O request, in bytes.
    uint32_t block_size;
    // Inode number.
    uint64_t inode;
    // Apparent size, in bytes.
    uint64_t size;
    // Allocated size, in units of 512 bytes.
    uint64_t blocks;
    // Device the file is on, in the form of st_dev.
    uint64_t device;
    // Device that a device file stands for, in the form of st_rdev.
    uint64_t represented_device;
    // Mount the file was seen through.
    uint64_t mount_id;
    // STATX_ATTR_ bits of statx(2).
    uint64_t attributes;
    // Time of last access.
    struct ringwalk_timestamp access_time;
    // Time of last change of the contents.
    struct ringwalk_timestamp modification_time;
    // Time of last change of the inode.
    struct ringwalk_timestamp change_time;
    // Time of birth.
    struct ringwalk_timestamp birth_time;
};

// One entry of a directory. Its pointers are valid as long as the batch.
struct ringwalk_entry {
    // The name, ended by NUL: any bytes but '/'; of a root its path as given.
    const char *name;
    // Length of the name in bytes, without the NUL.
    size_t name_length;
    // Inode number as the directory has it (at a mount point: that of the directory underneath); 0 for roots.
    uint64_t inode;
    // The metadata; NULL if none was asked for, or it could not be had.
    const struct ringwalk_metadata *metadata;
    // Why there is no metadata: an errno; else 0. The same failure comes as a batch of its own, too.
    int32_t stat_error;
    // RINGWALK_TYPE_...
    uint8_t type;
    // RINGWALK_FOLLOWED or 0.
    uint8_t flags;
};

// Something that could not be read. The walk goes on.
struct ringwalk_error {
    // What was being done: RINGWALK_STAT, RINGWALK_OPEN, RINGWALK_READ or RINGWALK_LOOP.
    uint32_t operation;
    // The kernel's answer, an errno (positive).
    int32_t code;
    // RINGWALK_VANISHED or 0.
    uint32_t flags;
    // The path, beginning with the root as given, ended by NUL.
    const char *path;
    // Length of the path in bytes, without the NUL.
    size_t path_length;
    // Of RINGWALK_LOOP: path of the directory that this one is once more; else NULL.
    const char *loops_with;
    // A sentence for people, in ASCII: bytes of the path that are not printable are escaped.
    const char *message;
};

// A batch: entries of one directory, or an error. All pointers are valid until the batch is released, in a callback
// until that returns; after that, they must not be used.
//
// Later versions may add members at the end; every function that fills a batch is told its size.
struct ringwalk_batch {
    // What ringwalk_release knows it by; never given twice. 0: nothing to be released.
    uint64_t id;
    // RINGWALK_ENTRIES, RINGWALK_ERROR or RINGWALK_LEAVE.
    uint32_t kind;
    // Depth of the entries, 0 for roots; of RINGWALK_LEAVE that of the directory; of RINGWALK_ERROR 0.
    uint32_t depth;
    // Place of the root in the options. Of a batch of roots: that of the first; the others follow in turn.
    size_t root;
    // Path of the directory, beginning with the root as given, ended by NUL; NULL where the entries are the roots
    // themselves, and of RINGWALK_ERROR.
    const char *directory;
    // Length of that path in bytes, without the NUL.
    size_t directory_length;
    // The entries.
    const struct ringwalk_entry *entries;
    // Their number. May be 0.
    size_t entry_count;
    // Of RINGWALK_ERROR: what could not be read; else NULL.
    const struct ringwalk_error *error;
};

// A callback: called with each batch, by several threads at a time unless the options say one worker (then by the
// thread that called ringwalk_run only). Answers RINGWALK_CONTINUE, RINGWALK_PRUNE, RINGWALK_STOP, or a negative
// number: that ends the walk as well, and ringwalk_run returns it. The answer to an error or to RINGWALK_LEAVE may end
// the walk, and RINGWALK_PRUNE changes nothing there.
//
// It must return: no longjmp, no C++ exception.
typedef int (*ringwalk_visitor)(const struct ringwalk_batch *batch, struct ringwalk_visit *visit, void *data);

// What a walk says of itself at its end.
struct ringwalk_summary {
    // Entries read, roots included.
    uint64_t entries;
    // Directories opened.
    uint64_t directories;
    // What could not be read. 0: everything was.
    uint64_t errors;
    // Entries that vanished between being listed and being looked at. They are no errors.
    uint64_t vanished;
    // Wall time, in nanoseconds.
    uint64_t elapsed;
    // The source that was read from, as options name it. A constant: it stays valid.
    const char *source;
    // Threads that read.
    uint32_t workers;
    // 1 if the walk was ended before everything was read; else 0.
    uint32_t stopped;
};

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Opens a walk. Nothing is read yet: ringwalk_next_batch or ringwalk_run begins it. A root that cannot be read is no
// error of this call but a batch of the walk, like everything that cannot be read.
//
// options: what is asked for; copied. walk: set to the new walk, or to NULL if this fails. It is the caller's, who
// closes it.
//
// Returns 0; -EINVAL for values of options that there are not, and if there is no root; -E2BIG for options of a newer
// version that ask for what this one does not know; -EOPNOTSUPP if the source that was named cannot be used; -EMFILE
// if 1024 walks are open, or there is no descriptor left; -EBADF for a root descriptor that is not open. The message
// in options says more.
//
// What the caller promises:
//
// options points to a struct whose first member is its size, with strings and lists as described there; walk points to
// a pointer.
int ringwalk_open(const struct ringwalk_options *options, struct ringwalk_walk **walk);

// Takes the next batch of a walk, which threads of the walk read ahead: some 8000 entries at most, then they wait.
//
// A batch holds entries of one directory, the first one the roots; or an error (its kind says which). Errors come in
// their place among the batches. Any number of batches may be held at a time, also after the walk has been closed. May
// be called by several threads, each of which gets other batches.
//
// batch: filled. It is the caller's, who releases it. size: sizeof *batch.
//
// Returns 1 if there is a batch; 0 at the end, and from then on; -ECANCELED after ringwalk_cancel; -EBADF if the walk
// is not open in this process; -EBUSY if it is being run; -EAGAIN if no thread can be started; -EINVAL for a size that
// no version has. Without 1, batch is not to be released.
//
// What the caller promises:
//
// batch points to size bytes.
int ringwalk_next_batch(struct ringwalk_walk *walk, struct ringwalk_batch *batch, size_t size);

// Releases a batch of ringwalk_next_batch: names, metadata and paths in it are gone. Sets its id, counts and pointers
// to 0. Any thread.
//
// Returns 0; -EBADF if it is not held (it was released already, by itself or through a copy of the struct, or was
// never filled); -EINVAL for NULL.
//
// What the caller promises:
//
// batch points to a batch; no other thread uses what is in it.
int ringwalk_release(struct ringwalk_batch *batch);

// Has a walk end soon: ringwalk_next_batch returns -ECANCELED from now on (after 20 ms at most where it waits),
// ringwalk_run does when the calls that it is in have returned. What was read and not taken is dropped. The walk is
// still to be closed.
//
// Any thread may do this, and a signal handler: no lock is taken, and errno is not touched.
//
// Returns 0, also if it was cancelled before or is at its end; -EBADF if it is not open in this process.
int ringwalk_cancel(struct ringwalk_walk *walk);

// Closes a walk, wherever it is, and waits for its threads. Batches that are held stay as they are until they are
// released. Who waits in ringwalk_next_batch on another thread is told -ECANCELED or -EBADF.
//
// Returns 0; -EBADF if it is not open in this process: closed already, of a parent process, or not a walk; -EBUSY if
// ringwalk_run is in it (cancel it; close it when that has returned).
int ringwalk_close(struct ringwalk_walk *walk);

// Walks with a callback, and returns when all is done or the callback has ended the walk. It is called with batches
// like those of ringwalk_next_batch, which are gone when it returns and are not released. The order: the batch of its
// parent that has a directory as entry; batches of the directory; with RINGWALK_FLAG_LEAVES the end of it. Batches of
// one wide directory may come to several workers at a time.
//
// visitor: the callback. data: passed on to it.
//
// Returns 0 when all is done, or the callback has said RINGWALK_STOP; the negative number that it has answered;
// -EINVAL if it has answered anything else, or is NULL; -ECANCELED after ringwalk_cancel; -EBUSY if the walk is being
// read or run; -EALREADY if it has been; -EBADF if it is not open in this process.
//
// What the caller promises:
//
// Unless the options say one worker, the callback may be called by several threads at a time.
int ringwalk_run(struct ringwalk_walk *walk, ringwalk_visitor visitor, void *data);

// In a callback with entries: the descriptor of their directory, for openat(2) and its like; AT_FDCWD if they are the
// roots. It is not the caller's: not to be closed, nor kept beyond the callback.
//
// Returns 0; -EBADF outside of that callback, or on another thread; -EINVAL if there are no entries in the batch; what
// opening the directory says, as some sources read it without opening it (-ENOENT if it is no longer where it was).
//
// What the caller promises:
//
// descriptor points to an int.
int ringwalk_visit_descriptor(struct ringwalk_visit *visit, int *descriptor);

// In a callback with entries: does not go into the entry with this index. Changes nothing for one that is no
// directory.
//
// Returns 0; -EBADF outside of that callback, or on another thread; -EINVAL if there is no such entry.
int ringwalk_visit_prune(struct ringwalk_visit *visit, size_t index);

// In a callback: the number of the worker that makes the call, from 0. Two calls at a time never have the same one, so
// it can be the index of what a callback keeps for itself. Numbers are smaller than the number of workers in the
// options, without one smaller than 1024.
//
// Returns the number; -EBADF outside of that callback, or on another thread.
int ringwalk_visit_worker(struct ringwalk_visit *visit);

// The path of an entry: that of its directory, a slash, its name. Written to buffer with its NUL if there is room for
// all of it, and not at all if there is not.
//
// Returns its length in bytes without the NUL, also if there was no room (size 0 asks for the length); -EINVAL if
// there is no such entry, as in a batch that has been released.
//
// What the caller promises:
//
// batch points to a batch as it was filled, and that is still held or in its callback; buffer has size bytes.
ptrdiff_t ringwalk_path(const struct ringwalk_batch *batch, size_t index, char *buffer, size_t size);

// What a walk says of itself at its end: after ringwalk_next_batch has returned 0, or ringwalk_run has returned.
//
// summary: filled. size: sizeof *summary.
//
// Returns 0; -EAGAIN if the walk is not at its end; -ECANCELED if it was cancelled while batches were taken; -EBADF if
// it is not open in this process; -EINVAL for a size that no version has.
//
// What the caller promises:
//
// summary points to size bytes.
int ringwalk_summary(struct ringwalk_walk *walk, struct ringwalk_summary *summary, size_t size);

// The version of the library, such as "0.1.0". A constant.
const char *ringwalk_version(void);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* RINGWALK_H */
