// Invalid options, and options of other versions of the library.

#define _GNU_SOURCE
#include "cases.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>

static void values_that_there_are_not(void)
{
	struct ringwalk_options options;

	EQUAL(refused(NULL), -EINVAL);
	EQUAL(ringwalk_open(&(struct ringwalk_options){.size = sizeof options}, NULL), -EINVAL);
#define WRONG(member, value)                                                                    \
	do {                                                                                    \
		options = defaults();                                                           \
		options.member = value;                                                         \
		EQUAL(refused(&options), -EINVAL);                                              \
		CHECK(strstr(message, #member) == message);                                     \
	} while (0)
	WRONG(fields, 0x10000);
	WRONG(flags, 16);
	WRONG(follow, 3);
	WRONG(stay, 3);
	WRONG(order, 3);
	WRONG(prefetch, 3);
	WRONG(workers, 100000);
	WRONG(max_depth, -2);
	WRONG(buffer_size, 1000);
	options = defaults();
	options.roots = NULL;
	EQUAL(refused(&options), -EINVAL);
	options.roots = roots + 1;
	EQUAL(refused(&options), -EINVAL);
	CHECK(strstr(message, "root"));
	options = defaults();
	options.source = "tape";
	EQUAL(refused(&options), -EINVAL);
	CHECK(strstr(message, "tape") && strstr(message, "syscall"));
	options.source = "\xff";
	EQUAL(refused(&options), -EINVAL);
	// The message is cut to fit, and nothing is written behind the buffer.
	options.source = "tape";
	options.message_size = 8;
	memset(message, '#', sizeof message);
	EQUAL(ringwalk_open(&options, &(struct ringwalk_walk *){NULL}), -EINVAL);
	EQUAL(strlen(message), 7);
	EQUAL(message[8], '#');
	options.message_size = 0;
	options.message = NULL;
	EQUAL(ringwalk_open(&options, &(struct ringwalk_walk *){NULL}), -EINVAL);
}

static void options_of_other_versions(void)
{
	struct {
		struct ringwalk_options known;
		uint64_t unknown[4];
	} newer = {.known = defaults()};
	struct ringwalk_walk *walk;

	newer.known.size = sizeof newer;
	EQUAL(ringwalk_open(&newer.known, &walk), 0);
	EQUAL(ringwalk_close(walk), 0);
	newer.unknown[3] = 1;
	EQUAL(refused(&newer.known), -E2BIG);
	// The struct of the first version, with other bytes behind it.
	newer.known.size = offsetof(struct ringwalk_options, descriptor_reserve);
	newer.known.descriptor_reserve = 1;
	EQUAL(ringwalk_open(&newer.known, &walk), 0);
	EQUAL(ringwalk_close(walk), 0);
	newer.known.size = 8;
	EQUAL(refused(&newer.known), -EINVAL);
	newer.known.size = 0;
	EQUAL(refused(&newer.known), -EINVAL);
	// No version will be that large: nobody has set the size.
	newer.known.size = 4097;
	EQUAL(refused(&newer.known), -EINVAL);
	newer.known.size = (size_t)-1;
	EQUAL(refused(&newer.known), -EINVAL);
}

static void a_source_that_cannot_be_used(void)
{
	struct ringwalk_options options = defaults();
	struct ringwalk_walk *walk;
	int result;

	options.source = "xfs";
	result = ringwalk_open(&options, &walk);
	if (result == 0) {
		ringwalk_close(walk);
		exit(77);
	}
	EQUAL(result, -EOPNOTSUPP);
	CHECK(strstr(message, "xfs") && strstr(message, top));
	options.source = "syscall";
	walk = opened(&options);
	EQUAL(read_all(walk), ALL);
	EQUAL(ringwalk_close(walk), 0);
}

static void batches_of_other_versions(void)
{
	struct ringwalk_walk *walk = open_default();
	struct {
		struct ringwalk_batch known;
		uint64_t unknown[2];
	} newer = {.unknown = {7, 7}};
	struct ringwalk_summary summary;

	EQUAL(ringwalk_next_batch(walk, &newer.known, sizeof newer.known - 1), -EINVAL);
	EQUAL(ringwalk_next_batch(walk, NULL, sizeof newer), -EINVAL);
	EQUAL(ringwalk_next_batch(walk, &newer.known, sizeof newer), 1);
	CHECK(!newer.unknown[0] && !newer.unknown[1]);
	EQUAL(look_at(&newer.known), 1);
	EQUAL(ringwalk_release(&newer.known), 0);
	EQUAL(1 + read_all(walk), ALL);
	EQUAL(ringwalk_summary(walk, &summary, sizeof summary - 1), -EINVAL);
	EQUAL(ringwalk_summary(walk, NULL, sizeof summary), -EINVAL);
	EQUAL(ringwalk_close(walk), 0);
}

static void depths_and_orders(void)
{
	struct ringwalk_options options = defaults();
	struct ringwalk_walk *walk;
	struct ringwalk_batch batch;

	options.max_depth = RINGWALK_ROOTS_ONLY;
	walk = opened(&options);
	EQUAL(read_all(walk), 1);
	EQUAL(ringwalk_close(walk), 0);
	options.max_depth = 1;
	walk = opened(&options);
	EQUAL(read_all(walk), 1 + 4);
	EQUAL(ringwalk_close(walk), 0);
	options.max_depth = 0;
	options.min_depth = 2;
	options.order = RINGWALK_ORDER_NAME;
	options.workers = 3;
	options.buffer_size = 1024;
	options.prefetch = RINGWALK_PREFETCH_NEVER;
	options.stay = RINGWALK_STAY_DEVICE;
	options.flags = RINGWALK_FLAG_SYNC | RINGWALK_FLAG_RAISE_LIMITS;
	walk = opened(&options);
	for (size_t entries = 0, got; (got = next(walk, &batch)); ringwalk_release(&batch)) {
		entries += look_at(&batch);
		CHECK(batch.depth >= 2 && !batch.root);
		for (size_t i = 1; i < batch.entry_count; i++)
			CHECK(strcmp(batch.entries[i - 1].name, batch.entries[i].name) < 0);
		if (!strcmp(batch.directory + strlen(top), "/wide"))
			EQUAL(batch.entry_count, WIDE);
		CHECK(entries <= ALL - 5);
	}
	EQUAL(ringwalk_close(walk), 0);
}

static void roots_by_descriptor(void)
{
	int descriptors[] = {open(top, O_RDONLY | O_DIRECTORY), -1};
	char *paths[] = {"shown", top, NULL};
	struct ringwalk_options options = defaults();
	struct ringwalk_walk *walk;
	struct ringwalk_batch batch;

	options.roots = paths;
	options.root_descriptors = descriptors;
	walk = opened(&options);
	// The walk duplicated the descriptor.
	close(descriptors[0]);
	batch = first(walk);
	EQUAL(batch.entry_count, 2);
	CHECK(!batch.directory && !strcmp(batch.entries[0].name, "shown"));
	EQUAL(ringwalk_release(&batch), 0);
	EQUAL(2 + read_all(walk), 2 * ALL);
	EQUAL(ringwalk_close(walk), 0);
	EQUAL(refused(&options), -EBADF);
	CHECK(strstr(message, "descriptor"));
}

static void limits_of_requests(void)
{
	struct ringwalk_options options = defaults();
	struct ringwalk_summary summary;
	struct ringwalk_walk *walk;

	options.fields = RINGWALK_FIELD_SIZE;
	options.workers = 4;
	options.in_flight = 1;
	options.entries_per_second = 1000000000;
	walk = opened(&options);
	EQUAL(read_all(walk), ALL);
	EQUAL(ringwalk_summary(walk, &summary, sizeof summary), 0);
	EQUAL(summary.workers, 1);
	EQUAL(ringwalk_close(walk), 0);
}

const struct test_case cases[] = {
	CASE(values_that_there_are_not),
	CASE(options_of_other_versions),
	CASE(a_source_that_cannot_be_used),
	CASE(batches_of_other_versions),
	CASE(depths_and_orders),
	CASE(roots_by_descriptor),
	CASE(limits_of_requests),
	{0},
};
