/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a test of the kernel interface is made of.
 *
 * A test program defines one ``struct test test``; main() is in main.c. It runs in a fresh folder on the file system to
 * test, over one transport (see transport.h), and ends with 0 (passed), 1 (failed) or 77 (skipped, the reason printed).
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

/* The file systems that tests tell apart, by the magic number that statfs(2) gives. */
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
 * @kind: how requests are to be made
 * @full: try everything, not a sample of it
 * @seconds: how long stress.c and random_calls.c run; other tests ignore it
 * @seed: what their random numbers start from
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

/* The step from one value to the next of those that are tried: @step if there is time, else more where a request takes long. */
unsigned int test_step(const struct env *env, unsigned int step);

/**
 * struct test - one test program.
 * @name: its name
 * @each_fs: it says something about every file system; otherwise the runner runs it on one
 * @kinds: bits 1 << transport_kind that it is to be run with; the runner takes the available ones
 * @one_kind: one of @kinds is enough
 * @soak: it runs for as long as it is told, and is not part of a plain run
 * @run: the test; returns when done, failures are counted by CHECK
 */
struct test {
	const char *name;
	bool each_fs;
	unsigned int kinds;
	bool one_kind;
	bool soak;
	void (*run)(struct env *env);
};

extern const struct test test;

/* Failures are counted, the first of them printed, and the test goes on. */
void test_failed(const char *file, int line, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* For what makes going on pointless. Ends the program, or the child process. */
void test_stop(const char *file, int line, const char *format, ...) __attribute__((noreturn, format(printf, 3, 4)));
void test_skip(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));
unsigned int test_failures(void);

/* Ends a child process made by fork(): its status says whether something failed in it. */
void test_child_exit(void) __attribute__((noreturn));
/* Waits for a child process, and counts a failure if it failed. Returns its wait status. */
int test_wait_child(const char *file, int line, int pid);

/* Runs @run in a child process, so that what it changes of itself (ids, root, namespaces) ends with it. */
void test_in_child(const char *file, int line, void (*run)(struct env *env), struct env *env);

#define CHECK(condition, ...)							\
	do {									\
		if (!(condition))						\
			test_failed(__FILE__, __LINE__, __VA_ARGS__);		\
	} while (0)

/* For the test's own preparations: a failure is neither the module's nor can the test go on. */
#define MUST(condition)								\
	do {									\
		if (!(condition))						\
			test_stop(__FILE__, __LINE__, "%s: %s", #condition, strerror(errno)); \
	} while (0)

/* A comparison that gives NULL, or what is wrong. */
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
