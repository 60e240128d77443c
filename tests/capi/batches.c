// Batches: at the end, in the middle, many at a time, of errors, with few descriptors.

#define _GNU_SOURCE
#include "cases.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

static void the_end_and_after(void)
{
	struct ringwalk_walk *walk = open_default();
	struct ringwalk_summary summary;
	struct ringwalk_batch batch = first(walk);

	EQUAL(ringwalk_summary(walk, &summary, sizeof summary), -EAGAIN);
	EQUAL(ringwalk_release(&batch), 0);
	read_all(walk);
	for (int i = 0; i < 3; i++)
		EQUAL(next(walk, &batch), 0);
	EQUAL(ringwalk_run(walk, NULL, NULL), -EINVAL);
	EQUAL(ringwalk_summary(walk, &summary, sizeof summary), 0);
	EQUAL(summary.entries, ALL);
	EQUAL(summary.directories, 1 + 4 + BRANCHES + BRANCHES * BRANCHES);
	EQUAL(summary.errors, 0);
	EQUAL(summary.stopped, 0);
	CHECK(summary.workers > 0 && summary.elapsed > 0 && strlen(summary.source) > 0);
	EQUAL(ringwalk_close(walk), 0);
}

static void closed_in_the_middle(void)
{
	for (int taken = 0; taken < 12; taken++) {
		struct ringwalk_walk *walk = open_default();

		for (int i = 0; i < taken; i++) {
			struct ringwalk_batch batch = first(walk);

			EQUAL(ringwalk_release(&batch), 0);
		}
		EQUAL(ringwalk_close(walk), 0);
	}
}

static void *release_all(void *data)
{
	struct ringwalk_batch *batches = data;

	for (size_t i = 0; batches[i].id; i++) {
		look_at(&batches[i]);
		EQUAL(ringwalk_release(&batches[i]), 0);
	}
	return NULL;
}

static void all_held_at_once(void)
{
	static struct ringwalk_batch batches[ALL];
	struct ringwalk_walk *walk = open_default();
	size_t count = 0, entries = 0;
	pthread_t thread;

	while (next(walk, &batches[count]) > 0)
		entries += look_at(&batches[count++]);
	EQUAL(entries, ALL);
	EQUAL(ringwalk_close(walk), 0);
	CHECK(!pthread_create(&thread, NULL, release_all, batches));
	pthread_join(thread, NULL);
}

static void errors_in_the_middle(void)
{
	char *paths[] = {top, "/nonexistent/\xff", top, NULL};
	struct ringwalk_options options = defaults();
	struct ringwalk_summary summary;
	struct ringwalk_batch batch;
	struct ringwalk_walk *walk;
	size_t entries = 0, errors = 0, loops = 0;

	options.roots = paths;
	options.follow = RINGWALK_FOLLOW_ALWAYS;
	walk = opened(&options);
	while (next(walk, &batch) > 0) {
		entries += look_at(&batch);
		if (batch.kind == RINGWALK_ERROR && batch.error->operation == RINGWALK_STAT) {
			EQUAL(batch.error->code, ENOENT);
			CHECK(!strcmp(batch.error->path, paths[1]) && !batch.error->loops_with);
			CHECK(strstr(batch.error->message, "\\xff"));
			errors++;
		} else if (batch.kind == RINGWALK_ERROR) {
			EQUAL(batch.error->operation, RINGWALK_LOOP);
			EQUAL(batch.error->code, ELOOP);
			CHECK(!strcmp(batch.error->loops_with, top));
			loops++;
		}
		EQUAL(ringwalk_release(&batch), 0);
	}
	EQUAL(errors, 1);
	EQUAL(loops, 2);
	EQUAL(ringwalk_summary(walk, &summary, sizeof summary), 0);
	EQUAL(summary.errors, 3);
	CHECK(entries == 2 * ALL || entries == 2 * ALL + 1);
	EQUAL(ringwalk_close(walk), 0);
}

static void names_that_are_no_text(void)
{
	struct ringwalk_walk *walk = open_default();
	struct ringwalk_batch batch;
	size_t found = 0;

	for (; next(walk, &batch) > 0; ringwalk_release(&batch)) {
		if (!batch.directory || strcmp(batch.directory + strlen(top), "/odd"))
			continue;
		EQUAL(batch.entry_count, ODD);
		for (size_t i = 0; i < ODD; i++) {
			char path[4096];
			struct stat stat;
			ssize_t length = ringwalk_path(&batch, i, NULL, 0);

			EQUAL(length, strlen(top) + 5 + batch.entries[i].name_length);
			path[0] = '#';
			EQUAL(ringwalk_path(&batch, i, path, length), length);
			EQUAL(path[0], '#');
			EQUAL(ringwalk_path(&batch, i, path, length + 1), length);
			EQUAL(strlen(path), length);
			CHECK(!lstat(path, &stat));
			EQUAL((uint64_t)stat.st_size, batch.entries[i].metadata->size);
			EQUAL((uint64_t)stat.st_ino, batch.entries[i].inode);
			found++;
		}
		EQUAL(ringwalk_path(&batch, ODD, NULL, 0), -EINVAL);
		EQUAL(ringwalk_path(&batch, 0, NULL, 1), -EINVAL);
	}
	EQUAL(found, ODD);
	EQUAL(ringwalk_path(NULL, 0, NULL, 0), -EINVAL);
	EQUAL(ringwalk_close(walk), 0);
}

static void few_descriptors(void)
{
	struct rlimit limit = {12, 12};
	struct ringwalk_walk *walk;
	struct ringwalk_summary summary;

	CHECK(!setrlimit(RLIMIT_NOFILE, &limit));
	walk = open_default();
	EQUAL(read_all(walk), ALL);
	EQUAL(ringwalk_summary(walk, &summary, sizeof summary), 0);
	EQUAL(summary.errors, 0);
	EQUAL(ringwalk_close(walk), 0);
}

static void no_descriptors(void)
{
	struct ringwalk_walk *walk = open_default();
	struct ringwalk_batch batch;
	struct rlimit before, limit;
	size_t errors = 0;
	int got;

	CHECK(!getrlimit(RLIMIT_NOFILE, &before));
	limit = (struct rlimit){3, before.rlim_max};
	CHECK(!setrlimit(RLIMIT_NOFILE, &limit));
	while ((got = next(walk, &batch)) > 0) {
		if (batch.kind == RINGWALK_ERROR) {
			EQUAL(batch.error->code, EMFILE);
			EQUAL(batch.error->operation, RINGWALK_OPEN);
			errors++;
		}
		EQUAL(ringwalk_release(&batch), 0);
	}
	EQUAL(got, 0);
	EQUAL(errors, 1);
	EQUAL(ringwalk_close(walk), 0);
	CHECK(!setrlimit(RLIMIT_NOFILE, &before));
}

const struct test_case cases[] = {
	CASE(the_end_and_after),
	CASE(closed_in_the_middle),
	CASE(all_held_at_once),
	CASE(errors_in_the_middle),
	CASE(names_that_are_no_text),
	CASE(few_descriptors),
	CASE(no_descriptors),
	{0},
};
