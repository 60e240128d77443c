// Callbacks that end the walk, prune entries, or make invalid requests.

#define _GNU_SOURCE
#include "cases.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>

struct seen {
	atomic_size_t entries, batches, errors, left;
	struct ringwalk_walk *walk;
	_Atomic(struct ringwalk_visit *) visit;
	int answer;
	atomic_int inside[1024];
};

static int count(const struct ringwalk_batch *batch, struct ringwalk_visit *visit, void *data)
{
	struct seen *seen = data;
	int worker = ringwalk_visit_worker(visit);

	CHECK(worker >= 0 && worker < 1024);
	EQUAL(atomic_fetch_add(&seen->inside[worker], 1), 0);
	EQUAL(batch->id, 0);
	seen->entries += look_at(batch);
	seen->batches++;
	seen->errors += batch->kind == RINGWALK_ERROR;
	seen->left += batch->kind == RINGWALK_LEAVE;
	seen->visit = visit;
	atomic_fetch_sub(&seen->inside[worker], 1);
	return seen->answer;
}

static int run(struct ringwalk_options *options, ringwalk_visitor visitor, struct seen *seen)
{
	int result;

	seen->walk = opened(options);
	result = ringwalk_run(seen->walk, visitor, seen);
	EQUAL(ringwalk_visit_worker(seen->visit), -EBADF);
	EQUAL(ringwalk_run(seen->walk, visitor, seen), -EALREADY);
	EQUAL(next(seen->walk, &(struct ringwalk_batch){0}), result == -ECANCELED ? -ECANCELED : 0);
	EQUAL(ringwalk_close(seen->walk), 0);
	return result;
}

static void callbacks_see_all(void)
{
	struct ringwalk_options options = defaults();

	for (options.workers = 0; options.workers < 5; options.workers++) {
		struct seen seen = {0};

		options.flags = options.workers % 2 ? RINGWALK_FLAG_LEAVES : 0;
		EQUAL(run(&options, count, &seen), 0);
		EQUAL(seen.entries, ALL);
		EQUAL(seen.left, options.flags ? 5 + BRANCHES + BRANCHES * BRANCHES : 0);
		EQUAL(seen.errors, 0);
	}
}

static void callbacks_end_the_walk(void)
{
	struct ringwalk_options options = defaults();
	const int answers[][2] = {{RINGWALK_STOP, 0}, {-EPERM, -EPERM}, {-123456, -123456}, {INT_MIN, INT_MIN}, {7, -EINVAL}};

	for (size_t i = 0; i < 5; i++) {
		struct seen seen = {.answer = answers[i][0]};

		EQUAL(run(&options, count, &seen), answers[i][1]);
		EQUAL(seen.entries, 1);
		EQUAL(seen.batches, 1);
	}
	EQUAL(ringwalk_run(open_default(), NULL, NULL), -EINVAL);
}

static int prune_wide(const struct ringwalk_batch *batch, struct ringwalk_visit *visit, void *data)
{
	int descriptor = -2;
	struct stat stat;

	EQUAL(ringwalk_visit_descriptor(visit, &descriptor), 0);
	CHECK(batch->directory ? descriptor >= 0 : descriptor == AT_FDCWD);
	EQUAL(ringwalk_visit_prune(visit, batch->entry_count), -EINVAL);
	for (size_t i = 0; i < batch->entry_count; i++) {
		const struct ringwalk_entry *entry = &batch->entries[i];

		CHECK(!fstatat(descriptor, entry->name, &stat, AT_SYMLINK_NOFOLLOW));
		EQUAL((uint64_t)stat.st_size, entry->metadata->size);
		if (!strcmp(entry->name, "wide") || entry->type != RINGWALK_TYPE_DIRECTORY)
			EQUAL(ringwalk_visit_prune(visit, i), 0);
	}
	count(batch, visit, data);
	// Of each directory below that one, only entries that have been seen come.
	return batch->directory && strstr(batch->directory, "/branching/") ? RINGWALK_PRUNE : RINGWALK_CONTINUE;
}

static void callbacks_prune(void)
{
	struct ringwalk_options options = defaults();
	struct seen seen = {0};

	EQUAL(run(&options, prune_wide, &seen), 0);
	EQUAL(seen.entries, ALL - WIDE - BRANCHES * BRANCHES);
}

static int misuse(const struct ringwalk_batch *batch, struct ringwalk_visit *visit, void *data)
{
	struct seen *seen = data;
	struct ringwalk_batch own = *batch;
	struct ringwalk_walk *other;

	EQUAL(ringwalk_close(seen->walk), -EBUSY);
	EQUAL(next(seen->walk, &own), -EBUSY);
	EQUAL(ringwalk_run(seen->walk, misuse, seen), -EBUSY);
	EQUAL(ringwalk_summary(seen->walk, &(struct ringwalk_summary){0}, sizeof(struct ringwalk_summary)), -EAGAIN);
	own = *batch;
	EQUAL(ringwalk_release(&own), -EBADF);
	// A callback can run another walk.
	other = open_default();
	EQUAL(ringwalk_run(other, count, &(struct seen){0}), 0);
	EQUAL(ringwalk_close(other), 0);
	EQUAL(ringwalk_visit_worker(visit) >= 0, 1);
	EQUAL(ringwalk_cancel(seen->walk), 0);
	seen->batches++;
	return RINGWALK_CONTINUE;
}

static void callbacks_that_ask_too_much(void)
{
	struct ringwalk_options options = defaults();
	struct seen seen = {0};

	options.workers = 2;
	EQUAL(run(&options, misuse, &seen), -ECANCELED);
	EQUAL(seen.batches, 1);
}

static void *ask_elsewhere(void *visit)
{
	EQUAL(ringwalk_visit_worker(visit), -EBADF);
	EQUAL(ringwalk_visit_prune(visit, 0), -EBADF);
	return NULL;
}

static int lend(const struct ringwalk_batch *batch, struct ringwalk_visit *visit, void *data)
{
	pthread_t thread;

	if (!batch->directory) {
		CHECK(!pthread_create(&thread, NULL, ask_elsewhere, visit));
		pthread_join(thread, NULL);
	}
	return count(batch, visit, data);
}

static void callbacks_on_other_threads(void)
{
	struct ringwalk_options options = defaults();
	struct seen seen = {0};

	EQUAL(run(&options, lend, &seen), 0);
	EQUAL(seen.entries, ALL);
}

static void run_cancelled_by_another_thread(void)
{
	struct ringwalk_walk *walk = open_long();
	struct seen seen = {0};
	pthread_t thread;

	CHECK(!pthread_create(&thread, NULL, cancel_soon, walk));
	EQUAL(ringwalk_run(walk, count, &seen), -ECANCELED);
	pthread_join(thread, NULL);
	CHECK(seen.entries < 20000 * (size_t)ALL);
	EQUAL(ringwalk_close(walk), 0);
}

const struct test_case cases[] = {
	CASE(callbacks_see_all),
	CASE(callbacks_end_the_walk),
	CASE(callbacks_prune),
	CASE(callbacks_that_ask_too_much),
	CASE(callbacks_on_other_threads),
	CASE(run_cancelled_by_another_thread),
	{0},
};
