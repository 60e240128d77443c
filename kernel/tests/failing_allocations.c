// SPDX-License-Identifier: GPL-2.0-only
/*
 * Allocations of kernel memory fail (fail_slab), one after another and at random. A request then
 * fails with ENOMEM, or the records that it could not fill do. The position fits, so that the next
 * request returns the others.
 */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/request.h"
#include "lib/test.h"
#include "lib/tree.h"

#define FAILSLAB	"/sys/kernel/debug/failslab/"
#define FILES		12
/* More than the allocations that a request makes here. */
#define NTH_MAX		2000

static char buf[16384] __attribute__((aligned(8)));
static struct transport transport;
static struct list names;

/* The commands that return records; READAHEAD returns none. */
enum work { GETDENTS, READDIRPLUS, READAHEAD, WORKS };
static const char *const work_names[] = { "getdents", "readdirplus", "readahead" };

static void set(const char *file, const char *value)
{
	char path[128];

	snprintf(path, sizeof(path), FAILSLAB "%s", file);
	MUST(write_text(path, value) == 0);
}

static void prepare(void)
{
	if (access(FAILSLAB "probability", F_OK) || access("/proc/self/fail-nth", F_OK))
		test_skip("the kernel has no fail_slab (CONFIG_FAILSLAB)");
	set("task-filter", "Y");
	set("ignore-gfp-wait", "N");
	set("times", "-1");
	set("verbose", "0");
	set("probability", "0");
}

/* Makes a request from the current position. Returns its result, and the number of entries. */
static long make(enum work work, int fd, size_t *entries)
{
	struct ringwalk_getdents dents = request_getdents(fd, buf, sizeof(buf));
	struct ringwalk_readdirplus plus = request_readdirplus(fd, buf, sizeof(buf));
	struct ringwalk_readahead ahead = request_readahead(fd);
	struct list list = { };
	struct record record;
	long got;

	*entries = 0;
	switch (work) {
	case GETDENTS:
		got = transport_call(&transport, RINGWALK_IOC_GETDENTS, &dents);
		if (got > 0)
			list_append(&list, buf, got);
		*entries = list.count;
		list_free(&list);
		return got;
	case READDIRPLUS:
		plus.flags = RINGWALK_F_XATTR_ALL;
		request_xattrs(&plus.fields, NULL, 0, 100, 256);
		got = transport_call(&transport, RINGWALK_IOC_READDIRPLUS, &plus);
		for (const char *at = buf; at < buf + got; at = record.next, ++*entries) {
			CHECK_NULL(record_parse(at, buf + got - at, &plus.fields, &record), "record %zu", *entries);
			CHECK(!record.entry->error || record.entry->error == -ENOMEM, "%s: %s", record.name,
			      strerror(-record.entry->error));
			CHECK(*entries < names.count && !strcmp(record.name, names.at[*entries]->d_name), "record %zu is %s",
			      *entries, record.name);
		}
		return got;
	default:
		return transport_call(&transport, RINGWALK_IOC_READAHEAD, &ahead);
	}
}

/* What the failed request has not returned is still to come. */
static void check_rest(enum work work, int fd, long got, size_t entries, unsigned int nth)
{
	char what[64];

	snprintf(what, sizeof(what), "%s, failure %u", work_names[work], nth);
	CHECK(got >= 0 || got == -ENOMEM, "%s: %s", what, strerror(-got));
	CHECK(got < 0 || work == READAHEAD || entries, "%s: no entries", what);
	request_check_names(&transport, fd, sizeof(buf), &names, entries, what);
}

static void forget(int fd)
{
	MUST(write_text("/proc/sys/vm/drop_caches", "2") == 0);
	MUST(lseek(fd, 0, SEEK_SET) == 0);
}

/* Lets the first allocation of a request fail, in the next one the second, until none is left. */
static void one_after_another(enum work work, int fd)
{
	int control = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
	unsigned int nth, failed = 0;
	char left[16] = "", number[16];
	size_t entries;
	long got;

	MUST(control >= 0);
	for (nth = 1; nth < NTH_MAX; nth++) {
		forget(fd);
		snprintf(number, sizeof(number), "%u", nth);
		MUST(pwrite(control, number, strlen(number), 0) > 0);
		got = make(work, fd, &entries);
		MUST(pread(control, left, sizeof(left) - 1, 0) > 0);
		MUST(pwrite(control, "0", 1, 0) == 1);
		failed += got == -ENOMEM;
		check_rest(work, fd, got, entries, nth);
		/* The request has made fewer allocations than that. */
		if (strtoul(left, NULL, 10))
			break;
	}
	close(control);
	CHECK(nth < NTH_MAX, "%s makes more than %u allocations", work_names[work], NTH_MAX);
	CHECK(work == GETDENTS || failed, "%s: no failure of %u has failed it", work_names[work], nth);
}

/* Threads of io-wq inherit that their allocations may fail. */
static void at_random(enum work work, int fd)
{
	size_t entries;
	long got;

	for (unsigned int round = 0; round < 60; round++) {
		forget(fd);
		set("probability", round % 2 ? "2" : "20");
		got = make(work, fd, &entries);
		set("probability", "0");
		/* io_uring has allocations of its own, and no thread without memory. */
		if (got == -ECANCELED || got == -EAGAIN)
			got = -ENOMEM;
		check_rest(work, fd, got, entries, round);
	}
}

static void run(struct env *env)
{
	bool in_task = env->kind == TRANSPORT_IOCTL || env->kind == TRANSPORT_INLINE || env->kind == TRANSPORT_OPCODE;
	char path[512], name[32];
	int fd = tree_folder(env->path, "folder", path);

	prepare();
	tree_files(fd, "file", FILES);
	for (int i = 0; i < FILES; i++) {
		snprintf(name, sizeof(name), "file%06u", i);
		tree_xattr(path, name, "user.one", "1", 1);
	}
	list_read(&names, fd);
	transport_open(&transport, env->kind, 0);
	if (!in_task)
		MUST(write_text("/proc/self/make-it-fail", "1") == 0);
	for (enum work work = GETDENTS; work < WORKS; work++)
		(in_task ? one_after_another : at_random)(work, fd);
	if (!in_task)
		MUST(write_text("/proc/self/make-it-fail", "0") == 0);
	transport_close(&transport);
	list_free(&names);
	close(fd);
}

const struct test test = {
	.name = "failing_allocations",
	.each_fs = true,
	.kinds = BY_ALL,
	.run = run,
};
