// SPDX-License-Identifier: GPL-2.0-only
/*
 * Random requests: valid ones with some random fields, from a seed that is printed. The kernel must
 * survive, sizes must stay within their buffers, and a plain request must work in between. Other
 * results do not matter.
 *
 * Threads share files and memory, so that arguments change while they are copied, descriptors go
 * away and folders change.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/random.h"
#include "lib/request.h"
#include "lib/test.h"
#include "lib/tree.h"

#define THREADS 3
#define FDS 12
#define ARENA (1 << 20)
#define IN_FLIGHT 32
/* Bytes after each buffer that must not change. */
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
static struct random_shared shared = { .len = ARENA, .fds = fds, .fd_count = FDS };
static volatile bool stop;
static enum transport_kind kinds[TRANSPORTS];
static unsigned int kind_count;

static unsigned int some_command(uint64_t *seed, unsigned int command)
{
	return random_below(seed, 100) ? command : command ^ (1u << random_below(seed, 32));
}

/* Checks that a bad call has broken nothing. */
static void plain_call(struct caller *caller, struct transport *transport)
{
	struct ringwalk_getdents *request = (struct ringwalk_getdents *)(caller->requests + RANDOM_REQUEST * IN_FLIGHT);
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

/* The operations have copies of a part of the request. */
static void random_spoil_args(struct caller *caller, struct transport *transport, struct io_uring_sqe *sqe)
{
	if (transport->device < 0)
		random_spoil(&caller->seed, &transport->args[ring_index(&transport->ring, sqe)], sizeof(*transport->args));
}

static void call_by_ring(struct caller *caller, struct transport *transport)
{
	unsigned int count = 1 + random_below(&caller->seed, IN_FLIGHT);
	struct io_uring_cqe cqe;

	for (unsigned int i = 0; i < count; i++) {
		char *request = caller->requests + RANDOM_REQUEST * i;
		unsigned int command = random_request(&shared, &caller->seed, request);
		struct io_uring_sqe *sqe = ring_entry(&transport->ring);
		uint8_t opcode;

		if (transport->device < 0 && command != RINGWALK_IOC_GETDENTS && command != RINGWALK_IOC_READDIRPLUS) {
			sqe->opcode = IORING_OP_NOP;
			continue;
		}
		transport_fill(transport, sqe, command, request);
		random_spoil(&caller->seed, request, RANDOM_REQUEST);
		if (command == RINGWALK_IOC_READDIRPLUS)
			random_spoil_args(caller, transport, sqe);
		if (transport->device >= 0)
			sqe->cmd_op = some_command(&caller->seed, command);
		if (random_below(&caller->seed, 8) == 0)
			sqe->flags |= random_below(&caller->seed, 2) ? IOSQE_IO_LINK : IOSQE_ASYNC;
		/* Other opcodes are not part of this test. */
		opcode = sqe->opcode;
		if (random_below(&caller->seed, 60) == 0)
			((char *)sqe)[random_below(&caller->seed, sizeof(*sqe))] ^= 1 << random_below(&caller->seed, 8);
		sqe->opcode = opcode;
		sqe->flags &= IOSQE_ASYNC | IOSQE_IO_LINK | IOSQE_IO_HARDLINK;
	}
	ring_submit(&transport->ring, 0);
	/* Sometimes the ring is closed with requests in flight. */
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
				unsigned int command = random_request(&shared, &caller->seed, caller->requests);

				random_spoil(&caller->seed, caller->requests, RANDOM_REQUEST);
				transport_call_raw(&transport, some_command(&caller->seed, command),
						   random_below(&caller->seed, 50) ? (uintptr_t)caller->requests :
										     random_address(&shared, &caller->seed));
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

/* Changes the shared data: descriptors, the folder, memory, and requests while they are copied. */
static void disturb(struct env *env, struct caller *callers, uint64_t *seed)
{
	unsigned int i = random_below(seed, FDS);
	char name[32];
	int fd;

	switch (random_below(seed, 6)) {
	case 0:
		/* The number stays in use, so that no other file gets it. */
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
		random_spoil(seed, callers[random_below(seed, THREADS)].requests + RANDOM_REQUEST * random_below(seed, IN_FLIGHT),
			     RANDOM_REQUEST);
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
	shared.memory = arena;
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
		callers[i].requests = calloc(IN_FLIGHT + 1, RANDOM_REQUEST);
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
	.needs = OPCODE_READDIRPLUS,
	.one_kind = true,
	.soak = true,
	.run = run,
};
