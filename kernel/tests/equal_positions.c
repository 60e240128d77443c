// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names with the same position, as ext4 has them where hashes are equal: a request that ends early
 * does not end between two of them, because the next one would return the first of them again. The
 * folder is one of FUSE, whose server gives each two files one position. It sends a signal when the
 * first of two is looked up. That ends a request that runs in its task. One that runs in a thread
 * of io-wq is cancelled then.
 */
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "lib/fuse.h"
#include "lib/records.h"
#include "lib/request.h"
#include "lib/sys.h"
#include "lib/test.h"

#define FILES		"16"
#define DELAY_US	"10000"
#define ROUNDS		3

enum { REQUEST = 1, CANCEL };

static volatile unsigned int alarms;

static void on_alarm(int number)
{
	(void)number;
	alarms++;
}

/* Makes a request, and cancels it when the server has sent a signal. */
static long call_and_cancel(struct transport *transport, struct ringwalk_readdirplus *request)
{
	struct io_uring_cqe cqe = { }, result = { };
	unsigned int seen = alarms, in_flight = 1;

	MUST(transport_queue(transport, RINGWALK_IOC_READDIRPLUS, request, REQUEST));
	MUST(ring_submit(&transport->ring, 0) == 1);
	while (in_flight) {
		if (alarms != seen && !result.user_data) {
			seen = alarms;
			MUST(ring_cancel(&transport->ring, REQUEST, CANCEL));
			MUST(ring_submit(&transport->ring, 0) == 1);
			in_flight++;
		}
		while (ring_take(&transport->ring, &cqe)) {
			in_flight--;
			if (cqe.user_data == REQUEST)
				result = cqe;
		}
		usleep(200);
	}
	transport_finish(transport, RINGWALK_IOC_READDIRPLUS, request, &result);
	return result.res;
}

/* Reads the folder by requests that are ended. Returns how many of them ended early. */
static unsigned int read_interrupted(struct env *env, const char *path, const struct list *list)
{
	static char buf[32768] __attribute__((aligned(8)));
	bool in_task = transport_in_task(env->kind);
	struct transport transport;
	struct list got = { };
	unsigned int ended = 0;
	int fd = open(path, O_RDONLY | O_DIRECTORY);
	long result;

	MUST(fd >= 0);
	/* The inodes of the files are not in memory. */
	MUST(write_text("/proc/sys/vm/drop_caches", "2") == 0);
	transport_open(&transport, env->kind, 0);
	do {
		struct ringwalk_readdirplus request = request_readdirplus(fd, buf, sizeof(buf));
		struct record record = { .next = buf };

		result = in_task ? transport_call(&transport, RINGWALK_IOC_READDIRPLUS, &request) :
				   call_and_cancel(&transport, &request);
		/* It has not begun. */
		if (result == -ECANCELED && !in_task)
			result = -EINTR;
		CHECK(result >= 0 || result == -EINTR, "%ld", result);
		while (record.next < buf + result) {
			MUST(!record_parse(record.next, buf + result - record.next, &request.fields, &record));
			CHECK(record.stat || !strcmp(record.name, ".."), "%s has no metadata", record.name);
			list_add(&got, record.name, record.entry->d_ino, record.entry->d_off, record.entry->d_type);
		}
		ended += result == -EINTR || (result > 0 && !(request.result_flags & RINGWALK_RESULT_END));
		/* A reading that begins at the same place again and again has no end. */
	} while ((result > 0 || result == -EINTR) && got.count < 2 * list->count);
	CHECK_NULL(list_differs(&got, list, 0), "the whole folder");
	list_free(&got);
	transport_close(&transport);
	close(fd);
	return ended;
}

static void run(struct env *env)
{
	struct sigaction action = { .sa_handler = on_alarm };
	unsigned int ended = 0;
	struct list list;
	struct fuse fuse;
	char pid[16];
	int fd;

	snprintf(pid, sizeof(pid), "%d", getpid());
	MUST(sigaction(SIGALRM, &action, NULL) == 0);
	fuse_open(&fuse, env, (const char *const[]){ "--pairs", pid, "--plus", "never", "--entries", FILES,
						     "--delay-us", DELAY_US, NULL });
	fd = open(fuse.path, O_RDONLY | O_DIRECTORY);
	MUST(fd >= 0);
	list_read(&list, fd);
	close(fd);
	for (int round = 0; round < ROUNDS; round++)
		ended += read_interrupted(env, fuse.path, &list);
	CHECK(ended > ROUNDS, "only %u requests of %u rounds ended early", ended, ROUNDS);
	list_free(&list);
	fuse_close(&fuse);
}

const struct test test = {
	.name = "equal_positions",
	.kinds = BY_ALL,
	.needs = OPCODE_READDIRPLUS,
	.run = run,
};
