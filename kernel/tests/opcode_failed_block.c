// SPDX-License-Identifier: GPL-2.0-only
/*
 * ext4: a block of a directory cannot be read once. A reader that goes on afterwards gets every
 * name once. Kernels before the operations of io_uring take the names that were read before the
 * error for all of them, so the test is for those with operations, although it makes no request.
 */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/disks.h"
#include "lib/list.h"
#include "lib/scratch.h"
#include "lib/test.h"
#include "lib/tree.h"

#define RANGES_MAX	512
/* A hash tree of one level, and one of two: a block of 1 KiB points to about 120 others. */
#define FEW		60
#define FEW_FULL	120
#define MANY		1700

static const char filler[] =
	"a-name-long-enough-that-a-block-holds-few-of-them-and-the-tree-grows-another-level-";
static struct scratch scratch;

/* Returns true for an index block: one entry without a name. The root of the tree is none. */
static bool is_index(uint64_t block)
{
	struct {
		uint32_t inode;
		uint16_t rec_len;
	} head;
	int fd = open(scratch.lower, O_RDONLY | O_CLOEXEC);

	MUST(fd >= 0);
	MUST(pread(fd, &head, sizeof(head), block * SCRATCH_BLOCK) == sizeof(head));
	close(fd);
	return head.inode == 0 && head.rec_len == SCRATCH_BLOCK;
}

/* Counts the names in @seen. Returns the bytes, 0 at the end, or a negative errno. */
static long read_piece(int fd, struct list *list, unsigned char *seen)
{
	static char buf[4096] __attribute__((aligned(8)));
	long got = sys_getdents64(fd, buf, sizeof(buf));

	for (long at = 0; at < got;) {
		struct dirent_record *record = (void *)(buf + at);
		long number = list_find(list, record->d_name);

		CHECK(number >= 0, "%s is not in the directory", record->d_name);
		if (number >= 0)
			seen[number]++;
		at += record->d_reclen;
	}
	return got;
}

/*
 * Reads the directory while the block cannot be read, and goes on after the first error. With
 * @again the open directory was read to its end before, and ext4 remembers that end.
 */
static void read_past(const char *path, uint64_t block, struct list *list, bool again)
{
	static const char *const before[] = { "", ", read before" };
	struct scratch_range range = { .first = block, .count = 1 };
	unsigned char *seen = calloc(list->count, 1);
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	unsigned int lost = 0, twice = 0, errors = 0, pieces = 0;
	long got;

	MUST(fd >= 0 && seen);
	if (again) {
		struct list first;

		list_read(&first, fd);
		list_free(&first);
		MUST(lseek(fd, 0, SEEK_SET) == 0);
	}
	disks_drop_caches(fd);
	scratch_fails(&scratch, &range, 1);
	do {
		got = read_piece(fd, list, seen);
		if (got == -EIO && !errors++) {
			scratch_works(&scratch);
			got = 1;
		}
	} while (got > 0 && pieces++ < 4 * MANY);
	scratch_works(&scratch);

	CHECK(got == 0, "block %ju%s: %ld after the error", (uintmax_t)block, before[again], got);
	CHECK(errors == 1, "block %ju%s was not read: the test proves nothing", (uintmax_t)block,
	      before[again]);
	for (size_t i = 0; i < list->count; i++) {
		lost += seen[i] == 0;
		twice += seen[i] > 1;
	}
	CHECK(!lost && !twice, "block %ju%s: of %zu names %u are lost and %u came twice",
	      (uintmax_t)block, before[again], list->count, lost, twice);
	free(seen);
	close(fd);
}

/* Tries each index block of a directory of @files files, or each other block. */
static void try_blocks(const char *name, unsigned int files, bool index)
{
	static struct scratch_range ranges[RANGES_MAX];
	unsigned int count, tried = 0;
	struct list list;
	char path[600];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", scratch.path, name);
	MUST(mkdir(path, 0755) == 0);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	MUST(fd >= 0);
	tree_files(fd, filler, files);
	MUST(syncfs(fd) == 0);
	count = scratch_ranges(fd, ranges, RANGES_MAX);
	MUST(count > 0 && count < RANGES_MAX);
	list_read(&list, fd);
	close(fd);

	for (unsigned int i = 0; i < count; i++)
		for (uint64_t at = 0; at < ranges[i].count; at++) {
			uint64_t block = ranges[i].first + at;

			if (is_index(block) != index)
				continue;
			read_past(path, block, &list, false);
			read_past(path, block, &list, true);
			tried++;
		}
	CHECK(tried > 0, "no block of %s was tried", name);
	list_free(&list);
}

static void run(struct env *env)
{
	scratch_open(&scratch, env, SCRATCH_PLAIN, "errors=continue");
	try_blocks("few", env->full ? FEW_FULL : FEW, false);
	try_blocks("many", MANY, true);
	scratch_close(&scratch);
}

const struct test test = {
	.name = "opcode_failed_block",
	.kinds = BY_OPCODE,
	.one_kind = true,
	.run = run,
};
