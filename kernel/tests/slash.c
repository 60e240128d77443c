// SPDX-License-Identifier: GPL-2.0-only
/*
 * A name on the disk contains a slash. Requests refuse it as getdents64(2) does, and look nothing
 * up outside of the folder.
 */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/disks.h"
#include "lib/request.h"
#include "lib/scratch.h"
#include "lib/test.h"
#include "lib/tree.h"

#define FILES	30

/* The name that is made, and what it becomes on the disk: it would leave the folder. */
#define MADE	"..Xsecret-beside"
#define DAMAGED	"../secret-beside"

static char buf[65536] __attribute__((aligned(8)));
static struct transport transport;

/* Replaces the name in the folder's blocks. No checksum covers them (Makefile). */
static void damage(const struct scratch *scratch, const struct scratch_range *ranges, unsigned int count)
{
	unsigned int found = 0;

	for (unsigned int i = 0; i < count; i++)
		for (uint64_t block = ranges[i].first; block < ranges[i].first + ranges[i].count; block++) {
			char content[SCRATCH_BLOCK], *at;

			MUST(pread(scratch->loop, content, sizeof(content), block * SCRATCH_BLOCK) == sizeof(content));
			at = memmem(content, sizeof(content), MADE, strlen(MADE));
			if (!at)
				continue;
			memcpy(at, DAMAGED, strlen(DAMAGED));
			MUST(pwrite(scratch->loop, content, sizeof(content), block * SCRATCH_BLOCK) == sizeof(content));
			found++;
		}
	MUST(found == 1 && fsync(scratch->loop) == 0);
}

static long by_readdirplus(int fd, const char *path, const struct list *truth)
{
	struct ringwalk_readdirplus plus = request_readdirplus(fd, buf, sizeof(buf));
	struct compare compare = request_compare(&transport, fd, path, &plus.fields, 0);
	size_t at = 0;
	long got;

	while ((got = transport_call(&transport, RINGWALK_IOC_READDIRPLUS, &plus)) > 0) {
		CHECK_NULL(compare_batch(&compare, buf, got, plus.entries, truth, at), "readdirplus");
		at += plus.entries;
	}
	CHECK(at == truth->count, "readdirplus: %zu entries, not %zu", at, truth->count);
	return got;
}

static void compare(const char *path)
{
	struct ringwalk_readahead ahead;
	struct list truth, got;
	long expected, error;
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	MUST(fd >= 0);
	expected = list_read_on(&truth, fd);
	MUST(expected == -EIO && truth.count < FILES + 3);
	MUST(lseek(fd, 0, SEEK_SET) == 0);
	error = request_all_names(&transport, fd, sizeof(buf), &got);
	CHECK(error == expected, "getdents ends with %ld", error);
	CHECK_NULL(list_differs(&got, &truth, 0), "getdents");
	MUST(lseek(fd, 0, SEEK_SET) == 0);
	error = by_readdirplus(fd, path, &truth);
	CHECK(error == expected, "readdirplus ends with %ld", error);
	if (!transport_is_opcode(transport.kind)) {
		ahead = request_readahead(fd);
		ahead.off = 0;
		error = transport_call(&transport, RINGWALK_IOC_READAHEAD, &ahead);
		CHECK(error == -EIO ||
		      (error == 0 && ahead.entries <= truth.count && !(ahead.result_flags & RINGWALK_RESULT_END)),
		      "readahead: %ld, %u entries", error, ahead.entries);
	}
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
	close(tree_folder(scratch.path, "secret-beside", path));
	fd = tree_folder(scratch.path, "folder", path);
	tree_files(fd, "file", FILES);
	MUST(mkdirat(fd, MADE, 0755) == 0);
	count = scratch_ranges(fd, ranges, ARRAY_SIZE(ranges));
	close(fd);
	scratch_unmount(&scratch);
	damage(&scratch, ranges, count);
	scratch_mount(&scratch, "errors=continue");
	compare(path);
	scratch_close(&scratch);
	transport_close(&transport);
}

const struct test test = {
	.name = "slash",
	.kinds = BY_ALL,
	.needs = OPCODE_READDIRPLUS,
	.run = run,
};
