// SPDX-License-Identifier: GPL-2.0-only
/*
 * A folder that takes names in any case: entries come with the case that they were made with, and
 * names given in another case are the same files. READTREE reads such a folder, too.
 */
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <linux/fs.h>

#include "lib/disks.h"
#include "lib/request.h"
#include "lib/scratch.h"
#include "lib/test.h"
#include "lib/tree.h"
#include "lib/walk.h"

/* Files in the folder below. */
#define BELOW	3

static char buf[65536] __attribute__((aligned(8)));

/* Other forms of the names that are made. */
static const char *const made[] = { "Folder", "STRASSE", "Ärger", "mixed.Case", "lower", "UPPER" };
static const char *const other[] = { "fOLDER", "Straße", "äRGER", "MIXED.cASE", "LOWER", "upper" };

static void make(int fd, const char *path)
{
	char below[512];
	int folder = tree_folder(path, made[0], below);

	tree_files(folder, "File", BELOW);
	close(folder);
	for (size_t i = 1; i < ARRAY_SIZE(made); i++)
		MUST(mknodat(fd, made[i], S_IFREG | (0600 + i), 0) == 0);
}

/* The names in another case: the same records as with the system calls. */
static void other_names(struct transport *transport, int fd, const char *path)
{
	struct ringwalk_stat_batch batch;
	struct compare compare;
	struct list list = { };
	long got;

	if (transport->device < 0)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(other); i++)
		list_add(&list, other[i], 0, i, 0);
	list_add(&list, "missing", 0, 0, 0);
	batch = request_stat_batch(fd, list.bytes, list.len, buf, sizeof(buf));
	compare = request_compare(transport, fd, path, &batch.fields, 0);
	compare.no_names = true;
	got = transport_call(transport, RINGWALK_IOC_STAT_BATCH, &batch);
	CHECK(got > 0 && batch.entries == list.count, "stat_batch: %ld", got);
	CHECK_NULL(compare_batch(&compare, buf, got > 0 ? got : 0, batch.entries, &list, 0), "names in another case");
	list_free(&list);
}

static void check_all(struct transport *transport, int fd, const char *path, const char *what)
{
	unsigned int folders = request_check_all(transport, fd, path, what);

	if (transport_is_opcode(transport->kind))
		return;
	CHECK(folders == 2, "%s: readtree has read %u folders, not 2", what, folders);
	walk_expect(transport, path, 2, ARRAY_SIZE(made) + 2 + BELOW + 2, what);
}

static void run(struct env *env)
{
	struct transport transport;
	struct scratch scratch;
	struct statx_record stat;
	int flags, fd;
	char path[512];

	transport_open(&transport, env->kind, 0);
	scratch_open(&scratch, env, SCRATCH_FEATURES, NULL);
	fd = tree_folder(scratch.path, "any-case", path);
	MUST(ioctl(fd, FS_IOC_GETFLAGS, &flags) == 0);
	flags |= FS_CASEFOLD_FL;
	MUST(ioctl(fd, FS_IOC_SETFLAGS, &flags) == 0);
	make(fd, path);
	MUST(sys_statx(fd, other[0], 0, STATX_BASIC_STATS, &stat) == 0);
	check_all(&transport, fd, path, "names of any case");
	disks_drop_caches(fd);
	check_all(&transport, fd, path, "names of any case, without caches");
	disks_drop_caches(fd);
	other_names(&transport, fd, path);
	/* The dentries that the names of another case have left. */
	check_all(&transport, fd, path, "names in memory in another case");
	other_names(&transport, fd, path);
	close(fd);
	scratch_close(&scratch);
	transport_close(&transport);
}

const struct test test = {
	.name = "casefold",
	.kinds = BY_ALL,
	.needs = OPCODE_READDIRPLUS,
	.run = run,
};
