// Budgets: walks that stop and walks that go on, and leftovers that are none.

#define _GNU_SOURCE
#include "cases.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>

// What walks with a budget have delivered.
struct total {
	pthread_mutex_t lock;
	size_t entries, errors;
	uint64_t inodes; // the sum of the inode numbers
};

static void add(const struct ringwalk_batch *batch, struct total *total)
{
	size_t entries = look_at(batch);

	pthread_mutex_lock(&total->lock);
	total->entries += entries;
	total->errors += batch->kind == RINGWALK_ERROR;
	for (size_t i = 0; i < batch->entry_count; i++)
		total->inodes += batch->entries[i].inode;
	pthread_mutex_unlock(&total->lock);
}

static int called(const struct ringwalk_batch *batch, struct ringwalk_visit *visit, void *data)
{
	(void)visit;
	add(batch, data);
	return RINGWALK_CONTINUE;
}

// Reads a walk to its end, by batches or with a callback.
static void finish(struct ringwalk_walk *walk, int run, struct total *total)
{
	struct ringwalk_batch batch;

	if (run) {
		EQUAL(ringwalk_run(walk, called, total), 0);
		return;
	}
	for (; next(walk, &batch) > 0; ringwalk_release(&batch))
		add(&batch, total);
}

static struct ringwalk_options one_entry(void)
{
	struct ringwalk_options options = defaults();

	options.budget_entries = 1;
	options.buffer_size = 8192;
	return options;
}

// A walk of one entry that has ended.
static struct ringwalk_walk *begun(const struct ringwalk_leftover **left, size_t *count)
{
	struct ringwalk_options options = one_entry();
	struct ringwalk_walk *walk = opened(&options);

	finish(walk, 0, &(struct total){.lock = PTHREAD_MUTEX_INITIALIZER});
	EQUAL(ringwalk_leftovers(walk, left, count), 0);
	CHECK(*count > 0);
	return walk;
}

// Runs walks until nothing is left. Each entry comes once.
static void until_nothing_is_left(struct ringwalk_options options, int run)
{
	struct total all = {.lock = PTHREAD_MUTEX_INITIALIZER}, shared = all;
	struct ringwalk_options whole = defaults();
	struct ringwalk_walk *walk = opened(&whole), *after;
	const struct ringwalk_leftover *left;
	struct ringwalk_summary summary;
	size_t walks = 1, count;

	finish(walk, 0, &all);
	EQUAL(all.entries, ALL);
	EQUAL(ringwalk_leftovers(walk, &left, &count), 0);
	CHECK(count == 0 && left);
	EQUAL(ringwalk_close(walk), 0);
	walk = opened(&options);
	for (;; walks++) {
		finish(walk, run, &shared);
		EQUAL(ringwalk_leftovers(walk, &left, &count), 0);
		EQUAL(ringwalk_summary(walk, &summary, sizeof summary), 0);
		EQUAL(summary.stopped, count > 0);
		if (!count)
			break;
		for (size_t i = 0; i < count; i++)
			CHECK(left[i].path[0] != '/' && left[i].root_inode && !left[i].root);
		options.resume = left;
		options.resume_count = count;
		after = opened(&options);
		// The list was copied.
		EQUAL(ringwalk_close(walk), 0);
		walk = after;
	}
	EQUAL(ringwalk_close(walk), 0);
	CHECK(walks > 10);
	EQUAL(shared.entries, ALL);
	EQUAL(shared.errors, 0);
	EQUAL(shared.inodes, all.inodes);
}

static void batches_give_each_entry_once(void)
{
	until_nothing_is_left(one_entry(), 0);
}

static void callbacks_give_each_entry_once(void)
{
	struct ringwalk_options options = one_entry();

	options.flags = RINGWALK_FLAG_LEAVES;
	for (options.workers = 1; options.workers < 3; options.workers++)
		until_nothing_is_left(options, 1);
}

static void a_time_gives_each_entry_once(void)
{
	struct ringwalk_options options = one_entry();

	options.budget_entries = 0;
	options.budget_time = 1;
	options.workers = 1;
	until_nothing_is_left(options, 0);
}

static void leftovers_that_there_are_not(void)
{
	struct ringwalk_options options = defaults();
	const struct ringwalk_leftover *left;
	struct ringwalk_leftover wrong;
	struct ringwalk_walk *walk;
	size_t count;

	walk = begun(&left, &count);
	options.resume = &wrong;
	options.resume_count = 1;
#define WRONG(member, value)                                                                    \
	do {                                                                                    \
		wrong = left[0];                                                                \
		wrong.member = value;                                                           \
		EQUAL(refused(&options), -EINVAL);                                              \
		CHECK(strstr(message, "resume[0]." #member) == message);                        \
	} while (0)
	WRONG(root, 1);
	WRONG(path, NULL);
	WRONG(path, "/");
	WRONG(path, top);
	WRONG(path, "wide/");
	WRONG(path, "branching//branch0");
	WRONG(path, ".");
	WRONG(path, "wide/..");
	WRONG(path, "../wide");
	WRONG(path, "./wide");
	WRONG(depth, 0);
	WRONG(depth, 7);
	WRONG(position, -2);
	wrong = left[0];
	wrong.reserved[6] = 1;
	EQUAL(refused(&options), -EINVAL);
	CHECK(strstr(message, "reserved"));
	wrong = left[0];
	options.resume_count = SIZE_MAX;
	EQUAL(refused(&options), -EINVAL);
	CHECK(strstr(message, "resume_count") == message);
	options.resume = NULL;
	options.resume_count = 1;
	EQUAL(refused(&options), -EINVAL);
	CHECK(strstr(message, "resume") == message);
	EQUAL(ringwalk_close(walk), 0);
}

static void links_that_are_followed(void)
{
	const struct ringwalk_leftover *left;
	struct ringwalk_options options;
	struct ringwalk_walk *walk;
	size_t count;

	walk = begun(&left, &count);
	for (int which = 0; which < 4; which++) {
		options = defaults();
		options.follow = which < 3 ? RINGWALK_FOLLOW_ALWAYS : RINGWALK_FOLLOW_ROOTS;
		options.budget_time = which == 0;
		options.budget_entries = which == 1;
		if (which >= 2) {
			options.resume = left;
			options.resume_count = count;
		}
		if (which == 3)
			break;
		EQUAL(refused(&options), -EINVAL);
		CHECK(strstr(message, "follow") == message);
	}
	EQUAL(ringwalk_close(walk), 0);
}

static void lists_without_leftovers(void)
{
	struct ringwalk_options options = defaults();
	struct ringwalk_leftover none;
	struct ringwalk_walk *walk;

	// A walk that goes on with nothing is no walk from the beginning.
	options.resume = &none;
	walk = opened(&options);
	EQUAL(read_all(walk), 0);
	EQUAL(ringwalk_close(walk), 0);
}

static void asked_at_the_wrong_time(void)
{
	const struct ringwalk_leftover *left = (void *)1;
	struct ringwalk_walk *walk = open_default();
	struct ringwalk_batch batch;
	size_t count = 7;

	EQUAL(ringwalk_leftovers(walk, NULL, &count), -EINVAL);
	EQUAL(ringwalk_leftovers(walk, &left, NULL), -EINVAL);
	EQUAL(ringwalk_leftovers(walk, &left, &count), -EAGAIN);
	CHECK(!left && !count);
	batch = first(walk);
	EQUAL(ringwalk_leftovers(walk, &left, &count), -EAGAIN);
	EQUAL(ringwalk_release(&batch), 0);
	EQUAL(ringwalk_cancel(walk), 0);
	EQUAL(next(walk, &batch), -ECANCELED);
	EQUAL(ringwalk_leftovers(walk, &left, &count), -ECANCELED);
	EQUAL(ringwalk_close(walk), 0);
	left = (void *)1;
	EQUAL(ringwalk_leftovers(walk, &left, &count), -EBADF);
	CHECK(!left && !count);
	EQUAL(ringwalk_leftovers(NULL, &left, &count), -EBADF);
}

static int stop(const struct ringwalk_batch *batch, struct ringwalk_visit *visit, void *data)
{
	(void)batch, (void)visit, (void)data;
	return RINGWALK_STOP;
}

static void a_callback_that_stops(void)
{
	struct ringwalk_options options = one_entry();
	const struct ringwalk_leftover *left;
	struct ringwalk_walk *walk;
	size_t count;

	walk = opened(&options);
	EQUAL(ringwalk_run(walk, stop, NULL), 0);
	EQUAL(ringwalk_leftovers(walk, &left, &count), -ECANCELED);
	EQUAL(ringwalk_close(walk), 0);
}

static void a_root_that_is_another_one(void)
{
	const struct ringwalk_leftover *left, *again;
	struct total total = {.lock = PTHREAD_MUTEX_INITIALIZER};
	struct ringwalk_options options = defaults();
	char *others[] = {"/proc/self", NULL};
	struct ringwalk_walk *walk, *other;
	size_t count, still;

	walk = begun(&left, &count);
	options.roots = others;
	options.resume = left;
	options.resume_count = count;
	other = opened(&options);
	finish(other, 0, &total);
	EQUAL(total.entries, 0);
	EQUAL(total.errors, count);
	EQUAL(ringwalk_leftovers(other, &again, &still), 0);
	EQUAL(still, count);
	EQUAL(ringwalk_close(other), 0);
	EQUAL(ringwalk_close(walk), 0);
}

static void options_without_a_budget(void)
{
	struct ringwalk_options options = one_entry();
	struct ringwalk_walk *walk;

	// Programs of older versions have no such members: what is behind their struct is not read.
	options.size = offsetof(struct ringwalk_options, budget_time);
	options.resume = (void *)1;
	options.resume_count = 1;
	walk = opened(&options);
	EQUAL(read_all(walk), ALL);
	EQUAL(ringwalk_close(walk), 0);
	options.size = offsetof(struct ringwalk_options, resume);
	walk = opened(&options);
	CHECK(read_all(walk) < ALL);
	EQUAL(ringwalk_close(walk), 0);
}

const struct test_case cases[] = {
	CASE(batches_give_each_entry_once),
	CASE(callbacks_give_each_entry_once),
	CASE(a_time_gives_each_entry_once),
	CASE(leftovers_that_there_are_not),
	CASE(links_that_are_followed),
	CASE(lists_without_leftovers),
	CASE(asked_at_the_wrong_time),
	CASE(a_callback_that_stops),
	CASE(a_root_that_is_another_one),
	CASE(options_without_a_budget),
	{0},
};
