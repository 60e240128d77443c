/* SPDX-License-Identifier: GPL-2.0-only */
/* Requests for names with metadata and extended attributes: READDIRPLUS. */
#ifndef RINGWALK_PLUS_H
#define RINGWALK_PLUS_H

#include "compare.h"
#include "list.h"
#include "transport.h"

/* All metadata of struct stat. */
struct ringwalk_readdirplus request_readdirplus(int fd, void *buf, uint32_t len);

/*
 * Sets the part of a request about extended attributes. @names are @names_len bytes of names, each
 * ended by a NUL.
 */
void request_xattrs(struct ringwalk_fields *fields, const char *names, uint32_t names_len,
		    uint32_t value_max, uint32_t entry_max);

/* Returns how records of a request are compared. */
struct compare request_compare(struct transport *transport, int fd, const char *path,
			       const struct ringwalk_fields *fields, uint32_t flags);

/*
 * Makes requests like @request, from @list's entry number @first on to the end, and compares every
 * record. The first request uses @request's off, the others RINGWALK_OFF_CURRENT. Returns NULL or a
 * message.
 */
const char *request_compare_rest(struct transport *transport,
				 const struct ringwalk_readdirplus *request, const char *path,
				 const struct list *list, size_t first);

#endif
