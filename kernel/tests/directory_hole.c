// SPDX-License-Identifier: GPL-2.0-only
/*
 * A block of a folder is missing on a damaged disk. The names in it are lost, so no request may say
 * that it has come to the end. All of them fail as getdents64(2) does.
 */
#include <fcntl.h>
#include <unistd.h>

#include "lib/request.h"
#include "lib/scratch.h"
#include "lib/test.h"
#include "lib/tree.h"
#include "lib/walk.h"

/* Some blocks of names, in a folder with an index of hashes. */
#define FILES	400

static char buf[1 << 20] __attribute__((aligned(8)));
static struct transport transport;

/* struct ext4_extent of the kernel (fs/ext4/ext4_extents.h); the machine is little-endian, too. */
struct extent {
	uint32_t block;
	uint16_t len;
	uint16_t start_hi;
	uint32_t start_lo;
};

/*
 * Takes the last block away from an extent of the folder. No checksum covers it (Makefile). It may
 * have a copy that is no longer used, where the extents have moved from the inode to a block.
 */
static void damage(const struct scratch *scratch, const struct scratch_range *range)
{
	unsigned int found = 0;

	for (off_t block = 0; block < (off_t)(scratch->sectors / 2); block++) {
		char content[SCRATCH_BLOCK];
		struct extent extent;

		MUST(pread(scratch->loop, content, sizeof(content), block * SCRATCH_BLOCK) == sizeof(content));
		for (size_t at = 0; at + sizeof(extent) <= sizeof(content); at += sizeof(uint32_t)) {
			memcpy(&extent, content + at, sizeof(extent));
			if (extent.start_hi || extent.start_lo != range->first || extent.len != range->count)
				continue;
			extent.len--;
			memcpy(content + at, &extent, sizeof(extent));
			MUST(pwrite(scratch->loop, content, sizeof(content), block * SCRATCH_BLOCK) == sizeof(content));
			found++;
		}
	}
	MUST(found > 0 && fsync(scratch->loop) == 0);
}

/* The longest range: taking a block away must leave one. */
static const struct scratch_range *longest(const struct scratch_range *ranges, unsigned int count)
{
	const struct scratch_range *found = ranges;

	for (unsigned int i = 1; i < count; i++)
		if (ranges[i].count > found->count)
			found = &ranges[i];
	MUST(found->count > 1);
	return found;
}

/* Reads by READDIRPLUS until the end or an error, which is returned. Counts the entries. */
static long by_readdirplus(int fd, unsigned int *entries)
{
	long got = 1;

	*entries = 0;
	for (bool end = false; got > 0 && !end;) {
		struct ringwalk_readdirplus request = request_readdirplus(fd, buf, sizeof(buf));

		got = transport_call(&transport, RINGWALK_IOC_READDIRPLUS, &request);
		*entries += got > 0 ? request.entries : 0;
		end = request.result_flags & RINGWALK_RESULT_END;
	}
	return got > 0 ? 0 : got;
}

/* READTREE of the folder above: the folder has an error, or is left to the caller. */
static void by_readtree(const char *above)
{
	int fd = open(above, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct ringwalk_readtree request = request_readtree(fd, buf, sizeof(buf));
	const struct ringwalk_group *group;
	long got;

	MUST(fd >= 0);
	got = transport_call(&transport, RINGWALK_IOC_READTREE, &request);
	CHECK(got > 0 && request.result_flags & RINGWALK_RESULT_END, "readtree: %ld", got);
	group = got > 0 ? walk_group_of(&request, got, "folder") : NULL;
	CHECK(!group || group->error == -EUCLEAN, "readtree gives %u entries, and the error %d", group->entries, group->error);
	close(fd);
}

static void compare(const char *path, const char *above)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct list truth, got;
	unsigned int entries;
	long expected, error;

	MUST(fd >= 0);
	expected = list_read_on(&truth, fd);
	MUST(expected == -EUCLEAN && truth.count < FILES + 2);
	MUST(lseek(fd, 0, SEEK_SET) == 0);
	error = request_all_names(&transport, fd, sizeof(buf), &got);
	CHECK(error == expected, "getdents ends with %ld", error);
	/* Not by cookies: at the end of an attempt the same place may have another one. */
	CHECK(got.count == truth.count, "getdents: %zu entries, not %zu", got.count, truth.count);
	for (size_t i = 0; i < truth.count; i++)
		CHECK(list_find(&got, truth.at[i]->d_name) >= 0, "getdents: no %s", truth.at[i]->d_name);
	if (transport_has(transport.kind, OPCODE_READDIRPLUS)) {
		MUST(lseek(fd, 0, SEEK_SET) == 0);
		error = by_readdirplus(fd, &entries);
		CHECK(error == expected && entries == truth.count, "readdirplus: %u entries, then %ld", entries, error);
	}
	if (!transport_is_opcode(transport.kind))
		by_readtree(above);
	list_free(&truth);
	list_free(&got);
	close(fd);
}

static void run(struct env *env)
{
	struct scratch_range ranges[16];
	struct scratch scratch;
	unsigned int count;
	char path[512];
	int fd;

	transport_open(&transport, env->kind, 0);
	scratch_open(&scratch, env, SCRATCH_PLAIN, "errors=continue");
	fd = tree_folder(scratch.path, "folder", path);
	tree_files(fd, "file", FILES);
	count = scratch_ranges(fd, ranges, ARRAY_SIZE(ranges));
	close(fd);
	scratch_unmount(&scratch);
	damage(&scratch, longest(ranges, count));
	scratch_mount(&scratch, "errors=continue");
	compare(path, scratch.path);
	scratch_close(&scratch);
	transport_close(&transport);
}

const struct test test = {
	.name = "directory_hole",
	.kinds = BY_ALL,
	.run = run,
};
