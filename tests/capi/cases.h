// What the cases of misuse of the C library have in common. A program has one group of them, and
// runs one:
//
//   PROGRAM CASE DIR
//
// Exit status 0: passed; 1: failed, and standard error says what was not so; 77: cannot be tried
// here. DIR is the tree that tests/support/capi.py makes.

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
	ALL = 1 + 4 + WIDE + ODD + 2 * (BRANCHES + BRANCHES * BRANCHES) + 1, // and a link to DIR in DIR/loop
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

// DIR, and a list of it.
extern char *top;
extern char *roots[2];
// Where options of defaults() have their message.
extern char message[200];

struct ringwalk_options defaults(void);
struct ringwalk_walk *opened(const struct ringwalk_options *options);
struct ringwalk_walk *open_default(void);

// Checks that a walk cannot be opened. Returns why not.
int refused(const struct ringwalk_options *options);

int next(struct ringwalk_walk *walk, struct ringwalk_batch *batch);
struct ringwalk_batch first(struct ringwalk_walk *walk);

// Touches all that a batch points to, so that tools see whether it is there. Returns how many
// entries there are.
size_t look_at(const struct ringwalk_batch *batch);

// Reads a walk to its end. Returns how many entries there were.
size_t read_all(struct ringwalk_walk *walk);

// As many roots as take a while.
struct ringwalk_walk *open_long(void);
void *cancel_soon(void *walk);

struct test_case {
	const char *name;
	void (*run)(void);
};

#define CASE(name) {#name, name}

// Those of the group; the last has no name.
extern const struct test_case cases[];

#endif
