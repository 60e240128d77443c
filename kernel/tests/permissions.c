// SPDX-License-Identifier: GPL-2.0-only
/*
 * A denied access to an entry is an error in its record, for callers without rights and for other
 * credentials of a ring.
 */
#include <fcntl.h>
#include <grp.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/everything.h"
#include "lib/request.h"
#include "lib/test.h"
#include "lib/tree.h"

#define SOMEBODY 1000

static char buf[1 << 16] __attribute__((aligned(8)));

/* Folders of different rights, opened as root. */
static const struct {
	const char *name;
	mode_t mode;
} folders[] = {
	{ "open", 0755 }, { "read-only", 0744 }, { "search-only", 0711 }, { "closed", 0700 },
};
static int fds[ARRAY_SIZE(folders)];

static void become_somebody(void)
{
	MUST(setgroups(0, NULL) == 0);
	MUST(setresgid(SOMEBODY, SOMEBODY, SOMEBODY) == 0);
	MUST(setresuid(SOMEBODY, SOMEBODY, SOMEBODY) == 0);
}

/* STAT_BATCH of all names. */
static void compare_batch_of(struct transport *transport, int fd, const char *path, const struct list *list,
			     const struct ringwalk_fields *fields)
{
	struct ringwalk_stat_batch batch = request_stat_batch(fd, list->bytes, list->len, buf, sizeof(buf));
	struct compare compare;
	long got;

	batch.fields = *fields;
	batch.flags = RINGWALK_F_XATTR_ALL;
	compare = request_compare(transport, fd, path, &batch.fields, batch.flags);
	compare.no_names = true;
	got = transport_call(transport, RINGWALK_IOC_STAT_BATCH, &batch);
	CHECK(got > 0 && batch.names_done == list->len, "stat_batch of %s: %ld", path, got);
	if (got > 0)
		CHECK_NULL(compare_batch(&compare, buf, got, batch.entries, list, 0), "stat_batch of %s", path);
}

/* The system calls of the comparison have the same rights as the request. */
static void compare_folder(struct env *env, struct transport *transport, size_t i)
{
	static const char names[] = "user.one\0trusted.two\0security.three\0system.posix_acl_access";
	struct ringwalk_readdirplus plus = request_readdirplus(fds[i], buf, sizeof(buf));
	struct list list;
	char path[600];

	snprintf(path, sizeof(path), "%s/%s", env->path, folders[i].name);
	MUST(lseek(fds[i], 0, SEEK_SET) == 0);
	list_read(&list, fds[i]);
	plus.off = 0;
	CHECK_NULL(request_compare_rest(transport, &plus, path, &list, 0), "%s", folders[i].name);
	plus.flags = RINGWALK_F_XATTR_ALL;
	request_xattrs(&plus.fields, NULL, 0, 1000, 1024);
	CHECK_NULL(request_compare_rest(transport, &plus, path, &list, 0), "%s with all attributes", folders[i].name);
	if (transport->device >= 0)
		compare_batch_of(transport, fds[i], path, &list, &plus.fields);
	plus.flags = 0;
	request_xattrs(&plus.fields, names, sizeof(names), 1000, 1024);
	CHECK_NULL(request_compare_rest(transport, &plus, path, &list, 0), "%s with attributes", folders[i].name);
	list_free(&list);
}

static void as_somebody(struct env *env)
{
	struct transport transport;

	become_somebody();
	transport_open(&transport, env->kind, 0);
	for (size_t i = 0; i < ARRAY_SIZE(folders); i++)
		compare_folder(env, &transport, i);
	transport_close(&transport);
}

/* Counts the records of a folder with @error, and those with other errors. */
static void count_errors(struct transport *transport, size_t i, unsigned int personality, int error, unsigned int *same,
			 unsigned int *others)
{
	struct ringwalk_readdirplus plus = request_readdirplus(fds[i], buf, sizeof(buf));
	struct io_uring_cqe cqe;
	struct record record;
	const char *at;

	*same = *others = 0;
	plus.off = 0;
	MUST(transport_queue(transport, RINGWALK_IOC_READDIRPLUS, &plus, 0));
	transport->ring.sqes[*transport->ring.sq_tail & *transport->ring.sq_mask].personality = personality;
	MUST(ring_wait(&transport->ring, &cqe) == 0);
	CHECK(cqe.res > 0, "%s: %d", folders[i].name, cqe.res);
	for (at = buf; at < buf + cqe.res; at = record.next) {
		if (record_parse(at, buf + cqe.res - at, &plus.fields, &record)) {
			CHECK(false, "a malformed record");
			return;
		}
		if (record.name[0] == '.')
			continue;
		if (record.entry->error == error)
			++*same;
		else
			++*others;
	}
}

/* A ring of root, with requests of another user. */
static void lent_credentials(struct env *env)
{
	unsigned int same, others;
	struct transport transport;
	int personality;

	if (env->kind == TRANSPORT_IOCTL)
		return;
	transport_open(&transport, env->kind, 0);
	MUST(setresgid(SOMEBODY, SOMEBODY, 0) == 0 && setresuid(SOMEBODY, SOMEBODY, 0) == 0);
	personality = ring_register(&transport.ring, IORING_REGISTER_PERSONALITY, NULL, 0);
	MUST(personality > 0);
	MUST(setresuid(0, 0, 0) == 0 && setresgid(0, 0, 0) == 0);
	for (int round = 0; round < 5; round++) {
		count_errors(&transport, 1, personality, -EACCES, &same, &others);
		CHECK(same && !others, "without the right to search: %u denied, %u not", same, others);
		count_errors(&transport, 1, 0, 0, &same, &others);
		CHECK(same && !others, "as root: %u allowed, %u not", same, others);
		count_errors(&transport, 0, personality, 0, &same, &others);
		CHECK(same && !others, "with the right to search: %u allowed, %u not", same, others);
	}
	transport_close(&transport);
}

/* The reverse: a user whose ring has root's credentials. */
static void borrowed_credentials(struct env *env)
{
	unsigned int same, others;
	struct transport transport;
	int personality;

	if (env->kind == TRANSPORT_IOCTL)
		return;
	transport_open(&transport, env->kind, 0);
	personality = ring_register(&transport.ring, IORING_REGISTER_PERSONALITY, NULL, 0);
	MUST(personality > 0);
	become_somebody();
	for (int round = 0; round < 5; round++) {
		count_errors(&transport, 3, personality, 0, &same, &others);
		CHECK(same && !others, "with root's credentials: %u allowed, %u not", same, others);
		count_errors(&transport, 3, 0, -EACCES, &same, &others);
		CHECK(same && !others, "with one's own: %u denied, %u not", same, others);
	}
	transport_close(&transport);
}

static void make_folders(struct env *env)
{
	for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
		struct acl_value acl = tree_acl(SOMEBODY, 77);
		char path[512];

		fds[i] = tree_folder(env->path, folders[i].name, path);
		tree_files(fds[i], "file", 4);
		MUST(fchmodat(fds[i], "file000001", 0600, 0) == 0);
		MUST(mkdirat(fds[i], "folder", 0700) == 0);
		tree_xattr(path, "file000000", "user.one", "1", 1);
		tree_xattr(path, "file000000", "trusted.two", "2", 1);
		tree_xattr(path, "file000001", "user.one", "not for everybody", 17);
		tree_xattr(path, "file000001", "security.three", "3", 1);
		tree_xattr(path, "file000002", "system.posix_acl_access", acl.bytes, sizeof(acl.bytes));
		MUST(chmod(path, folders[i].mode) == 0);
	}
}

static void run(struct env *env)
{
	make_folders(env);
	transport_keep_device();
	IN_CHILD(as_somebody, env);
	IN_CHILD(lent_credentials, env);
	IN_CHILD(borrowed_credentials, env);
}

const struct test test = {
	.name = "permissions",
	.each_fs = true,
	.kinds = BY_ALL,
	.needs = OPCODE_READDIRPLUS,
	.run = run,
};
