// SPDX-License-Identifier: GPL-2.0-only
/*
 * STAT_BATCH returns the data of statx(2) and lgetxattr(2) for every name, in the order of the
 * names, and reports how many it answered.
 */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/everything.h"
#include "lib/request.h"
#include "lib/test.h"
#include "lib/tree.h"

#define BUF_LEN (1 << 18)

static char buf[BUF_LEN] __attribute__((aligned(8)));

struct folder {
	struct transport *transport;
	const struct env *env;
	const char *path;
	int fd;
	uint32_t all;
};

/*
 * Asks for all names of @list with buffers of @len bytes, and compares each answer. Returns NULL or
 * a message.
 */
static const char *answer_all(struct folder *folder, const struct ringwalk_stat_batch *like, const struct list *list)
{
	struct compare compare = request_compare(folder->transport, folder->fd, folder->path, &like->fields, like->flags);
	struct ringwalk_stat_batch request = *like;
	size_t at = 0, done = 0;

	compare.no_names = true;
	while (done < list->len) {
		const char *different;
		long got;

		request.names = (uintptr_t)list->bytes + done;
		request.names_len = list->len - done;
		got = transport_call(folder->transport, RINGWALK_IOC_STAT_BATCH, &request);
		if (got < 0)
			return wrong("%s", strerror(-got));
		if (!request.entries || got > (long)request.len || request.names_done > request.names_len)
			return wrong("%u entries, %ld bytes, %u of %u bytes of names", request.entries, got,
				     request.names_done, request.names_len);
		different = compare_batch(&compare, buf, got, request.entries, list, at);
		if (different)
			return different;
		for (unsigned int i = 0; i < request.entries; i++)
			done += list->at[at++]->d_reclen;
		if (list->bytes + done != (char *)(uintptr_t)request.names + request.names_done)
			return wrong("%u bytes of names for %u entries", request.names_done, request.entries);
	}
	return NULL;
}

static void masks_and_buffers(struct folder *folder, const struct list *list)
{
	struct ringwalk_stat_batch request = request_stat_batch(folder->fd, NULL, 0, buf, BUF_LEN);

	for (uint32_t bit = 1; bit; bit <<= 1) {
		if (!(folder->all & bit))
			continue;
		request.fields.mask = bit;
		CHECK_NULL(answer_all(folder, &request, list), "only the bit 0x%x", bit);
	}
	request.fields.mask = folder->all;
	CHECK_NULL(answer_all(folder, &request, list), "all bits");
	request.fields.stat_flags = AT_STATX_DONT_SYNC;
	CHECK_NULL(answer_all(folder, &request, list), "no sync");
	request.fields.stat_flags = 0;
	for (uint32_t len = 0; len < 1400; len += (len > 400 ? 4 : 1) * test_step(folder->env, 8)) {
		const char *different;

		request.len = len;
		different = answer_all(folder, &request, list);
		if (different && !strcmp(different, strerror(EINVAL)) && len < record_len(&request.fields, 0, 0) + 64)
			continue;
		CHECK_NULL(different, "a buffer of %u bytes", len);
	}
}

static void xattrs(struct folder *folder, const struct list *list)
{
	static const char names[] = "user.one\0trusted.two\0system.posix_acl_access\0user.nowhere";
	struct ringwalk_stat_batch request = request_stat_batch(folder->fd, NULL, 0, buf, BUF_LEN);

	request_xattrs(&request.fields, names, sizeof(names), 1000, 4096);
	CHECK_NULL(answer_all(folder, &request, list), "attributes by name");
	request.fields.mask = 0;
	CHECK_NULL(answer_all(folder, &request, list), "attributes by name only");
	request_xattrs(&request.fields, NULL, 0, 1000, 4096);
	request.flags = RINGWALK_F_XATTR_ALL;
	CHECK_NULL(answer_all(folder, &request, list), "all attributes");
	request.len = 8192;
	request.fields.mask = folder->all;
	CHECK_NULL(answer_all(folder, &request, list), "all attributes in small batches");
	request.fields.xattr_entry_max = 40;
	CHECK_NULL(answer_all(folder, &request, list), "attributes cut");
}

/* Order, numbers and types are the caller's; missing names are errors of their records. */
static void made_up_names(struct folder *folder, const struct list *list)
{
	struct ringwalk_stat_batch request = request_stat_batch(folder->fd, NULL, 0, buf, BUF_LEN);
	struct list made = { };

	for (size_t i = list->count; i-- > 0;) {
		if (!strcmp(list->at[i]->d_name, ".."))
			continue;
		list_add(&made, list->at[i]->d_name, i % 3 ? 0 : UINT64_MAX - i, UINT64_MAX - i, 200 + i % 50);
		if (i % 4 == 0)
			list_add(&made, "is-not-there", i, 0, 0);
		if (i % 5 == 0)
			list_add(&made, ".", 0, i, 4);
		if (i % 6 == 0)
			list_add(&made, "..", 0, i, 4);
	}
	CHECK_NULL(answer_all(folder, &request, &made), "made up names");
	/* Again: missing names may be cached now. */
	CHECK_NULL(answer_all(folder, &request, &made), "made up names again");
	list_free(&made);
}

/* One name among good ones that cannot be answered. */
static void expect_error(struct folder *folder, const char *name, int error)
{
	struct ringwalk_stat_batch request;
	struct list names = { };
	struct record record;
	const char *at = buf;
	long got;

	list_add(&names, "file", 0, 0, 0);
	list_add(&names, name, 0, 7, 9);
	list_add(&names, "data", 0, 0, 0);
	request = request_stat_batch(folder->fd, names.bytes, names.len, buf, BUF_LEN);
	got = transport_call(folder->transport, RINGWALK_IOC_STAT_BATCH, &request);
	CHECK(got > 0 && request.entries == 3 && request.names_done == names.len, "name %.20s: %ld, %u entries", name, got,
	      request.entries);
	for (int i = 0; i < 3 && got > 0; i++) {
		const char *malformed = record_parse(at, buf + got - at, &request.fields, &record);
		int expected = i == 1 ? error : 0;

		CHECK_NULL(malformed, "name %.20s", name);
		if (malformed)
			break;
		CHECK(record.entry->error == expected, "name %.20s: error %d, not %d", name, record.entry->error, expected);
		CHECK(!record.stat == !!expected, "name %.20s: metadata with an error, or none without", name);
		at = record.next;
	}
	list_free(&names);
}

static void bad_names(struct folder *folder)
{
	char name[400];

	expect_error(folder, "..", -EXDEV);
	expect_error(folder, "", -EINVAL);
	expect_error(folder, "/", -EINVAL);
	expect_error(folder, "/etc", -EINVAL);
	expect_error(folder, "folder/", -EINVAL);
	expect_error(folder, "folder/..", -EINVAL);
	expect_error(folder, "./file", -EINVAL);
	expect_error(folder, "is-not-there", -ENOENT);
	memset(name, 'x', sizeof(name));
	name[255] = 0;
	expect_error(folder, name, -ENOENT);
	name[255] = 'x';
	name[256] = 0;
	expect_error(folder, name, -ENAMETOOLONG);
	name[256] = 'x';
	name[399] = 0;
	expect_error(folder, name, -ENAMETOOLONG);
}

/* Malformed records: an error, or no answer for them and the names after them. */
static void expect_malformed(struct folder *folder, const struct list *good, const char *what, const void *bad, size_t bad_len)
{
	for (int after_good = 0; after_good < 2; after_good++) {
		size_t before = after_good ? good->len : 0, len = before + bad_len;
		char *names = guard_alloc(len);
		struct ringwalk_stat_batch request;
		long got;

		memcpy(names, good->bytes, before);
		memcpy(names + before, bad, bad_len);
		request = request_stat_batch(folder->fd, names, len, buf, BUF_LEN);
		request.entries = request.names_done = 77;
		got = transport_call(folder->transport, RINGWALK_IOC_STAT_BATCH, &request);
		if (got >= 0)
			CHECK(after_good && request.names_done == before && request.entries == good->count,
			      "%s %d: %ld, %u entries, %u of %zu bytes", what, after_good, got, request.entries,
			      request.names_done, len);
		else
			CHECK(got == -EINVAL && request.entries == 77 && request.names_done == 77, "%s: %s, %u entries", what,
			      strerror(-got), request.entries);
		guard_free(names, len);
	}
}

static void malformed_records(struct folder *folder)
{
	static const uint16_t lengths[] = { 0, 1, 7, 8, 18, 19, 23, 33, 40, 48, 4096, 65535 };
	struct list good = { }, bad = { };

	list_add(&good, "file", 0, 0, 0);
	list_add(&good, "data", 0, 0, 0);
	list_add(&bad, "some-name", 0, 0, 0);
	for (size_t i = 0; i < ARRAY_SIZE(lengths); i++) {
		char what[64];

		bad.at[0]->d_reclen = lengths[i];
		snprintf(what, sizeof(what), "reclen %u of 32", lengths[i]);
		expect_malformed(folder, &good, what, bad.bytes, bad.len);
	}
	bad.at[0]->d_reclen = 32;
	for (size_t len = 1; len < bad.len; len++)
		expect_malformed(folder, &good, "a part of a record", bad.bytes, len);
	memset(bad.at[0]->d_name, 'x', bad.len - offsetof(struct dirent_record, d_name));
	expect_malformed(folder, &good, "a name without end", bad.bytes, bad.len);
	list_free(&good);
	list_free(&bad);
}

/*
 * A request that fails leaves its fields as they are. They may lie in memory that is not writable.
 */
static void failures(struct folder *folder)
{
	struct ringwalk_stat_batch *request = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const uint32_t inlined = folder->transport->kind == TRANSPORT_INLINE ? RINGWALK_F_INLINE : 0;
	struct list names = { };
	long got;

	MUST(request != MAP_FAILED);
	list_add(&names, "file", 0, 0, 0);
	*request = request_stat_batch(folder->fd, names.bytes, names.len, (void *)4096, BUF_LEN);
	request->entries = request->names_done = 77;
	request->flags |= inlined;
	got = transport_call_raw(folder->transport, RINGWALK_IOC_STAT_BATCH, (uintptr_t)request);
	CHECK(got == -EFAULT && request->entries == 77 && request->names_done == 77,
	      "nowhere to write: %ld, %u entries, %u bytes of names", got, request->entries, request->names_done);
	request->buf = (uintptr_t)buf;
	request->len = 8;
	MUST(mprotect(request, 4096, PROT_READ) == 0);
	got = transport_call_raw(folder->transport, RINGWALK_IOC_STAT_BATCH, (uintptr_t)request);
	CHECK(got == -EINVAL, "no room for an entry, and a request that is not writable: %ld", got);
	MUST(munmap(request, 4096) == 0);
	list_free(&names);
}

/* More names than are used in one request, and none. */
static void many_names(struct folder *folder)
{
	struct ringwalk_stat_batch request = request_stat_batch(folder->fd, NULL, 0, buf, BUF_LEN);
	size_t len = RINGWALK_BUFFER_MAX + 64 * 1024, one = dirent_record_len(4), count = len / one;
	struct list names = { };
	char *bytes = malloc(len);

	MUST(bytes);
	list_add(&names, "file", 0, 0, 0);
	for (size_t i = 0; i < count; i++)
		memcpy(bytes + i * one, names.bytes, one);
	request.names = (uintptr_t)bytes;
	request.names_len = count * one;
	for (size_t left = count; left;) {
		long got = transport_call(folder->transport, RINGWALK_IOC_STAT_BATCH, &request);

		CHECK(got > 0 && request.names_done == request.entries * one, "%ld with %zu left", got, left);
		if (got <= 0)
			break;
		left -= request.entries;
		request.names += request.names_done;
		request.names_len -= request.names_done;
		/* One round is enough. Answers with all fields would take long. */
		if (left > count / 8)
			left = count / 8;
		if (left * one < request.names_len)
			request.names_len = left * one;
	}
	request.names_len = 0;
	request.entries = request.names_done = 77;
	CHECK(transport_call(folder->transport, RINGWALK_IOC_STAT_BATCH, &request) == 0, "no names");
	CHECK(!request.entries && !request.names_done, "%u of no names", request.entries);
	free(bytes);
	list_free(&names);
}

static void run(struct env *env)
{
	struct transport transport;
	struct folder folder = { .transport = &transport };
	struct list list;
	off_t position;
	char path[512];

	transport_open(&transport, env->kind, 0);
	folder.env = env;
	folder.fd = tree_folder(env->path, "everything", path);
	folder.path = path;
	folder.all = request_stat_mask(&transport);
	tree_everything(folder.fd, path);
	list_read(&list, folder.fd);
	position = lseek(folder.fd, 0, SEEK_CUR);
	masks_and_buffers(&folder, &list);
	xattrs(&folder, &list);
	made_up_names(&folder, &list);
	bad_names(&folder);
	malformed_records(&folder);
	failures(&folder);
	if (env->full || env->fs != FS_FUSE)
		many_names(&folder);
	CHECK(lseek(folder.fd, 0, SEEK_CUR) == position, "the position moved");
	list_free(&list);
	close(folder.fd);
	transport_close(&transport);
}

const struct test test = {
	.name = "stat_batch",
	.each_fs = true,
	.kinds = BY_MODULE,
	.run = run,
};
