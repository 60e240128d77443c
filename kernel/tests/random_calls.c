// SPDX-License-Identifier: GPL-2.0-only
/*
 * Random requests, valid ones with some of their fields made up: as a fuzzer makes them, from a seed that is printed. Nothing of what
 * they return matters but that the kernel lives, that sizes stay within their buffers, and that a plain request works in between.
 *
 * Threads share files and memory, so that arguments change while they are copied, descriptors go away and folders change.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/request.h"
#include "lib/test.h"
#include "lib/tree.h"

#define THREADS 3
#define FDS 12
#define ARENA (1 << 20)
#define IN_FLIGHT 32
/* Bytes behind each buffer that must stay as they are. */
#define CANARY 64

struct caller {
	struct env *env;
	pthread_t thread;
	uint64_t seed;
	unsigned long calls;
	unsigned long good;
	char *requests;
};

static char *arena;
static int fds[FDS];
static volatile bool stop;
static enum transport_kind kinds[TRANSPORTS];
static unsigned int kind_count;

/* Numbers at which something changes, more often than others. */
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

/* An address in memory that the threads share, sometimes at its end, seldom anywhere. */
static uint64_t some_address(uint64_t *seed)
{
	switch (random_below(seed, 16)) {
	case 0:
		return odd_number(seed);
	case 1:
		return (uintptr_t)arena + ARENA - random_below(seed, 4096);
	default:
		return (uintptr_t)arena + random_below(seed, ARENA / 8) * 8;
	}
}

static int some_fd(uint64_t *seed)
{
	return random_below(seed, 20) ? fds[random_below(seed, FDS)] : (int)odd_number(seed);
}

static int64_t some_offset(uint64_t *seed)
{
	return random_below(seed, 3) ? (random_below(seed, 2) ? RINGWALK_OFF_CURRENT : 0) : (int64_t)odd_number(seed);
}

static struct ringwalk_fields some_fields(uint64_t *seed)
{
	static const char names[] = "user.one\0trusted.two\0system.posix_acl_access\0security.selinux";
	struct ringwalk_fields fields = { .mask = random_below(seed, 3) ? STATX_BASIC_STATS : random_below(seed, 1 << 16) };

	if (random_below(seed, 3) == 0)
		fields.stat_flags = random_below(seed, 2) ? AT_STATX_FORCE_SYNC : AT_STATX_DONT_SYNC;
	if (random_below(seed, 2))
		request_xattrs(&fields, random_below(seed, 4) ? names : (const char *)(uintptr_t)some_address(seed),
			       random_below(seed, 4) ? sizeof(names) : odd_number(seed), odd_number(seed),
			       random_below(seed, 3) ? random_below(seed, 8192) : odd_number(seed));
	return fields;
}

static unsigned int some_request(uint64_t *seed, void *request)
{
	uint32_t len = random_below(seed, 4) ? random_below(seed, 65536) : odd_number(seed);
	uint32_t xattr_all = random_below(seed, 3) ? 0 : RINGWALK_F_XATTR_ALL;
	int fd = some_fd(seed);

	memset(request, 0, 80);
	switch (random_below(seed, 9)) {
	case 0:
		*(struct ringwalk_info *)request = (struct ringwalk_info){ };
		return RINGWALK_IOC_INFO;
	case 1:
	case 2: {
		struct ringwalk_getdents *getdents = request;

		*getdents = request_getdents(fd, (void *)(uintptr_t)some_address(seed), len);
		getdents->off = some_offset(seed);
		return RINGWALK_IOC_GETDENTS;
	}
	case 3:
	case 4: {
		struct ringwalk_readdirplus *plus = request;

		*plus = request_readdirplus(fd, (void *)(uintptr_t)some_address(seed), len);
		plus->off = some_offset(seed);
		plus->flags = xattr_all;
		plus->fields = some_fields(seed);
		plus->max_entries = random_below(seed, 2) ? 0 : odd_number(seed);
		return RINGWALK_IOC_READDIRPLUS;
	}
	case 5:
	case 6: {
		struct ringwalk_stat_batch *batch = request;

		/* Names are what requests left in the arena: records of a folder, or rubbish. */
		*batch = request_stat_batch(fd, (void *)(uintptr_t)some_address(seed), random_below(seed, 8192),
					    (void *)(uintptr_t)some_address(seed), len);
		batch->flags = xattr_all;
		batch->fields = some_fields(seed);
		return RINGWALK_IOC_STAT_BATCH;
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

/* Overwrites a field, or a byte. */
static void spoil(uint64_t *seed, char *request)
{
	if (random_below(seed, 3))
		return;
	if (random_below(seed, 2))
		request[random_below(seed, 80)] ^= 1 << random_below(seed, 8);
	else
		*(uint32_t *)(request + 4 * random_below(seed, 20)) = odd_number(seed);
}

static unsigned int some_command(uint64_t *seed, unsigned int command)
{
	return random_below(seed, 100) ? command : command ^ (1u << random_below(seed, 32));
}

/* What a bad call may not have broken. */
static void plain_call(struct caller *caller, struct transport *transport)
{
	struct ringwalk_getdents *request = (struct ringwalk_getdents *)(caller->requests + 80 * IN_FLIGHT);
	char *buf = guard_alloc(4096 + CANARY);
	long got;

	memset(buf, 0x77, 4096 + CANARY);
	*request = request_getdents(caller->env->fd, buf, 4096);
	request->off = 0;
	got = transport_call(transport, RINGWALK_IOC_GETDENTS, request);
	CHECK(got > 0 || got == -EINTR, "a plain request: %ld", got);
	for (int i = 0; i < CANARY; i++)
		CHECK(buf[4096 + i] == 0x77, "something was written behind a buffer");
	guard_free(buf, 4096 + CANARY);
	caller->good++;
}

static void call_by_ring(struct caller *caller, struct transport *transport)
{
	unsigned int count = 1 + random_below(&caller->seed, IN_FLIGHT);
	struct io_uring_cqe cqe;

	for (unsigned int i = 0; i < count; i++) {
		char *request = caller->requests + 80 * i;
		unsigned int command = some_request(&caller->seed, request);
		struct io_uring_sqe *sqe = ring_entry(&transport->ring);

		if (transport->device < 0 && (command == RINGWALK_IOC_STAT_BATCH || command == RINGWALK_IOC_INFO)) {
			sqe->opcode = IORING_OP_NOP;
			continue;
		}
		transport_fill(transport, sqe, command, request);
		spoil(&caller->seed, request);
		if (transport->device >= 0)
			sqe->cmd_op = some_command(&caller->seed, command);
		if (random_below(&caller->seed, 8) == 0)
			sqe->flags |= random_below(&caller->seed, 2) ? IOSQE_IO_LINK : IOSQE_ASYNC;
		if (random_below(&caller->seed, 60) == 0)
			spoil(&caller->seed, (char *)sqe);
		/* What other opcodes do with such numbers is not for this test. */
		if (transport->device >= 0)
			sqe->opcode = IORING_OP_URING_CMD;
		sqe->flags &= IOSQE_ASYNC | IOSQE_IO_LINK | IOSQE_IO_HARDLINK;
	}
	ring_submit(&transport->ring, 0);
	/* Sometimes they are left behind: the ring is closed with them in flight. */
	if (random_below(&caller->seed, 10) == 0)
		return;
	for (unsigned int i = 0; i < count; i++)
		if (ring_wait(&transport->ring, &cqe))
			break;
}

static void *call(void *arg)
{
	struct caller *caller = arg;

	while (!stop) {
		enum transport_kind kind = kinds[random_below(&caller->seed, kind_count)];
		struct transport transport;

		transport_open(&transport, kind, IN_FLIGHT);
		for (int i = 0; i < 20 && !stop; i++) {
			if (kind == TRANSPORT_IOCTL) {
				unsigned int command = some_request(&caller->seed, caller->requests);

				spoil(&caller->seed, caller->requests);
				transport_call_raw(&transport, some_command(&caller->seed, command),
						   random_below(&caller->seed, 50) ? (uintptr_t)caller->requests :
										     some_address(&caller->seed));
			} else {
				call_by_ring(caller, &transport);
				break;
			}
			caller->calls++;
		}
		caller->calls++;
		transport_close(&transport);
		/* Also at the end, however few there were. */
		if (caller->calls % 8 == 0 || stop) {
			transport_open(&transport, kind, 8);
			plain_call(caller, &transport);
			transport_close(&transport);
		}
	}
	return NULL;
}

/* Changes what the others use: descriptors, the folder, memory, and requests while they are copied. */
static void disturb(struct env *env, struct caller *callers, uint64_t *seed)
{
	unsigned int i = random_below(seed, FDS);
	char name[32];
	int fd;

	switch (random_below(seed, 6)) {
	case 0:
		/* The number stays in use, so that nobody else's file gets it. */
		fd = openat(env->fd, random_below(seed, 3) ? "." : "folder", random_below(seed, 5) ? O_RDONLY : O_PATH);
		if (fd >= 0) {
			dup2(fd, fds[i]);
			close(fd);
		}
		return;
	case 1:
		snprintf(name, sizeof(name), "c%u", (unsigned int)random_below(seed, 200));
		if (mknodat(env->fd, name, S_IFREG | 0644, 0))
			unlinkat(env->fd, name, 0);
		return;
	case 2:
		mprotect(arena + random_below(seed, ARENA / 4096) * 4096, 4096,
			 random_below(seed, 3) ? PROT_READ | PROT_WRITE : random_below(seed, 2) ? PROT_READ : PROT_NONE);
		return;
	case 3:
		madvise(arena + random_below(seed, ARENA / 4096) * 4096, 4096, MADV_DONTNEED);
		return;
	default:
		spoil(seed, callers[random_below(seed, THREADS)].requests + 80 * random_below(seed, IN_FLIGHT));
	}
}

static void prepare(struct env *env)
{
	char path[512];

	for (enum transport_kind kind = 0; kind < TRANSPORTS; kind++)
		if (transport_available(kind))
			kinds[kind_count++] = kind;
	if (!kind_count)
		test_skip("no transport");
	close(tree_folder(env->path, "folder", path));
	tree_files(env->fd, "file", 150);
	tree_xattr(env->path, "file000003", "user.one", "1", 1);
	arena = mmap(NULL, ARENA, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	MUST(arena != MAP_FAILED);
	for (int i = 0; i < FDS; i++)
		MUST((fds[i] = open(i % 4 ? env->path : path, O_RDONLY | O_DIRECTORY)) >= 0);
	/* Records for STAT_BATCH to find. */
	for (int at = 0; at + 16384 <= ARENA; at += 16384) {
		MUST(lseek(fds[0], 0, SEEK_SET) == 0);
		sys_getdents64(fds[0], arena + at, 8192);
	}
}

static void run(struct env *env)
{
	static struct caller callers[THREADS];
	uint64_t seed = env->seed;
	unsigned long calls = 0, good = 0;
	double until = now() + env->seconds;

	printf("seed %ju\n", (uintmax_t)env->seed);
	prepare(env);
	for (unsigned int i = 0; i < THREADS; i++) {
		callers[i] = (struct caller){ .env = env, .seed = env->seed * 7919 + i + 1 };
		callers[i].requests = calloc(IN_FLIGHT + 1, 80);
		MUST(callers[i].requests);
		MUST(pthread_create(&callers[i].thread, NULL, call, &callers[i]) == 0);
	}
	while (now() < until) {
		for (int i = 0; i < 20; i++)
			disturb(env, callers, &seed);
		usleep(1000);
	}
	stop = true;
	for (unsigned int i = 0; i < THREADS; i++) {
		pthread_join(callers[i].thread, NULL);
		calls += callers[i].calls;
		good += callers[i].good;
	}
	printf("%lu rounds of calls, %lu plain ones in between\n", calls, good);
	CHECK(good > 0, "no plain call was made");
}

const struct test test = {
	.name = "random_calls",
	.each_fs = true,
	.kinds = BY_ALL,
	.one_kind = true,
	.soak = true,
	.run = run,
};
