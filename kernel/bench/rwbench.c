// SPDX-License-Identifier: GPL-2.0-only
/*
 * Walks a tree in one thread and reads its directories in one of several ways, to measure the cost
 * of that way.
 *
 *   rwbench [--buffer BYTES] [--readahead WAY] [--depth N] names|stat|xattrs HOW DIR
 *
 * HOW is syscall, ioctl, ring, opcode, tree, statx, statx-async or statx-sorted.
 *
 *   names   names only: getdents64, or GETDENTS of the module or the patched kernel
 *   stat    names, types and sizes: getdents64 and one statx an entry, or READDIRPLUS
 *   xattrs  the same with all extended attributes: also a listxattrat an entry and a getxattrat an
 *           attribute, or READDIRPLUS
 *   statx   of the patched kernel, with stat only: GETDENTS, and a STATX on a ring for each entry
 *           of the buffer, at most N in flight; with N = 0 a statx(2)
 *   statx-async   the same, but each STATX runs in a thread of the kernel
 *   statx-sorted  the same as statx, for a whole directory at a time in the order of inode numbers
 *   tree    with stat only: READTREE of the module, many directories at a time
 *
 * The walk, the buffer and the wanted fields are the same for all. A way that reports the end of a
 * directory saves the call that would return 0, as it does for any caller. With --readahead
 * READAHEAD first brings in the entries of each directory, a piece ahead of the reading. WAY is
 * module; blocks+module, where root first has the blocks of the directory read from the device; or
 * fadvise, which brings in only these blocks.
 *
 * Prints "E entries, B bytes, D directories, C calls, R s real, U s user, S s system".
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "nodes.h"
#include "readahead.h"
#include "readers.h"
#include "statx.h"
#include "trees.h"
#include "xattrs.h"

const char *program = "rwbench";

static const struct reader *reader;
static bool with_stat;
static uint64_t entries, bytes, directories, calls;

static void count(struct node *parent, const char *name, uint64_t size, bool is_dir)
{
	entries++;
	bytes += size;
	if (is_dir)
		push_node(parent, name);
}

static void count_name(struct node *parent, const struct dirent_record *record)
{
	struct statx st;

	if (!with_stat && record->type != TYPE_UNKNOWN) {
		count(parent, record->name, 0, record->type == TYPE_DIR);
		return;
	}
	if (with_xattrs)
		bytes += xattrs_by_calls(parent->fd, record->name);
	if (syscall(SYS_statx, parent->fd, record->name, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, WANTED, &st)) {
		if (errno != ENOENT)
			die(record->name);
		return;
	}
	count(parent, record->name, with_stat ? st.stx_size : 0, (st.stx_mode & MODE_TYPE) == MODE_DIR);
}

static void count_statx(void *parent, const char *name, const struct statx *st)
{
	count(parent, name, st->stx_size, (st->stx_mode & MODE_TYPE) == MODE_DIR);
}

static void count_names(struct node *parent, struct batch batch)
{
	for (size_t at = 0; at < batch.bytes;) {
		const struct dirent_record *record = (const void *)(batch.buffer + at);

		at += record->reclen;
		if (is_dot(record->name))
			continue;
		readahead_before_entry();
		count_name(parent, record);
	}
}

static void count_entries(struct node *parent, struct batch batch)
{
	for (size_t at = 0; at < batch.bytes;) {
		const struct ringwalk_entry *entry = (const void *)(batch.buffer + at);
		const char *name = entry_name(entry);

		at += entry->reclen;
		if (is_dot(name))
			continue;
		if (entry->error == -ENOENT)
			continue;
		if (entry->error)
			die_of(name, entry->error);
		bytes += xattrs_of_record(entry);
		count(parent, name, entry_stat(entry)->size,
		      (entry_stat(entry)->mode & MODE_TYPE) == MODE_DIR);
	}
}

static void count_batch(struct node *node, struct batch batch)
{
	switch (reader->records) {
	case NAMES:
		count_names(node, batch);
		break;
	case NAMES_STATX:
		statx_records(node->fd, batch.buffer, batch.bytes, count_statx, node);
		break;
	case NAMES_STATX_SORTED:
		statx_keep(batch.buffer, batch.bytes);
		break;
	case PLUS:
		count_entries(node, batch);
		break;
	}
}

static void count_tree_entry(const struct ringwalk_entry *entry)
{
	entries++;
	bytes += entry_stat(entry)->size;
}

static void read_directory(struct node *node)
{
	struct batch batch;

	if (!reader->fill) {
		directories += read_trees(node, count_tree_entry, &calls);
		return;
	}

	readahead_begin(node->fd);
	do {
		batch = reader->fill(node->fd);
		calls++;
		count_batch(node, batch);
	} while (!batch.end);
	if (reader->records == NAMES_STATX_SORTED)
		statx_kept(node->fd, count_statx, node);
	readahead_end();
	directories++;
}

static void close_if(int fd)
{
	if (fd >= 0)
		close(fd);
}

static void walk(const char *root)
{
	struct node *node;

	push_node(NULL, root);
	while ((node = pop_node())) {
		node->fd = openat(parent_fd(node), node->name,
				  O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (node->fd < 0)
			die(node->name);
		close_if(drop_node(node->parent));
		read_directory(node);
		close_if(drop_node(node));
	}
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec + time.tv_nsec / 1e9;
}

static double seconds(struct timeval time)
{
	return time.tv_sec + time.tv_usec / 1e6;
}

static int usage(void)
{
	fprintf(stderr, "usage: rwbench [--buffer BYTES] [--readahead module|blocks+module|fadvise] [--depth N] WHAT HOW DIR; WHAT HOW is one of\n");
	for (const struct reader *each = readers; each->what; each++)
		fprintf(stderr, "  %s %s\n", each->what, each->how);
	return 2;
}

static bool set_option(const char *name, const char *value)
{
	char *end;
	unsigned long size;

	if (!strcmp(name, "--readahead"))
		return readahead_start(value);
	size = strtoul(value, &end, 10);
	if (!strcmp(name, "--depth")) {
		statx_depth = size;
		return !*end && size <= STATX_DEPTH_MOST;
	}
	if (strcmp(name, "--buffer"))
		return false;
	buffer_size = size;
	return !*end && size >= 1024 && size <= BUFFER_MOST;
}

int main(int argc, char **argv)
{
	double start = now();
	struct rusage used;

	while (argc > 2 && !strncmp(argv[1], "--", 2)) {
		if (!set_option(argv[1], argv[2]))
			return usage();
		argc -= 2;
		argv += 2;
	}
	if (argc != 4)
		return usage();
	reader = find_reader(argv[1], argv[2]);
	if (!reader)
		return usage();
	with_xattrs = !strcmp(reader->what, "xattrs");
	with_stat = with_xattrs || !strcmp(reader->what, "stat");
	raise_file_limit();
	reader->start();
	walk(argv[3]);
	getrusage(RUSAGE_SELF, &used);
	printf("%llu entries, %llu bytes, %llu directories, %llu calls, %.6f s real, %.6f s user, %.6f s system\n",
	       (unsigned long long)entries, (unsigned long long)bytes, (unsigned long long)directories,
	       (unsigned long long)calls, now() - start, seconds(used.ru_utime), seconds(used.ru_stime));
	return 0;
}
