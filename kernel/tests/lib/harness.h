/* SPDX-License-Identifier: GPL-2.0-only */
/* How tests report failures, and run parts of themselves in child processes. */
#ifndef RINGWALK_HARNESS_H
#define RINGWALK_HARNESS_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct env;

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

/* Runs the test in a fresh folder below @root. @env must live until the program ends. */
void test_run(struct env *env, const char *root);

/* Failures are counted, the first of them printed, and the test goes on. */
void test_failed(const char *file, int line, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* For a failure after which the test cannot go on. Ends the program or the child process. */
void test_stop(const char *file, int line, const char *format, ...)
	__attribute__((noreturn, format(printf, 3, 4)));
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

/* Formats a message, which is valid until the next one of the thread. */
const char *wrong(const char *format, ...) __attribute__((format(printf, 1, 2)));

#define CHECK(condition, ...)							\
	do {									\
		if (!(condition))						\
			test_failed(__FILE__, __LINE__, __VA_ARGS__);		\
	} while (0)

/* For the preparations of a test. After a failure the test cannot go on. */
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

#ifndef ARRAY_SIZE
#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))
#endif
#define ALIGN8(bytes) (((bytes) + 7) & ~(size_t)7)

#endif
