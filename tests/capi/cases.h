// Common parts of the cases of misuse of the C library. A program has one group of cases, and runs
// one of them:
//
//   PROGRAM CASE DIR
//
// Exit status 0: passed. 1: failed; standard error shows the condition that was false. 77: the case
// cannot be tried here. DIR is the tree that tests/support/capi.py makes.

#ifndef CASES_H
#define CASES_H

#include <ringwalk.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
	WIDE = 1500, // files in DIR/wide
	ODD = 4,     // files in DIR/odd, whose names are no text
	BRANCHES = 5, // directories in DIR/branching, and in each of them; a file in each
	ALL = 1 + 4 + WIDE + ODD + 2 * (BRANCHES + BRANCHES * BRANCHES) + 1, // and DIR/loop
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

// DIR, and a list of roots with only DIR.
extern char *top;
extern char *roots[2];
// The message buffer of options of defaults().
extern char message[200];

struct ringwalk_options defaults(void);
struct ringwalk_walk *opened(const struct ringwalk_options *options);
struct ringwalk_walk *open_default(void);

// Checks that a walk cannot be opened. Returns the error.
int refused(const struct ringwalk_options *options);

int next(struct ringwalk_walk *walk, struct ringwalk_batch *batch);
struct ringwalk_batch first(struct ringwalk_walk *walk);

// Reads all memory that a batch points to, so that tools check it. Returns the number of entries.
size_t look_at(const struct ringwalk_batch *batch);

// Reads a walk to its end. Returns the number of entries.
size_t read_all(struct ringwalk_walk *walk);

// Opens a walk with so many roots that it takes a while.
struct ringwalk_walk *open_long(void);
void *cancel_soon(void *walk);

struct test_case {
	const char *name;
	void (*run)(void);
};

#define CASE(name) {#name, name}

// The cases of the group; the last element has no name.
extern const struct test_case cases[];

#endif
