// SPDX-License-Identifier: GPL-2.0-only
#include <sys/stat.h>
#include <unistd.h>

#include "nowait.h"
#include "sys.h"
#include "tree.h"

static bool can_nowait(const struct env *env)
{
/* @ours */
	/* The patch for XFS comes after GETDENTS and before READDIRPLUS. */
	if (env->fs == FS_XFS && !transport_has(env->kind, OPCODE_READDIRPLUS))
		return false;
/* @end */
/* @xfs */
	if (env->fs == FS_XFS)
		return true;
/* @end */
	return env->fs == FS_TMPFS || env->fs == FS_EXT;
}

int nowait_folder(const struct env *env, unsigned int count, char *path)
{
	int fd = tree_folder(env->path, "folder", path);

	if (!can_nowait(env))
		test_skip("this file system reads folders by threads");
	tree_files(fd, NOWAIT_PREFIX, count);
	return fd;
}

void nowait_list(int fd, struct list *list)
{
	/* The file system's clock has ticks. */
	for (int i = 0; i < 3; i++) {
		usleep(50000);
		list_read(list, fd);
		if (i < 2)
			list_free(list);
	}
}

struct transport nowait_ring(const struct env *env)
{
	struct transport transport;

	transport_open(&transport, env->kind, 0);
	MUST(io_workers() == 0);
	return transport;
}

void nowait_drop_caches(const char *what)
{
	int error = write_text("/proc/sys/vm/drop_caches", what);

	if (error)
		test_skip("the caches cannot be emptied: %s", strerror(-error));
}

void nowait_evict(const char *path, unsigned int round)
{
	char name[600];
	struct stat info;

	sync();
	nowait_drop_caches("3");
	snprintf(name, sizeof(name), "%s/not-there-%u", path, round);
	MUST(stat(name, &info) < 0 && errno == ENOENT);
}
