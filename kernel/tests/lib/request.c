// SPDX-License-Identifier: GPL-2.0-only
#include <unistd.h>

#include "request.h"
#include "test.h"
#include "walk.h"

struct ringwalk_getdents request_getdents(int fd, void *buf, uint32_t len)
{
	return (struct ringwalk_getdents){
		.size = sizeof(struct ringwalk_getdents),
		.fd = fd,
		.len = len,
		.buf = (uintptr_t)buf,
		.off = RINGWALK_OFF_CURRENT,
	};
}

struct ringwalk_readdirplus request_readdirplus(int fd, void *buf, uint32_t len)
{
	return (struct ringwalk_readdirplus){
		.size = sizeof(struct ringwalk_readdirplus),
		.fd = fd,
		.len = len,
		.buf = (uintptr_t)buf,
		.off = RINGWALK_OFF_CURRENT,
		.fields.mask = STATX_BASIC_STATS,
	};
}

struct ringwalk_stat_batch request_stat_batch(int fd, const void *names, uint32_t names_len,
					      void *buf, uint32_t len)
{
	return (struct ringwalk_stat_batch){
		.size = sizeof(struct ringwalk_stat_batch),
		.fd = fd,
		.len = len,
		.buf = (uintptr_t)buf,
		.names = (uintptr_t)names,
		.names_len = names_len,
		.fields.mask = STATX_BASIC_STATS,
	};
}

struct ringwalk_readtree request_readtree(int fd, void *buf, uint32_t len)
{
	return (struct ringwalk_readtree){
		.size = sizeof(struct ringwalk_readtree),
		.fd = fd,
		.len = len,
		.buf = (uintptr_t)buf,
		.off = RINGWALK_OFF_CURRENT,
		.max_depth = UINT32_MAX,
		.fields.mask = STATX_BASIC_STATS,
	};
}

struct ringwalk_readahead request_readahead(int fd)
{
	return (struct ringwalk_readahead){
		.size = sizeof(struct ringwalk_readahead),
		.fd = fd,
		.off = RINGWALK_OFF_CURRENT,
	};
}

struct ringwalk_info request_info(void)
{
	return (struct ringwalk_info){ .size = sizeof(struct ringwalk_info) };
}

uint32_t request_stat_mask(struct transport *transport)
{
	struct ringwalk_info info = request_info();

	if (transport_is_opcode(transport->kind))
		return STATX_BASIC_STATS | STATX_BTIME | STATX_MNT_ID | STATX_DIOALIGN;
	MUST(transport_call(transport, RINGWALK_IOC_INFO, &info) == 0);
	return info.stat_mask;
}

/* One request for a folder and for those in it, compared with the system calls. */
static unsigned int check_tree(struct transport *transport, int fd, const char *path,
			       const char *what, char *buf, uint32_t len)
{
	static struct walk walk;
	struct ringwalk_readtree request = request_readtree(fd, buf, len);
	long got;

	if (transport_is_opcode(transport->kind))
		return 0;
	walk.transport = transport;
	request.off = 0;
	request.max_depth = 1;
	request.flags = RINGWALK_F_XATTR_ALL;
	/* Reading a folder may change the time of its last access. */
	request.fields.mask = request_stat_mask(transport) & ~STATX_ATIME;
	request_xattrs(&request.fields, NULL, 0, 1000, 1024);
	walk_begin(&walk);
	got = walk_request(&walk, &request, path);
	CHECK(got > 0, "readtree of %s: %ld", what, got);
	return got > 0 ? request.groups : 0;
}

unsigned int request_check_all(struct transport *transport, int fd, const char *path,
			       const char *what)
{
	static char buf[1 << 18] __attribute__((aligned(8)));
	struct ringwalk_readdirplus plus = request_readdirplus(fd, buf, sizeof(buf));
	struct ringwalk_stat_batch batch;
	struct compare compare;
	struct list list;
	long got;

	if (!transport_has(transport->kind, OPCODE_READDIRPLUS))
		return 0;
	list_read_apart(&list, fd);
	plus.off = 0;
	plus.flags = RINGWALK_F_XATTR_ALL;
	plus.fields.mask = request_stat_mask(transport);
	request_xattrs(&plus.fields, NULL, 0, 1000, 1024);
	CHECK_NULL(request_compare_rest(transport, &plus, path, &list, 0), "readdirplus of %s",
		   what);
	if (transport->device >= 0) {
		batch = request_stat_batch(fd, list.bytes, list.len, buf, sizeof(buf));
		batch.fields.mask = plus.fields.mask;
		compare = request_compare(transport, fd, path, &batch.fields, 0);
		compare.no_names = true;
		got = transport_call(transport, RINGWALK_IOC_STAT_BATCH, &batch);
		CHECK(got > 0 && batch.names_done == list.len, "stat_batch of %s: %ld", what, got);
		CHECK_NULL(compare_batch(&compare, buf, got > 0 ? got : 0, batch.entries, &list, 0),
			   "stat_batch of %s", what);
	}
	list_free(&list);
	return check_tree(transport, fd, path, what, buf, sizeof(buf));
}

void request_check_error(struct transport *transport, int fd)
{
	static char buf[1 << 16] __attribute__((aligned(8)));
	struct ringwalk_getdents dents = request_getdents(fd, buf, sizeof(buf));
	struct ringwalk_readdirplus plus = request_readdirplus(fd, buf, sizeof(buf));
	struct ringwalk_readtree tree = request_readtree(fd, buf, sizeof(buf));
	long expected, got;

	MUST(lseek(fd, 0, SEEK_SET) == 0);
	expected = sys_getdents64(fd, buf, sizeof(buf));
	MUST(lseek(fd, 0, SEEK_SET) == 0);
	got = transport_call(transport, RINGWALK_IOC_GETDENTS, &dents);
	CHECK(got == expected, "getdents: %ld, not %ld", got, expected);
	if (!transport_has(transport->kind, OPCODE_READDIRPLUS))
		return;
	MUST(lseek(fd, 0, SEEK_SET) == 0);
	got = transport_call(transport, RINGWALK_IOC_READDIRPLUS, &plus);
	CHECK(expected > 0 ? got > 0 : got == expected, "readdirplus: %ld, and getdents64 %ld", got,
	      expected);
	if (transport_is_opcode(transport->kind))
		return;
	MUST(lseek(fd, 0, SEEK_SET) == 0);
	got = transport_call(transport, RINGWALK_IOC_READTREE, &tree);
	/* Where nothing is found there is a group without entries. */
	CHECK(expected < 0 ? got == expected : got > 0, "readtree: %ld, and getdents64 %ld", got,
	      expected);
}
