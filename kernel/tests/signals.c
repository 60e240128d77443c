// SPDX-License-Identifier: GPL-2.0-only
/*
 * Signals during requests lose no entry, and a process that is killed with requests in flight ends.
 */
#include <fcntl.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/records.h"
#include "lib/request.h"
#include "lib/test.h"
#include "lib/tree.h"

static char buf[4096] __attribute__((aligned(8)));
static volatile unsigned int alarms;

static void on_alarm(int number)
{
	(void)number;
	alarms++;
}

static void set_timer(long microseconds)
{
	struct itimerval timer = { .it_interval.tv_usec = microseconds, .it_value.tv_usec = microseconds };

	MUST(setitimer(ITIMER_REAL, &timer, NULL) == 0);
}

static long by_getdents(struct transport *transport, int fd, struct list *got)
{
	struct ringwalk_getdents request = request_getdents(fd, buf, sizeof(buf));
	long result = transport_call(transport, RINGWALK_IOC_GETDENTS, &request);

	if (result > 0)
		list_append(got, buf, result);
	return result;
}

/* The names of records of READDIRPLUS. A signal loses none, and none lacks its metadata. */
static long by_readdirplus(struct transport *transport, int fd, struct list *got)
{
	static char records[32768] __attribute__((aligned(8)));
	struct ringwalk_readdirplus request = request_readdirplus(fd, records, sizeof(records));
	long result = transport_call(transport, RINGWALK_IOC_READDIRPLUS, &request);
	struct record record = { .next = records };

	while (record.next < records + result) {
		CHECK_NULL(record_parse(record.next, records + result - record.next, &request.fields, &record), "record");
		CHECK(!record.entry->error, "%s: %s", record.name, strerror(-record.entry->error));
		CHECK(record.stat || !strcmp(record.name, ".."), "%s has no metadata", record.name);
		list_add(got, record.name, record.entry->d_ino, record.entry->d_off, record.entry->d_type);
	}
	return result;
}

/* EINTR is allowed if the next request continues at the same position. */
static void interrupted(struct env *env, int fd, const struct list *list,
			long (*read_some)(struct transport *, int, struct list *))
{
	struct sigaction action = { .sa_handler = on_alarm };
	struct transport transport;
	unsigned int rounds = 0;
	double until;

	transport_open(&transport, env->kind, 0);
	MUST(sigaction(SIGALRM, &action, NULL) == 0);
	set_timer(700);
	for (until = now() + (env->full ? 0.7 : 0.25); now() < until || rounds < 2; rounds++) {
		struct list got = { };
		long result;

		MUST(lseek(fd, 0, SEEK_SET) == 0);
		do {
			result = read_some(&transport, fd, &got);
			/*
			 * io_uring fails a request if signals prevent it from starting its first
			 * thread.
			 */
			if (result == -ECANCELED && env->kind != TRANSPORT_IOCTL)
				result = -EINTR;
			CHECK(result >= 0 || result == -EINTR, "%ld", result);
		} while (result > 0 || result == -EINTR);
		CHECK_NULL(list_differs(&got, list, 0), "round %u", rounds);
		list_free(&got);
	}
	set_timer(0);
	CHECK(alarms > 5, "only %u signals", alarms);
	transport_close(&transport);
}

/* Makes endless requests on many rings, until the process is killed. */
static void busy(struct env *env, const char *path, int ready)
{
	enum { RINGS = 3, IN_FLIGHT = 16 };
	static char out[RINGS][IN_FLIGHT][4096] __attribute__((aligned(8)));
	static struct ringwalk_readdirplus requests[RINGS][IN_FLIGHT];
	static struct transport transports[RINGS];
	int fd = open(path, O_RDONLY | O_DIRECTORY);

	for (int ring = 0; ring < RINGS; ring++)
		transport_open(&transports[ring], env->kind, IN_FLIGHT);
	MUST(write(ready, "", 1) == 1);
	for (;;) {
		for (int ring = 0; ring < RINGS; ring++) {
			for (int i = 0; i < IN_FLIGHT; i++) {
				struct ringwalk_readdirplus *request = &requests[ring][i];

				*request = request_readdirplus(fd, out[ring][i], sizeof(out[ring][i]));
				request->off = 0;
				if (env->kind == TRANSPORT_IOCTL)
					transport_call(&transports[ring], RINGWALK_IOC_READDIRPLUS, request);
				else
					transport_queue(&transports[ring], RINGWALK_IOC_READDIRPLUS, request, i);
			}
			if (env->kind != TRANSPORT_IOCTL) {
				struct io_uring_cqe cqe;

				ring_submit(&transports[ring].ring, 1);
				while (ring_take(&transports[ring].ring, &cqe))
					;
			}
		}
	}
}

/* Waits for the end of a killed process: a request that cannot be interrupted would keep it. */
static void gone(pid_t child, const char *what)
{
	double until = now() + 20;
	int status;

	while (waitpid(child, &status, WNOHANG) == 0) {
		if (now() > until)
			test_stop(__FILE__, __LINE__, "a process is still there 20 s after %s", what);
		usleep(2000);
	}
}

static void killed(struct env *env, const char *path)
{
	static const int numbers[] = { SIGKILL, SIGTERM, SIGSEGV };

	for (int round = 0; round < (env->full ? 9 : 6); round++) {
		int number = numbers[round % ARRAY_SIZE(numbers)], ready[2];
		pid_t child;
		char byte;

		MUST(pipe(ready) == 0);
		fflush(stdout);
		child = fork();
		MUST(child >= 0);
		if (!child)
			busy(env, path, ready[1]);
		close(ready[1]);
		if (read(ready[0], &byte, 1) != 1)
			test_skip("the busy process did not begin");
		close(ready[0]);
		usleep(1000 + random_below(&env->seed, 15000));
		/* Stopped and continued first, every other time. */
		if (round % 2) {
			kill(child, SIGSTOP);
			usleep(2000);
			kill(child, SIGCONT);
		}
		kill(child, number);
		gone(child, strsignal(number));
	}
}

/* A process that ends by itself, or by exec, while its requests are in flight. */
static void ended(struct env *env, const char *path)
{
	if (env->kind == TRANSPORT_IOCTL)
		return;
	for (int round = 0; round < 6; round++) {
		pid_t child;

		fflush(stdout);
		child = fork();
		MUST(child >= 0);
		if (!child) {
			static char out[32][4096] __attribute__((aligned(8)));
			static struct ringwalk_readdirplus requests[32];
			struct transport transport;
			int fd = open(path, O_RDONLY | O_DIRECTORY);

			transport_open(&transport, env->kind, 32);
			for (int i = 0; i < 32; i++) {
				requests[i] = request_readdirplus(fd, out[i], sizeof(out[i]));
				transport_queue(&transport, RINGWALK_IOC_READDIRPLUS, &requests[i], i);
			}
			ring_submit(&transport.ring, 0);
			if (round % 2)
				execl("/proc/self/exe", "signals", "--transports", NULL);
			_exit(0);
		}
		gone(child, "its end");
	}
}

static void run(struct env *env)
{
	struct list list;
	char path[512];
	int fd = tree_folder(env->path, "folder", path);

	tree_files(fd, "file", env->fs == FS_FUSE ? 60 : 400);
	list_read(&list, fd);
	interrupted(env, fd, &list, by_getdents);
	if (transport_has(env->kind, OPCODE_READDIRPLUS)) {
		interrupted(env, fd, &list, by_readdirplus);
		killed(env, path);
		ended(env, path);
	}
	list_free(&list);
	close(fd);
}

const struct test test = {
	.name = "signals",
	.each_fs = true,
	.kinds = BY_ALL,
	.run = run,
};
