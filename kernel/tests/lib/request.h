/* SPDX-License-Identifier: GPL-2.0-only */
/* Requests that most tests use. */
#ifndef RINGWALK_REQUEST_H
#define RINGWALK_REQUEST_H

#include "compare.h"
#include "list.h"
#include "transport.h"

struct ringwalk_getdents request_getdents(int fd, void *buf, uint32_t len);
/* All metadata of struct stat. */
struct ringwalk_readdirplus request_readdirplus(int fd, void *buf, uint32_t len);
/* @names: records of getdents64(2). */
struct ringwalk_stat_batch request_stat_batch(int fd, const void *names, uint32_t names_len, void *buf, uint32_t len);
/* All levels, with all metadata of struct stat. */
struct ringwalk_readtree request_readtree(int fd, void *buf, uint32_t len);
struct ringwalk_readahead request_readahead(int fd);
struct ringwalk_info request_info(void);

/*
 * Sets the part of a request about extended attributes. @names are @names_len bytes of names, each
 * ended by a NUL.
 */
void request_xattrs(struct ringwalk_fields *fields, const char *names, uint32_t names_len, uint32_t value_max,
		    uint32_t entry_max);

/* Returns every STATX_ bit that a request over this transport may have. */
uint32_t request_stat_mask(struct transport *transport);

/* Returns how records of a request are compared. */
struct compare request_compare(struct transport *transport, int fd, const char *path,
			       const struct ringwalk_fields *fields, uint32_t flags, bool names);

/*
 * Reads names by GETDENTS with buffers of @len bytes from the current position to the end. Returns
 * 0 or a negative errno.
 */
long request_all_names(struct transport *transport, int fd, uint32_t len, struct list *list);

/* Checks that these names are @list from entry number @first on. */
void request_check_names(struct transport *transport, int fd, uint32_t len, const struct list *list, size_t first,
			 const char *what);

/*
 * Checks that GETDENTS, READDIRPLUS and READTREE of a folder that may be unreadable succeed, find
 * nothing or fail as getdents64(2) does. Each call begins at the beginning of the folder.
 */
void request_check_error(struct transport *transport, int fd);

/*
 * Makes requests like @request, from @list's entry number @first on to the end, and compares every
 * record. The first request uses @request's off, the others RINGWALK_OFF_CURRENT. Returns NULL or a
 * message.
 */
const char *request_compare_rest(struct transport *transport, const struct ringwalk_readdirplus *request,
				 const char *path, const struct list *list, size_t first);

/*
 * Checks that READDIRPLUS and STAT_BATCH of the whole folder, with all metadata and attributes,
 * agree with the system calls. So must READTREE, of the folder and those in it. Returns how many
 * folders READTREE has read, or 0 if the kernel lacks it.
 */
unsigned int request_check_all(struct transport *transport, int fd, const char *path, const char *what);

#endif
