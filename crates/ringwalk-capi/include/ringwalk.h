// Ringwalk: reads directory trees and their metadata at the speed the kernel and the disk allow.
// This file is generated (cargo run -p xtask -- header): changes belong in crates/ringwalk-capi.
//
// The header needs C99 or C++98.
//
// A program opens a walk with options. Then it reads the walk batch by batch (ringwalk_next_batch,
// ringwalk_release), or runs it with a callback (ringwalk_run). It can close the walk at any point.
//
//     struct ringwalk_options options = {
//         .size = sizeof options, .roots = roots, .fields = RINGWALK_FIELD_SIZE};
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
// Results. Functions return 0 or a positive number, or a negative errno. A file or directory that
// cannot be read does not make a function fail: the error comes among the batches, and the walk
// continues. No function prints, changes the working directory or a signal handler, or sets errno
// on purpose. -ENOTRECOVERABLE means a bug in this library, which it reports on standard error.
//
// Handles. Walks, and the ids of batches, are numbers that the library looks up. So a walk or batch
// that is already closed or released is -EBADF, also when it is closed or released again. This
// holds always on 64-bit machines; on 32-bit machines, until half a million more walks have been
// opened. The memory that a batch points to has no such protection: reading names after their
// release is the same as reading memory after free(3).
//
// Threads. Every thread can call every function, also for the same walk; signal handlers can call
// ringwalk_cancel. A walk has its own threads, which end when the walk ends or is closed. Threads
// of ringwalk_next_batch take no signals. Threads of ringwalk_run make callbacks, and take the
// signals of the thread that called it.
//
// Forks. In a child process, walks and batches of the parent are not open (-EBADF). Their memory
// stays in the child until it ends or calls execve(2). A child can open its own walks. A child that
// was forked in a callback must not return from the callback.
//
// Units. Names are bytes in no particular encoding. Sizes are in bytes; blocks are of 512 bytes.
// Times are since 1970-01-01 UTC.
//
// Versions. A struct only grows at its end or into reserved space, and functions take the sizes
// that a program was built with. The size and the offsets of struct ringwalk_entry,
// ringwalk_metadata, ringwalk_error and ringwalk_leftover stay the same while the library is
// libringwalk.so.0. Symbols have versions.

#ifndef RINGWALK_H
#define RINGWALK_H

#include <stddef.h>
#include <stdint.h>

// Kind of a batch: entries of one directory, or the roots.
#define RINGWALK_ENTRIES 1

// Kind of a batch: a read error. The batch has no entries; its member error describes the error.
#define RINGWALK_ERROR 2

// Kind of a batch, in callbacks only and with RINGWALK_FLAG_LEAVES: everything below the directory
// is done.
#define RINGWALK_LEAVE 3

// Answer of a callback: continue.
#define RINGWALK_CONTINUE 0

// Answer of a callback: skip the rest of this directory. The walk reads no more of it and goes
// into none of its subdirectories.
#define RINGWALK_PRUNE 1

// Answer of a callback: end the walk. Each of the other workers may still make one last call.
#define RINGWALK_STOP 2

// Type of an entry: unknown. The file system does not return types with names, and the walk did
// not need this one. Types have the values of DT_ in dirent.h.
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

// Flag of an entry: the walk followed this symbolic link; type and metadata belong to the target.
#define RINGWALK_FOLLOWED 1

// Field of metadata: file type. STATX_TYPE of statx(2).
#define RINGWALK_FIELD_TYPE 0x1U

// Field of metadata: permission bits. STATX_MODE of statx(2).
#define RINGWALK_FIELD_MODE 0x2U

// Field of metadata: number of hard links. STATX_NLINK of statx(2).
#define RINGWALK_FIELD_NLINK 0x4U

// Field of metadata: owner. STATX_UID of statx(2).
#define RINGWALK_FIELD_UID 0x8U

// Field of metadata: group. STATX_GID of statx(2).
#define RINGWALK_FIELD_GID 0x10U

// Field of metadata: time of last access. STATX_ATIME of statx(2).
#define RINGWALK_FIELD_ATIME 0x20U

// Field of metadata: time of last change of the contents. STATX_MTIME of statx(2).
#define RINGWALK_FIELD_MTIME 0x40U

// Field of metadata: time of last change of the inode. STATX_CTIME of statx(2).
#define RINGWALK_FIELD_CTIME 0x80U

// Field of metadata: inode number. STATX_INO of statx(2).
#define RINGWALK_FIELD_INO 0x100U

// Field of metadata: apparent size. STATX_SIZE of statx(2).
#define RINGWALK_FIELD_SIZE 0x200U

// Field of metadata: allocated blocks. STATX_BLOCKS of statx(2).
#define RINGWALK_FIELD_BLOCKS 0x400U

// Field of metadata: time of birth. STATX_BTIME of statx(2).
#define RINGWALK_FIELD_BTIME 0x800U

// Field of metadata: mount (Linux 5.8). STATX_MNT_ID of statx(2).
#define RINGWALK_FIELD_MNT_ID 0x1000U

// Field of metadata: project that the file counts for in quotas. statx(2) has no such field, so
// the walk makes one more call for each file unless the source has the id. The id is not known on
// file systems without project ids; on ext4 and btrfs, of links and special files; before Linux
// 6.17, of links, special files, and files that the process may not read.
#define RINGWALK_FIELD_PROJECT_ID 0x40000000U

// Symbolic links that the walk follows: none (the default).
#define RINGWALK_FOLLOW_NEVER 0

// Symbolic links that the walk follows: those given as roots.
#define RINGWALK_FOLLOW_ROOTS 1

// Symbolic links that the walk follows: all. A directory that a link leads to a second time, below
// itself, is a RINGWALK_LOOP error and is not entered.
#define RINGWALK_FOLLOW_ALWAYS 2

// Bounds of a walk: none; it goes everywhere below its roots (the default).
#define RINGWALK_STAY_ANYWHERE 0

// Bounds of a walk: the device of each root.
#define RINGWALK_STAY_DEVICE 1

// Bounds of a walk: the mount of each root, so it does not enter bind mounts either. Before Linux
// 5.8, the same as the device.
#define RINGWALK_STAY_MOUNT 2

// Order of the entries of one directory: as the source returns them (the default).
#define RINGWALK_ORDER_ANY 0

// Order of the entries of one directory: as getdents64(2) lists them, for every source.
#define RINGWALK_ORDER_LISTED 1

// Order of the entries of one directory: by the bytes of their names. A directory is then one
// batch.
#define RINGWALK_ORDER_NAME 2

// Reading blocks ahead in the order of the disk: when the walk finds that they are not in memory
// (the default).
#define RINGWALK_PREFETCH_AUTO 0

// Reading blocks ahead in the order of the disk: always, without a check.
#define RINGWALK_PREFETCH_ALWAYS 1

// Reading blocks ahead in the order of the disk: never.
#define RINGWALK_PREFETCH_NEVER 2

// Flag of a walk: first write back the changed data of the roots' file systems (syncfs(2)).
#define RINGWALK_FLAG_SYNC 0x1U

// Flag of a walk: it may raise the soft limit on open files of the process (RLIMIT_NOFILE) to the
// hard limit when it needs more.
#define RINGWALK_FLAG_RAISE_LIMITS 0x2U

// Flag of a walk: go below each directory before the entries behind it. With one worker, entries
// come as in a recursive walk.
#define RINGWALK_FLAG_PREORDER 0x4U

// Flag of a walk that is run with a callback: call the callback with RINGWALK_LEAVE when all below
// a directory is done. This includes directories that could not be opened. After RINGWALK_STOP
// there are no such calls. If walks with a budget share a directory, or what is below it, none of
// them makes the call for that directory.
#define RINGWALK_FLAG_LEAVES 0x8U

// Value of max_depth in options: visit the roots only.
#define RINGWALK_ROOTS_ONLY (-1)

// Value of position in a leftover: the directory was not opened, and all of it remains.
#define RINGWALK_UNOPENED (-1)

// Operation of an error: getting metadata.
#define RINGWALK_STAT 1

// Operation of an error: opening a directory.
#define RINGWALK_OPEN 2

// Operation of an error: reading an open directory. Entries that were read before the error have
// been delivered.
#define RINGWALK_READ 3

// Operation of an error: following a link into a directory that the walk is already inside of
// (code ELOOP).
#define RINGWALK_LOOP 4

// Flag of an error: a race. A listed entry was removed, moved or replaced before the walk came to
// it.
#define RINGWALK_VANISHED 1

// The directory that a callback is called for. The pointer is a number, as for a walk. It is valid
// only on the thread that runs the callback, and only until the callback returns.
struct ringwalk_visit;

// A walk. The pointer is a number that identifies the walk, not an address: never dereference it.
struct ringwalk_walk;

// A directory, or the rest of one, that a walk has not read because its budget was spent. The walk
// has delivered the entry of the directory itself.
//
// A program can keep leftovers, in a file for example, and pass them to a later walk (member
// resume of the options), in this process or another one. Another machine that has mounted the
// same file system can read them too.
struct ringwalk_leftover {
    // Index of its root in the options.
    size_t root;
    // Device of the root, in the form of st_dev.
    uint64_t root_device;
    // Inode number of the root.
    uint64_t root_inode;
    // Path relative to the root, which ends with NUL. Empty for the root itself.
    const char *path;
    // Device of the directory, in the form of st_dev. Valid only if inode is not 0.
    uint64_t device;
    // Inode number of the directory; 0 if it is not known.
    uint64_t inode;
    // Position in the directory from which the rest is read; RINGWALK_UNOPENED if all of it is.
    int64_t position;
    // Entries of the directory that were read. A large number means that many can remain.
    uint64_t read;
    // Depth of the directory, 0 for roots: the number of names in the path.
    uint32_t depth;
    // Zero. Later versions put new members in this space.
    uint32_t reserved[7];
};

// Options of a walk. Set the whole struct to zero; then set size, roots, and the options that
// differ from their defaults. Zero is the default of every member.
//
// Later versions may add members at the end. The library treats members that an older program
// lacks as zero. If a program was built with a newer header and sets a member that this library
// does not know, ringwalk_open returns -E2BIG.
struct ringwalk_options {
    // sizeof(struct ringwalk_options).
    size_t size;
    // Paths of the files and directories where the walk begins. NULL ends the list. The library
    // copies the paths.
    char *const *roots;
    // NULL, or a list with an open directory for each root; the walk shows it under the root's
    // path. A negative number means that the walk opens the path. The library duplicates the
    // descriptors: the caller keeps them, and their positions do not change.
    const int *root_descriptors;
    // Metadata that the walk gets for every entry: RINGWALK_FIELD_ bits. With 0, the walk gets no
    // metadata, except where a directory does not say which entries are directories.
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
    // Number of threads that read, at most 65536. 0: one for each processor, at most 16, and more
    // while they wait for a device.
    uint32_t workers;
    // The walk delivers no entries above this depth; roots have depth 0.
    uint32_t min_depth;
    // The walk does not go below this depth. 0: no limit. RINGWALK_ROOTS_ONLY: the walk visits
    // only the roots.
    int64_t max_depth;
    // Bytes that the walk reads from a directory at a time, from 1024 to 67108864. 0: a size that
    // suits the file system.
    size_t buffer_size;
    // Where data is read from: "auto", "syscall", "module", "ring", "ext4", "xfs" or "btrfs"; NULL
    // is "auto". One that is named and cannot be used for all roots that are directories is an
    // error of ringwalk_open.
    const char *source;
    // NULL, or a buffer for an error message. If ringwalk_open fails, it writes a sentence that
    // ends with NUL and is cut to fit.
    char *message;
    // Size of the buffer at message, in bytes.
    size_t message_size;
    // Number of descriptors that the walk leaves free for the rest of the process. Files that the
    // callback opens are part of this reserve. 0: 64, or a quarter of the free descriptors if that
    // is less. The walk always uses the few descriptors that one worker needs. All walks of a
    // process count together.
    size_t descriptor_reserve;
    // Time after which the walk begins nothing more, in nanoseconds since its beginning.
    // Everything that it has not read then is left over: ringwalk_leftovers lists it. The walk
    // finishes the work that it has begun, and every walk reads something. 0: no limit. A walk
    // with a limit, or with resume, does not follow all links (RINGWALK_FOLLOW_ALWAYS).
    uint64_t budget_time;
    // Number of entries after which the walk begins nothing more. 0: no limit.
    uint64_t budget_entries;
    // NULL, or what an earlier walk of the same roots has left over. The walk reads these
    // directories and all below them, and nothing else; it does not deliver the roots again. A
    // directory that was replaced meanwhile has vanished. If a root is gone or was replaced, that
    // is an error for each leftover of this root, and these are left over again. The library
    // copies the list.
    const struct ringwalk_leftover *resume;
    // Number of leftovers at resume. With 0, and a list that is not NULL, the walk reads nothing.
    size_t resume_count;
    // Number of requests for metadata that wait for a server at a time, at most. 0: no limit.
    size_t in_flight;
    // Number of entries that the walk reads in a second at most, on average. 0: no limit.
    uint64_t entries_per_second;
};

// A point in time: seconds since 1970-01-01 00:00 UTC, negative before, plus nanoseconds from 0 to
// 999999999.
struct ringwalk_timestamp {
    // Seconds since the epoch.
    int64_t seconds;
    // Nanoseconds within the second.
    uint32_t nanoseconds;
};

// Metadata of a file. A member is valid only if mask names its field; the members device,
// represented_device, block_size and attributes are always valid.
struct ringwalk_metadata {
    // Fields that are known: RINGWALK_FIELD_ bits.
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
    // Id of the mount that the file was reached through.
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
    // Project that the file counts for in quotas.
    uint32_t project_id;
    // Zero. Later versions put new members in this space.
    uint32_t reserved[5];
};

// An entry of a directory. Its pointers are valid as long as the batch.
struct ringwalk_entry {
    // The name, which ends with NUL: any bytes except '/'. The name of a root is its path as
    // given.
    const char *name;
    // Length of the name in bytes, without the NUL.
    size_t name_length;
    // Inode number that the directory lists; 0 for roots. At a mount point, this is the number of
    // the directory underneath.
    uint64_t inode;
    // The metadata; NULL if the options ask for none, or it could not be read.
    const struct ringwalk_metadata *metadata;
    // The errno of the failure if metadata could not be read; else 0. The failure also comes as a
    // batch of its own.
    int32_t stat_error;
    // RINGWALK_TYPE_...
    uint8_t type;
    // RINGWALK_FOLLOWED or 0.
    uint8_t flags;
};

// A read error. The walk continues after it.
struct ringwalk_error {
    // The operation that failed: RINGWALK_STAT, RINGWALK_OPEN, RINGWALK_READ or RINGWALK_LOOP.
    uint32_t operation;
    // The kernel's error number (positive).
    int32_t code;
    // RINGWALK_VANISHED or 0.
    uint32_t flags;
    // The path, which begins with the root as given and ends with NUL.
    const char *path;
    // Length of the path in bytes, without the NUL.
    size_t path_length;
    // For RINGWALK_LOOP: the path of the directory that this one is the same as; else NULL.
    const char *loops_with;
    // The error as a sentence, in ASCII: bytes of the path that are not printable are escaped.
    const char *message;
};

// A batch: entries of one directory, or an error. All pointers are valid until the batch is
// released; in a callback, until the callback returns.
//
// Later versions may add members at the end; every function that fills a batch takes its size.
struct ringwalk_batch {
    // Number that ringwalk_release identifies the batch by. No number is used twice. 0: there is
    // nothing to release.
    uint64_t id;
    // RINGWALK_ENTRIES, RINGWALK_ERROR or RINGWALK_LEAVE.
    uint32_t kind;
    // Depth of the entries, 0 for roots. For RINGWALK_LEAVE, the depth of the directory; for
    // RINGWALK_ERROR, 0.
    uint32_t depth;
    // Index of the root in the options. For a batch of roots, the index of the first; the others
    // follow in order.
    size_t root;
    // Path of the directory, which begins with the root as given and ends with NUL. NULL if the
    // entries are the roots themselves, and for RINGWALK_ERROR.
    const char *directory;
    // Length of that path in bytes, without the NUL.
    size_t directory_length;
    // The entries.
    const struct ringwalk_entry *entries;
    // Number of entries. It can be 0.
    size_t entry_count;
    // For RINGWALK_ERROR: the error; else NULL.
    const struct ringwalk_error *error;
};

// A callback. The walk calls it with each batch. Several threads call it at a time, unless the
// options say one worker; then only the thread that called ringwalk_run does.
//
// The callback answers RINGWALK_CONTINUE, RINGWALK_PRUNE, RINGWALK_STOP, or a negative number. A
// negative number ends the walk, and ringwalk_run returns it. The answers to an error and to
// RINGWALK_LEAVE can end the walk; RINGWALK_PRUNE changes nothing there.
//
// The callback must return: it must not use longjmp or throw a C++ exception.
typedef int (*ringwalk_visitor)(const struct ringwalk_batch *batch, struct ringwalk_visit *visit, void *data);

// Summary of a walk that has ended.
struct ringwalk_summary {
    // Entries read, roots included.
    uint64_t entries;
    // Directories opened.
    uint64_t directories;
    // Number of read errors. If errors and stopped are 0, the walk read everything.
    uint64_t errors;
    // Entries that vanished after their directory listed them. These are no errors.
    uint64_t vanished;
    // Wall time, in nanoseconds.
    uint64_t elapsed;
    // The source that the walk read from, as options name it. A constant, which stays valid.
    const char *source;
    // Number of threads that read.
    uint32_t workers;
    // 1 if the walk was ended before it had read everything, also if its budget was spent; else 0.
    uint32_t stopped;
};

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Opens a walk.
//
// This call reads nothing: ringwalk_next_batch or ringwalk_run begins the walk. A root that cannot
// be read is no error of this call. It comes as a batch of the walk, like every read error.
//
// - options: the options, which are copied.
// - walk: is set to the new walk, or to NULL if the call fails. The caller closes the walk with
//   ringwalk_close.
//
// Return value:
//
// 0, or an error. Options can name a buffer that receives a sentence about the error.
//
// Errors:
//
// - -EINVAL: an option has a value that does not exist, there is no root, no walk of these roots
//   can have made one of the leftovers, or no version has options of this size.
// - -E2BIG: options of a newer version ask for something that this version does not know.
// - -EOPNOTSUPP: the source that the options name cannot be used.
// - -EMFILE: 1024 walks are open, or no descriptor is left.
// - -EBADF: a root descriptor is not open.
//
// The caller must ensure:
//
// options points to a struct whose first member is its size, with strings and lists as described
// there. walk points to a pointer.
int ringwalk_open(const struct ringwalk_options *options, struct ringwalk_walk **walk);

// Waits for the next batch of a walk and fills a struct with it.
//
// Threads of the walk read ahead, up to about 8000 entries, and then wait. A batch holds entries
// of one directory, or an error; its kind says which. The first batch holds the roots. Errors come
// in their place among the batches. A program can hold any number of batches at a time, also after
// it has closed the walk. Several threads can call this function for one walk; each gets other
// batches.
//
// - batch: is filled. The caller releases the batch with ringwalk_release.
// - size: sizeof *batch.
//
// Return value:
//
// 1 if there is a batch. 0 at the end of the walk, and in all later calls. Only after 1 is there a
// batch to release.
//
// Errors:
//
// - -ECANCELED: the walk was cancelled.
// - -EBADF: the walk is not open in this process.
// - -EBUSY: ringwalk_run runs the walk.
// - -EAGAIN: no thread could be started.
// - -EINVAL: no version of the struct has this size.
//
// The caller must ensure:
//
// batch points to size bytes.
int ringwalk_next_batch(struct ringwalk_walk *walk, struct ringwalk_batch *batch, size_t size);

// Releases a batch of ringwalk_next_batch: frees its names, metadata and paths.
//
// Sets the id, the counts and the pointers of the batch to 0. Any thread can call this function.
//
// Return value:
//
// 0, or an error.
//
// Errors:
//
// - -EBADF: the batch is not held. It was released before, directly or through a copy of the
//   struct, or it was never filled.
// - -EINVAL: batch is NULL.
//
// The caller must ensure:
//
// batch points to a batch. No other thread uses the contents of the batch.
int ringwalk_release(struct ringwalk_batch *batch);

// Cancels a walk, which then ends soon.
//
// From now on ringwalk_next_batch returns -ECANCELED; a call that waits does so within 20 ms.
// ringwalk_run returns -ECANCELED when the callbacks under way have returned. Batches that were
// read and not delivered are dropped. The caller still closes the walk.
//
// Any thread and any signal handler can call this function: it takes no lock and leaves errno
// alone.
//
// Return value:
//
// 0, also if the walk was cancelled before or is at its end; or an error.
//
// Errors:
//
// - -EBADF: the walk is not open in this process.
int ringwalk_cancel(struct ringwalk_walk *walk);

// Closes a walk at any point of it, and waits for its threads.
//
// Batches that the program holds stay valid until it releases them. A call of ringwalk_next_batch
// that waits on another thread returns -ECANCELED or -EBADF.
//
// Return value:
//
// 0, or an error.
//
// Errors:
//
// - -EBADF: the walk is not open in this process. It was closed before, belongs to a parent
//   process, or is no walk.
// - -EBUSY: ringwalk_run runs the walk. Cancel the walk, and close it when ringwalk_run has
//   returned.
int ringwalk_close(struct ringwalk_walk *walk);

// Runs a walk with a callback. Returns when the walk or the callback has ended it.
//
// The callback gets batches as from ringwalk_next_batch. They are valid until it returns, and are
// not released. For each directory, the calls come in this order: the batch of the parent that has
// the directory as an entry; the batches of the directory; with RINGWALK_FLAG_LEAVES, the end of
// the directory. Several workers can get batches of one wide directory at the same time.
//
// - visitor: the callback.
// - data: is passed to each call.
//
// Return value:
//
// 0 if the walk is at its end, or the callback has answered RINGWALK_STOP. The negative number
// that the callback has answered. Or an error.
//
// Errors:
//
// - -EINVAL: visitor is NULL, or the callback has answered a number that has no meaning.
// - -ECANCELED: the walk was cancelled.
// - -EBUSY: the walk is being read or run.
// - -EALREADY: the walk has been read or run before.
// - -EBADF: the walk is not open in this process.
//
// The caller must ensure:
//
// Unless the options say one worker, several threads can call the callback at the same time.
int ringwalk_run(struct ringwalk_walk *walk, ringwalk_visitor visitor, void *data);

// Gets the descriptor of the directory whose entries a callback was called with.
//
// The descriptor is for openat(2) and similar calls. It is AT_FDCWD if the entries are the roots.
// It belongs to the walk: the caller must not close it, nor keep it after the callback has
// returned.
//
// - descriptor: is set to the descriptor.
//
// Return value:
//
// 0, or an error. Some sources read a directory without opening it. This call then opens the
// directory, and can fail with any error of openat(2).
//
// Errors:
//
// - -EBADF: the thread is not in the callback that visit belongs to.
// - -EINVAL: the batch has no entries.
// - -ENOENT: the directory is no longer where it was.
//
// The caller must ensure:
//
// descriptor points to an int.
int ringwalk_visit_descriptor(struct ringwalk_visit *visit, int *descriptor);

// Keeps the walk, in a callback, from going into one of the entries.
//
// For an entry that is no directory, this changes nothing.
//
// - index: the position of the entry in the batch, from 0.
//
// Return value:
//
// 0, or an error.
//
// Errors:
//
// - -EBADF: the thread is not in the callback that visit belongs to.
// - -EINVAL: the batch has no such entry.
int ringwalk_visit_prune(struct ringwalk_visit *visit, size_t index);

// Returns the number of the worker that makes a callback, from 0.
//
// Two callbacks at the same time never have the same number. So a program can use the number as an
// index of data that each worker keeps for itself. Numbers are smaller than the number of workers
// in the options; if the options leave that open, smaller than 1024.
//
// Return value:
//
// The number, or an error.
//
// Errors:
//
// - -EBADF: the thread is not in the callback that visit belongs to.
int ringwalk_visit_worker(struct ringwalk_visit *visit);

// Writes the path of an entry: the path of its directory, a slash, and its name.
//
// Writes the whole path and its NUL to the buffer, or nothing if the buffer is too small.
//
// - index: the position of the entry in the batch, from 0.
// - buffer: receives the path. It can be NULL if size is 0.
// - size: the size of the buffer in bytes.
//
// Return value:
//
// The length of the path in bytes without the NUL, also if the buffer is too small. Or an error.
//
// Errors:
//
// - -EINVAL: the batch has no such entry. A released batch has none.
//
// The caller must ensure:
//
// batch points to a batch as it was filled, and it is still held, or the callback that got it has
// not returned. buffer has size bytes.
ptrdiff_t ringwalk_path(const struct ringwalk_batch *batch, size_t index, char *buffer, size_t size);

// Gets the summary of a walk that has ended.
//
// A walk has ended when ringwalk_next_batch has returned 0, or ringwalk_run has returned.
//
// - summary: is filled.
// - size: sizeof *summary.
//
// Return value:
//
// 0, or an error.
//
// Errors:
//
// - -EAGAIN: the walk has not ended.
// - -ECANCELED: the walk was cancelled while batches were read.
// - -EBADF: the walk is not open in this process.
// - -EINVAL: no version of the struct has this size.
//
// The caller must ensure:
//
// summary points to size bytes.
int ringwalk_summary(struct ringwalk_walk *walk, struct ringwalk_summary *summary, size_t size);

// Gets what a walk has left over: directories, and rests of directories, that it has not read
// because its budget was spent.
//
// A walk has ended when ringwalk_next_batch has returned 0, or ringwalk_run has returned. Without
// a budget nothing is left over. Another walk of the same roots goes on with the list (members
// resume and resume_count of the options). If each walk goes on with all that the walk before has
// left over, until nothing is left, then all walks together deliver each entry once.
//
// - leftovers: is set to the list, which stays valid until ringwalk_close. It is not NULL if the
//   count is 0.
// - count: is set to the number of leftovers.
//
// Return value:
//
// 0, or an error. After an error the list is NULL, and the count 0.
//
// Errors:
//
// - -EAGAIN: the walk has not ended.
// - -ECANCELED: the walk was cancelled, or ended by its callback. Its leftovers are not known.
// - -EBADF: the walk is not open in this process.
// - -EINVAL: leftovers or count is NULL.
//
// The caller must ensure:
//
// leftovers points to a pointer, and count to a size_t. No other thread closes the walk while the
// list is used.
int ringwalk_leftovers(struct ringwalk_walk *walk, const struct ringwalk_leftover **leftovers, size_t *count);

// Returns the version of the library, such as "0.1.0".
//
// Return value:
//
// A constant string, which stays valid.
const char *ringwalk_version(void);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* RINGWALK_H */
