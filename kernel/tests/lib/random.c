// SPDX-License-Identifier: GPL-2.0-only
#include "random.h"
#include "request.h"
#include "test.h"

/* Boundary values come more often than others. */
static uint64_t odd_number(uint64_t *seed)
{
	static const uint64_t odd[] = {
		0, 1, 2, 7, 8, 24, 32, 255, 256, 4095, 4096, 65535, 65536, 131072, 1 << 20, (1 << 20) + 1, INT32_MAX, UINT32_MAX,
		INT64_MAX, UINT64_MAX, UINT64_MAX - 1, 1ull << 63,
	};

	switch (random_below(seed, 4)) {
	case 0:
		return random_next(seed);
	case 1:
		return 1ull << random_below(seed, 64);
	case 2:
		return random_below(seed, 5000);
	default:
		return odd[random_below(seed, ARRAY_SIZE(odd))];
	}
}

uint64_t random_address(const struct random_shared *shared, uint64_t *seed)
{
	switch (random_below(seed, 16)) {
	case 0:
		return odd_number(seed);
	case 1:
		return (uintptr_t)shared->memory + shared->len - random_below(seed, 4096);
	default:
		return (uintptr_t)shared->memory + random_below(seed, shared->len / 8) * 8;
	}
}

static int some_fd(const struct random_shared *shared, uint64_t *seed)
{
	return random_below(seed, 20) ? shared->fds[random_below(seed, shared->fd_count)] : (int)odd_number(seed);
}

static int64_t some_offset(uint64_t *seed)
{
	return random_below(seed, 3) ? (random_below(seed, 2) ? RINGWALK_OFF_CURRENT : 0) : (int64_t)odd_number(seed);
}

static struct ringwalk_fields some_fields(const struct random_shared *shared, uint64_t *seed)
{
	static const char names[] = "user.one\0trusted.two\0system.posix_acl_access\0security.selinux";
	struct ringwalk_fields fields = { .mask = random_below(seed, 3) ? STATX_BASIC_STATS : random_below(seed, 1 << 16) };

	if (random_below(seed, 3) == 0)
		fields.stat_flags = random_below(seed, 2) ? AT_STATX_FORCE_SYNC : AT_STATX_DONT_SYNC;
	if (random_below(seed, 2))
		request_xattrs(&fields, random_below(seed, 4) ? names : (const char *)(uintptr_t)random_address(shared, seed),
			       random_below(seed, 4) ? sizeof(names) : odd_number(seed), odd_number(seed),
			       random_below(seed, 3) ? random_below(seed, 8192) : odd_number(seed));
	return fields;
}

unsigned int random_request(const struct random_shared *shared, uint64_t *seed, void *request)
{
	uint32_t len = random_below(seed, 4) ? random_below(seed, 65536) : odd_number(seed);
	uint32_t xattr_all = random_below(seed, 3) ? 0 : RINGWALK_F_XATTR_ALL;
	int fd = some_fd(shared, seed);

	memset(request, 0, RANDOM_REQUEST);
	switch (random_below(seed, 11)) {
	case 0:
		*(struct ringwalk_info *)request = request_info();
		return RINGWALK_IOC_INFO;
	case 1:
	case 2: {
		struct ringwalk_getdents *getdents = request;

		*getdents = request_getdents(fd, (void *)(uintptr_t)random_address(shared, seed), len);
		getdents->off = some_offset(seed);
		return RINGWALK_IOC_GETDENTS;
	}
	case 3:
	case 4: {
		struct ringwalk_readdirplus *plus = request;

		*plus = request_readdirplus(fd, (void *)(uintptr_t)random_address(shared, seed), len);
		plus->off = some_offset(seed);
		plus->flags = xattr_all;
		plus->fields = some_fields(shared, seed);
		plus->max_entries = random_below(seed, 2) ? 0 : odd_number(seed);
		return RINGWALK_IOC_READDIRPLUS;
	}
	case 5:
	case 6: {
		struct ringwalk_stat_batch *batch = request;

		/* Names are leftovers of requests in the arena: records of a folder, or garbage. */
		*batch = request_stat_batch(fd, (void *)(uintptr_t)random_address(shared, seed),
					    random_below(seed, 8192),
					    (void *)(uintptr_t)random_address(shared, seed), len);
		batch->flags = xattr_all;
		batch->fields = some_fields(shared, seed);
		return RINGWALK_IOC_STAT_BATCH;
	}
	case 7:
	case 8: {
		struct ringwalk_readtree *tree = request;

		*tree = request_readtree(fd, (void *)(uintptr_t)random_address(shared, seed), len);
		tree->off = some_offset(seed);
		tree->flags = xattr_all;
		tree->fields = some_fields(shared, seed);
		tree->max_entries = random_below(seed, 2) ? 0 : odd_number(seed);
		tree->max_depth = random_below(seed, 2) ? UINT32_MAX : odd_number(seed);
		return RINGWALK_IOC_READTREE;
	}
	default: {
		struct ringwalk_readahead *ahead = request;

		*ahead = request_readahead(fd);
		ahead->off = some_offset(seed);
		ahead->max_entries = odd_number(seed);
		ahead->max_bytes = random_below(seed, 2) ? 0 : odd_number(seed);
		ahead->flags = random_below(seed, 2) ? 0 : RINGWALK_F_XATTR_BLOCKS;
		return RINGWALK_IOC_READAHEAD;
	}
	}
}

void random_spoil(uint64_t *seed, void *memory, size_t len)
{
	char *bytes = memory;

	if (random_below(seed, 3))
		return;
	if (random_below(seed, 2))
		bytes[random_below(seed, len)] ^= 1 << random_below(seed, 8);
	else
		*(uint32_t *)(bytes + 4 * random_below(seed, len / 4)) = odd_number(seed);
}
