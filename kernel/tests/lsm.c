// SPDX-License-Identifier: GPL-2.0-only
/*
 * SELinux denies the same to requests as to statx(2), getdents64(2), lookups and openat(2).
 *
 * Needs a kernel that was booted with security=selinux, and the policy of selinux.conf beside the
 * program. After the test the policy stays loaded, but is not enforced. It allows everything except
 * the labels of this test.
 */
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "lib/request.h"
#include "lib/test.h"
#include "lib/tree.h"
#include "lib/walk.h"

#define SELINUX "/sys/fs/selinux"

static char buf[65536] __attribute__((aligned(8)));

static void load_policy(void)
{
	static char policy[1 << 20];
	char path[512];
	ssize_t len;
	int fd;

	if (access(SELINUX "/load", F_OK))
		test_skip("SELinux is not on (the kernel has to be booted with security=selinux)");
	/*
	 * The policy was loaded before. (Without any policy every context is accepted.) Each
	 * loading writes a hundred lines to the kernel's log.
	 */
	if (access(SELINUX "/class/dir", F_OK) == 0 && write_text(SELINUX "/context", "test_u:object_r:hidden_t") == 0)
		return;
	/* The policy lies beside the program. */
	path_beside_program(path, sizeof(path), "selinux.policy");
	fd = open(path, O_RDONLY);
	if (fd < 0)
		test_skip("%s: %s (it is made by checkpolicy)", path, strerror(errno));
	len = read(fd, policy, sizeof(policy));
	MUST(len > 0 && len < (ssize_t)sizeof(policy));
	close(fd);
	fd = open(SELINUX "/load", O_WRONLY);
	MUST(fd >= 0);
	/* The whole policy must be written by one call. */
	MUST(write(fd, policy, len) == len);
	close(fd);
}

static void label(const char *path, const char *type)
{
	char context[64];

	snprintf(context, sizeof(context), "test_u:object_r:%s", type);
	MUST(lsetxattr(path, "security.selinux", context, strlen(context) + 1, 0) == 0);
}

static void label_below(const char *folder, const char *name, const char *type)
{
	char path[600];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	label(path, type);
}

/* Compares all records of a folder with the system calls. Returns how many were denied. */
static unsigned int compare_folder(struct transport *transport, int fd, const char *path)
{
	struct ringwalk_readdirplus plus = request_readdirplus(fd, buf, sizeof(buf));
	struct ringwalk_stat_batch batch;
	struct compare compare;
	struct record record;
	struct list list;
	unsigned int denied = 0;
	long got;

	list_read(&list, fd);
	plus.off = 0;
	plus.flags = RINGWALK_F_XATTR_ALL;
	request_xattrs(&plus.fields, NULL, 0, 1000, 1024);
	CHECK_NULL(request_compare_rest(transport, &plus, path, &list, 0), "readdirplus of %s", path);
	got = transport_call(transport, RINGWALK_IOC_READDIRPLUS, &plus);
	for (const char *at = buf; at < buf + got; at = record.next) {
		if (record_parse(at, buf + got - at, &plus.fields, &record))
			break;
		denied += record.entry->error == -EACCES;
	}
	if (transport->device >= 0) {
		batch = request_stat_batch(fd, list.bytes, list.len, buf, sizeof(buf));
		compare = request_compare(transport, fd, path, &batch.fields, 0);
		compare.no_names = true;
		got = transport_call(transport, RINGWALK_IOC_STAT_BATCH, &batch);
		CHECK(got > 0, "stat_batch: %ld", got);
		CHECK_NULL(compare_batch(&compare, buf, got, batch.entries, &list, 0), "stat_batch of %s", path);
	}
	list_free(&list);
	return denied;
}

/* The folder was opened while reading was allowed; it is denied now. */
static void unreadable(struct transport *transport, int fd)
{
	struct ringwalk_getdents getdents = request_getdents(fd, buf, sizeof(buf));
	struct ringwalk_readdirplus plus = request_readdirplus(fd, buf, sizeof(buf));
	struct ringwalk_readahead ahead = request_readahead(fd);

	CHECK(sys_getdents64(fd, buf, sizeof(buf)) == -EACCES, "getdents64 is allowed");
	CHECK(transport_call(transport, RINGWALK_IOC_GETDENTS, &getdents) == -EACCES, "getdents is allowed");
	CHECK(transport_call(transport, RINGWALK_IOC_READDIRPLUS, &plus) == -EACCES, "readdirplus is allowed");
	if (!transport_is_opcode(transport->kind))
		CHECK(transport_call(transport, RINGWALK_IOC_READAHEAD, &ahead) == -EACCES, "readahead is allowed");
}

/*
 * READTREE opens the folders below. The walk compares each error with that of open(2), and each
 * entry with the system calls.
 */
static void below(struct transport *transport, struct env *env)
{
	static struct walk walk;
	struct ringwalk_readtree request = request_readtree(env->fd, buf, sizeof(buf));
	const struct ringwalk_group *group;
	long got;

	if (transport_is_opcode(transport->kind))
		return;
	walk.transport = transport;
	walk_begin(&walk);
	request.off = 0;
	/* Reading a folder may change the time of its last access. */
	request.fields.mask &= ~STATX_ATIME;
	got = walk_request(&walk, &request, env->path);
	CHECK(got > 0 && request.groups == 4 && walk.failed == 1, "readtree: %ld, %u groups, %u failed", got, request.groups,
	      walk.failed);
	if (got <= 0)
		return;
	group = walk_group_of(&request, got, "no-read");
	CHECK(group && group->error == -EACCES, "the folder that may not be read: %d", group ? group->error : 0);
	/* One that may not be searched can be opened. Its entries have errors. */
	group = walk_group_of(&request, got, "no-search");
	CHECK(group && !group->error && group->entries == 6, "the folder that may not be searched: %d", group ? group->error : 0);
	/* A folder whose metadata may not be read has an error. No folder is left to the caller. */
	CHECK(walk.pending_count == 0, "%s is left", walk.pending[0]);
}

static void enforced(struct env *env)
{
	char hidden[512], no_search[512], no_read[512];
	int hidden_fd = tree_folder(env->path, "some-hidden", hidden), no_search_fd = tree_folder(env->path, "no-search", no_search);
	int no_read_fd = tree_folder(env->path, "no-read", no_read);
	struct transport transport;
	unsigned int denied;

	tree_files(hidden_fd, "file", 6);
	MUST(mkdirat(hidden_fd, "folder", 0755) == 0);
	tree_files(no_search_fd, "file", 4);
	tree_files(no_read_fd, "file", 4);
	label_below(hidden, "file000002", "hidden_t");
	label_below(hidden, "file000005", "hidden_t");
	label_below(hidden, "folder", "hidden_t");
	label(no_search, "no_search_t");
	label(no_read, "no_read_t");
	transport_open(&transport, env->kind, 0);
	MUST(write_text(SELINUX "/enforce", "1") == 0);
	denied = compare_folder(&transport, hidden_fd, hidden);
	CHECK(denied == 3, "%u entries were denied, not 3", denied);
	denied = compare_folder(&transport, no_search_fd, no_search);
	CHECK(denied == 4 || denied == 5, "%u entries were denied, not 4", denied);
	unreadable(&transport, no_read_fd);
	below(&transport, env);
	MUST(write_text(SELINUX "/enforce", "0") == 0);
	denied = compare_folder(&transport, hidden_fd, hidden);
	CHECK(denied == 0, "%u entries were denied without enforcing", denied);
	transport_close(&transport);
}

static void run(struct env *env)
{
	if (env->fs != FS_EXT && env->fs != FS_XFS && env->fs != FS_BTRFS)
		test_skip("labels are tested where they are kept in attributes");
	load_policy();
	IN_CHILD(enforced, env);
	/* Also after a failure. */
	MUST(write_text(SELINUX "/enforce", "0") == 0);
}

const struct test test = {
	.name = "lsm",
	.kinds = BY_ALL,
	.needs = OPCODE_READDIRPLUS,
	.run = run,
};
