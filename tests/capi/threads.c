// Cancelling, threads, signals and forks.

#define _GNU_SOURCE
#include "cases.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>

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
	// Cancels the walk before it begins.
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
	// The signal would end the process on any other thread.
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
		// The parent's walk has not changed.
		EQUAL(ringwalk_release(&more), 0);
		more = first(walk);
	}
	EQUAL(ringwalk_release(&batch), 0);
	EQUAL(ringwalk_release(&more), 0);
	EQUAL(ringwalk_close(walk), 0);
}

const struct test_case cases[] = {
	CASE(cancelled_by_another_thread),
	CASE(cancelled_by_a_signal_handler),
	CASE(threads_take_no_signals),
	CASE(closed_by_another_thread),
	CASE(many_threads),
	CASE(forked),
	{0},
};
