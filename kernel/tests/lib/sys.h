/* SPDX-License-Identifier: GPL-2.0-only */
/* System calls and structures for comparisons, independent of the C library's version. */
#ifndef RINGWALK_SYS_H
#define RINGWALK_SYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <fcntl.h>
#include <sys/stat.h>

/* Newer than the headers of Debian 12; values from include/uapi/linux/stat.h. */
#ifndef STATX_DIOALIGN
#define STATX_DIOALIGN		0x00002000U
#endif
#ifndef STATX_MNT_ID_UNIQUE
#define STATX_MNT_ID_UNIQUE	0x00004000U
#endif
#ifndef STATX_SUBVOL
#define STATX_SUBVOL		0x00008000U
#endif

/* A record of getdents64(2). */
struct dirent_record {
	uint64_t d_ino;
	uint64_t d_off;
	uint16_t d_reclen;
	uint8_t d_type;
	char d_name[];
} __attribute__((packed, aligned(8)));

/* Returns the bytes of a record of getdents64(2) for a name of @name_len bytes. */
size_t dirent_record_len(size_t name_len);

/* struct statx of Linux 6.12. */
struct statx_record {
	uint32_t mask;
	uint32_t blksize;
	uint64_t attributes;
	uint32_t nlink;
	uint32_t uid;
	uint32_t gid;
	uint16_t mode;
	uint16_t spare0;
	uint64_t ino;
	uint64_t size;
	uint64_t blocks;
	uint64_t attributes_mask;
	struct {
		int64_t sec;
		uint32_t nsec;
		int32_t reserved;
	} atime, btime, ctime, mtime;
	uint32_t rdev_major;
	uint32_t rdev_minor;
	uint32_t dev_major;
	uint32_t dev_minor;
	uint64_t mnt_id;
	uint32_t dio_mem_align;
	uint32_t dio_offset_align;
	uint64_t subvol;
	uint64_t spare[11];
};

_Static_assert(sizeof(struct statx_record) == 256, "struct statx has 256 bytes");

/* getdents64(2): bytes, or a negative errno. */
long sys_getdents64(int fd, void *buf, size_t len);
/* statx(2): 0, or a negative errno. */
int sys_statx(int fd, const char *name, int flags, uint32_t mask, struct statx_record *record);

/* Reads a file of /proc or /sys and adds a NUL. Returns bytes, or a negative errno. */
long read_text(const char *path, char *buf, size_t len);
/* 0 or a negative errno. */
int write_text(const char *path, const char *text);

/* Writes the path of the file @name in the folder of this program to @path. */
void path_beside_program(char *path, size_t len, const char *name);

/* Returns the number of io-wq threads of this process. */
unsigned int io_workers(void);

/* Returns true if this kernel is older than that version of Linux. */
bool linux_before(unsigned int major, unsigned int minor);

/* Seconds since an arbitrary time. */
double now(void);

/*
 * Sends SIGALRM once, after so many microseconds, or no more with 0. The signal only ends a call
 * that waits.
 */
void alarm_after(long microseconds);
/* Sends SIGALRM again and again, until alarm_after(0). */
void alarm_every(long microseconds);

/* Pseudorandom numbers, the same for the same seed (xorshift64*, Vigna 2016). */
uint64_t random_next(uint64_t *state);
/* Returns a number below @limit, which is not 0. */
uint64_t random_below(uint64_t *state, uint64_t limit);

/*
 * Returns @len bytes at the end of a mapping: neither the byte after them nor the page before them
 * can be accessed. guard_free() with the same length frees them.
 */
void *guard_alloc(size_t len);
void guard_free(void *memory, size_t len);

#endif
