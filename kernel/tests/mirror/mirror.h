/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The parts of fuse_mirror.c: nodes.c knows inodes, names.c serves requests about names and attributes, files.c those about open files.
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

/* The O_PATH descriptor of an inode, and the path by which its file, not the link to it, is opened or changed. */
int fd_of(uint64_t nodeid);
const char *path_of(uint64_t nodeid);
struct fuse_attr attr_of(const struct stat *stat);

/* The source's root becomes FUSE_ROOT_ID. */
void nodes_begin(int root, uint64_t ino);
/* The node of @name, with one more lookup by the kernel. 0, or -1 with errno. */
int enter(uint64_t parent, const char *name, struct fuse_entry_out *entry);
void forget(uint64_t id, uint64_t lookups);

/* What is made belongs to the caller. @made is what making it returned. */
int give_to_caller(const struct fuse_in_header *in, const char *name, int made);

/* False if the request is none of theirs. */
bool serve_names(const struct fuse_in_header *in, const void *body);
bool serve_attributes(const struct fuse_in_header *in, const void *body);
bool serve_files(const struct fuse_in_header *in, const void *body);

#endif
