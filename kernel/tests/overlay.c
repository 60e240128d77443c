// SPDX-License-Identifier: GPL-2.0-only
/*
 * overlayfs reads its lower directories with its own reader. Its entries are those of getdents64(2)
 * and statx(2) on any lower file system. A file system may fill the buffer of a reader, so this
 * reader must declare its size.
 */
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/request.h"
#include "lib/test.h"
#include "lib/tree.h"

static struct transport transport;

/* Two folders, one over the other, with a name that both have. */
static void merged(struct env *env)
{
	unsigned int files = env->fs == FS_FUSE ? 60 : 400;
	char lower[512], upper[512], path[512], options[1100];
	int fd = tree_folder(env->path, "lower", lower);
	struct list list;

	tree_files(fd, "a-file-with-a-name-that-is-not-short-", files);
	MUST(mkdirat(fd, "folder", 0755) == 0);
	close(fd);
	fd = tree_folder(env->path, "upper", upper);
	tree_files(fd, "another-", 5);
	MUST(mknodat(fd, "a-file-with-a-name-that-is-not-short-000001", S_IFREG | 0600, 0) == 0);
	close(fd);
	close(tree_folder(env->path, "merged", path));
	snprintf(options, sizeof(options), "lowerdir=%s:%s", upper, lower);
	if (mount("overlay", path, "overlay", MS_RDONLY, options))
		test_skip("no overlayfs here: %s", strerror(errno));
	MUST((fd = open(path, O_RDONLY | O_DIRECTORY)) >= 0);
	list_read_apart(&list, fd);
	CHECK(list.count == files + 5 + 3, "%zu names, not %u", list.count, files + 5 + 3);
	for (uint32_t len = 512; len <= 65536; len *= 128) {
		MUST(lseek(fd, 0, SEEK_SET) == 0);
		request_check_names(&transport, fd, len, &list, 0, "merged folders");
	}
	list_free(&list);
	request_check_all(&transport, fd, path, "merged folders");
	close(fd);
}

static void run(struct env *env)
{
	tree_own_mounts();
	transport_open(&transport, env->kind, 0);
	merged(env);
	transport_close(&transport);
}

const struct test test = {
	.name = "overlay",
	.each_fs = true,
	.kinds = BY_ALL,
	.run = run,
};
