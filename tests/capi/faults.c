// What must not go wrong with the C library, one case a run: exit status 0 passed, 1 failed, 77 cannot be tried here.
//
//   faults CASE DIR
//
// DIR is the tree that support/capi.py makes: see the constants below.

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <ringwalk.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	WIDE = 1500, // files in DIR/wide
	ODD = 4,     // files in DIR/odd, whose names are no text
	BRANCHES = 5, // directories in DIR/branching, and in each of them; a file in each
	ALL = 1 + 4 + WIDE + ODD + 2 * (BRANCHES + BRANCHES * BRANCHES) + 1, // and a link to DIR in DIR/loop
};

#define CHECK(what)                                                                             \
	do {                                                                                    \
		if (!(what)) {                                                                  \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #what);      \
			_exit(1);                                                               \
		}                                                                               \
	} while (0)

#define EQUAL(got, expected)                                                                    \
	do {                                                                                    \
		long long is = (got), should = (expected);                                      \
		if (is != should) {                                                             \
			fprintf(stderr, "%s:%d: %s is %lld, not %lld (%s)\n", __FILE__,         \
				__LINE__, #got, is, should, #expected);                         \
			_exit(1);                                                               \
		}                                                                               \
	} while (0)

static char *top;
static char *roots[2];
static char message[200];

static struct ringwalk_options defaults(void)
{
	return (struct ringwalk_options){
		.size = sizeof(struct ringwalk_options),
		.roots = roots,
		.fields = RINGWALK_FIELD_TYPE | RINGWALK_FIELD_SIZE,
		.message = message,
		.message_size = sizeof message,
	};
}

static struct ringwalk_walk *opened(const struct ringwalk_options *options)
{
	struct ringwalk_walk *walk = NULL;

	EQUAL(ringwalk_open(options, &walk), 0);
	CHECK(walk);
	return walk;
}

static struct ringwalk_walk *open_default(void)
{
	struct ringwalk_options options = defaults();

	return opened(&options);
}

static int next(struct ringwalk_walk *walk, struct ringwalk_batch *batch)
{
	return ringwalk_next_batch(walk, batch, sizeof *batch);
}

static struct ringwalk_batch first(struct ringwalk_walk *walk)
{
	struct ringwalk_batch batch;

	EQUAL(next(walk, &batch), 1);
	CHECK(batch.id);
	return batch;
}

// Touches all that a batch points to, so that tools see whether it is there. Returns how many entries there are.
static size_t look_at(const struct ringwalk_batch *batch)
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

// Reads a walk to its end. Returns how many entries there were.
static size_t read_all(struct ringwalk_walk *walk)
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

// --- options ---

static int refused(const struct ringwalk_options *options)
{
	struct ringwalk_walk *walk = (void *)1;
	int result;

	message[0] = 0;
	result = ringwalk_open(options, &walk);
	CHECK(result < 0 && !walk);
	return result;
}

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
	// Cut to fit, and nothing behind it is written.
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
	newer.known.size = 8;
	EQUAL(refused(&newer.known), -EINVAL);
	newer.known.size = 0;
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
	// It was duplicated.
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

// --- handles ---

static void closed_twice_and_used_after(void)
{
	struct ringwalk_walk *walk = open_default(), *other;
	struct ringwalk_batch batch = first(walk);
	struct ringwalk_summary summary;

	EQUAL(ringwalk_close(walk), 0);
	// Another one takes its place, but not its handle.
	other = open_default();
	for (int i = 0; i < 2; i++) {
		EQUAL(ringwalk_close(walk), -EBADF);
		EQUAL(ringwalk_cancel(walk), -EBADF);
		EQUAL(next(walk, &(struct ringwalk_batch){0}), -EBADF);
		EQUAL(ringwalk_run(walk, NULL, NULL), -EBADF);
		EQUAL(ringwalk_summary(walk, &summary, sizeof summary), -EBADF);
	}
	// What is held stays.
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
	// Its memory may be the next one's, its number is not.
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

// --- batches ---

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

// --- cancelling, threads, signals, forks ---

// As many roots as take a while.
static struct ringwalk_walk *open_long(void)
{
	static char *many[20001];
	struct ringwalk_options options = defaults();

	for (size_t i = 0; i < 20000; i++)
		many[i] = top;
	options.roots = many;
	return opened(&options);
}

static void *cancel_soon(void *walk)
{
	usleep(20000);
	EQUAL(ringwalk_cancel(walk), 0);
	return NULL;
}

static void read_until_cancelled(struct ringwalk_walk *walk)
{
	struct ringwalk_summary summary;
	struct ringwalk_batch batch;
	int got;

	while ((got = next(walk, &batch)) > 0)
		EQUAL(ringwalk_release(&batch), 0);
	EQUAL(got, -ECANCELED);
	EQUAL(next(walk, &batch), -ECANCELED);
	EQUAL(ringwalk_summary(walk, &summary, sizeof summary), -ECANCELED);
	EQUAL(ringwalk_cancel(walk), 0);
	EQUAL(ringwalk_close(walk), 0);
}

static void cancelled_by_another_thread(void)
{
	struct ringwalk_walk *walk = open_long();
	pthread_t thread;

	CHECK(!pthread_create(&thread, NULL, cancel_soon, walk));
	read_until_cancelled(walk);
	pthread_join(thread, NULL);
	// Before it begins.
	walk = open_long();
	EQUAL(ringwalk_cancel(walk), 0);
	read_until_cancelled(walk);
}

static struct ringwalk_walk *of_handler;
static volatile sig_atomic_t cancelled = 1;

static void on_alarm(int signal)
{
	(void)signal;
	cancelled = ringwalk_cancel(of_handler);
}

static void cancelled_by_a_signal_handler(void)
{
	struct sigaction action = {.sa_handler = on_alarm};

	CHECK(!sigaction(SIGALRM, &action, NULL));
	for (int i = 0; i < 10; i++) {
		of_handler = open_long();
		ualarm(1000 + 3000 * i, 0);
		read_until_cancelled(of_handler);
		EQUAL(cancelled, 0);
	}
}

static void threads_take_no_signals(void)
{
	struct ringwalk_walk *walk = open_long();
	struct ringwalk_batch batch;
	sigset_t set, pending;

	CHECK(signal(SIGUSR1, SIG_DFL) != SIG_ERR);
	batch = first(walk);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	CHECK(!pthread_sigmask(SIG_BLOCK, &set, NULL));
	// Any other thread would end the process.
	CHECK(!kill(getpid(), SIGUSR1));
	usleep(20000);
	sigpending(&pending);
	CHECK(sigismember(&pending, SIGUSR1));
	EQUAL(ringwalk_release(&batch), 0);
	EQUAL(ringwalk_close(walk), 0);
}

static void *close_soon(void *walk)
{
	usleep(20000);
	EQUAL(ringwalk_close(walk), 0);
	return NULL;
}

static void closed_by_another_thread(void)
{
	for (int i = 0; i < 5; i++) {
		struct ringwalk_walk *walk = open_long();
		struct ringwalk_batch batch;
		pthread_t thread;
		int got;

		CHECK(!pthread_create(&thread, NULL, close_soon, walk));
		while ((got = next(walk, &batch)) > 0)
			EQUAL(ringwalk_release(&batch), 0);
		CHECK(got == -ECANCELED || got == -EBADF);
		pthread_join(thread, NULL);
		EQUAL(next(walk, &batch), -EBADF);
	}
}

static atomic_size_t together;

static void *read_some(void *walk)
{
	atomic_fetch_add(&together, read_all(walk));
	return NULL;
}

static void *read_own(void *unused)
{
	(void)unused;
	for (int i = 0; i < 3; i++) {
		struct ringwalk_walk *walk = open_default();

		EQUAL(read_all(walk), ALL);
		EQUAL(ringwalk_close(walk), 0);
		EQUAL(ringwalk_close(walk), -EBADF);
	}
	return NULL;
}

static void many_threads(void)
{
	struct ringwalk_walk *walk = open_default();
	pthread_t threads[8];

	for (int i = 0; i < 8; i++)
		CHECK(!pthread_create(&threads[i], NULL, i % 2 ? read_some : read_own, walk));
	for (int i = 0; i < 8; i++)
		pthread_join(threads[i], NULL);
	EQUAL(together, ALL);
	EQUAL(ringwalk_close(walk), 0);
}

static void forked(void)
{
	struct ringwalk_walk *walk = open_long(), *own;
	struct ringwalk_batch batch = first(walk), more = first(walk);
	int status;
	pid_t child;

	for (int i = 0; i < 20; i++) {
		child = fork();
		CHECK(child >= 0);
		if (!child) {
			look_at(&batch);
			EQUAL(next(walk, &(struct ringwalk_batch){0}), -EBADF);
			EQUAL(ringwalk_cancel(walk), -EBADF);
			EQUAL(ringwalk_close(walk), -EBADF);
			EQUAL(ringwalk_release(&batch), -EBADF);
			own = open_default();
			CHECK(own != walk);
			EQUAL(read_all(own), ALL);
			EQUAL(ringwalk_close(own), 0);
			_exit(0);
		}
		CHECK(waitpid(child, &status, 0) == child);
		EQUAL(status, 0);
		// Of the parent nothing has changed.
		EQUAL(ringwalk_release(&more), 0);
		more = first(walk);
	}
	EQUAL(ringwalk_release(&batch), 0);
	EQUAL(ringwalk_release(&more), 0);
	EQUAL(ringwalk_close(walk), 0);
}

// --- callbacks ---

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
	// Of each directory below that one, nothing but what has been seen.
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
	// A walk inside of a walk is fine.
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

#define CASE(name) {#name, name}

static const struct {
	const char *name;
	void (*run)(void);
} cases[] = {
	CASE(values_that_there_are_not),
	CASE(options_of_other_versions),
	CASE(a_source_that_cannot_be_used),
	CASE(batches_of_other_versions),
	CASE(depths_and_orders),
	CASE(roots_by_descriptor),
	CASE(closed_twice_and_used_after),
	CASE(what_is_no_handle),
	CASE(released_twice),
	CASE(as_many_walks_as_there_may_be),
	CASE(the_end_and_after),
	CASE(closed_in_the_middle),
	CASE(all_held_at_once),
	CASE(errors_in_the_middle),
	CASE(names_that_are_no_text),
	CASE(few_descriptors),
	CASE(no_descriptors),
	CASE(cancelled_by_another_thread),
	CASE(cancelled_by_a_signal_handler),
	CASE(threads_take_no_signals),
	CASE(closed_by_another_thread),
	CASE(many_threads),
	CASE(forked),
	CASE(callbacks_see_all),
	CASE(callbacks_end_the_walk),
	CASE(callbacks_prune),
	CASE(callbacks_that_ask_too_much),
	CASE(callbacks_on_other_threads),
	CASE(run_cancelled_by_another_thread),
};

int main(int argc, char **argv)
{
	if (argc != 3) {
		fprintf(stderr, "usage: faults CASE DIR\n");
		return 2;
	}
	top = roots[0] = argv[2];
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		if (!strcmp(cases[i].name, argv[1])) {
			cases[i].run();
			return 0;
		}
	}
	fprintf(stderr, "faults: no case %s\n", argv[1]);
	return 2;
}
