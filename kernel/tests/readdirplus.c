// SPDX-License-Identifier: GPL-2.0-only
/*
 * READDIRPLUS returns the data of getdents64(2), statx(2) and lgetxattr(2), with any size of batch.
 */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/everything.h"
#include "lib/request.h"
#include "lib/test.h"
#include "lib/tree.h"

#define BUF_LEN (1 << 18)

static char buf[BUF_LEN] __attribute__((aligned(8)));

/* A folder that is compared again and again. */
struct folder {
	struct transport *transport;
	const char *path;
	int fd;
	struct list list;
	uint32_t all;
	const struct env *env;
};

static void compare_from_start(struct folder *folder, struct ringwalk_readdirplus *request, const char *what, long number)
{
	request->off = 0;
	CHECK_NULL(request_compare_rest(folder->transport, request, folder->path, &folder->list, 0), "%s %ld", what, number);
}

/* Each bit of the mask alone, all bits but one, all, and none. */
static void masks(struct folder *folder)
{
	struct ringwalk_readdirplus request = request_readdirplus(folder->fd, buf, BUF_LEN);

	for (uint32_t bit = 1; bit; bit <<= 1) {
		if (!(folder->all & bit))
			continue;
		request.fields.mask = bit;
		compare_from_start(folder, &request, "only the bit", bit);
		if (!folder->env->full)
			continue;
		request.fields.mask = folder->all & ~bit;
		compare_from_start(folder, &request, "all but the bit", bit);
	}
	request.fields.mask = folder->all;
	compare_from_start(folder, &request, "all bits", folder->all);
	request.fields.stat_flags = AT_STATX_FORCE_SYNC;
	compare_from_start(folder, &request, "forced sync", folder->all);
	request.fields.stat_flags = AT_STATX_DONT_SYNC;
	compare_from_start(folder, &request, "no sync", folder->all);
	request.fields.stat_flags = 0;
	request.fields.mask = 0;
	compare_from_start(folder, &request, "names only", 0);
}

/* A buffer that is too small for one more record must not lose an entry. */
static void small_buffers(struct folder *folder)
{
	struct ringwalk_readdirplus request = request_readdirplus(folder->fd, buf, 0);
	uint32_t step = test_step(folder->env, 8), complete = record_len(&(struct ringwalk_fields){ .mask = folder->all }, 255, 0) + 64;

	request.fields.mask = folder->all;
	for (uint32_t len = 0; len < 1600; len += len > complete ? 4 * step + len / 32 * 8 : step) {
		struct ringwalk_readdirplus first = request;
		long got;

		first.len = len;
		first.off = 0;
		memset(buf, 0xa5, 4096);
		got = transport_call(folder->transport, RINGWALK_IOC_READDIRPLUS, &first);
		for (size_t i = got > 0 ? got : 0; i < 4096; i++)
			if ((unsigned char)buf[i] != 0xa5) {
				CHECK(false, "byte %zu was written behind %ld of %u", i, got, len);
				break;
			}
		if (got == -EINVAL) {
			/* The longest name's record always fits then. */
			CHECK(len < complete, "%u bytes are too few", len);
			/* No entry is lost: a larger buffer gets all of them. */
			first.len = BUF_LEN;
			first.off = RINGWALK_OFF_CURRENT;
			CHECK_NULL(request_compare_rest(folder->transport, &first, folder->path, &folder->list, 0),
				   "after an error with %u bytes", len);
			continue;
		}
		CHECK(got > 0, "buffer of %u bytes: %ld", len, got);
		if (len < complete)
			continue;
		request.len = len;
		compare_from_start(folder, &request, "buffer of bytes", len);
		request.len = 0;
	}
}

static void entry_limits(struct folder *folder)
{
	static const uint32_t limits[] = { 1, 2, 3, 7, 30, 1000, UINT32_MAX };
	struct ringwalk_readdirplus request = request_readdirplus(folder->fd, buf, BUF_LEN);

	for (size_t i = 0; i < ARRAY_SIZE(limits); i++) {
		request.max_entries = limits[i];
		compare_from_start(folder, &request, "max_entries", limits[i]);
	}
}

static void cookies(struct folder *folder)
{
	struct ringwalk_readdirplus request = request_readdirplus(folder->fd, buf, 4096);

	for (size_t i = 0; i <= folder->list.count; i += test_step(folder->env, 1)) {
		request.off = i ? (int64_t)folder->list.at[i - 1]->d_off : 0;
		CHECK_NULL(request_compare_rest(folder->transport, &request, folder->path, &folder->list, i), "from %zu", i);
	}
}

/* Attribute names: some on no file, some on a few files, some of unknown kinds. */
static const char some_names[] = "user.one\0trusted.two\0user.nowhere\0system.posix_acl_access\0nokind\0"
				 "trusted.large\0user.empty\0trusted.link\0security.three";

static void xattrs(struct folder *folder)
{
	static const uint32_t value_max[] = { 65536, 0, 2, 3, 1000, 1499, 1500 };
	static const uint32_t entry_max[] = { 8192, 1024, 100, 64, 24, 32 };
	struct ringwalk_readdirplus request = request_readdirplus(folder->fd, buf, BUF_LEN);

	for (int all = 0; all < 2; all++) {
		request.flags = all ? RINGWALK_F_XATTR_ALL : 0;
		for (size_t i = 0; i < ARRAY_SIZE(value_max); i += folder->env->full ? 1 : folder->env->fs == FS_FUSE ? 5 : 3) {
			request_xattrs(&request.fields, all ? NULL : some_names, all ? 0 : sizeof(some_names), value_max[i], 8192);
			compare_from_start(folder, &request, all ? "all attributes, value_max" : "attributes, value_max",
					   value_max[i]);
		}
		for (size_t i = 0; i < ARRAY_SIZE(entry_max); i += folder->env->full ? 1 : folder->env->fs == FS_FUSE ? 3 : 2) {
			request_xattrs(&request.fields, all ? NULL : some_names, all ? 0 : sizeof(some_names), 65536, entry_max[i]);
			compare_from_start(folder, &request, all ? "all attributes, entry_max" : "attributes, entry_max",
					   entry_max[i]);
		}
	}
	/* Without metadata, and in small batches because of the reserved room. */
	request.fields.mask = 0;
	compare_from_start(folder, &request, "attributes only", 0);
	request_xattrs(&request.fields, NULL, 0, 65536, 131072);
	request.len = BUF_LEN;
	compare_from_start(folder, &request, "most attributes", 0);
}

/*
 * Small buffers of every size with attributes: an attribute that does not fit is cut, or its entry
 * comes in the next batch. None is lost.
 */
static void small_buffers_with_xattrs(struct folder *folder)
{
	struct ringwalk_readdirplus request = request_readdirplus(folder->fd, buf, 0);

	request_xattrs(&request.fields, some_names, sizeof(some_names), 1000, 256);
	for (uint32_t len = 768; len < 2048; len += 2 * test_step(folder->env, 24)) {
		request.len = len;
		compare_from_start(folder, &request, "attributes in a buffer of", len);
	}
}

/* Several batches, and more inodes than are in one block. */
static void large(struct env *env, struct folder *small)
{
	struct ringwalk_readdirplus request;
	struct folder folder = *small;
	char path[512];

	folder.fd = tree_folder(env->path, "large", path);
	folder.path = path;
	tree_files(folder.fd, "file-", env->full ? 6000 : env->fs == FS_FUSE ? 200 : 600);
	list_read(&folder.list, folder.fd);
	request = request_readdirplus(folder.fd, buf, 65536);
	compare_from_start(&folder, &request, "a larger folder with buffers of", 65536);
	request.len = BUF_LEN;
	compare_from_start(&folder, &request, "a larger folder with buffers of", BUF_LEN);
	list_free(&folder.list);
	close(folder.fd);
}

/* More than RINGWALK_BUFFER_MAX is no error, and the buffer may lie anywhere that is aligned. */
static void large_buffer(struct folder *folder)
{
	size_t len = (4u << 20) + 8;
	struct ringwalk_readdirplus request;
	char *memory = guard_alloc(len);

	request = request_readdirplus(folder->fd, memory, len);
	compare_from_start(folder, &request, "buffer of bytes", len);
	guard_free(memory, len);
}

static void run(struct env *env)
{
	struct transport transport;
	struct folder folder = { .transport = &transport };
	char path[512];

	transport_open(&transport, env->kind, 0);
	folder.env = env;
	folder.fd = tree_folder(env->path, "everything", path);
	folder.path = path;
	folder.all = request_stat_mask(&transport);
	CHECK((folder.all & (STATX_BASIC_STATS | STATX_BTIME)) == (STATX_BASIC_STATS | STATX_BTIME), "mask 0x%x", folder.all);
	tree_everything(folder.fd, path);
	/* The second reading finds the access time of the first one. */
	list_read(&folder.list, folder.fd);
	masks(&folder);
	small_buffers(&folder);
	entry_limits(&folder);
	cookies(&folder);
	xattrs(&folder);
	small_buffers_with_xattrs(&folder);
	large_buffer(&folder);
	list_free(&folder.list);
	close(folder.fd);
	large(env, &folder);
	transport_close(&transport);
}

const struct test test = {
	.name = "readdirplus",
	.each_fs = true,
	.kinds = BY_ALL,
	.needs = OPCODE_READDIRPLUS,
	.run = run,
};
