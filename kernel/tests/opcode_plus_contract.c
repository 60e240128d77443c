// SPDX-License-Identifier: GPL-2.0-only
/*
 * The contract of the attempt of READDIRPLUS that the submitting task makes: it is bounded, and it
 * waits for nothing but memory. opcode_plus_nowait.c tests that what is in memory needs no thread.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "lib/faults.h"
#include "lib/nowait.h"
#include "lib/plus.h"
#include "lib/sys.h"
#include "lib/test.h"

#define COUNT		2000
#define LEN		(1 << 20)
/* What an attempt gives at most: NOWAIT_MAX of the kernel. */
#define MOST_ENTRIES	1024
/* How long an access may take to come, in milliseconds. */
#define FAULT_MS	20000

static char buf[LEN] __attribute__((aligned(8)));

/* The folder of the child processes. */
static char path[512];
static struct list list;

static int open_folder(void)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOATIME);

	MUST(fd >= 0);
	return fd;
}

static void metadata_is_bounded(struct env *env)
{
	int fd = open_folder();
	struct ringwalk_readdirplus request = request_readdirplus(fd, buf, LEN);
	struct transport transport;
	long got;

	transport_open(&transport, env->kind, 0);
	got = transport_call(&transport, RINGWALK_IOC_READDIRPLUS, &request);
	CHECK(got > 0 && request.entries <= MOST_ENTRIES, "%ld bytes, %u entries", got,
	      request.entries);
	CHECK(!(request.result_flags & RINGWALK_RESULT_END), "not at the end");
	CHECK_NULL(request_compare_rest(&transport, &request, path, &list, request.entries),
		   "the rest");
	CHECK(io_workers() == 0, "%u threads", io_workers());
	transport_close(&transport);
	close(fd);
}

/* The key of an encrypted file may have to be set up to know its limits of direct I/O. */
static void direct_io_is_for_threads(struct env *env)
{
	int fd = open_folder();
	struct ringwalk_readdirplus request = request_readdirplus(fd, buf, LEN);
	struct transport transport;

	transport_open(&transport, env->kind, 0);
	request.fields.mask = STATX_BASIC_STATS;
	request.max_entries = 10;
	CHECK(transport_call(&transport, RINGWALK_IOC_READDIRPLUS, &request) > 0, "without");
	CHECK(io_workers() == 0, "%u threads without STATX_DIOALIGN", io_workers());
	request.fields.mask |= STATX_DIOALIGN;
	CHECK(transport_call(&transport, RINGWALK_IOC_READDIRPLUS, &request) > 0, "with");
	CHECK(io_workers() > 0, "no thread for STATX_DIOALIGN");
	transport_close(&transport);
	close(fd);
}

/* So many files at least are removed, however slow the machine is. */
#define LEAST_REMOVED	100

/* Removes and makes files until it is to stop. */
static bool stop;
static unsigned int removed;

static unsigned int count_removed(void)
{
	return __atomic_load_n(&removed, __ATOMIC_RELAXED);
}

static void *remove_files(void *unused)
{
	int fd = open_folder();

	(void)unused;
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		char name[64];

		snprintf(name, sizeof(name), NOWAIT_PREFIX "%06u", removed % COUNT);
		if (unlinkat(fd, name, 0) == 0)
			__atomic_add_fetch(&removed, 1, __ATOMIC_RELAXED);
		close(openat(fd, name, O_CREAT | O_WRONLY, 0644));
	}
	close(fd);
	return NULL;
}

static unsigned long used_inodes(void)
{
	struct statvfs fs;

	MUST(statvfs(path, &fs) == 0);
	return fs.f_files - fs.f_ffree;
}

/*
 * The last reference to a file that is removed during an attempt is given to a kernel worker. All
 * inodes are free in the end.
 */
static void removed_meanwhile(struct env *env)
{
	int fd = open_folder();
	struct ringwalk_readdirplus request;
	struct transport transport;
	unsigned long before = used_inodes();
	pthread_t thread;
	double until, limit;

	transport_open(&transport, env->kind, 0);
	MUST(pthread_create(&thread, NULL, remove_files, NULL) == 0);
	until = now() + (env->full ? 2 : 0.5);
	limit = until + 60;
	while (now() < until || (count_removed() <= LEAST_REMOVED && now() < limit)) {
		long got;

		request = request_readdirplus(fd, buf, LEN);
		request.off = 0;
		got = transport_call(&transport, RINGWALK_IOC_READDIRPLUS, &request);
		CHECK(got > 0, "%ld", got);
	}
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	CHECK(removed > LEAST_REMOVED, "only %u files were removed", removed);
	for (until = now() + 10; used_inodes() > before && now() < until;)
		usleep(50000);
	CHECK(used_inodes() <= before, "%lu inodes in use, %lu before", used_inodes(), before);
	transport_close(&transport);
	close(fd);
}

struct reader {
	struct transport *transport;
	int fd;
	char *page;
	bool done, may_end;
	long got;
};

/*
 * Submits a request whose output is in the page, and does not wait for it. The thread stays until
 * the request has completed: at its end its requests are cancelled.
 */
static void *submit(void *arg)
{
	struct reader *reader = arg;

	reader->got = ring_submit(&reader->transport->ring, 0);
	__atomic_store_n(&reader->done, true, __ATOMIC_RELEASE);
	while (!__atomic_load_n(&reader->may_end, __ATOMIC_ACQUIRE))
		usleep(1000);
	return NULL;
}

static void *read_slowly(void *arg)
{
	struct reader *reader = arg;

	reader->got = sys_getdents64(reader->fd, reader->page, FAULTS_PAGE);
	return NULL;
}

/*
 * The task meets a page that is not writable after the attempt has moved the position, while
 * another task has the lock of the position. The position cannot be set back without waiting for
 * that, so the submitting task does not.
 */
static void unwritable_output(struct env *env)
{
	struct ringwalk_readdirplus request;
	struct faults faults;
	int fd = open_folder();
	struct transport transport;
	struct reader submitter = { .transport = &transport }, other = { .fd = fd };
	pthread_t submitting, reading;
	struct io_uring_cqe cqe;
	struct list got = { };
	double until;

	transport_open(&transport, env->kind, 0);
	faults_open(&faults, 2 * FAULTS_PAGE);
	other.page = faults.memory + FAULTS_PAGE;
	request = request_readdirplus(fd, faults.memory, FAULTS_PAGE);
	MUST(transport_queue(&transport, RINGWALK_IOC_READDIRPLUS, &request, 1));
	MUST(pthread_create(&submitting, NULL, submit, &submitter) == 0);
	MUST(faults_wait(&faults, FAULT_MS) == faults.memory);
	CHECK(io_workers() == 0, "the request was not tried by the task");
	MUST(pthread_create(&reading, NULL, read_slowly, &other) == 0);
	MUST(faults_wait(&faults, FAULT_MS) == other.page);

	faults_unmap(&faults, faults.memory);
	for (until = now() + 5;
	     !__atomic_load_n(&submitter.done, __ATOMIC_ACQUIRE) && now() < until;)
		usleep(1000);
	CHECK(submitter.done, "io_uring_enter waits for the lock of the position");

	MUST(faults_give(&faults, other.page) == 0);
	pthread_join(reading, NULL);
	MUST(ring_wait(&transport.ring, &cqe) == 0);
	__atomic_store_n(&submitter.may_end, true, __ATOMIC_RELEASE);
	pthread_join(submitting, NULL);
	CHECK(cqe.res == -EFAULT, "%d", cqe.res);
	/* The other task has read on, and what follows begins where it ended. */
	MUST(other.got > 0);
	list_append(&got, other.page, other.got);
	CHECK(lseek(fd, 0, SEEK_CUR) == (off_t)got.at[got.count - 1]->d_off,
	      "the position is not behind what was given");
	list_free(&got);
	transport_close(&transport);
	faults_close(&faults);
	close(fd);
}

static void run(struct env *env)
{
	int fd = nowait_folder(env, COUNT, path);

	list_read(&list, fd);
	IN_CHILD(metadata_is_bounded, env);
	IN_CHILD(direct_io_is_for_threads, env);
	IN_CHILD(removed_meanwhile, env);
	IN_CHILD(unwritable_output, env);
	list_free(&list);
	close(fd);
}

const struct test test = {
	.name = "opcode_plus_contract",
	.each_fs = true,
	.kinds = 1u << TRANSPORT_OPCODE,
	.needs = OPCODE_READDIRPLUS,
	.run = run,
};
