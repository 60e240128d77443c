// SPDX-License-Identifier: GPL-2.0-only
#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include "test.h"
#include "walk.h"

static const struct ringwalk_group *group_at(const struct ringwalk_readtree *request, uint32_t at)
{
	return (void *)(uintptr_t)(request->buf + at);
}

/* Writes the path of a group's directory, below @path. */
static void path_of(const struct ringwalk_readtree *request, const char *path, const struct ringwalk_group *group, char *out)
{
	const char *output = (const char *)(uintptr_t)request->buf;
	const struct ringwalk_group *above;
	struct record record;
	char parent[512];
	uint32_t at = 0;

	if (!group->parent) {
		snprintf(out, 512, "%s", path);
		return;
	}
	/* The group that has the record of the directory. */
	while (at + group_at(request, at)->reclen <= group->parent)
		at += group_at(request, at)->reclen;
	above = group_at(request, at);
	MUST(above < group && above->depth + 1 == group->depth);
	CHECK_NULL(record_parse(output + group->parent, at + above->reclen - group->parent, &request->fields, &record),
		   "the record of a group's directory");
	CHECK(record.entry->flags & RINGWALK_ENTRY_READ, "%s is read and not marked", record.name);
	path_of(request, path, above, parent);
	snprintf(out, 512, "%s/%s", parent, record.name);
}

/* Directories that were not read come later. Returns how many records are marked as read. */
static unsigned int collect_unread(struct walk *walk, const struct ringwalk_readtree *request, const char *path,
				   const struct ringwalk_group *group)
{
	const char *at = (char *)(group + 1), *end = (char *)group + group->reclen;
	unsigned int marked = 0;
	struct record record;

	for (; at < end; at = record.next) {
		const char *malformed = record_parse(at, end - at, &request->fields, &record);

		CHECK_NULL(malformed, "a record in %s", path);
		if (malformed)
			return marked;
		if (record.entry->flags & RINGWALK_ENTRY_READ)
			marked++;
		if (record.entry->d_type != DT_DIR || record.entry->flags & RINGWALK_ENTRY_READ || record.entry->error ||
		    !strcmp(record.name, ".") || !strcmp(record.name, ".."))
			continue;
		MUST(walk->pending_count < WALK_PENDING);
		snprintf(walk->pending[walk->pending_count++], 512, "%s/%s", path, record.name);
	}
	return marked;
}

/* Compares a group with the system calls. That of the requests' directory may be one of several. */
static void check_group(struct walk *walk, const struct ringwalk_readtree *request, const struct ringwalk_group *group,
			const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
	struct compare compare = request_compare(walk->transport, fd, path, &request->fields, request->flags);
	size_t first = group->parent ? 0 : walk->first;
	struct list list;

	CHECK(!group->reserved, "reserved bytes of %s", path);
	if (group->error) {
		CHECK(group->error == (fd < 0 ? -errno : 0), "%s: %s", path, strerror(-group->error));
		CHECK(group->reclen == sizeof(*group) && !group->entries && !group->flags, "%s has an error and entries", path);
		walk->failed++;
		return;
	}
	MUST(fd >= 0);
	list_read(&list, fd);
	CHECK_NULL(compare_batch(&compare, group + 1, group->reclen - sizeof(*group), group->entries, &list, first), "%s", path);
	if (group->flags & RINGWALK_RESULT_END)
		CHECK(first + group->entries == list.count, "%s: %zu entries, not %zu", path, first + group->entries, list.count);
	else
		CHECK(!group->parent, "%s is given in part", path);
	list_free(&list);
	close(fd);
}

void walk_output(struct walk *walk, const struct ringwalk_readtree *request, const char *path, long got)
{
	uint32_t groups = 0, entries = 0, marked = 0;

	for (uint32_t at = 0; at < got;) {
		const struct ringwalk_group *group = group_at(request, at);
		char directory[512];

		MUST(group->reclen >= sizeof(*group) && group->reclen % 8 == 0 && group->reclen <= got - at);
		MUST(!at == !group->parent && group->depth <= request->max_depth);
		path_of(request, path, group, directory);
		check_group(walk, request, group, directory);
		marked += collect_unread(walk, request, directory, group);
		if (!at)
			walk->first += group->entries;
		if (group->flags & RINGWALK_RESULT_END || group->error)
			walk->directories++;
		groups++;
		entries += group->entries;
		at += group->reclen;
	}
	walk->entries += entries;
	if (got < 0)
		return;
	CHECK(groups == request->groups && entries == request->entries, "%u groups of %u, %u entries of %u", groups,
	      request->groups, entries, request->entries);
	CHECK(marked + 1 == groups, "%u groups, and %u records are marked as read", groups, marked);
	CHECK(!request->max_entries || entries <= request->max_entries, "%u entries, not %u", entries, request->max_entries);
	CHECK(groups && request->result_flags == group_at(request, 0)->flags, "flags 0x%x", request->result_flags);
}

const struct ringwalk_group *walk_group_of(const struct ringwalk_readtree *request, long got, const char *name)
{
	const struct ringwalk_group *root = group_at(request, 0);
	const char *output = (const char *)root, *at = (const char *)(root + 1);
	struct record record = { .name = "" };

	while (at < output + root->reclen) {
		if (record_parse(at, output + root->reclen - at, &request->fields, &record) || !strcmp(record.name, name))
			break;
		at = record.next;
	}
	MUST(!strcmp(record.name, name));
	for (uint32_t next = root->reclen; next < got; next += group_at(request, next)->reclen) {
		MUST(group_at(request, next)->reclen >= sizeof(*root));
		if (group_at(request, next)->parent == at - output) {
			CHECK(record.entry->flags & RINGWALK_ENTRY_READ, "%s is read and not marked", name);
			return group_at(request, next);
		}
	}
	CHECK(!(record.entry->flags & RINGWALK_ENTRY_READ), "%s is marked and not read", name);
	return NULL;
}

long walk_request(struct walk *walk, struct ringwalk_readtree *request, const char *path)
{
	long got = transport_call(walk->transport, RINGWALK_IOC_READTREE, request);

	walk->requests++;
	walk_output(walk, request, path, got);
	return got;
}

void walk_begin(struct walk *walk)
{
	walk->directories = walk->requests = walk->failed = walk->pending_count = 0;
	walk->entries = walk->first = 0;
}

void walk_on(struct walk *walk, const struct ringwalk_readtree *like, const char *path)
{
	struct ringwalk_readtree request;
	long got;

	do {
		request = *like;
		got = walk_request(walk, &request, path);
		CHECK(got > 0 || got == -EINTR, "%s: %ld", path, got);
		if (got <= 0 && got != -EINTR)
			return;
	} while (!(request.result_flags & RINGWALK_RESULT_END));
}

void walk_rest(struct walk *walk, const struct ringwalk_readtree *like)
{
	struct ringwalk_readtree request = *like;

	while (walk->pending_count) {
		char path[512];

		snprintf(path, sizeof(path), "%s", walk->pending[--walk->pending_count]);
		request.fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
		if (request.fd < 0) {
			walk->failed++;
			walk->directories++;
			continue;
		}
		walk->first = 0;
		walk_on(walk, &request, path);
		close(request.fd);
	}
}

void walk_all(struct walk *walk, const char *folder, const struct ringwalk_readtree *like)
{
	walk_begin(walk);
	snprintf(walk->pending[walk->pending_count++], 512, "%s", folder);
	walk_rest(walk, like);
}

void walk_expect(struct transport *transport, const char *folder, unsigned int directories, uint64_t entries,
		 const char *what)
{
	static char buf[65536] __attribute__((aligned(8)));
	static struct walk walk;
	struct ringwalk_readtree like = request_readtree(-1, buf, sizeof(buf));

	walk.transport = transport;
	walk_all(&walk, folder, &like);
	CHECK(walk.directories == directories && !walk.failed && walk.entries == entries,
	      "%s: %u directories, %u with an error, %ju entries", what, walk.directories, walk.failed, (uintmax_t)walk.entries);
}
