// Handles that are used after they were closed or released, and invalid handles.

#define _GNU_SOURCE
#include "cases.h"

#include <errno.h>
#include <string.h>

static void closed_twice_and_used_after(void)
{
	struct ringwalk_walk *walk = open_default(), *other;
	struct ringwalk_batch batch = first(walk);
	struct ringwalk_summary summary;

	EQUAL(ringwalk_close(walk), 0);
	// Another walk takes its place in the table, but not its handle.
	other = open_default();
	for (int i = 0; i < 2; i++) {
		EQUAL(ringwalk_close(walk), -EBADF);
		EQUAL(ringwalk_cancel(walk), -EBADF);
		EQUAL(next(walk, &(struct ringwalk_batch){0}), -EBADF);
		EQUAL(ringwalk_run(walk, NULL, NULL), -EBADF);
		EQUAL(ringwalk_summary(walk, &summary, sizeof summary), -EBADF);
	}
	// Batches that are held stay valid.
	look_at(&batch);
	EQUAL(ringwalk_release(&batch), 0);
	EQUAL(read_all(other), ALL);
	EQUAL(ringwalk_close(other), 0);
}

static void what_is_no_handle(void)
{
	struct ringwalk_walk *walk = open_default();
	void *wrong[] = {NULL, (void *)1, (void *)-1, &walk, malloc(8), (char *)walk + 1, (char *)walk + 4, (char *)walk + 4096};
	struct ringwalk_batch batch;

	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		EQUAL(ringwalk_close(wrong[i]), -EBADF);
		EQUAL(ringwalk_cancel(wrong[i]), -EBADF);
		EQUAL(next(wrong[i], &batch), -EBADF);
		CHECK(!batch.id && !batch.entries);
		EQUAL(ringwalk_visit_worker(wrong[i]), -EBADF);
		EQUAL(ringwalk_visit_prune(wrong[i], 0), -EBADF);
		EQUAL(ringwalk_visit_descriptor(wrong[i], &(int){0}), -EBADF);
	}
	free(wrong[4]);
	EQUAL(ringwalk_visit_descriptor(NULL, NULL), -EINVAL);
	EQUAL(read_all(walk), ALL);
	EQUAL(ringwalk_close(walk), 0);
}

static void released_twice(void)
{
	struct ringwalk_walk *walk = open_default();
	struct ringwalk_batch batch = first(walk), copy = batch, more;

	EQUAL(ringwalk_release(&batch), 0);
	CHECK(!batch.id && !batch.entries && !batch.entry_count);
	EQUAL(ringwalk_release(&batch), -EBADF);
	EQUAL(ringwalk_path(&batch, 0, NULL, 0), -EINVAL);
	// The next batch may have its memory, but not its number.
	more = first(walk);
	EQUAL(ringwalk_release(&copy), -EBADF);
	look_at(&more);
	EQUAL(ringwalk_release(&more), 0);
	EQUAL(ringwalk_release(NULL), -EINVAL);
	memset(&batch, 0xff, sizeof batch);
	EQUAL(ringwalk_release(&batch), -EBADF);
	EQUAL(ringwalk_close(walk), 0);
}

static void as_many_walks_as_there_may_be(void)
{
	static struct ringwalk_walk *walks[1024];
	struct ringwalk_options options = defaults();

	for (size_t i = 0; i < 1024; i++)
		walks[i] = open_default();
	EQUAL(refused(&options), -EMFILE);
	EQUAL(ringwalk_close(walks[500]), 0);
	walks[500] = open_default();
	EQUAL(read_all(walks[500]), ALL);
	for (size_t i = 0; i < 1024; i++)
		EQUAL(ringwalk_close(walks[i]), 0);
}

const struct test_case cases[] = {
	CASE(closed_twice_and_used_after),
	CASE(what_is_no_handle),
	CASE(released_twice),
	CASE(as_many_walks_as_there_may_be),
	{0},
};
