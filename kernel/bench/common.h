/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Code that the measuring programs share: the patched kernel's operations, rings, and the records
 * of a directory.
 */
#ifndef RINGWALK_BENCH_COMMON_H
#define RINGWALK_BENCH_COMMON_H

#include <fcntl.h>
#include <linux/stat.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <liburing.h>

#include "../module/include/uapi/linux/ringwalk.h"

enum {
	/*
	 * One size for all ways to read, the C library's for getdents64. A larger buffer for
	 * READDIRPLUS would save calls, and that is not the subject of the measurement.
	 */
	BUFFER = 32 * 1024,
	BUFFER_MOST = 1024 * 1024,
	/* The type in a mode: <sys/stat.h> and <linux/stat.h> cannot be included together. */
	MODE_TYPE = 0170000,
	MODE_DIR = 0040000,
	TYPE_DIR = 4,
	TYPE_UNKNOWN = 0,
};

/* The fields that every way asks of an entry: those that a sum of sizes needs. */
#define WANTED		(STATX_TYPE | STATX_SIZE)

/* The record of getdents64: linux_dirent64 in fs/readdir.c. */
struct dirent_record {
	uint64_t ino;
	int64_t off;
	unsigned short reclen;
	unsigned char type;
	char name[];
};

/*
 * Of the patched kernel: the flag of the last records, and the argument at addr3 of READDIRPLUS
 * with its flag for all extended attributes.
 */
#define CQE_DIR_END		(1U << 8)
#define READDIRPLUS_XATTR_ALL	(1U << 0)

struct readdirplus_args {
	uint32_t flags;
	uint32_t max_entries;
	__u32 mask;
	__u32 stat_flags;
	__u64 xattr_names;
	__u32 xattr_names_len;
	__u32 xattr_value_max;
	__u32 xattr_entry_max;
	__u32 reserved;
};

_Static_assert(sizeof(struct readdirplus_args) == 40, "readdirplus_args");

/* The first word of all messages. */
extern const char *program;

/* Ends the program with a message and errno's. */
void die(const char *what) __attribute__((noreturn));

/* Ends the program with a message and a ring's result, a negative errno. */
void die_of(const char *what, int error) __attribute__((noreturn));

/* Raises the limit on open files to the hard limit. */
void raise_file_limit(void);

/* Sets up a ring to which only this thread submits. */
void make_ring(struct io_uring *ring, unsigned int entries);

/* Returns the number of a directory operation; ends the program on a kernel without it. */
unsigned char find_opcode(const char *name);

/* Opens the module's device; ends the program if it is missing. */
int open_module(void);

/* The result of an operation, from its completion entry. */
struct completion {
	int res;
	unsigned int flags;
};

/* Submits the one prepared entry and waits for it. */
struct completion submit_one(struct io_uring *ring);

static inline bool is_dot(const char *name)
{
	return name[0] == '.' && (!name[1] || (name[1] == '.' && !name[2]));
}

/* Returns the metadata of a record of READDIRPLUS that has them. */
static inline const struct ringwalk_stat *entry_stat(const struct ringwalk_entry *entry)
{
	return (const struct ringwalk_stat *)(entry + 1);
}

/*
 * Returns the name of a record without groups for times, mount, alignment or subvolume, as with
 * WANTED.
 */
static inline const char *entry_name(const struct ringwalk_entry *entry)
{
	return (const char *)(entry + 1) +
	       (entry->flags & RINGWALK_ENTRY_STAT ? sizeof(struct ringwalk_stat) : 0);
}

#endif
