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

#include "harness.h"
#include "transport.h"

/* Begins each line that a test prints. */
#define TEST_PREFIX	""

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

#endif
