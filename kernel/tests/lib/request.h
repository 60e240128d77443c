/* SPDX-License-Identifier: GPL-2.0-only */
/* Requests that most tests use. */
#ifndef RINGWALK_REQUEST_H
#define RINGWALK_REQUEST_H

#include "names.h"
#include "plus.h"

/* @names: records of getdents64(2). */
struct ringwalk_stat_batch request_stat_batch(int fd, const void *names, uint32_t names_len,
					      void *buf, uint32_t len);
/* All levels, with all metadata of struct stat. */
struct ringwalk_readtree request_readtree(int fd, void *buf, uint32_t len);
struct ringwalk_readahead request_readahead(int fd);
struct ringwalk_info request_info(void);

/* Returns every STATX_ bit that a request over this transport may have. */
uint32_t request_stat_mask(struct transport *transport);

/*
 * Checks that GETDENTS, READDIRPLUS and READTREE of a folder that may be unreadable succeed, find
 * nothing or fail as getdents64(2) does. Each call begins at the beginning of the folder.
 */
void request_check_error(struct transport *transport, int fd);

/*
 * Checks that READDIRPLUS and STAT_BATCH of the whole folder, with all metadata and attributes,
 * agree with the system calls. So must READTREE, of the folder and those in it. Returns how many
 * folders READTREE has read, or 0 if the kernel lacks it.
 */
unsigned int request_check_all(struct transport *transport, int fd, const char *path,
			       const char *what);

#endif
