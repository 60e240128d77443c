// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "common.h"
#include "readers.h"
#include "trees.h"

/* More groups than an output can have. */
#define GROUPS_MOST (RINGWALK_BUFFER_MAX / sizeof(struct ringwalk_group))

static char output[RINGWALK_BUFFER_MAX] __attribute__((aligned(64)));
static uint32_t groups[GROUPS_MOST + 1];
static uint32_t group_count;

/* The result of a request: bytes of groups in the output. `end` is set if nothing is left. */
struct trees {
	uint32_t filled;
	bool end;
};

static int module;

void start_trees(void)
{
	module = open_module();
}

static struct trees request_trees(int fd)
{
	struct ringwalk_readtree request = {
		.size = sizeof(request),
		.fd = fd,
		.len = sizeof(output),
		.buf = (uintptr_t)output,
		.off = RINGWALK_OFF_CURRENT,
		.max_depth = UINT32_MAX,
		.fields.mask = WANTED,
	};
	int filled = ioctl(module, RINGWALK_IOC_READTREE, &request);

	if (filled < 0)
		die("RINGWALK_IOC_READTREE");
	return (struct trees){ filled, request.result_flags & RINGWALK_RESULT_END };
}

static const struct ringwalk_group *group_at(uint32_t at)
{
	return (const void *)(output + at);
}

/* Returns the group that has the record at this place. */
static uint32_t group_of(uint32_t record)
{
	uint32_t low = 0, high = group_count;

	while (high - low > 1) {
		uint32_t middle = (low + high) / 2;

		if (groups[middle] <= record)
			low = middle;
		else
			high = middle;
	}
	return groups[low];
}

/* Writes the path of the record at this place before @end, and returns its beginning. */
static char *path_before(char *end, uint32_t record)
{
	*--end = '\0';
	for (;;) {
		const struct ringwalk_entry *entry = (const void *)(output + record);

		end -= entry->name_len;
		memcpy(end, entry_name(entry), entry->name_len);
		record = group_at(group_of(record))->parent;
		if (!record)
			return end;
		*--end = '/';
	}
}

static void push_unread(struct node *node, const struct ringwalk_entry *entry)
{
	static char path[1 << 16];

	if (entry->d_type == TYPE_DIR && !(entry->flags & RINGWALK_ENTRY_READ))
		push_node(node, path_before(path + sizeof(path), (const char *)entry - output));
}

static void read_group(struct node *node, uint32_t at, tree_entry each)
{
	const struct ringwalk_group *group = group_at(at);
	const char *record = (const char *)(group + 1);
	const char *end = (const char *)group + group->reclen;

	if (group->error)
		die_of("a subdirectory", group->error);
	while (record < end) {
		const struct ringwalk_entry *entry = (const void *)record;

		record += entry->reclen;
		if (is_dot(entry_name(entry)))
			continue;
		if (entry->error)
			die_of(entry_name(entry), entry->error);
		each(entry);
		push_unread(node, entry);
	}
}

uint64_t read_trees(struct node *node, tree_entry each, uint64_t *calls)
{
	struct trees trees;
	uint64_t read = 0;

	do {
		uint32_t at;

		trees = request_trees(node->fd);
		++*calls;
		group_count = 0;
		for (at = 0; at < trees.filled; at += group_at(at)->reclen)
			groups[group_count++] = at;
		for (at = 0; at < group_count; at++)
			read_group(node, groups[at], each);
		read += group_count - 1;
	} while (!trees.end);
	return read + 1;
}
