// SPDX-License-Identifier: GPL-2.0-only
/*
 * The attempt that the submitting task makes is bounded. opcode_nowait.c tests that what is in
 * memory needs no thread.
 */
#include <fcntl.h>
#include <unistd.h>

#include "lib/names.h"
#include "lib/nowait.h"
#include "lib/sys.h"
#include "lib/test.h"
#include "lib/tree.h"

#define COUNT		2000
#define LEN		(1 << 20)
/* What an attempt gives at most: DIR_NOWAIT_BYTES of the kernel. */
#define MOST_BYTES	(32 << 10)

static char buf[LEN] __attribute__((aligned(8)));

/* The folder of the child processes. */
static char path[512];
static struct list list;

static int open_folder(void)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOATIME);

	MUST(fd >= 0);
	return fd;
}

/* However large the buffer is, the task is kept for a thousand names, and gets no thread either. */
static void names_are_bounded(struct env *env)
{
	struct ringwalk_getdents request;
	struct transport transport;
	struct list got = { };
	int fd = open_folder();
	bool end = false;

	transport_open(&transport, env->kind, 0);
	while (!end) {
		long bytes;

		request = request_getdents(fd, buf, LEN);
		bytes = transport_call(&transport, RINGWALK_IOC_GETDENTS, &request);
		CHECK(bytes > 0 && bytes <= MOST_BYTES, "%ld bytes", bytes);
		if (bytes <= 0)
			break;
		list_append(&got, buf, bytes);
		end = request.result_flags & RINGWALK_RESULT_END;
	}
	CHECK_NULL(list_differs(&got, &list, 0), "in pieces");
	CHECK(io_workers() == 0, "%u threads", io_workers());
	list_free(&got);
	transport_close(&transport);
	close(fd);
}

/* Blocks of ext4 from which everything was removed: the task looks at some of them only. */
static void emptied_blocks_are_bounded(struct env *env)
{
	static const char filler[] = "a-name-so-long-that-a-block-holds-few-of-them-";
	char other[512], name[256], prefix[240];
	struct transport transport;
	struct list names;
	int fd = tree_folder(env->path, "emptied", other);

	memset(prefix, 'x', sizeof(prefix));
	memcpy(prefix, filler, sizeof(filler) - 1);
	prefix[sizeof(prefix) - 1] = '\0';
	tree_files(fd, prefix, COUNT);
	for (int i = 0; i < COUNT; i++) {
		snprintf(name, sizeof(name), "%s%06d", prefix, i);
		MUST(unlinkat(fd, name, 0) == 0);
	}
	close(fd);
	fd = open(other, O_RDONLY | O_DIRECTORY | O_NOATIME);
	MUST(fd >= 0);
	transport_open(&transport, env->kind, 0);
	/* Cookies at the end of an attempt are others for the same place. */
	CHECK(request_all_names(&transport, fd, LEN, &names) == 0 && names.count == 2 &&
	      list_find(&names, ".") >= 0 && list_find(&names, "..") >= 0,
	      "%zu entries in an emptied folder", names.count);
	CHECK(io_workers() > 0, "no thread for more than a hundred empty blocks");
	transport_close(&transport);
	list_free(&names);
	close(fd);
}

static void run(struct env *env)
{
	int fd = nowait_folder(env, COUNT, path);

	list_read(&list, fd);
	IN_CHILD(names_are_bounded, env);
	if (env->fs == FS_EXT)
		IN_CHILD(emptied_blocks_are_bounded, env);
	list_free(&list);
	close(fd);
}

const struct test test = {
	.name = "opcode_contract",
	.each_fs = true,
	.kinds = 1u << TRANSPORT_OPCODE,
	.run = run,
};
