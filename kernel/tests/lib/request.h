/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Requests as most tests make them.
 */
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
struct ringwalk_readahead request_readahead(int fd);

/* The request's part about extended attributes. @names are @names_len bytes of names, each ended by a NUL. */
void request_xattrs(struct ringwalk_fields *fields, const char *names, uint32_t names_len, uint32_t value_max,
		    uint32_t entry_max);

/* Every STATX_ bit that may be asked for over this transport. */
uint32_t request_stat_mask(struct transport *transport);

/* How records of a request are to be compared. */
struct compare request_compare(struct transport *transport, int fd, const char *path,
			       const struct ringwalk_fields *fields, uint32_t flags, bool names);

/* Reads names by GETDENTS with buffers of @len bytes from the current position to the end; 0 or a negative errno. */
long request_all_names(struct transport *transport, int fd, uint32_t len, struct list *list);

/* Those names are @list from its entry number @first on. */
void request_check_names(struct transport *transport, int fd, uint32_t len, const struct list *list, size_t first,
			 const char *what);

/*
 * Makes requests like @request, from @list's entry number @first on to the end, and compares every record. @request's off is used
 * for the first one, then RINGWALK_OFF_CURRENT. NULL, or what is wrong.
 */
const char *request_compare_rest(struct transport *transport, const struct ringwalk_readdirplus *request,
				 const char *path, const struct list *list, size_t first);

/* READDIRPLUS and STAT_BATCH of the whole folder, with all metadata and attributes, are what the system calls say. */
void request_check_all(struct transport *transport, int fd, const char *path, const char *what);

#endif
