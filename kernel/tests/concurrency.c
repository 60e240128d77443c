// SPDX-License-Identifier: GPL-2.0-only
/*
 * Thousands of requests in flight, with several commands, on rings of several threads, on shared
 * and on separate folders. Every answer is compared.
 */
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include "lib/request.h"
#include "lib/test.h"
#include "lib/tree.h"

#define THREADS 4
#define IN_FLIGHT 512
#define OUT_LEN 2048
#define FOLDERS 3

struct shared {
	struct env *env;
	int fds[FOLDERS];
	char paths[FOLDERS][512];
	struct list lists[FOLDERS];
	unsigned int rounds;
};

struct worker {
	struct shared *shared;
	pthread_t thread;
	unsigned int number;
	struct transport transport;
	union {
		struct ringwalk_getdents getdents;
		struct ringwalk_readdirplus plus;
		struct ringwalk_stat_batch batch;
		struct ringwalk_readahead ahead;
	} requests[IN_FLIGHT];
	char (*out)[OUT_LEN];
	pthread_barrier_t *barrier;
};

enum { GETDENTS, READDIRPLUS, READAHEAD, STAT_BATCH, COMMANDS };

static const unsigned int commands[COMMANDS] = {
	RINGWALK_IOC_GETDENTS, RINGWALK_IOC_READDIRPLUS, RINGWALK_IOC_READAHEAD, RINGWALK_IOC_STAT_BATCH,
};

static const enum opcode opcodes[COMMANDS] = { OPCODE_GETDENTS, OPCODE_READDIRPLUS, OPCODE_NONE, OPCODE_NONE };

/* How many of the commands the transport has: the first ones. */
static unsigned int command_count(enum transport_kind kind)
{
	unsigned int count = 0;

	while (count < COMMANDS && transport_has(kind, opcodes[count]))
		count++;
	return count;
}

static unsigned int command_of(const struct worker *worker, unsigned int i)
{
	return (i + worker->number) % command_count(worker->transport.kind);
}

static struct list *list_of(const struct worker *worker, unsigned int i)
{
	return &worker->shared->lists[i % FOLDERS];
}

/* Each begins at another position, the last ones at the end. */
static size_t first_of(const struct worker *worker, unsigned int i)
{
	return i * 7 % list_of(worker, i)->count;
}

static int64_t offset_of(const struct worker *worker, unsigned int i)
{
	size_t first = first_of(worker, i);

	return first ? (int64_t)list_of(worker, i)->at[first - 1]->d_off : 0;
}

static void *fill(struct worker *worker, unsigned int i)
{
	int fd = worker->shared->fds[i % FOLDERS];
	struct list *list = list_of(worker, i);
	struct dirent_record *record = list->at[first_of(worker, i)];

	switch (command_of(worker, i)) {
	case GETDENTS:
		worker->requests[i].getdents = request_getdents(fd, worker->out[i], OUT_LEN);
		worker->requests[i].getdents.off = offset_of(worker, i);
		break;
	case READDIRPLUS:
		worker->requests[i].plus = request_readdirplus(fd, worker->out[i], OUT_LEN);
		worker->requests[i].plus.off = offset_of(worker, i);
		worker->requests[i].plus.max_entries = 6;
		break;
	case READAHEAD:
		worker->requests[i].ahead = request_readahead(fd);
		worker->requests[i].ahead.off = offset_of(worker, i);
		worker->requests[i].ahead.max_entries = 6;
		break;
	case STAT_BATCH:
		worker->requests[i].batch = request_stat_batch(fd, record, list->bytes + list->len - (char *)record,
							       worker->out[i], OUT_LEN);
		break;
	}
	return &worker->requests[i];
}

static const char *check_names(const struct worker *worker, unsigned int i, long got)
{
	struct list *list = list_of(worker, i);

	for (long at = 0, n = first_of(worker, i); at < got; n++) {
		const struct dirent_record *record = (const void *)(worker->out[i] + at);

		if ((size_t)n >= list->count || strcmp(record->d_name, list->at[n]->d_name))
			return wrong("record %ld is %s", n, record->d_name);
		at += record->d_reclen;
	}
	return got ? NULL : wrong("nothing");
}

static const char *check(struct worker *worker, unsigned int i, long got)
{
	const struct ringwalk_fields *fields = &worker->requests[i].plus.fields;
	struct compare compare = request_compare(&worker->transport, worker->shared->fds[i % FOLDERS],
						 worker->shared->paths[i % FOLDERS], fields, 0);

	if (got < 0)
		return wrong("%ld", got);
	switch (command_of(worker, i)) {
	case GETDENTS:
		return check_names(worker, i, got);
	case READDIRPLUS:
		return compare_batch(&compare, worker->out[i], got, worker->requests[i].plus.entries, list_of(worker, i),
				     first_of(worker, i));
	case STAT_BATCH:
		compare.fields = &worker->requests[i].batch.fields;
		compare.no_names = true;
		return compare_batch(&compare, worker->out[i], got, worker->requests[i].batch.entries, list_of(worker, i),
				     first_of(worker, i));
	default:
		return NULL;
	}
}

static void round_by_ring(struct worker *worker)
{
	/* One server answers all of FUSE. */
	unsigned int count = worker->shared->env->fs == FS_FUSE && !worker->shared->env->full ? 64 : IN_FLIGHT;
	struct io_uring_cqe cqe;
	double begin = now();

	for (unsigned int i = 0; i < count; i++)
		MUST(transport_queue(&worker->transport, commands[command_of(worker, i)], fill(worker, i), i));
	for (unsigned int i = 0; i < count; i++) {
		unsigned int which;

		MUST(ring_wait(&worker->transport.ring, &cqe) == 0);
		which = cqe.user_data;
		transport_finish(&worker->transport, commands[command_of(worker, which)], &worker->requests[which], &cqe);
		/* The comparison takes much longer than the request. */
		if (cqe.res < 0 || which % 8 == worker->number)
			CHECK_NULL(check(worker, which, cqe.res), "command %u, request %u", command_of(worker, which), which);
	}
	CHECK(now() - begin < 60, "a round took %.0f s", now() - begin);
}

static void round_by_ioctl(struct worker *worker)
{
	for (unsigned int i = 0; i < IN_FLIGHT / (worker->shared->env->fs == FS_FUSE ? 16 : 4); i++) {
		void *request = fill(worker, i);
		long got = transport_call(&worker->transport, commands[command_of(worker, i)], request);

		if (got < 0 || i % 8 == worker->number)
			CHECK_NULL(check(worker, i, got), "command %u, request %u", command_of(worker, i), i);
	}
}

static void *work(void *arg)
{
	struct worker *worker = arg;

	/* With DEFER_TASKRUN only the thread that made a ring may use it. */
	transport_open(&worker->transport, worker->shared->env->kind, IN_FLIGHT);
	for (unsigned int round = 0; round < worker->shared->rounds; round++) {
		pthread_barrier_wait(worker->barrier);
		if (worker->shared->env->kind == TRANSPORT_IOCTL)
			round_by_ioctl(worker);
		else
			round_by_ring(worker);
	}
	transport_close(&worker->transport);
	return NULL;
}

static void make_folders(struct shared *shared)
{
	for (int i = 0; i < FOLDERS; i++) {
		char name[16];

		snprintf(name, sizeof(name), "folder%d", i);
		shared->fds[i] = tree_folder(shared->env->path, name, shared->paths[i]);
		tree_files(shared->fds[i], "file", 10 + 20 * i);
		list_read(&shared->lists[i], shared->fds[i]);
	}
}

static void run(struct env *env)
{
	static struct worker workers[THREADS];
	struct shared shared = { .env = env, .rounds = env->full ? 6 : 1 };
	pthread_barrier_t barrier;

	make_folders(&shared);
	pthread_barrier_init(&barrier, NULL, THREADS);
	for (unsigned int i = 0; i < THREADS; i++) {
		workers[i] = (struct worker){ .shared = &shared, .number = i, .barrier = &barrier };
		workers[i].out = calloc(IN_FLIGHT, OUT_LEN);
		MUST(workers[i].out);
		MUST(pthread_create(&workers[i].thread, NULL, work, &workers[i]) == 0);
	}
	for (unsigned int i = 0; i < THREADS; i++)
		pthread_join(workers[i].thread, NULL);
}

const struct test test = {
	.name = "concurrency",
	.each_fs = true,
	.kinds = BY_ALL,
	.run = run,
};
