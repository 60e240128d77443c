// SPDX-License-Identifier: GPL-2.0-only
/*
 * A device on which reads or writes fail: requests report what the system calls report, and
 * READAHEAD loses no name that is in memory only, because its block could not be written.
 */
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "lib/disks.h"
#include "lib/request.h"
#include "lib/scratch.h"
#include "lib/test.h"
#include "lib/tree.h"
#include "lib/walk.h"

#define FILES		40
#define LARGE		200
/* Of 256 bytes, in a block of 1024. */
#define INODES_IN_BLOCK	4
#define OPTIONS		"errors=continue"
#define RANGES_MAX	64
/* Folders of fewer blocks are not read ahead by the module. */
#define BLOCKS_MIN	8

static char buf[1 << 16] __attribute__((aligned(8)));
static struct transport transport;
static struct scratch scratch;

/* Makes a folder of many blocks, whose places @ranges gets. Returns how many ranges. */
static unsigned int make_large(const char *path, struct scratch_range *ranges)
{
	static const char filler[] = "a-name-long-enough-that-a-block-holds-few-of-them-and-the-folder-has-many-blocks-";
	int fd = open(path, O_RDONLY | O_DIRECTORY);
	unsigned int count;
	uint64_t blocks = 0;

	MUST(fd >= 0);
	tree_files(fd, filler, LARGE);
	MUST(syncfs(fd) == 0);
	count = scratch_ranges(fd, ranges, RANGES_MAX);
	for (unsigned int i = 0; i < count; i++)
		blocks += ranges[i].count;
	MUST(blocks >= BLOCKS_MIN && count < RANGES_MAX);
	close(fd);
	return count;
}

static bool has_name(const char *path, const char *name)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY);
	struct list list;
	bool has;

	MUST(fd >= 0);
	list_read(&list, fd);
	has = list_find(&list, name) >= 0;
	list_free(&list);
	close(fd);
	return has;
}

/*
 * A block that could not be written is the only good copy of its names. ext4 still uses it. To read
 * it again from the device would bring the old names back.
 */
static void names_in_memory_only(void)
{
	struct scratch_range ranges[RANGES_MAX];
	struct ringwalk_readahead request;
	unsigned int count;
	char path[600];
	int fd, made;
	bool kept;

	snprintf(path, sizeof(path), "%s/large", scratch.path);
	MUST(mkdir(path, 0755) == 0);
	count = make_large(path, ranges);
	fd = open(path, O_RDONLY | O_DIRECTORY);
	MUST(fd >= 0);

	scratch_fails(&scratch, ranges, count);
	made = openat(fd, "new", O_CREAT | O_EXCL | O_WRONLY, 0644);
	MUST(made >= 0);
	close(made);
	sync();
	scratch_works(&scratch);

	request = request_readahead(fd);
	request.off = 0;
	CHECK(transport_call(&transport, RINGWALK_IOC_READAHEAD, &request) == 0, "readahead");
	kept = has_name(path, "new");
	CHECK(kept, "a name is gone after readahead");
	/* The block is written with its next change. */
	MUST(!kept || unlinkat(fd, "new", 0) == 0);
	MUST(mknodat(fd, "newer", S_IFREG | 0644, 0) == 0);
	syncfs(fd);
	disks_drop_caches(fd);
	CHECK(has_name(path, "newer") && !has_name(path, "new"), "the folder is not what was written");
	close(fd);
}

/* Returns the number of records with this error. */
static unsigned int count_errors(const struct ringwalk_readdirplus *request, long len, int error)
{
	struct record record;
	unsigned int count = 0;

	for (const char *at = buf; at < buf + len; at = record.next) {
		if (record_parse(at, buf + len - at, &request->fields, &record))
			break;
		count += record.entry->error == error;
	}
	return count;
}

/* ext4 counts its errors in the superblock, and the next syncfs(2) reports that this failed too. */
static void works_again(int fd)
{
	scratch_works(&scratch);
	syncfs(fd);
}

/*
 * Names are in memory; no inode can be read, but for the few in the block of the folder's own. The
 * file system is mounted again, because Linux 7.3 keeps blocks of inodes when caches are dropped.
 */
static void unreadable_inodes(const char *path)
{
	struct ringwalk_readdirplus plus;
	struct ringwalk_readahead ahead;
	unsigned int errors;
	struct list list;
	long got;
	int fd;

	scratch_unmount(&scratch);
	scratch_mount(&scratch, OPTIONS ",inode_readahead_blks=0");
	fd = open(path, O_RDONLY | O_DIRECTORY);
	MUST(fd >= 0);
	plus = request_readdirplus(fd, buf, sizeof(buf));
	ahead = request_readahead(fd);
	list_read(&list, fd);
	scratch_fails_all(&scratch);
	plus.off = 0;
	got = transport_call(&transport, RINGWALK_IOC_READDIRPLUS, &plus);
	CHECK(got > 0, "readdirplus: %ld", got);
	errors = count_errors(&plus, got, -EIO);
	CHECK(errors > FILES - INODES_IN_BLOCK, "%u entries of %u have the error EIO", errors, FILES);
	plus.off = 0;
	CHECK_NULL(request_compare_rest(&transport, &plus, path, &list, 0), "inodes cannot be read");
	if (!transport_is_opcode(transport.kind)) {
		ahead.off = 0;
		got = transport_call(&transport, RINGWALK_IOC_READAHEAD, &ahead);
		CHECK(got == 0 && ahead.result_flags & RINGWALK_RESULT_END, "readahead: %ld", got);
	}
	works_again(fd);
	plus.off = 0;
	CHECK_NULL(request_compare_rest(&transport, &plus, path, &list, 0), "inodes can be read again");
	list_free(&list);
	close(fd);
}

/* The folder itself cannot be read. Its position stays, and nothing is returned as its end. */
static void unreadable_folder(int fd, const char *path)
{
	struct ringwalk_readdirplus plus = request_readdirplus(fd, buf, sizeof(buf));
	struct list list;

	list_read(&list, fd);
	disks_drop_caches(fd);
	scratch_fails_all(&scratch);
	request_check_error(&transport, fd);
	works_again(fd);
	plus.off = 0;
	CHECK_NULL(request_compare_rest(&transport, &plus, path, &list, 0), "the folder can be read again");
	list_free(&list);
}

/* Inodes are in memory; the blocks of their attributes cannot be read. */
static void unreadable_attributes(int fd, const char *path)
{
	struct ringwalk_readdirplus plus = request_readdirplus(fd, buf, sizeof(buf));
	struct list list;
	long got;

	list_read(&list, fd);
	plus.flags = RINGWALK_F_XATTR_ALL;
	request_xattrs(&plus.fields, NULL, 0, 1000, 1024);
	disks_drop_caches(fd);
	for (size_t i = 0; i < list.count; i++) {
		struct statx_record stat;

		MUST(sys_statx(fd, list.at[i]->d_name, AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS, &stat) == 0);
	}
	scratch_fails_all(&scratch);
	plus.off = 0;
	got = transport_call(&transport, RINGWALK_IOC_READDIRPLUS, &plus);
	CHECK(got > 0 && plus.entries == list.count && !count_errors(&plus, got, -EIO), "readdirplus: %ld, %u entries", got,
	      plus.entries);
	plus.off = 0;
	CHECK_NULL(request_compare_rest(&transport, &plus, path, &list, 0), "attributes cannot be read");
	works_again(fd);
	plus.off = 0;
	CHECK_NULL(request_compare_rest(&transport, &plus, path, &list, 0), "attributes can be read again");
	list_free(&list);
}

/*
 * READTREE of a folder with three others, while blocks of two cannot be read. These two do not look
 * whole. The third one is returned.
 */
static void broken_below(int fd, const struct scratch_range *small, uint64_t large)
{
	struct scratch_range block = { .first = large, .count = 1 }, ranges[2] = { *small, block };
	struct ringwalk_readtree request = request_readtree(fd, buf, sizeof(buf));
	const struct ringwalk_group *group;
	long got;

	if (large < small->first) {
		ranges[0] = block;
		ranges[1] = *small;
	}
	request.off = 0;
	disks_drop_caches(fd);
	scratch_fails(&scratch, ranges, 2);
	got = transport_call(&transport, RINGWALK_IOC_READTREE, &request);
	works_again(fd);
	CHECK(got > 0, "readtree: %ld", got);
	if (got <= 0)
		return;
	group = walk_group_of(&request, got, "small");
	CHECK(group && group->error == -EIO && !group->entries, "all blocks are unreadable: error %d, %u entries",
	      group ? group->error : 0, group ? group->entries : 0);
	/* Without a group it is left to the caller, who reads up to the error. */
	group = walk_group_of(&request, got, "large");
	CHECK(!group || (group->error == -EIO && !group->entries), "block %ju is unreadable: error %d, %u entries",
	      (uintmax_t)large, group ? group->error : 0, group ? group->entries : 0);
	group = walk_group_of(&request, got, "good");
	CHECK(group && !group->error && group->entries == FILES + 2, "the other folder: error %d, %u entries",
	      group ? group->error : 0, group ? group->entries : 0);
}

/* Two folders below are damaged: of one no block can be read, of the other one block cannot. */
static void unreadable_below(void)
{
	struct scratch_range small, large[RANGES_MAX];
	char path[512], below[512];
	int fd = tree_folder(scratch.path, "tree", path), folder;
	unsigned int count;

	folder = tree_folder(path, "small", below);
	tree_files(folder, "file", 3);
	MUST(syncfs(folder) == 0 && scratch_ranges(folder, &small, 1) == 1);
	close(folder);
	folder = tree_folder(path, "good", below);
	tree_files(folder, "file", FILES);
	close(folder);
	close(tree_folder(path, "large", below));
	count = make_large(below, large);

	broken_below(fd, &small, large[0].first);
	broken_below(fd, &small, large[count / 2].first + large[count / 2].count / 2);
	walk_expect(&transport, path, 4, 5 + 5 + FILES + 2 + LARGE + 2, "the blocks are readable again");
	close(fd);
}

static void reads(void)
{
	char path[512], name[32], value[700];
	int fd = tree_folder(scratch.path, "reads", path);

	tree_files(fd, "file", FILES);
	for (int i = 0; i < FILES; i++) {
		/* Attributes of equal content would share a block. */
		memset(value, 'a' + i, sizeof(value));
		snprintf(name, sizeof(name), "file%06u", i);
		MUST(tree_xattr(path, name, "user.long", value, sizeof(value)));
	}
	close(fd);
	unreadable_inodes(path);
	fd = open(path, O_RDONLY | O_DIRECTORY);
	MUST(fd >= 0);
	unreadable_folder(fd, path);
	unreadable_attributes(fd, path);
	close(fd);
}

static void run(struct env *env)
{
	transport_open(&transport, env->kind, 0);
	scratch_open(&scratch, env, SCRATCH_PLAIN, OPTIONS);
	if (!transport_is_opcode(env->kind))
		names_in_memory_only();
	reads();
	/* All transports do the same once they have the folder, so one of them is enough. */
	if (!transport_is_opcode(env->kind) && (env->full || env->kind == TRANSPORT_IOCTL)) {
		/* After the errors above, ext4 may refuse to make folders. */
		scratch_close(&scratch);
		scratch_open(&scratch, env, SCRATCH_PLAIN, OPTIONS);
		unreadable_below();
	}
	scratch_close(&scratch);
	transport_close(&transport);
}

const struct test test = {
	.name = "device_errors",
	.kinds = BY_ALL,
	.needs = OPCODE_READDIRPLUS,
	.run = run,
};
