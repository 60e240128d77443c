/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The parts of fuse_mirror.c: nodes.c knows inodes, names.c serves requests about names and
 * attributes, files.c those about open files.
 */
#ifndef RINGWALK_MIRROR_H
#define RINGWALK_MIRROR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sys/stat.h>
#include <sys/types.h>

#include <linux/fuse.h>

/* Requests are at most this long: write requests of 128 KiB with their header. */
#define REQUEST_MAX ((128 << 10) + 4096)

/* /dev/fuse, and room for the content of an answer. */
extern int device;
extern char answer[REQUEST_MAX];

/* Answers the request @in; @error is a negative errno or 0. */
void reply(const struct fuse_in_header *in, int error, const void *data, size_t len);
/* The same with errno if @ret is negative. */
void reply_status(const struct fuse_in_header *in, int ret);

/*
 * The O_PATH descriptor of an inode, and the path that opens or changes its file instead of the
 * link.
 */
int fd_of(uint64_t nodeid);
const char *path_of(uint64_t nodeid);
struct fuse_attr attr_of(const struct stat *stat);

/* Makes the source's root FUSE_ROOT_ID. */
void nodes_begin(int root, uint64_t ino);
/*
 * Finds the node of @name, and counts one more lookup of the kernel. Returns 0, or -1 with errno.
 */
int enter(uint64_t parent, const char *name, struct fuse_entry_out *entry);
void forget(uint64_t id, uint64_t lookups);

/* Gives a new file to the caller. @made is the result of making it. */
int give_to_caller(const struct fuse_in_header *in, const char *name, int made);

/* Return false if the request is of another kind. */
bool serve_names(const struct fuse_in_header *in, const void *body);
bool serve_attributes(const struct fuse_in_header *in, const void *body);
bool serve_files(const struct fuse_in_header *in, const void *body);

#endif
