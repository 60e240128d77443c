/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The parts of a test.
 *
 * A test program defines one ``struct test test``; main() is in main.c. It runs in a fresh folder
 * below the current one, or below the folder that is its argument, once for each way of making
 * requests (see transport.h). So it tests the file system that this folder is on.
 */
#ifndef TEST_H
#define TEST_H

#include "harness.h"
#include "transport.h"

/* Begins each line that a test prints. */
#define TEST_PREFIX	"# "

/**
 * struct env - where a test runs.
 * @root: the folder of the argument
 * @path: a fresh, empty folder below it, removed when the test ends
 * @fd: that folder, opened for reading
 * @fs: the file system's magic number, one of FS_
 * @kind: the way of making requests
 * @full: try everything instead of a sample (option -f)
 */
struct env {
	const char *root;
	char path[512];
	int fd;
	long fs;
	enum transport_kind kind;
	bool full;
};

/*
 * Returns the step between the values that are tried: @step with -f, else a larger one where a
 * request takes long.
 */
unsigned int test_step(const struct env *env, unsigned int step);

/**
 * struct test - one test program.
 * @name: its name
 * @kinds: bits 1 << transport_kind of its transports
 * @one_kind: one of @kinds is enough
 * @needs: the operation without which nothing is tested; IORING_OP_GETDENTS if it is not set
 * @run: the test; returns when done, failures are counted by CHECK
 */
struct test {
	const char *name;
	unsigned int kinds;
	bool one_kind;
	unsigned int needs;
	void (*run)(struct env *env);
};

extern const struct test test;

#endif
