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
/* The first ones are the request's own. Each of them fails, also where others are left out. */
#define OWN		16

static char buf[16384] __attribute__((aligned(8)));
static struct transport transport;
static struct list names;

/* The commands that return records; READAHEAD returns none. */
enum work { GETDENTS, READDIRPLUS, READTREE, READAHEAD, WORKS };
static const enum opcode opcodes[] = { OPCODE_GETDENTS, OPCODE_READDIRPLUS, OPCODE_NONE, OPCODE_NONE };
static const char *const work_names[] = { "getdents", "readdirplus", "readtree", "readahead" };

/* The calls may fail themselves while allocations do. */
static void set(const char *file, const char *value)
{
	char path[128];
	int error, tries = 0;

	snprintf(path, sizeof(path), FAILSLAB "%s", file);
	do {
		error = write_text(path, value);
	} while (error == -ENOMEM && ++tries < 1000);
	MUST(error == 0);
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

/* Checks @len bytes of records at @at. Returns their number. */
static size_t count_records(const char *at, long len, const struct ringwalk_fields *fields)
{
	const char *end = at + len;
	struct record record;
	size_t entries = 0;

	for (; at < end; at = record.next, entries++) {
		const char *malformed = record_parse(at, end - at, fields, &record);

		CHECK_NULL(malformed, "record %zu", entries);
		if (malformed)
			break;
		CHECK(!record.entry->error || record.entry->error == -ENOMEM, "%s: %s", record.name, strerror(-record.entry->error));
		CHECK(entries < names.count && !strcmp(record.name, names.at[entries]->d_name), "record %zu is %s", entries,
		      record.name);
	}
	return entries;
}

/* Makes a request from the current position. Returns its result, and the number of entries. */
static long make(enum work work, int fd, size_t *entries)
{
	struct ringwalk_getdents dents = request_getdents(fd, buf, sizeof(buf));
	struct ringwalk_readdirplus plus = request_readdirplus(fd, buf, sizeof(buf));
	struct ringwalk_readahead ahead = request_readahead(fd);
	struct ringwalk_readtree tree = request_readtree(fd, buf, sizeof(buf));
	const struct ringwalk_group *group = (const void *)buf;
	struct list list = { };
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
		*entries = count_records(buf, got, &plus.fields);
		return got;
	case READTREE:
		tree.flags = RINGWALK_F_XATTR_ALL;
		request_xattrs(&tree.fields, NULL, 0, 100, 256);
		got = transport_call(&transport, RINGWALK_IOC_READTREE, &tree);
		/* The folder has none below it. */
		CHECK(got < 0 || group->reclen == got, "%ld bytes, a group of %u", got, group->reclen);
		if (got > 0)
			*entries = count_records((const char *)(group + 1), got - sizeof(*group), &tree.fields);
		return got;
	default:
		return transport_call(&transport, RINGWALK_IOC_READAHEAD, &ahead);
	}
}

/* What the failed request has not returned is still to come. */
static void check_rest(enum work work, int fd, long got, size_t entries, unsigned int nth)
{
	char what[64];

	/* io_uring has allocations of its own, among them those of its threads. */
	if (transport.kind != TRANSPORT_IOCTL && (got == -ECANCELED || got == -EAGAIN))
		got = -ENOMEM;
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
static void one_after_another(struct env *env, enum work work, int fd)
{
	/* Each lookup asks the server there. */
	unsigned int step = env->fs == FS_FUSE ? 16 : 1;
	int control = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
	unsigned int nth, failed = 0;
	char left[16] = "", number[16];
	size_t entries;
	long got;

	MUST(control >= 0);
	for (nth = 1; nth < NTH_MAX; nth += nth < OWN ? 1 : step) {
		forget(fd);
		/* An open device keeps its buffers. */
		transport_close(&transport);
		transport_open(&transport, env->kind, 0);
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
	/* The others may do without, if all names and inodes are in memory. */
	CHECK(work != READAHEAD || failed, "%s: no failure of %u has failed it", work_names[work], nth);
}

/* Threads of io-wq inherit that their allocations may fail. */
static void at_random(struct env *env, enum work work, int fd)
{
	unsigned int rounds = env->fs == FS_FUSE ? 8 : 60;
	size_t entries;
	long got;

	for (unsigned int round = 0; round < rounds; round++) {
		forget(fd);
		set("probability", round % 2 ? "2" : "20");
		got = make(work, fd, &entries);
		set("probability", "0");
		check_rest(work, fd, got, entries, round);
	}
}

static void run(struct env *env)
{
	/* The other transports use threads of io-wq, the opcodes at least when they must wait. */
	bool in_task = transport_in_task(env->kind);
	char path[512], name[32], console[64] = "";
	int fd = tree_folder(env->path, "folder", path);

	prepare();
	/* Some allocations report each failure; a serial console is slow. */
	read_text("/proc/sys/kernel/printk", console, sizeof(console));
	write_text("/proc/sys/kernel/printk", "1");
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
		if (transport_has(env->kind, opcodes[work]))
			(in_task ? one_after_another : at_random)(env, work, fd);
	if (!in_task)
		MUST(write_text("/proc/self/make-it-fail", "0") == 0);
	write_text("/proc/sys/kernel/printk", console);
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
