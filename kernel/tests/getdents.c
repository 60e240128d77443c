// SPDX-License-Identifier: GPL-2.0-only
/* GETDENTS returns the same bytes as getdents64(2), call by call. */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/names.h"
#include "lib/test.h"
#include "lib/tree.h"

#define BUF_LEN (1 << 17)

static char buf[BUF_LEN + 256] __attribute__((aligned(8)));
static char plain[BUF_LEN] __attribute__((aligned(8)));

static long env_fs;

/*
 * Neither bytes that getdents64 does not write nor old bytes of the kernel's buffer may be taken
 * for records.
 */
static const char *bytes_differ(const char *got, const char *expected, long len,
				unsigned char filler)
{
	for (long at = 0; at < len;) {
		const struct dirent_record *a = (const void *)(got + at),
					   *b = (const void *)(expected + at);
		size_t content = offsetof(struct dirent_record, d_name) + strlen(b->d_name) + 1;

		if (memcmp(a, b, content) &&
		    !(list_same_cookie(a->d_off, b->d_off) && a->d_ino == b->d_ino &&
		      !memcmp(&a->d_reclen, &b->d_reclen, content - 16)))
			return wrong("the record at byte %ld (%s)", at, b->d_name);
		for (size_t i = content; i < b->d_reclen; i++)
			if (got[at + i] && (unsigned char)got[at + i] != filler)
				return wrong("the padding of %s leaks 0x%x", b->d_name,
					     (unsigned char)got[at + i]);
		at += b->d_reclen;
	}
	return NULL;
}

/*
 * Calls getdents64(2) again if it returned less than @wanted bytes. FUSE answers a page at a time,
 * and a request takes more than one page. On other file systems the call ends early if io_uring has
 * work for this task, such as starting a worker, which looks like a signal. Returns the bytes from
 * the offset @from on.
 */
static long plain_again(int fd, off_t from, uint32_t len, long given, long wanted)
{
	long got = 1;

	if (env_fs == FS_FUSE) {
		for (; given < wanted && got > 0; given += got > 0 ? got : 0)
			got = sys_getdents64(fd, plain + given, wanted - given);
		return given;
	}
	for (int i = 0; i < 5 && given != wanted; i++) {
		MUST(lseek(fd, from, SEEK_SET) == from);
		given = sys_getdents64(fd, plain, len);
	}
	return given;
}

/*
 * Makes one call of each on two open files at the same position. Returns the bytes, equal for both.
 */
static long compare_call(struct transport *transport, int fd, int plain_fd, uint32_t len,
			 uint32_t *result_flags)
{
	struct ringwalk_getdents request = request_getdents(fd, buf, len);
	off_t at, plain_at = lseek(plain_fd, 0, SEEK_CUR);
	long got, expected = sys_getdents64(plain_fd, plain, len);

	memset(buf, 0xa5, len + 256);
	got = transport_call(transport, RINGWALK_IOC_GETDENTS, &request);
	*result_flags = request.result_flags;
	if (got > expected && expected > 0)
		expected = plain_again(plain_fd, plain_at, len, expected, got);
	CHECK(got == expected, "%ld, not %ld, of a buffer of %u bytes", got, expected, len);
	if (test_failures())
		return -1;
	if (got > 0)
		CHECK_NULL(bytes_differ(buf, plain, got, 0xa5), "a buffer of %u bytes", len);
	for (size_t i = got > 0 ? got : 0; i < len + 256; i++)
		if ((unsigned char)buf[i] != 0xa5) {
			CHECK(false, "byte %zu was written behind %ld of %u", i, got, len);
			break;
		}
	at = lseek(fd, 0, SEEK_CUR);
	plain_at = lseek(plain_fd, 0, SEEK_CUR);
	CHECK(list_same_cookie(at, plain_at), "position %jd, not %jd, after %u bytes", (intmax_t)at,
	      (intmax_t)plain_at, len);
	return got;
}

/* Reads to the end with buffers of @len bytes, or larger ones where a record does not fit. */
static void compare_length(struct transport *transport, int fd, int plain_fd, uint32_t len)
{
	uint32_t flags;
	long got;

	MUST(lseek(fd, 0, SEEK_SET) == 0 && lseek(plain_fd, 0, SEEK_SET) == 0);
	do {
		got = compare_call(transport, fd, plain_fd, len, &flags);
		if (got == -EINVAL) {
			CHECK(!(flags & RINGWALK_RESULT_END), "the end, with an error");
			got = compare_call(transport, fd, plain_fd, 1024, &flags);
		}
	} while (got > 0 && !test_failures());
	CHECK(got == 0, "%ld at the end", got);
	CHECK(flags & RINGWALK_RESULT_END, "no flag at the end");
}

static void every_length(struct env *env, struct transport *transport)
{
	char path[512], name[256];
	int fd = tree_folder(env->path, "lengths", path);
	int plain_fd = open(path, O_RDONLY | O_DIRECTORY);
	uint32_t flags;

	for (size_t len = 1; len < 256; len += 1 + len / 3) {
		memset(name, 'a' + len % 26, len);
		name[len] = 0;
		MUST(mknodat(fd, name, S_IFREG | 0644, 0) == 0);
	}
	/*
	 * POSIX requires a new file to be seen after a rewind only. The first reading also updates
	 * the time of access.
	 */
	for (uint32_t len = 0; len < 300 && !test_failures();
	     len += len > 40 || env->fs == FS_FUSE ? test_step(env, 1) : 1)
		compare_length(transport, fd, plain_fd, len);
	for (uint32_t len = 512; len <= BUF_LEN && !test_failures(); len *= env->full ? 2 : 8)
		compare_length(transport, fd, plain_fd, len);
	/* At the end, a buffer that is too small for a record is not an error. */
	CHECK(compare_call(transport, fd, plain_fd, 8, &flags) == 0, "at the end");
	close(fd);
	close(plain_fd);
}

/* Every cookie of a folder leads to the entry after it, from any position. */
static void cookies(struct env *env, struct transport *transport)
{
	struct list list, rest;
	char path[512];
	int fd = tree_folder(env->path, "cookies", path);

	tree_files(fd, "a-name-of-some-length-", 150);
	list_read(&list, fd);
	for (size_t i = 0; i < list.count; i += test_step(env, 3)) {
		struct ringwalk_getdents request = request_getdents(fd, buf, 4096);
		long got;

		request.off = i ? (int64_t)list.at[i - 1]->d_off : 0;
		got = transport_call(transport, RINGWALK_IOC_GETDENTS, &request);
		CHECK(got >= 0, "at cookie %zu: %ld", i, got);
		if (got < 0)
			continue;
		memset(&rest, 0, sizeof(rest));
		list_append(&rest, buf, got);
		if (rest.count + i < list.count) {
			/* The last cookie of a buffer is the position, and works like any other. */
			struct list more;

			CHECK(!request_all_names(transport, fd, BUF_LEN, &more), "after cookie %zu",
			      i);
			list_append(&rest, more.bytes, more.len);
			list_free(&more);
		}
		CHECK_NULL(list_differs(&rest, &list, i), "from cookie %zu", i);
		list_free(&rest);
	}
	list_free(&list);
	close(fd);
}

/* The position belongs to the open file: lseek(2), getdents64(2) and requests share it. */
static void shared_position(struct env *env, struct transport *transport)
{
	struct list list, half;
	char path[512];
	int fd = tree_folder(env->path, "position", path), twin;
	struct ringwalk_getdents request;
	long got;

	tree_files(fd, "f", 100);
	list_read(&list, fd);
	MUST(lseek(fd, 0, SEEK_SET) == 0);
	twin = dup(fd);
	memset(&half, 0, sizeof(half));
	for (int i = 0; i < 100000; i++) {
		request = request_getdents(i % 2 ? fd : twin, buf, 256);
		got = i % 3 ? transport_call(transport, RINGWALK_IOC_GETDENTS, &request) :
			      sys_getdents64(i % 2 ? twin : fd, buf, 256);
		CHECK(got >= 0, "call %d: %ld", i, got);
		if (got <= 0)
			break;
		list_append(&half, buf, got);
	}
	CHECK_NULL(list_differs(&half, &list, 0), "getdents64 and requests in turn");
	MUST(lseek(fd, list.at[40]->d_off, SEEK_SET) >= 0);
	request_check_names(transport, twin, 512, &list, 41, "after lseek");
	list_free(&list);
	list_free(&half);
	close(fd);
	close(twin);
}

/* Invalid offsets are handled as by lseek(2) and getdents64(2). */
static void odd_offsets(struct env *env, struct transport *transport)
{
	static const int64_t offsets[] = { -2, -4096, INT64_MIN, 1,	    2,
					   3,  12345, INT32_MAX, 1ll << 32, INT64_MAX };
	int fd = openat(env->fd, "cookies", O_RDONLY | O_DIRECTORY),
	    plain_fd = openat(env->fd, "cookies", O_RDONLY | O_DIRECTORY);

	MUST(fd >= 0 && plain_fd >= 0);
	for (size_t i = 0; i < ARRAY_SIZE(offsets); i++) {
		struct ringwalk_getdents request = request_getdents(fd, buf, 4096);
		long got, expected;

		request.off = offsets[i];
		memset(buf, 0xa5, 4096);
		expected = lseek(plain_fd, offsets[i], SEEK_SET) < 0 ?
				   -errno :
				   sys_getdents64(plain_fd, plain, 4096);
		got = transport_call(transport, RINGWALK_IOC_GETDENTS, &request);
		if (got > expected && expected > 0)
			expected = plain_again(plain_fd, offsets[i], 4096, expected, got);
		CHECK(got == expected, "offset %jd: %ld, not %ld", (intmax_t)offsets[i], got,
		      expected);
		if (expected > 0)
			CHECK_NULL(bytes_differ(buf, plain, expected, 0xa5), "offset %jd",
				   (intmax_t)offsets[i]);
	}
	close(fd);
	close(plain_fd);
}

static void empty_and_removed(struct env *env, struct transport *transport)
{
	char path[512];
	int fd = tree_folder(env->path, "gone", path),
	    plain_fd = open(path, O_RDONLY | O_DIRECTORY);
	uint32_t flags;

	compare_length(transport, fd, plain_fd, 4096);
	MUST(rmdir(path) == 0);
	MUST(lseek(fd, 0, SEEK_SET) == 0 && lseek(plain_fd, 0, SEEK_SET) == 0);
	compare_call(transport, fd, plain_fd, 4096, &flags);
	close(fd);
	close(plain_fd);
}

/* A folder larger than one answer, and a buffer larger than the used maximum. */
static void large(struct env *env, struct transport *transport)
{
	unsigned int count = env->full ? 6000 : env->fs == FS_FUSE ? 200 : 600;
	char path[512], prefix[200] = "";
	struct list list;
	int fd = tree_folder(env->path, "large", path);

	/* Many bytes in few files, which are made in little time. */
	memset(prefix, 'f', sizeof(prefix) - 1);
	tree_files(fd, prefix, count);
	list_read(&list, fd);
	MUST(lseek(fd, 0, SEEK_SET) == 0);
	request_check_names(transport, fd, 4 << 20, &list, 0, "a large folder");
	list_free(&list);
	close(fd);
}

static void run(struct env *env)
{
	struct transport transport;

	env_fs = env->fs;
	transport_open(&transport, env->kind, 0);
	every_length(env, &transport);
	cookies(env, &transport);
	shared_position(env, &transport);
	odd_offsets(env, &transport);
	empty_and_removed(env, &transport);
	large(env, &transport);
	transport_close(&transport);
}

const struct test test = {
	.name = "getdents",
	.each_fs = true,
	.kinds = BY_ALL,
	.run = run,
};
