// Few descriptors, some of which the host program needs while a walk runs.

#define _GNU_SOURCE
#include "cases.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

enum {
	LEVELS = 400, // of a chain of directories called a, each with one called b behind the next
	LIMIT = 64, // on open files
	WANTED = 8, // files that the host opens at a time
};

static char chain[] = "/tmp/ringwalk-chain-XXXXXX";

// Calls mkdir(2) or rmdir(2) for both directories of a level.
static void both(size_t level, int (*call)(const char *path))
{
	char path[sizeof chain + 2 * LEVELS + 2];

	strcpy(path, chain);
	for (size_t i = 0; i <= level; i++)
		strcat(path, "/a");
	CHECK(!call(path));
	path[strlen(path) - 1] = 'b';
	CHECK(!call(path));
}

static int make(const char *path)
{
	return mkdir(path, 0755);
}

static void limit_files(void)
{
	struct rlimit limit;

	CHECK(!getrlimit(RLIMIT_NOFILE, &limit));
	limit.rlim_cur = LIMIT;
	CHECK(!setrlimit(RLIMIT_NOFILE, &limit));
}

struct host {
	size_t wanted, entries;
	int failed, errors;
};

static int opens_files(const struct ringwalk_batch *batch, struct ringwalk_visit *visit, void *data)
{
	struct host *host = data;
	int files[LIMIT];

	(void)visit;
	host->errors += batch->kind == RINGWALK_ERROR;
	host->entries += batch->entry_count;
	for (size_t i = 0; i < host->wanted; i++) {
		files[i] = open("/dev/null", O_RDONLY | O_CLOEXEC);
		host->failed += files[i] < 0;
	}
	for (size_t i = 0; i < host->wanted; i++)
		if (files[i] >= 0)
			close(files[i]);
	return RINGWALK_CONTINUE;
}

static void walk_with(size_t reserve, size_t wanted)
{
	struct ringwalk_options options = defaults();
	struct host host = {.wanted = wanted};
	struct ringwalk_walk *walk;

	CHECK(mkdtemp(chain));
	for (size_t level = 0; level < LEVELS; level++)
		both(level, make);
	limit_files();
	roots[0] = chain;
	options.flags = RINGWALK_FLAG_PREORDER;
	options.order = RINGWALK_ORDER_NAME;
	options.workers = 1;
	options.descriptor_reserve = reserve;
	walk = opened(&options);
	EQUAL(ringwalk_run(walk, opens_files, &host), 0);
	EQUAL(ringwalk_close(walk), 0);
	for (size_t level = LEVELS; level-- > 0;)
		both(level, rmdir);
	CHECK(!rmdir(chain));
	EQUAL(host.failed, 0);
	EQUAL(host.errors, 0);
	EQUAL(host.entries, 1 + 2 * LEVELS);
}

static void the_host_can_open_files(void)
{
	walk_with(0, WANTED);
}

static void a_reserve_that_is_given(void)
{
	walk_with(40, 40);
}

static void a_reserve_that_there_is_not(void)
{
	walk_with(SIZE_MAX, 40);
}

const struct test_case cases[] = {
	CASE(the_host_can_open_files),
	CASE(a_reserve_that_is_given),
	CASE(a_reserve_that_there_is_not),
	{0},
};
