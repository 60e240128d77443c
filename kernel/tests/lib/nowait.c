// SPDX-License-Identifier: GPL-2.0-only
#include "nowait.h"
#include "tree.h"

/* The patch for XFS comes after GETDENTS and before READDIRPLUS. */
static bool can_nowait(const struct env *env)
{
	return env->fs == FS_TMPFS || env->fs == FS_EXT ||
	       (env->fs == FS_XFS && transport_has(env->kind, OPCODE_READDIRPLUS));
}

int nowait_folder(const struct env *env, unsigned int count, char *path)
{
	int fd = tree_folder(env->path, "folder", path);

	if (!can_nowait(env))
		test_skip("this file system reads folders by threads");
	tree_files(fd, NOWAIT_PREFIX, count);
	return fd;
}
