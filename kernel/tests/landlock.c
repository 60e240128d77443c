// SPDX-License-Identifier: GPL-2.0-only
/*
 * Landlock restricts opening. A folder that was open before can be read by requests as by
 * getdents64(2). READAHEAD opens the folder itself, and READTREE those below it: they need that
 * right.
 */
#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/request.h"
#include "lib/test.h"
#include "lib/tree.h"
#include "lib/walk.h"

#define FILES	3

static char buf[65536] __attribute__((aligned(8)));

/* From now on folders can be opened below @allowed only, or nowhere if it is negative. */
static void restrict_reading(int allowed)
{
	struct landlock_ruleset_attr attr = { .handled_access_fs = LANDLOCK_ACCESS_FS_READ_DIR };
	struct landlock_path_beneath_attr below = { .allowed_access = LANDLOCK_ACCESS_FS_READ_DIR, .parent_fd = allowed };
	int rules = syscall(__NR_landlock_create_ruleset, &attr, sizeof(attr), 0);

	if (rules < 0)
		test_skip("Landlock: %s (the kernel has to be booted with lsm=landlock)", strerror(errno));
	if (allowed >= 0)
		MUST(syscall(__NR_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &below, 0) == 0);
	MUST(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
	MUST(syscall(__NR_landlock_restrict_self, rules, 0) == 0);
	close(rules);
}

static void compare(struct env *env, bool allowed)
{
	struct ringwalk_readahead ahead = request_readahead(env->fd);
	struct transport transport;
	struct list list;
	long got;
	int again;

	transport_open(&transport, env->kind, 0);
	MUST(lseek(env->fd, 0, SEEK_SET) == 0);
	list_read(&list, env->fd);
	MUST(lseek(env->fd, 0, SEEK_SET) == 0);
	request_check_names(&transport, env->fd, 4096, &list, 0, "an open folder");
	list_free(&list);
	again = open(env->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	MUST(allowed ? again >= 0 : again < 0 && errno == EACCES);
	if (!transport_is_opcode(env->kind)) {
		ahead.off = 0;
		got = transport_call(&transport, RINGWALK_IOC_READAHEAD, &ahead);
		CHECK(got == (allowed ? 0 : -EACCES), "readahead: %ld", got);
	}
	transport_close(&transport);
}

static void denied(struct env *env)
{
	restrict_reading(-1);
	compare(env, false);
}

static void allowed_below(struct env *env)
{
	restrict_reading(env->fd);
	compare(env, true);
}

static void plus(struct env *env)
{
	struct ringwalk_readdirplus request = request_readdirplus(env->fd, buf, sizeof(buf));
	struct transport transport;
	struct list list;

	list_read(&list, env->fd);
	restrict_reading(-1);
	transport_open(&transport, env->kind, 0);
	request.off = 0;
	CHECK_NULL(request_compare_rest(&transport, &request, env->path, &list, 0), "readdirplus of an open folder");
	transport_close(&transport);
	list_free(&list);
}

/* Folders may be opened below "allowed" only. */
static void tree(struct env *env)
{
	struct ringwalk_readtree request = request_readtree(env->fd, buf, sizeof(buf));
	const struct ringwalk_group *group;
	struct transport transport;
	int allowed = openat(env->fd, "allowed", O_RDONLY | O_DIRECTORY);
	long got;

	MUST(allowed >= 0);
	restrict_reading(allowed);
	MUST(openat(env->fd, "folder", O_RDONLY | O_DIRECTORY) < 0 && errno == EACCES);
	transport_open(&transport, env->kind, 0);
	request.off = 0;
	got = transport_call(&transport, RINGWALK_IOC_READTREE, &request);
	transport_close(&transport);
	CHECK(got > 0 && request.groups == 3, "readtree: %ld, %u groups", got, request.groups);
	if (got <= 0)
		return;
	group = walk_group_of(&request, got, "folder");
	CHECK(group && group->error == -EACCES && !group->entries && group->reclen == sizeof(*group),
	      "a folder that may not be read: %d, %u entries", group ? group->error : 0, group ? group->entries : 0);
	group = walk_group_of(&request, got, "allowed");
	CHECK(group && !group->error && group->entries == FILES + 2, "a folder that may be read: %d, %u entries",
	      group ? group->error : 0, group ? group->entries : 0);
}

/* Makes a folder with files. */
static void add_folder(struct env *env, const char *name)
{
	char path[512];
	int fd = tree_folder(env->path, name, path);

	tree_files(fd, "below", FILES);
	close(fd);
}

static void run(struct env *env)
{
	transport_keep_device();
	tree_files(env->fd, "file", 5);
	add_folder(env, "folder");
	add_folder(env, "allowed");
	IN_CHILD(denied, env);
	IN_CHILD(allowed_below, env);
	IN_CHILD(plus, env);
	if (!transport_is_opcode(env->kind))
		IN_CHILD(tree, env);
}

const struct test test = {
	.name = "landlock",
	.kinds = BY_ALL,
	.needs = OPCODE_READDIRPLUS,
	.run = run,
};
