// See cases.h.

#define _GNU_SOURCE
#include "cases.h"

#include <string.h>

char *top;
char *roots[2];
char message[200];

struct ringwalk_options defaults(void)
{
	return (struct ringwalk_options){
		.size = sizeof(struct ringwalk_options),
		.roots = roots,
		.fields = RINGWALK_FIELD_TYPE | RINGWALK_FIELD_SIZE,
		.message = message,
		.message_size = sizeof message,
	};
}

struct ringwalk_walk *opened(const struct ringwalk_options *options)
{
	struct ringwalk_walk *walk = NULL;

	EQUAL(ringwalk_open(options, &walk), 0);
	CHECK(walk);
	return walk;
}

struct ringwalk_walk *open_default(void)
{
	struct ringwalk_options options = defaults();

	return opened(&options);
}

int refused(const struct ringwalk_options *options)
{
	struct ringwalk_walk *walk = (void *)1;
	int result;

	message[0] = 0;
	result = ringwalk_open(options, &walk);
	CHECK(result < 0 && !walk);
	return result;
}

int next(struct ringwalk_walk *walk, struct ringwalk_batch *batch)
{
	return ringwalk_next_batch(walk, batch, sizeof *batch);
}

struct ringwalk_batch first(struct ringwalk_walk *walk)
{
	struct ringwalk_batch batch;

	EQUAL(next(walk, &batch), 1);
	CHECK(batch.id);
	return batch;
}

size_t look_at(const struct ringwalk_batch *batch)
{
	size_t bytes = batch->directory ? strlen(batch->directory) : 0;

	EQUAL(bytes, batch->directory_length);
	for (size_t i = 0; i < batch->entry_count; i++) {
		const struct ringwalk_entry *entry = &batch->entries[i];

		EQUAL(strlen(entry->name), entry->name_length);
		if (entry->metadata)
			CHECK(entry->metadata->mask & RINGWALK_FIELD_SIZE);
		else
			CHECK(entry->stat_error);
	}
	if (batch->kind == RINGWALK_ERROR) {
		EQUAL(strlen(batch->error->path), batch->error->path_length);
		CHECK(strlen(batch->error->message) > 0 && batch->error->code > 0);
	} else {
		CHECK(!batch->error);
	}
	return batch->entry_count;
}

size_t read_all(struct ringwalk_walk *walk)
{
	struct ringwalk_batch batch;
	size_t entries = 0;
	int got;

	while ((got = next(walk, &batch)) > 0) {
		entries += look_at(&batch);
		EQUAL(ringwalk_release(&batch), 0);
	}
	EQUAL(got, 0);
	return entries;
}

struct ringwalk_walk *open_long(void)
{
	static char *many[20001];
	struct ringwalk_options options = defaults();

	for (size_t i = 0; i < 20000; i++)
		many[i] = top;
	options.roots = many;
	return opened(&options);
}

void *cancel_soon(void *walk)
{
	usleep(20000);
	EQUAL(ringwalk_cancel(walk), 0);
	return NULL;
}

int main(int argc, char **argv)
{
	if (argc != 3) {
		fprintf(stderr, "usage: %s CASE DIR\n", argv[0]);
		return 2;
	}
	top = roots[0] = argv[2];
	for (size_t i = 0; cases[i].name; i++) {
		if (!strcmp(cases[i].name, argv[1])) {
			cases[i].run();
			return 0;
		}
	}
	fprintf(stderr, "%s: no case %s\n", argv[0], argv[1]);
	return 2;
}
