// SPDX-License-Identifier: GPL-2.0-only
/*
 * A directory that is moved away while READTREE works, before its turn comes, is not read: who asks
 * for the tree may have no right to search its new place. The caller finds its record unread.
 */
#include <unistd.h>

#include "lib/cold.h"
#include "lib/request.h"
#include "lib/test.h"

/* The lowest inode number is read first, so the last folder has its turn last. */
#define FOLDERS		10
#define LAST		"folder000009"
/* Time until it is moved, in seconds: the request waits for files of the first one by then. */
#define BEFORE_MOVE	0.3

static char buf[1 << 18] __attribute__((aligned(8)));
static struct cold cold;

/* Moves the folder after a while, and makes the disk fast. */
static pid_t move_later(void)
{
	char from[700], to[700];
	pid_t child;

	fflush(stdout);
	child = fork();
	MUST(child >= 0);
	if (child)
		return child;
	usleep(BEFORE_MOVE * 1000000);
	snprintf(from, sizeof(from), "%s/" LAST, cold.path);
	snprintf(to, sizeof(to), "%s/" LAST, cold.scratch.path);
	MUST(rename(from, to) == 0);
	scratch_works(&cold.scratch);
	test_child_exit();
}

/* Checks which folders have a group. */
static void check_records(const struct ringwalk_readtree *request)
{
	const struct ringwalk_group *root = (const void *)buf;
	const char *at = (const char *)(root + 1), *end = buf + root->reclen;
	unsigned int read = 0;
	struct record record;

	for (; at < end; at = record.next) {
		const char *malformed = record_parse(at, end - at, &request->fields, &record);

		CHECK_NULL(malformed, "a record");
		if (malformed)
			return;
		if (record.entry->flags & RINGWALK_ENTRY_READ)
			read++;
		if (!strcmp(record.name, LAST))
			CHECK(!(record.entry->flags & RINGWALK_ENTRY_READ), "a folder was read that has another place");
	}
	CHECK(read == FOLDERS - 1 && request->groups == FOLDERS, "%u folders of %u were read, %u groups", read, FOLDERS,
	      request->groups);
}

static void run(struct env *env)
{
	struct ringwalk_readdirplus like;
	struct ringwalk_readtree request;
	struct transport transport;
	pid_t child;
	long got;

	cold_open_tree(&cold, env, FOLDERS);
	transport_open(&transport, env->kind, 0);
	like = cold_request(&cold, NULL, 0);
	request = request_readtree(cold.fd, buf, sizeof(buf));
	request.flags = like.flags;
	request.fields = like.fields;
	cold_begin(&cold, true);
	child = move_later();
	got = transport_call(&transport, RINGWALK_IOC_READTREE, &request);
	CHECK(got > 0, "%ld", got);
	WAIT_CHILD(child);
	if (got > 0)
		check_records(&request);
	transport_close(&transport);
	cold_close(&cold);
}

const struct test test = {
	.name = "readtree_moved",
	.kinds = BY_MODULE,
	.one_kind = true,
	.run = run,
};
