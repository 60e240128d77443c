// SPDX-License-Identifier: GPL-2.0-only
/*
 * Positions from requests, as telldir(3) and seekdir(3) use them, while entries are removed: what
 * was there all the time comes exactly once after each position, as from getdents64(2).
 */
#include <fcntl.h>
#include <unistd.h>

#include "lib/names.h"
#include "lib/plus.h"
#include "lib/test.h"
#include "lib/tree.h"

#define FILES	120

static char buf[4096] __attribute__((aligned(8)));
static struct transport transport;

/* Returns true if the file with this number stays. */
static bool stays(unsigned int number)
{
	return number % 3 == 0;
}

static unsigned int number_of(const char *name)
{
	return strtoul(name + strlen("file"), NULL, 10);
}

/* Checks that the entries of @got are those of @all from @first on that stay. */
static void check_rest(const struct list *got, const struct list *all, size_t first,
		       const char *what)
{
	size_t at = 0;

	for (size_t i = first; i < all->count; i++) {
		const char *name = all->at[i]->d_name;

		if (name[0] != '.' && !stays(number_of(name)))
			continue;
		CHECK(at < got->count && !strcmp(got->at[at]->d_name, name),
		      "%s, from entry %zu: %s instead of %s", what, first,
		      at < got->count ? got->at[at]->d_name : "the end", name);
		if (at >= got->count)
			return;
		at++;
	}
	CHECK(at == got->count, "%s, from entry %zu: %zu entries too many", what, first,
	      got->count - at);
}

/* Reads all names from @off on. */
static void read_from(int fd, int64_t off, struct list *got, bool plus)
{
	struct ringwalk_readdirplus request = request_readdirplus(fd, buf, sizeof(buf));
	struct record record;
	long len;

	memset(got, 0, sizeof(*got));
	if (!plus) {
		MUST(lseek(fd, off, SEEK_SET) == off);
		CHECK(request_all_names(&transport, fd, sizeof(buf), got) == 0, "getdents");
		return;
	}
	request.off = off;
	while ((len = transport_call(&transport, RINGWALK_IOC_READDIRPLUS, &request)) > 0) {
		for (const char *at = buf; at < buf + len; at = record.next) {
			MUST(!record_parse(at, buf + len - at, &request.fields, &record));
			list_add(got, record.name, record.entry->d_ino, record.entry->d_off,
				 record.entry->d_type);
		}
		request.off = RINGWALK_OFF_CURRENT;
	}
	CHECK(len == 0, "readdirplus: %ld", len);
}

/* The same positions give the same entries by the system call. */
static void read_by_call(int fd, int64_t off, struct list *got)
{
	long len;

	memset(got, 0, sizeof(*got));
	MUST(lseek(fd, off, SEEK_SET) == off);
	while ((len = sys_getdents64(fd, buf, sizeof(buf))) > 0)
		list_append(got, buf, len);
	MUST(len == 0);
}

static void run(struct env *env)
{
	char path[512], name[32];
	int fd = tree_folder(env->path, "folder", path);
	struct list all, got;

	tree_files(fd, "file", FILES);
	transport_open(&transport, env->kind, 0);
	read_from(fd, 0, &all, true);
	CHECK(all.count == FILES + 2, "%zu entries", all.count);
	for (unsigned int i = 0; i < FILES; i++) {
		snprintf(name, sizeof(name), "file%06u", i);
		MUST(stays(i) || unlinkat(fd, name, 0) == 0);
	}
	for (size_t i = 0; i < all.count; i += test_step(env, 3)) {
		/* The position after the entry, also if the entry is gone. */
		int64_t off = all.at[i]->d_off;
		struct list truth;

		read_by_call(fd, off, &truth);
		/*
		 * Before Linux 6.6, positions of tmpfs are counts of entries, which removals
		 * change.
		 */
		if (env->fs != FS_TMPFS)
			check_rest(&truth, &all, i + 1, "getdents64");
		read_from(fd, off, &got, false);
		CHECK_NULL(list_differs(&got, &truth, 0), "getdents from entry %zu", i + 1);
		list_free(&got);
		read_from(fd, off, &got, true);
		CHECK_NULL(list_differs(&got, &truth, 0), "readdirplus from entry %zu", i + 1);
		list_free(&got);
		list_free(&truth);
	}
	list_free(&all);
	transport_close(&transport);
	close(fd);
}

const struct test test = {
	.name = "seekdir",
	.each_fs = true,
	.kinds = BY_ALL,
	.needs = OPCODE_READDIRPLUS,
	.run = run,
};
