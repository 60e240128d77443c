// SPDX-License-Identifier: GPL-2.0-only
/* Inodes that the kernel knows, each an O_PATH descriptor of the source. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "mirror.h"

/*
 * The source's inode numbers. A node is found by nodeid, which is its index, or by inode number
 * through a chain.
 */
struct node {
	int fd;
	uint64_t ino;
	uint64_t lookups;
	uint64_t next;
};

#define BUCKETS 4096

static struct node *nodes;
static uint64_t node_count, node_room, free_node;
static uint64_t buckets[BUCKETS];

int fd_of(uint64_t nodeid)
{
	return nodes[nodeid].fd;
}

/* Writes the path that opens or changes the file of a descriptor instead of the link. */
const char *path_of(uint64_t nodeid)
{
	static char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd_of(nodeid));
	return path;
}

struct fuse_attr attr_of(const struct stat *stat)
{
	return (struct fuse_attr){
		.ino = stat->st_ino, .size = stat->st_size, .blocks = stat->st_blocks, .atime = stat->st_atim.tv_sec,
		.mtime = stat->st_mtim.tv_sec, .ctime = stat->st_ctim.tv_sec, .atimensec = stat->st_atim.tv_nsec,
		.mtimensec = stat->st_mtim.tv_nsec, .ctimensec = stat->st_ctim.tv_nsec, .mode = stat->st_mode,
		.nlink = stat->st_nlink, .uid = stat->st_uid, .gid = stat->st_gid,
		.rdev = stat->st_rdev,
		.blksize = stat->st_blksize,
	};
}

static uint64_t find_node(uint64_t ino)
{
	uint64_t id = buckets[ino % BUCKETS];

	while (id && nodes[id].ino != ino)
		id = nodes[id].next;
	return id;
}

static uint64_t add_node(int fd, uint64_t ino)
{
	uint64_t id = free_node;

	if (id) {
		free_node = nodes[id].next;
	} else {
		if (node_count == node_room) {
			node_room = node_room ? 2 * node_room : 1024;
			nodes = realloc(nodes, node_room * sizeof(*nodes));
			if (!nodes)
				abort();
		}
		id = node_count++;
	}
	nodes[id] = (struct node){ .fd = fd, .ino = ino, .next = buckets[ino % BUCKETS] };
	buckets[ino % BUCKETS] = id;
	return id;
}

void forget(uint64_t id, uint64_t lookups)
{
	uint64_t *link;

	if (id == FUSE_ROOT_ID)
		return;
	nodes[id].lookups -= lookups;
	if (nodes[id].lookups)
		return;
	for (link = &buckets[nodes[id].ino % BUCKETS]; *link != id; link = &nodes[*link].next)
		;
	*link = nodes[id].next;
	close(nodes[id].fd);
	nodes[id] = (struct node){ .fd = -1, .next = free_node };
	free_node = id;
}

/*
 * Finds the node of @name, and counts one more lookup of the kernel. Returns 0, or -1 with errno.
 */
int enter(uint64_t parent, const char *name, struct fuse_entry_out *entry)
{
	int fd = openat(fd_of(parent), name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	struct stat stat;
	uint64_t id;

	if (fd < 0)
		return -1;
	if (fstat(fd, &stat)) {
		close(fd);
		return -1;
	}
	id = find_node(stat.st_ino);
	if (id)
		close(fd);
	else
		id = add_node(fd, stat.st_ino);
	nodes[id].lookups++;
	/* A second, as with most servers: only the kernel changes the source. */
	*entry = (struct fuse_entry_out){
		.nodeid = id, .entry_valid = 1, .attr_valid = 1, .attr = attr_of(&stat),
	};
	return 0;
}

void nodes_begin(int root, uint64_t ino)
{
	/* Numbers 0 and 1 are none, and the root's (FUSE_ROOT_ID). */
	add_node(-1, UINT64_MAX);
	add_node(root, ino);
	buckets[UINT64_MAX % BUCKETS] = 0;
	buckets[ino % BUCKETS] = FUSE_ROOT_ID;
}
