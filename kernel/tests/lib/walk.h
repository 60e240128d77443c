/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Walks a tree by READTREE, as a program would: what a request leaves is read by others. Every
 * group is compared with the system calls.
 */
#ifndef RINGWALK_WALK_H
#define RINGWALK_WALK_H

#include "request.h"

/* The most directories that may be left at a time. */
#define WALK_PENDING	400

/**
 * struct walk - a walk
 * @transport: how requests are made
 * @directories: directories that were read to their end, or that could not be
 * @requests: requests that were made
 * @failed: directories that could not be opened or read
 * @entries: records that came
 * @first: records that came of the directory of the requests
 * @pending: paths of directories that are still to be read
 * @pending_count: how many
 */
struct walk {
	struct transport *transport;
	unsigned int directories;
	unsigned int requests;
	unsigned int failed;
	uint64_t entries;
	size_t first;
	char pending[WALK_PENDING][512];
	unsigned int pending_count;
};

/* Reads @folder and all below it by requests like @like. The counts begin at 0. */
void walk_all(struct walk *walk, const char *folder, const struct ringwalk_readtree *like);

/*
 * Reads @folder and all below it, and checks that there are so many directories and entries, and
 * that no directory has an error.
 */
void walk_expect(struct transport *transport, const char *folder, unsigned int directories, uint64_t entries,
		 const char *what);

/* As walk_all() does, in steps. Begins with no directory. */
void walk_begin(struct walk *walk);
/* Makes one request for the directory @path, which is open as @request->fd. Returns its result. */
long walk_request(struct walk *walk, struct ringwalk_readtree *request, const char *path);
/* Checks the @got bytes that a request for @path returned, or its negative errno. */
void walk_output(struct walk *walk, const struct ringwalk_readtree *request, const char *path, long got);
/*
 * Returns the group of the directory @name, which lies in that of the request, in @got bytes of
 * output; NULL if it was not read. Stops the test if the output has no such record.
 */
const struct ringwalk_group *walk_group_of(const struct ringwalk_readtree *request, long got, const char *name);
/* Reads on in the directory @path, from the position of @like->fd, by requests like @like. */
void walk_on(struct walk *walk, const struct ringwalk_readtree *like, const char *path);
/* Reads the pending directories by requests like @like. */
void walk_rest(struct walk *walk, const struct ringwalk_readtree *like);

#endif
