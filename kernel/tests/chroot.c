// SPDX-License-Identifier: GPL-2.0-only
/* Entries above the caller's root have their name only, as getdents64(2) returns it. */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/request.h"
#include "lib/test.h"
#include "lib/tree.h"

static char buf[1 << 16] __attribute__((aligned(8)));

static void compare_folder(struct transport *transport, int fd, const char *path, const char *what)
{
	struct ringwalk_readdirplus plus = request_readdirplus(fd, buf, sizeof(buf));
	struct list list;

	list_read_apart(&list, fd);
	plus.off = 0;
	plus.fields.mask = request_stat_mask(transport);
	CHECK_NULL(request_compare_rest(transport, &plus, path, &list, 0), "%s", what);
	list_free(&list);
}

/* ".." must come without metadata (compare.c checks that), and must be refused as a name. */
static void no_parent(struct transport *transport, int fd, const char *what)
{
	static const char *const names[] = { "..", "../..", "../outside", "/outside" };
	static const int errors[] = { -EXDEV, -EINVAL, -EINVAL, -EINVAL };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct ringwalk_stat_batch batch;
		struct record record;
		struct list list = { };
		long got;

		list_add(&list, names[i], 0, 0, 4);
		batch = request_stat_batch(fd, list.bytes, list.len, buf, sizeof(buf));
		got = transport_call(transport, RINGWALK_IOC_STAT_BATCH, &batch);
		CHECK(got > 0, "%s of %s: %ld", names[i], what, got);
		if (got > 0 && !record_parse(buf, got, &batch.fields, &record))
			CHECK(record.entry->error == errors[i] && !record.stat, "%s of %s: error %d", names[i], what,
			      record.entry->error);
		list_free(&list);
	}
}

static void inside(struct env *env)
{
	struct transport transport;
	struct list list;
	char path[600];
	int root, outside = env->fd;

	snprintf(path, sizeof(path), "%s/jail", env->path);
	MUST(chroot(path) == 0 && chdir("/") == 0);
	transport_open(&transport, env->kind, 0);
	root = open("/", O_RDONLY | O_DIRECTORY);
	MUST(root >= 0);
	compare_folder(&transport, root, "/", "the root of a chroot");
	/* A descriptor from outside of the root reads as with getdents64. */
	list_read_apart(&list, outside);
	MUST(lseek(outside, 0, SEEK_SET) == 0);
	request_check_names(&transport, outside, 4096, &list, 0, "a folder outside");
	list_free(&list);
	if (transport.device >= 0) {
		no_parent(&transport, root, "the root");
		no_parent(&transport, outside, "a folder outside");
	}
	close(root);
	transport_close(&transport);
}

static void run(struct env *env)
{
	char path[512];
	int fd = tree_folder(env->path, "jail", path);

	tree_files(fd, "inside", 5);
	MUST(symlinkat("/outside", fd, "link-out") == 0);
	MUST(symlinkat("../outside", fd, "link-up") == 0);
	MUST(symlinkat("/", fd, "link-root") == 0);
	tree_files(env->fd, "outside", 5);
	transport_keep_device();
	IN_CHILD(inside, env);
	close(fd);
}

const struct test test = {
	.name = "chroot",
	.each_fs = true,
	.kinds = BY_ALL,
	.needs = OPCODE_READDIRPLUS,
	.run = run,
};
