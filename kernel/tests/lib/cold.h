/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A folder, or several, whose extended attributes lie on a slow disk, each file's in a block of its
 * own. A request for all of them waits COLD_MS for each file. Or a folder of many blocks: a request
 * for names waits COLD_MS for each of them.
 */
#ifndef RINGWALK_COLD_H
#define RINGWALK_COLD_H

#include <sys/types.h>

#include "list.h"
#include "scratch.h"
#include "transport.h"

#define COLD_FILES	120
/* For less than 50, dm-delay of Linux 6.12 has a thread that does not sleep while requests wait. */
#define COLD_MS		50
/* Names of a folder of many blocks. A block holds at most four. */
#define COLD_NAMES	300

/*
 * The longest time, in seconds, after which a request must have ended that is to end early: that of
 * one file, and as much as a busy emulated machine needs. The whole request takes five times as
 * long.
 */
#define COLD_SOON	1.2

/**
 * struct cold - the folder.
 * @scratch: the file system that it is on
 * @path: where it is
 * @fd: the same, open
 * @list: its entries
 */
struct cold {
	struct scratch scratch;
	char path[600];
	int fd;
	struct list list;
};

void cold_open(struct cold *cold, const struct env *env);
/* The files are in @folders folders below it instead, as many in each. */
void cold_open_tree(struct cold *cold, const struct env *env, unsigned int folders);
/* The folder has COLD_NAMES names instead. */
void cold_open_names(struct cold *cold, const struct env *env);
/* Gives a file the attribute that has a block of its own. */
void cold_attribute(const char *path, const char *name);
void cold_close(struct cold *cold);

/*
 * Empties the caches, makes the disk slow, and moves the position to the beginning. With @known,
 * all names and inodes are in memory, and only attributes are not.
 */
void cold_begin(struct cold *cold, bool known);
/*
 * Waits until a request has moved the position of the folder from @position, and returns the new
 * one. So the request has read its names. Stops the test if that takes too long.
 */
off_t cold_wait_moved(const struct cold *cold, off_t position);
/*
 * Makes the disk fast again after @seconds, by a child process. So a request that does not end
 * early does not take long either.
 */
pid_t cold_end_after(struct cold *cold, double seconds);
/* The disk is fast again. @helper: from cold_end_after(), or 0. */
void cold_end(struct cold *cold, pid_t helper);

/* A request for all metadata and attributes, which takes long after cold_begin(). */
struct ringwalk_readdirplus cold_request(const struct cold *cold, void *buf, uint32_t len);

/*
 * Checks that the @len bytes that @request returned are the first entries of the folder, and that
 * further requests from the current position return the others, each once. @len may be a negative
 * errno, by which no entry was returned.
 */
void cold_check_rest(struct cold *cold, struct transport *transport, const struct ringwalk_readdirplus *request, long len,
		     const char *what);

#endif
