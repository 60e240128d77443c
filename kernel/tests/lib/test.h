/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The parts of a test of the kernel interface.
 *
 * A test program defines one ``struct test test``; main() is in main.c. It runs in a fresh folder
 * on the file system to test, over one transport (see transport.h), and ends with 0 (passed), 1
 * (failed) or 77 (skipped, the reason printed).
 */
#ifndef RINGWALK_TEST_H
#define RINGWALK_TEST_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "transport.h"

/* Exit statuses, as in liburing's and automake's tests. */
#define EXIT_PASS	0
#define EXIT_FAIL	1
#define EXIT_SKIP	77

/* The file systems that tests distinguish, by the magic number from statfs(2). */
#define FS_EXT		0xef53
#define FS_XFS		0x58465342
#define FS_BTRFS	0x9123683e
#define FS_TMPFS	0x01021994
#define FS_FUSE		0x65735546

/**
 * struct env - where a test runs.
 * @root: mount point of the file system to test
 * @path: a fresh, empty folder on it, removed when the test ends
 * @fd: that folder, opened for reading
 * @fs: the file system's magic number, one of FS_
 * @kind: the way of making requests
 * @full: try everything instead of a sample
 * @seconds: how long stress.c and random_calls.c run; other tests ignore it
 * @seed: the start of their random numbers
 */
struct env {
	const char *root;
	char path[512];
	int fd;
	long fs;
	enum transport_kind kind;
	bool full;
	unsigned int seconds;
	uint64_t seed;
};

/*
 * Returns the step between the values that are tried: @step if there is time, else a larger one
 * where a request takes long.
 */
unsigned int test_step(const struct env *env, unsigned int step);

/**
 * struct test - one test program.
 * @name: its name
 * @each_fs: it tests every file system; otherwise the runner runs it on one
 * @kinds: bits 1 << transport_kind of its transports; the runner takes the available ones
 * @needs: the last of the patched kernel's operations without which nothing is tested; others it
 *	asks for where transport_has() says that they are there
 * @one_kind: one of @kinds is enough
 * @soak: it runs for a given time, and is not part of a plain run
 * @run: the test; returns when done, failures are counted by CHECK
 */
struct test {
	const char *name;
	bool each_fs;
	unsigned int kinds;
	enum opcode needs;
	bool one_kind;
	bool soak;
	void (*run)(struct env *env);
};

extern const struct test test;

/* Failures are counted, the first of them printed, and the test goes on. */
void test_failed(const char *file, int line, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* For a failure after which the test cannot go on. Ends the program or the child process. */
void test_stop(const char *file, int line, const char *format, ...) __attribute__((noreturn, format(printf, 3, 4)));
void test_skip(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));
unsigned int test_failures(void);

/* Ends a child process of fork(). Its status shows whether something failed. */
void test_child_exit(void) __attribute__((noreturn));
/* Waits for a child process, and counts a failure if it failed. Returns its wait status. */
int test_wait_child(const char *file, int line, int pid);

/*
 * Runs @run in a child process, so that its changes of ids, root and namespaces end with it.
 */
void test_in_child(const char *file, int line, void (*run)(struct env *env), struct env *env);

#define CHECK(condition, ...)							\
	do {									\
		if (!(condition))						\
			test_failed(__FILE__, __LINE__, __VA_ARGS__);		\
	} while (0)

/* For the preparations of a test. A failure is not the module's, and the test cannot go on. */
#define MUST(condition)								\
	do {									\
		if (!(condition))						\
			test_stop(__FILE__, __LINE__, "%s: %s", #condition, strerror(errno)); \
	} while (0)

/* A comparison that returns NULL or a message. */
#define CHECK_NULL(message_of, ...)						\
	do {									\
		const char *wrong_ = (message_of);				\
		if (wrong_) {							\
			char where_[256];					\
			snprintf(where_, sizeof(where_), __VA_ARGS__);		\
			test_failed(__FILE__, __LINE__, "%s: %s", where_, wrong_); \
		}								\
	} while (0)

#define IN_CHILD(run, env) test_in_child(__FILE__, __LINE__, run, env)
#define WAIT_CHILD(pid) test_wait_child(__FILE__, __LINE__, pid)

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))
#define ALIGN8(bytes) (((bytes) + 7) & ~(size_t)7)

#endif
