// SPDX-License-Identifier: GPL-2.0-only
/*
 * Invalid requests are refused with the error that <linux/ringwalk.h> names, and no memory is
 * written.
 */
#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "lib/request.h"
#include "lib/test.h"
#include "lib/tree.h"

static char buf[8192] __attribute__((aligned(8)));

/* Any request; all have the same beginning. */
union request {
	struct ringwalk_getdents getdents;
	struct ringwalk_readdirplus readdirplus;
	struct ringwalk_stat_batch stat_batch;
	struct ringwalk_readahead readahead;
	struct ringwalk_readtree readtree;
	char bytes[88];
};

static struct transport transport;
static struct list names;
#define COMMANDS 6

static union request good[COMMANDS];
static const unsigned int commands[COMMANDS] = {
	RINGWALK_IOC_INFO, RINGWALK_IOC_GETDENTS, RINGWALK_IOC_READDIRPLUS, RINGWALK_IOC_STAT_BATCH, RINGWALK_IOC_READAHEAD,
	RINGWALK_IOC_READTREE,
};
static const char *const command_names[COMMANDS] = { "info", "getdents", "readdirplus", "stat_batch", "readahead", "readtree" };

/* The result must be @error, and neither the request nor its buffer may change. */
static void refused(int command, const union request *request, int error, const char *what, unsigned long long value)
{
	union request tried = *request, before;
	long got;

	memset(buf, 0x5a, sizeof(buf));
	if (transport.kind == TRANSPORT_INLINE)
		tried.getdents.flags |= RINGWALK_F_INLINE;
	before = tried;
	got = transport_call_raw(&transport, commands[command], (uintptr_t)&tried);
	CHECK(got == error, "%s with %s 0x%llx: %ld, not %d", command_names[command], what, value, got, error);
	CHECK(!memcmp(&tried, &before, sizeof(tried)), "%s with %s 0x%llx was written to", command_names[command], what, value);
	for (size_t i = 0; i < sizeof(buf); i++)
		if (buf[i] != 0x5a) {
			CHECK(false, "%s with %s 0x%llx wrote to its buffer", command_names[command], what, value);
			break;
		}
}

/* Valid requests. Each invalid one differs from them by one field. */
static void all_good(void)
{
	for (int i = 1; i < COMMANDS; i++) {
		union request request = good[i];
		long got = transport_call(&transport, commands[i], &request);

		CHECK(got >= 0, "%s: %s", command_names[i], strerror(-got));
	}
}

/* A request may be larger than the module knows it, if it is zero there. */
static void sizes(void)
{
	static char page[2 * 4096];
	static const uint32_t first[COMMANDS] = { 40, 40, 80, 80, 64, 88 };

	for (int i = 1; i < COMMANDS; i++) {
		static const uint32_t too_large[] = { 4097, 0x10000, 0x80000001, UINT32_MAX };
		union request request;

		for (uint32_t size = 0; size < first[i]; size += 4) {
			request = good[i];
			request.getdents.size = size;
			refused(i, &request, -EINVAL, "size", size);
		}
		for (size_t l = 0; l < ARRAY_SIZE(too_large); l++) {
			request = good[i];
			request.getdents.size = too_large[l];
			refused(i, &request, -E2BIG, "size", too_large[l]);
		}
		for (uint32_t size = first[i] + 1; size <= 4096; size += 1 + size / 2) {
			long got;

			memset(page, 0, sizeof(page));
			memcpy(page, &good[i], sizeof(good[i]));
			*(uint32_t *)page = size;
			if (transport.kind == TRANSPORT_INLINE)
				((struct ringwalk_getdents *)page)->flags |= RINGWALK_F_INLINE;
			memset(page + size, 0x5a, 8);
			got = transport_call_raw(&transport, commands[i], (uintptr_t)page);
			CHECK(got >= 0, "%s of %u bytes: %ld", command_names[i], size, got);
			page[size - 1] = 1;
			got = transport_call_raw(&transport, commands[i], (uintptr_t)page);
			CHECK(got == -E2BIG, "%s with a field at byte %u: %ld", command_names[i], size - 1, got);
		}
	}
}

/* Information is given as far as its structure goes. */
static void information(void)
{
	struct { struct ringwalk_info info; uint64_t more; } larger = { .more = 7 };

	for (uint32_t size = 0; size < 40; size += 4) {
		larger.info = (struct ringwalk_info){ .size = size };
		CHECK(transport_call_raw(&transport, RINGWALK_IOC_INFO, (uintptr_t)&larger) == -EINVAL, "info of %u bytes", size);
		CHECK(!larger.info.magic, "info of %u bytes was written to", size);
	}
	larger.info.size = sizeof(larger);
	CHECK(transport_call_raw(&transport, RINGWALK_IOC_INFO, (uintptr_t)&larger) == 0, "info of %zu bytes", sizeof(larger));
	CHECK(larger.info.magic == RINGWALK_MAGIC && larger.info.size == sizeof(larger.info) && larger.more == 7,
	      "info of %zu bytes: it knows %u", sizeof(larger), larger.info.size);
}

static void unknown_flags(void)
{
	static const uint32_t known[COMMANDS] = {
		0, RINGWALK_F_INLINE, RINGWALK_F_INLINE | RINGWALK_F_XATTR_ALL, RINGWALK_F_INLINE | RINGWALK_F_XATTR_ALL,
		RINGWALK_F_INLINE | RINGWALK_F_XATTR_BLOCKS, RINGWALK_F_INLINE | RINGWALK_F_XATTR_ALL,
	};

	for (int i = 1; i < COMMANDS; i++) {
		union request request;

		for (uint32_t bit = 1; bit; bit <<= 1) {
			if (known[i] & bit)
				continue;
			request = good[i];
			request.getdents.flags = bit;
			refused(i, &request, -EINVAL, "flag", bit);
		}
	}
}

static void reserved_fields(void)
{
	union request request;

	for (uint32_t bit = 1; bit; bit <<= 5) {
		request = good[1];
		request.getdents.reserved = bit;
		refused(1, &request, -EINVAL, "reserved", bit);
		request = good[2];
		request.readdirplus.reserved = bit;
		refused(2, &request, -EINVAL, "reserved", bit);
		request = good[2];
		request.readdirplus.fields.reserved = bit;
		refused(2, &request, -EINVAL, "fields.reserved", bit);
		request = good[3];
		request.stat_batch.reserved = bit;
		refused(3, &request, -EINVAL, "reserved", bit);
		request = good[3];
		request.stat_batch.fields.reserved = bit;
		refused(3, &request, -EINVAL, "fields.reserved", bit);
		request = good[4];
		request.readahead.reserved = bit;
		refused(4, &request, -EINVAL, "reserved", bit);
		request = good[4];
		request.readahead.reserved1 = bit;
		refused(4, &request, -EINVAL, "reserved1", bit);
		request = good[4];
		request.readahead.reserved2 = (uint64_t)bit << 32 | bit;
		refused(4, &request, -EINVAL, "reserved2", bit);
		request = good[5];
		request.readtree.fields.reserved = bit;
		refused(5, &request, -EINVAL, "fields.reserved", bit);
	}
	/* Names without metadata. */
	request = good[5];
	request.readtree.fields.mask = 0;
	refused(5, &request, -EINVAL, "mask", 0);
}

/* The part that READDIRPLUS and STAT_BATCH share. */
static void try_fields(const struct ringwalk_fields *fields, int error, const char *what, unsigned long long value)
{
	union request request = good[2];

	request.readdirplus.fields = *fields;
	refused(2, &request, error, what, value);
	request = good[3];
	request.stat_batch.fields = *fields;
	refused(3, &request, error, what, value);
	request = good[5];
	request.readtree.fields = *fields;
	refused(5, &request, error, what, value);
}

static void fields_of_entries(void)
{
	static const char unended[] = { 'u', 's', 'e', 'r', '.', 'a', 0, 'u', 's', 'e', 'r', '.', 'b' };
	static char many[128 << 10];
	uint32_t known = request_stat_mask(&transport);
	struct ringwalk_fields fields, plain = good[2].readdirplus.fields;

	for (uint32_t bit = 1; bit; bit <<= 1) {
		fields = plain;
		fields.mask |= bit;
		if (!(known & bit))
			try_fields(&fields, -EINVAL, "mask", bit);
		fields = plain;
		fields.stat_flags = bit;
		if (bit != AT_STATX_FORCE_SYNC && bit != AT_STATX_DONT_SYNC)
			try_fields(&fields, -EINVAL, "stat_flags", bit);
	}
	fields = plain;
	fields.stat_flags = AT_STATX_FORCE_SYNC | AT_STATX_DONT_SYNC;
	try_fields(&fields, -EINVAL, "stat_flags", fields.stat_flags);
	fields = plain;
	request_xattrs(&fields, unended, sizeof(unended), 100, 1000);
	try_fields(&fields, -EINVAL, "names without an end, xattr_names_len", sizeof(unended));
	for (size_t i = 0; i < sizeof(many); i++)
		many[i] = i % 8 == 7 ? 0 : "user.ab"[i % 8];
	request_xattrs(&fields, many, 65536 + 8, 100, 1000);
	try_fields(&fields, -EINVAL, "xattr_names_len", fields.xattr_names_len);
	request_xattrs(&fields, many, UINT32_MAX, 100, 1000);
	try_fields(&fields, -EINVAL, "xattr_names_len", fields.xattr_names_len);
	request_xattrs(&fields, many, 8, 100, sizeof(buf));
	try_fields(&fields, -EINVAL, "xattr_entry_max", fields.xattr_entry_max);
	request_xattrs(&fields, many, 8, 100, UINT32_MAX);
	try_fields(&fields, -EINVAL, "xattr_entry_max", fields.xattr_entry_max);
}

static void limits(void)
{
	static const int64_t offsets[] = { -2, -3, -4096, INT32_MIN, INT64_MIN };
	union request request = good[2];

	/* More room than one entry may reserve, in a buffer that would hold it. */
	request.readdirplus.len = 1 << 20;
	request_xattrs(&request.readdirplus.fields, "user.a", 7, 100, (128 << 10) + 8);
	refused(2, &request, -EINVAL, "xattr_entry_max", (128 << 10) + 8);
	for (size_t i = 0; i < ARRAY_SIZE(offsets); i++) {
		request = good[1];
		request.getdents.off = offsets[i];
		refused(1, &request, -EINVAL, "off", offsets[i]);
		request = good[2];
		request.readdirplus.off = offsets[i];
		refused(2, &request, -EINVAL, "off", offsets[i]);
		request = good[4];
		request.readahead.off = offsets[i];
		refused(4, &request, -EINVAL, "off", offsets[i]);
	}
}

static void descriptors(void)
{
	static const int fds[] = { -1, -100, 1000, 1 << 20, INT32_MAX, INT32_MIN };

	for (int i = 1; i < COMMANDS; i++)
		for (size_t f = 0; f < ARRAY_SIZE(fds); f++) {
			union request request = good[i];

			/* The third field of each. */
			request.getdents.fd = fds[f];
			refused(i, &request, -EBADF, "fd", (unsigned int)fds[f]);
		}
}

/* Unknown commands: with a size, or another direction, number or type. */
static void unknown_commands(void)
{
	static const unsigned int unknown[] = {
		0, 1, 0xd7, UINT32_MAX, _IO(0xd7, 0x1f), _IO(0xd7, 0xff), _IO('w', 0xd0), _IO(0xd6, 1),
		_IOR(0xd7, 0, struct ringwalk_info), _IOWR(0xd7, 1, struct ringwalk_getdents),
		_IOWR('w', 0xd1, struct ringwalk_getdents), _IOW(0xd7, 2, struct ringwalk_readdirplus),
		RINGWALK_IOC_GETDENTS ^ 0x80000000, RINGWALK_IOC_STAT_BATCH | 1 << 16,
	};

	for (size_t i = 0; i < ARRAY_SIZE(unknown); i++) {
		union request request = good[1];
		long got = transport_call_raw(&transport, unknown[i], (uintptr_t)&request);

		/* ioctl(2) itself handles some of these numbers, for any file. */
		CHECK(got == -ENOTTY, "command 0x%x: %ld", unknown[i], got);
		CHECK(!memcmp(&request, &good[1], sizeof(request)), "command 0x%x wrote to its argument", unknown[i]);
	}
}

/* The reserved field after the request's address in the submission entry. */
static void submission_entry(void)
{
	union request request = good[1];
	struct io_uring_cqe cqe;

	if (transport.kind == TRANSPORT_IOCTL)
		return;
	for (uint64_t bit = 1; bit; bit <<= 9) {
		struct io_uring_sqe *sqe = ring_entry(&transport.ring);
		struct ringwalk_sqe payload = { .request = (uintptr_t)&request, .reserved = bit };

		transport_fill(&transport, sqe, RINGWALK_IOC_GETDENTS, &request);
		memcpy(sqe->cmd, &payload, sizeof(payload));
		MUST(ring_wait(&transport.ring, &cqe) == 0);
		CHECK(cqe.res == -EINVAL, "reserved of struct ringwalk_sqe 0x%jx: %d", (uintmax_t)bit, cqe.res);
	}
}

static void run(struct env *env)
{
	transport_open(&transport, env->kind, 0);
	tree_files(env->fd, "f", 3);
	list_read(&names, env->fd);
	MUST(lseek(env->fd, 0, SEEK_SET) == 0);
	good[1].getdents = request_getdents(env->fd, buf, sizeof(buf));
	good[2].readdirplus = request_readdirplus(env->fd, buf, sizeof(buf));
	good[3].stat_batch = request_stat_batch(env->fd, names.bytes, names.len, buf, sizeof(buf));
	good[4].readahead = request_readahead(env->fd);
	good[5].readtree = request_readtree(env->fd, buf, sizeof(buf));
	all_good();
	sizes();
	information();
	unknown_flags();
	reserved_fields();
	fields_of_entries();
	limits();
	descriptors();
	unknown_commands();
	submission_entry();
	all_good();
	transport_close(&transport);
}

const struct test test = {
	.name = "bad_values",
	.kinds = BY_MODULE,
	.run = run,
};
